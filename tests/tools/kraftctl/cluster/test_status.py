"""The output of `kraftctl status`, `wait` and `probe` with a real quorum, and without one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from records.schema import replace
from simulations.chaos.brokers import registration
from simulations.chaos.ports import free_ports_in_a_row
from tests.benchmarks.client import FEATURES
from tests.controller.server.processes import CLUSTER_ID, free_port, running
from tools.client.connection import Connection
from tools.client.quorum import Member, View
from tools.kraftctl.cluster.status import missing, table
from tools.kraftctl.main import main

if TYPE_CHECKING:
    from collections.abc import Iterator

TLS = Path(__file__).parents[3] / "data" / "tls"


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

    report = json.loads(capsys.readouterr().out)
    end = report.pop("end_offset")
    assert code == 0
    assert report.pop("high_watermark") <= end
    assert report == {
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
        "counts": None,
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
    first, header, row, report = said.out.splitlines()
    assert first == "no leader; each node's own view:"
    assert header.split() == ["node", "address", "role", "epoch", "leader", "log", "end", "last", "error"]
    assert row.split(maxsplit=6) == ["-", f"127.0.0.1:{port}", "-", "-", "-", "-", "[Errno 111] Connection refused"]
    assert json.loads(report)["nodes"][0]["error"] == "[Errno 111] Connection refused"
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
        "counts": None,
    }  # fmt: skip


def test_a_node_is_asked_by_another_name_than_it_advertises(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    port, http_port = free_port(), free_port()
    with running(tmp_path, port, kraft_http_listener=f"127.0.0.1:{http_port}"):
        assert main(["wait", "-c", str(tmp_path / "controller.properties"), "--timeout", "20"]) == 0
        capsys.readouterr()
        main(["autopilot", "state", "--bootstrap-controller", f"localhost:{port}", "--json"])

    said = capsys.readouterr()
    assert said.err == ""
    assert json.loads(said.out)["node_id"] == 1


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
        results = []
        for arguments in (
            by_file,
            [*by_file, "--ca", str(TLS / "ca.pem"), "--token", str(token)],
            [*by_file, "--token", str(tmp_path / "wrong")],
            [*by_file, "--ca", str(TLS / "foreign.pem")],
            [*by_file, "--ca", str(TLS / "README.md")],
        ):
            code = main(arguments)
            node = json.loads(capsys.readouterr().out)["nodes"][0]
            results.append((code, node["role"] is not None, node["error"]))

    assert [(code, is_read) for code, is_read, _ in results] == [(2, True)] * 2 + [(2, False)] * 3
    assert all("no leader is known" in error for _, _, error in results[:2])
    assert "answers /quorum with 401: " in results[2][2]
    assert "certificate verify failed" in results[3][2]
    assert "README.md cannot be used" in results[4][2]


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


def of(node: int, directory: str, fetched_ms: int) -> Member:
    return Member(node, directory, 10, fetched_ms, fetched_ms)


def test_the_former_directory_of_a_replaced_voter_is_an_observer_and_who_is_silent_is_marked() -> None:
    voters = {1: of(1, "a", 100_000), 2: of(2, "new", 99_900), 3: of(3, "c", 96_000)}
    former = of(2, "old", 40_000)
    view = View(CLUSTER_ID, 1, 5, 10, voters, {2: former}, ("c1", 9093), (former,))

    rows = [line.split("  ") for line in table(view)[2:]]

    roles = [(row[0].strip(), next(cell for cell in row[1:] if cell).strip()) for row in rows]
    assert roles == [("1", "leader"), ("2", "follower"), ("3", "follower, silent"), ("2", "observer, silent")]
    assert missing(view) == [3]


def test_fenced_brokers_and_partitions_in_trouble_are_shown_with_an_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    port, http = free_port(), free_port()
    with running(tmp_path, port, kraft_http_listener=f"127.0.0.1:{http}"):
        path = str(tmp_path / "controller.properties")
        assert main(["wait", "-c", path, "--timeout", "20"]) == 0
        assert main(["status", "-c", path]) == 0
        capsys.readouterr()
        with Connection("127.0.0.1", port, "test", 5.0) as connection:
            request = replace(registration(7, FEATURES), cluster_id=CLUSTER_ID)
            assert connection.ask(request).error_code == 0

        assert main(["status", "-c", path]) == 1
        assert "fenced brokers: 1 (7)" in capsys.readouterr().out.splitlines()
        assert main(["status", "-c", path, "--json"]) == 1
        assert json.loads(capsys.readouterr().out)["counts"] == {
            "fenced_brokers": [7], "fenced_brokers_in_all": 1,
            "offline_partitions": 0, "under_replicated_partitions": 0,
        }  # fmt: skip
