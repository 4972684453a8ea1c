"""kafka-storage where its output differs from stock's; the rest is in `test_stock_answers.py`."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from records.uuids import parse_uuid, random_uuid, uuid_text
from tests.tools.kafka.cases import ours

if TYPE_CHECKING:
    from pathlib import Path

CONFIG = (
    "process.roles=controller\nnode.id=1\ncontroller.quorum.bootstrap.servers=localhost:9093\n"
    "listeners=CONTROLLER://{listener}\ncontroller.listener.names=CONTROLLER\nlog.dirs={dirs}\n"
)


def node(tmp_path: Path, dirs: str, listener: str = "localhost:9093") -> str:
    file = tmp_path / "node.properties"
    file.write_text(CONFIG.format(dirs=dirs, listener=listener))
    return str(file)


def test_a_random_uuid_is_of_version_4_and_can_be_an_argument() -> None:
    found = [ours("storage", ["random-uuid"]) for _ in range(50)]

    texts = [answer["stdout"] for answer in found]
    assert all(re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_-]{21}\n", text) for text in texts)
    assert {parse_uuid(text.strip())[6] >> 4 for text in texts} == {4}
    assert len(set(texts)) == 50


def test_a_uuid_that_begins_with_a_hyphen_is_generated_again() -> None:
    drawn = iter([0xFB << 120, 7])

    assert uuid_text(random_uuid(lambda _: next(drawn))) == "AAAAAAAAQACAAAAAAAAABw"


def test_info_can_be_printed_as_json(tmp_path: Path) -> None:
    config = node(tmp_path, f"{tmp_path}/a,{tmp_path}/b")
    ours("storage", ["format", "-N", "-t", "abc", "-c", config])
    (tmp_path / "b/meta.properties").unlink()

    found = ours("storage", ["info", "--json", "-c", config])

    answer = json.loads(found["stdout"])
    assert found["exit"] == 1
    assert answer["directories"] == [f"{tmp_path}/a", f"{tmp_path}/b"]
    assert answer["problems"] == [f"{tmp_path}/b is not formatted."]
    assert {**answer["metadata"], "directory.id": ""} == {
        "cluster.id": "abc",
        "directory.id": "",
        "node.id": "1",
        "version": "1",
    }


def test_a_damaged_file_leaves_the_output_valid_json(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/meta.properties").write_text("version=1\ncluster.id=abc\nnode.id=x\n")

    found = ours("storage", ["info", "--json", "-c", node(tmp_path, f"{tmp_path}/a")])

    assert (json.loads(found["stdout"]), found["exit"]) == (
        {
            "directories": [f"{tmp_path}/a"],
            "metadata": None,
            "problems": [f"Error loading {tmp_path}/a/meta.properties: Unable to read node.id as a base-10 number."],
        },
        1,
    )


def test_the_secrets_of_a_credential_are_not_printed(tmp_path: Path) -> None:
    given = "SCRAM-SHA-256=[name=alice,password=alice-secret,salt=MTIz]"

    found = ours("storage", ["format", "-N", "-t", "abc", "-c", node(tmp_path, f"{tmp_path}/a"), "-S", given])

    assert found["exit"] == 0
    assert (
        "UserScramCredentialRecord(name='alice', mechanism=1, salt=[hidden], storedKey=[hidden], serverKey=[hidden], "
        "iterations=4096)" in found["stdout"]
    )


def test_a_standalone_controller_may_listen_on_ipv6(tmp_path: Path) -> None:
    """Stock cannot parse the text of the voter that it builds."""
    config = node(tmp_path, f"{tmp_path}/a", listener="[::1]:9093")

    found = ours("storage", ["format", "-s", "-t", "abc", "-c", config])

    assert (found["exit"], found["stderr"]) == (0, "")
    checkpoint = tmp_path / "a/__cluster_metadata-0/00000000000000000000-0000000000.checkpoint"
    assert b"0:0:0:0:0:0:0:1" in checkpoint.read_bytes()
