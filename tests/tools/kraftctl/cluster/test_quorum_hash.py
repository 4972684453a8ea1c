"""`kraftctl quorum hash` on three real nodes: equal, and with a record that one of them has with other bytes."""

from __future__ import annotations

import json
import signal
from struct import pack_into
from typing import TYPE_CHECKING, Any

import pytest

from raft.storage.names import COMMITTED_PREFIX
from records.batch import batches
from records.crc import crc32c
from tests.controller.server.alterations import BROKER, alteration
from tests.deploy.watched import Watched, eventually, watched
from tests.tools.offline.stock_directories import stock_directory
from tools.kraftctl.cluster import quorum_hash
from tools.kraftctl.cluster.quorum_hash import Source
from tools.kraftctl.cluster.replica_logs import ReplicaLog
from tools.kraftctl.main import main
from tools.kraftctl.points.points import NoPoint

if TYPE_CHECKING:
    from pathlib import Path

KEY = "log.retention.ms"
BEFORE, AFTER = b"7777777", b"7777778"
CRC_AT, CRC_OF = 17, 21


def compared(
    quorum: Watched, capsys: pytest.CaptureFixture[str], *options: str
) -> tuple[int, dict[str, dict[str, Any]], dict[str, Any]]:
    """The exit code, the rows by the first two words of the replica, and the whole answer."""
    code = main(["quorum", "hash", "-c", str(quorum.directory / "node-1.properties"), "--json", *options])
    report = json.loads(capsys.readouterr().out)
    return code, {" ".join(row["replica"].split()[:2]): row for row in report["replicas"]}, report


def write(quorum: Watched, count: int) -> None:
    leader = quorum.await_leader()
    for number in range(count):
        value = BEFORE.decode() if number == count // 2 else str(1000 + number)
        assert quorum.ask(leader, alteration(BROKER, "", KEY, value)).responses[0].error_code == 0


def directories(quorum: Watched) -> list[str]:
    return [option for node in (1, 2, 3) for option in ("--directory", str(quorum.log_directory(node).parent))]


def test_a_quorum_whose_replicas_are_equal_and_then_one_record_of_one_is_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with watched(tmp_path) as quorum:
        write(quorum, 20)
        code, rows, _ = compared(quorum, capsys)
        leader = quorum.await_leader()
        followers = [node for node in (1, 2, 3) if node != leader]

        assert code == 0, rows
        assert {name.split()[0] for name in rows} == {"leader", "node"}
        assert sorted(rows)[1:] == [f"node {node}" for node in followers]
        assert len({row["log"] for row in rows.values()}) == 1

        code, rows, report = compared(quorum, capsys, *directories(quorum))
        assert code == 0, rows
        assert len(rows) == 6
        assert len({row["log"] for row in rows.values()}) == 1
        assert len({row["state"] for row in rows.values() if row["state"]}) == 1
        assert report["end_offset"] > 20

        victim = followers[0]
        quorum.signal(victim, signal.SIGKILL)
        offset = tamper(quorum.log_directory(victim) / f"{0:020}.log")
        quorum.start(victim)
        quorum.await_ready(victim)
        eventually(lambda: compared(quorum, capsys)[0] == 2, "the difference is found")
        code, rows, _ = compared(quorum, capsys, *directories(quorum))

    assert code == 2
    assert {name for name, row in rows.items() if row["result"] == "differs"} == {
        f"node {victim}", str(quorum.log_directory(victim).parent) + " of",
    }  # fmt: skip
    by_port, by_directory = (row for row in rows.values() if row["result"] == "differs")
    assert f"batch of offsets {offset} to {offset}: other bytes" in by_port["reason"]
    assert f"record {offset} has other bytes: ConfigRecord here, ConfigRecord on the leader" in by_directory["reason"]
    assert AFTER.decode() not in by_directory["reason"]


def tamper(path: Path) -> int:
    """Change one value in a log, with a right CRC; returns the offset of its batch.

    A node that has saved a checksum of the committed prefix refuses such a log, so the checksum is removed.
    """
    (path.parent / COMMITTED_PREFIX).unlink(missing_ok=True)
    data = bytearray(path.read_bytes())
    batch = next(each for each in batches(data) if BEFORE in data[each.position : each.position + each.size])
    at = data.index(BEFORE, batch.position)
    data[at : at + len(AFTER)] = AFTER
    pack_into(">I", data, batch.position + CRC_AT, crc32c(data[batch.position + CRC_OF : batch.position + batch.size]))
    path.write_bytes(data)
    return batch.base_offset


def test_a_snapshot_that_the_leader_writes_meanwhile_is_no_end(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def leader_log(_addresses: object, _client: str, end_offset: int, _security: object) -> ReplicaLog:
        asked.append(end_offset)
        if end_offset < 12:
            raise NoPoint("it begins with the checkpoint at offset 12")
        return ReplicaLog("leader", 12, end_offset, {})

    ends = iter(({"the leader": 9, "node 2": 7}, {"the leader": 15, "node 2": 11}, {"the leader": 15, "node 2": 14}))
    monkeypatch.setattr(quorum_hash, "leader_log", leader_log)
    monkeypatch.setattr(quorum_hash, "PAUSE_S", 0)

    log = quorum_hash._read_leader(Source([], None), lambda: next(ends), None)

    assert (log.end_offset, asked) == (14, [7, 11, 14])
    with pytest.raises(OSError, match="node 2 ends first, at offset 3"):
        quorum_hash._read_leader(Source([], None), lambda: {"the leader": 20, "node 2": 3}, None)


def test_a_voter_that_cannot_be_read_is_named_with_the_way_to_compare_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with watched(tmp_path) as quorum:
        leader = quorum.await_leader()
        silent = next(node for node in (1, 2, 3) if node != leader)
        quorum.signal(silent, signal.SIGKILL)

        code, rows, _ = compared(quorum, capsys)
        assert code == 1
        assert rows[f"voter {silent}"]["result"] == "not compared"
        assert "--directory" in rows[f"voter {silent}"]["reason"]

        code, rows, _ = compared(quorum, capsys, "--directory", str(quorum.log_directory(silent).parent))
        assert code == 0, rows

        other = stock_directory(tmp_path)
        assert main(
            ["quorum", "hash", "-c", str(quorum.directory / "node-1.properties"), "--directory", str(other)]
        ) == 1  # fmt: skip
        assert "is of cluster" in capsys.readouterr().err
