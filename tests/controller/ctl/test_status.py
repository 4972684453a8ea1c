"""The output of `kraftctl status`, `wait` and `probe` with a real quorum, and without one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from controller.ctl.main import main
from tests.controller.server.processes import CLUSTER_ID, free_port, free_ports_in_a_row, running

if TYPE_CHECKING:
    from collections.abc import Iterator

TLS = Path(__file__).parents[2] / "data" / "tls"


@pytest.fixture(name="quorum", scope="module")
def _quorum(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, Path]]:
    """Port and properties file of a running quorum of one voter."""
    port = free_port()
    root = tmp_path_factory.mktemp("node")
    properties = root / "controller.properties"
    with running(root, port):
        assert main(["wait", "-c", str(properties), "--timeout", "20"]) == 0
        yield port, properties


def test_the_table_names_leader_epoch_and_high_watermark(
    quorum: tuple[int, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["status", "--bootstrap-controller", f"127.0.0.1:{quorum[0]}"])

    lines = capsys.readouterr().out.splitlines()
    assert code == 0
    assert lines[0].startswith(f"cluster {CLUSTER_ID}: node 1 leads epoch 1, high watermark ")
    assert lines[1].split() == ["node", "role", "log", "end", "lag", "last", "fetch", "directory"]
    assert lines[2].split()[:2] == ["1", "leader"]
    assert len(lines) == 3


def test_json_has_every_voter(quorum: tuple[int, Path], capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["status", "-c", str(quorum[1]), "--json"])

    found = json.loads(capsys.readouterr().out)
    end = found.pop("end_offset")
    assert code == 0
    assert found.pop("high_watermark") <= end
    assert found == {
        "cluster_id": CLUSTER_ID,
        "leader_id": 1,
        "epoch": 1,
        "voters": [
            {
                "id": 1, "role": "leader", "directory_id": None, "end_offset": end, "lag": 0, "fetched_ago_ms": None,
                "caught_up_ago_ms": 0,
            }
        ],
        "observers": [],
        "problems": [],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("field", "value"), [("leader_id", "1"), ("epoch", "1"), ("voters", "1"), ("cluster_id", CLUSTER_ID)]
)
def test_field_prints_one_value(
    quorum: tuple[int, Path], capsys: pytest.CaptureFixture[str], field: str, value: str
) -> None:
    code = main(["status", "-c", str(quorum[1]), "--field", field])

    assert (code, capsys.readouterr().out) == (0, f"{value}\n")


def test_without_a_leader_each_node_is_shown_with_its_error(capsys: pytest.CaptureFixture[str]) -> None:
    port = free_port()

    codes = [
        main(["status", "--bootstrap-controller", f"127.0.0.1:{port}"]),
        main(["status", "--bootstrap-controller", f"127.0.0.1:{port}", "--json"]),
        main(["wait", "--bootstrap-controller", f"127.0.0.1:{port}", "--timeout", "0"]),
    ]

    said = capsys.readouterr()
    assert codes == [2, 2, 1]
    first, header, row, found = said.out.splitlines()
    assert first == "no leader; each node's own view:"
    assert header.split() == ["node", "address", "role", "epoch", "leader", "log", "end", "last", "error"]
    assert row.split(maxsplit=6) == ["-", f"127.0.0.1:{port}", "-", "-", "-", "-", "[Errno 111] Connection refused"]
    assert json.loads(found)["nodes"][0]["error"] == "[Errno 111] Connection refused"
    assert said.err == (
        f"kraftctl wait: timed out after 0 s: no leader: 127.0.0.1:{port}: [Errno 111] Connection refused\n"
    )


def test_a_voter_without_a_majority_shows_its_own_view(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = free_ports_in_a_row(3)
    voters = f"1@127.0.0.1:{first},2@127.0.0.1:{first + 1}"
    listener = f"127.0.0.1:{first + 2}"
    with running(tmp_path, first, controller_quorum_voters=voters, kraft_http_listener=listener):
        code = main(["status", "-c", str(tmp_path / "controller.properties"), "--json"])

    one, two = json.loads(capsys.readouterr().out)["nodes"]
    assert code == 2
    assert (one["node_id"], one["leader_id"], one["end_offset"]) == (1, None, 0)
    assert one["role"] in {"unattached", "prospective", "prospective-voted", "candidate"}
    assert "no leader is known" in one["error"]
    assert two == {
        "address": f"127.0.0.1:{first + 1}", "node_id": 2, "role": None, "epoch": None, "leader_id": None,
        "end_offset": None, "error": "[Errno 111] Connection refused", "lasts_ms": None, "problems": [],
    }  # fmt: skip


def test_a_view_is_read_over_https_with_a_token(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = free_ports_in_a_row(3)
    token = tmp_path / "tokens"
    token.write_text("0123456789abcdef")
    keys = {
        "controller_quorum_voters": f"1@127.0.0.1:{first},2@127.0.0.1:{first + 1}",
        "kraft_http_listener": f"127.0.0.1:{first + 2}", "kraft_http_token_path": str(token),
        "kraft_http_tls_certificate_path": str(TLS / "node.pem"), "kraft_http_tls_key_path": str(TLS / "node.key"),
    }  # fmt: skip
    by_file = ["status", "-c", str(tmp_path / "controller.properties"), "--json"]
    (tmp_path / "wrong").write_text("fedcba9876543210")
    with running(tmp_path, first, **keys):
        found = []
        for arguments in (
            by_file,
            [*by_file, "--ca", str(TLS / "ca.pem"), "--token", str(token)],
            [*by_file, "--token", str(tmp_path / "wrong")],
            [*by_file, "--ca", str(TLS / "foreign.pem")],
            [*by_file, "--ca", str(TLS / "README.md")],
        ):
            code = main(arguments)
            node = json.loads(capsys.readouterr().out)["nodes"][0]
            found.append((code, node["role"] is not None, node["error"]))

    assert [(code, is_read) for code, is_read, _ in found] == [(2, True)] * 2 + [(2, False)] * 3
    assert all("no leader is known" in error for _, _, error in found[:2])
    assert "answers /quorum with 401: " in found[2][2]
    assert "certificate verify failed" in found[3][2]
    assert "README.md cannot be used" in found[4][2]


def test_field_without_a_leader_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["status", "--bootstrap-controller", f"127.0.0.1:{free_port()}", "--field", "leader_id"])

    said = capsys.readouterr()
    assert (code, said.out) == (2, "")
    assert said.err.startswith("kraftctl status: no leader: ")


@pytest.mark.parametrize("given", ["", "somewhere", "h:1,", "h:x"])
def test_a_malformed_address_is_refused(capsys: pytest.CaptureFixture[str], given: str) -> None:
    code = main(["status", "--bootstrap-controller", given])

    assert (code, capsys.readouterr().err) == (
        1,
        f"kraftctl status: --bootstrap-controller {given}: HOST:PORT,… is expected\n",
    )


def test_a_probe_without_an_http_port_asks_the_kafka_listener(
    quorum: tuple[int, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    codes = [main(["probe", what, "-c", str(quorum[1])]) for what in ("live", "started", "ready")]

    said = capsys.readouterr()
    assert codes == [0, 0, 1]
    assert said.out == "listener CONTROLLER answers\n" * 2
    assert said.err == (
        "kraftctl probe: kraft.http.listener is not set: only the HTTP port answers whether the node is ready\n"
    )


def test_a_probe_of_a_closed_port_fails(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["probe", "live", "--at", f"127.0.0.1:{free_port()}"])

    assert (code, capsys.readouterr().err) == (1, "kraftctl probe: [Errno 111] Connection refused\n")
