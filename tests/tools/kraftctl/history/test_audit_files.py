"""Audit logs as `kraftctl history` reads them: requests by epoch and offset, and files that are damaged."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.records.golden import GOLDEN
from tools.kraftctl.history.audit_files import (
    FOLLOWED_MAX,
    LINE_BYTES_MAX,
    Asked,
    Following,
    Requests,
    json_of,
    line_of,
    read_requests,
)
from tools.kraftctl.history.history import run
from tools.kraftctl.points.changes import Change, Committed

if TYPE_CHECKING:
    from pathlib import Path

NODE = str(GOLDEN / "4.3-static/node-1")


def line(epoch: int, first: int, last: int, principal: str | None = "User:ann", **fields: Any) -> bytes:
    said = {
        "time": "2026-11-22T16:00:00.000Z", "node_id": 1, "api": "DeleteTopics", "version": 6, "principal": principal,
        "client_id": "c", "client_address": "10.0.0.1", "listener": "CONTROLLER", "outcome": "committed",
        "epoch": epoch, "first_offset": first, "last_offset": last, "resources": [], **fields,
    }  # fmt: skip
    return json.dumps(said).encode() + b"\n"


def at(epoch: int, offset: int) -> Committed:
    return Committed(offset, 0, epoch, "RemoveTopicRecord", Change("topic", "orders", "", {}, None))


def principals(requests: Requests, *places: tuple[int, int]) -> list[str | None]:
    asked = [requests.of(at(*place)) for place in places]
    return [None if each is None else each.principal for each in asked]


def test_a_request_is_found_by_the_epoch_and_all_offsets_of_its_records() -> None:
    places = [(7, 9), (7, 10), (7, 12), (7, 13), (8, 10)]
    requests = Requests(places)

    requests.take(line(7, 10, 12, "User:ann"))
    requests.take(line(7, 20, 22, "User:bob"))
    requests.take(line(8, 10, 10, "User:eve"))

    assert principals(requests, *places) == [None, "User:ann", "User:ann", None, "User:eve"]
    assert requests.problems() == []


def test_lines_of_requests_that_wrote_nothing_are_no_problem() -> None:
    requests = Requests([(7, 1)])
    said = {"api": "DeleteTopics", "outcome": "refused", "resources": []}

    requests.take(json.dumps(said).encode())

    assert (requests.problems(), principals(requests, (7, 1))) == ([], [None])


@pytest.mark.parametrize(
    "damaged",
    [
        b'{"api": "DeleteT', b"\xff\xfe\n", b"[]", b"1", b"[" * 100_000, b'{"api": 1, "outcome": "x"}',
        line(7, 1, 1, node_id="1"), line(7, 1, 1, client_id=5), line(7, 1, 1, format=2),
        line(7, 1, 1, forwarder={"principal": "User:x"}),
        line(7, 1, 1, forwarder=[1]), line(True, 1, 1), line(7, 1, 1, time=None),
    ],
    ids=lambda value: value[:12].decode("latin-1"),
)  # fmt: skip
def test_a_line_that_is_none_of_an_audit_log_is_counted(damaged: bytes) -> None:
    requests = Requests([(7, 1)])

    requests.take(damaged)

    assert (requests.unreadable, principals(requests, (7, 1))) == (1, [None])


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_counted(data: bytes) -> None:
    Requests([(7, 1)]).take(data)


def test_a_line_without_an_end_does_not_fill_the_memory(tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    path.write_bytes(b"x" * (3 * LINE_BYTES_MAX) + b"\n" + line(7, 1, 1) + b"\n\n" + b"y" * (2 * LINE_BYTES_MAX))

    requests = read_requests([str(path)], [(7, 1)])

    assert (requests.unreadable, principals(requests, (7, 1))) == (2, ["User:ann"])


def test_a_compressed_file_that_is_cut_short_is_an_error_with_its_name(tmp_path: Path) -> None:
    path = tmp_path / "audit.log.1.gz"
    path.write_bytes(gzip.compress(line(7, 1, 1) * 1000)[:-20])

    with pytest.raises(OSError, match=r"audit\.log\.1\.gz"):
        read_requests([str(path)], [(7, 1)])


def test_a_file_is_followed_from_its_end_or_its_begin_and_through_rotations(tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    path.write_bytes(line(7, 1, 1))
    with Following([str(path)], from_begin=False) as since_now, Following([str(path)], from_begin=True) as all_of_it:

        def found(*offsets: int) -> list[tuple[bool, bool]]:
            changes = [at(7, offset) for offset in offsets]
            return [(since_now.of(each) is not None, all_of_it.of(each) is not None) for each in changes]

        assert found(1, 2) == [(False, True), (False, False)]
        with path.open("ab") as file:
            file.write(b"damaged\n" + line(7, 2, 3) + line(7, 4, 4)[:20])
        assert found(2, 3, 4) == [(True, True), (True, True), (False, False)]
        with path.open("ab") as file:
            file.write(line(7, 4, 4)[20:])
        path.rename(tmp_path / "audit.log.1")
        assert found(4) == [(True, True)]
        path.write_bytes(line(7, 5, 5))
        assert found(5, 2) == [(True, True), (True, True)]
        assert since_now.of(at(8, 5)) is None


def test_of_followed_files_no_more_than_a_number_of_requests_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    path.write_bytes(b"".join(line(7, offset, offset) for offset in range(FOLLOWED_MAX + 1)))

    with Following([str(path)], from_begin=True) as following:
        are_kept = [following.of(at(7, offset)) is not None for offset in (0, 1)]

    assert are_kept == [False, True]


def test_a_request_on_one_line_moves_no_cursor() -> None:
    asked = Asked("t", 1, "DeleteTopics", 6, "User:a\x1b[2J", "c\nd", "10.0.0.1", "CONTROLLER", None)

    assert line_of(asked) == r"[DeleteTopics by User:a\x1b[2J, client c\nd, from 10.0.0.1]"
    assert line_of(asked._replace(principal=None)) == "[DeleteTopics by node 1 itself]"
    assert line_of(asked._replace(client_id="", forwarder={"principal": "User:b", "address": "x"})) == (
        r"[DeleteTopics by User:a\x1b[2J, from 10.0.0.1 by way of User:b]"
    )
    assert json_of(None) is None
    assert "forwarder" not in (json_of(asked) or {})


def test_history_shows_the_request_behind_its_change(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a").write_bytes(b"damaged\n")
    arguments = ["--topic", "manual", "--type", "topic", "--directory", NODE]
    assert run([*arguments, "--json"]) == 0
    epoch = json.loads(capsys.readouterr().out)["changes"][1]["epoch"]
    (tmp_path / "b").write_bytes(line(epoch, 150, 153) + line(epoch + 1, 67, 67, "User:eve"))

    assert run([*arguments, "--audit", str(tmp_path / "a"), str(tmp_path / "b")]) == 0

    said = capsys.readouterr()
    assert [each.partition(") ")[2] for each in said.out.splitlines()] == [
        "created", "deleted  [DeleteTopics by User:ann, client c, from 10.0.0.1]", "created",
    ]  # fmt: skip
    assert "warning: 1 lines are not of an audit log" in said.err
    assert "3 changes, of which 1 have a request" in said.err


def test_history_refuses_an_audit_log_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    missing = str(tmp_path / "missing")

    assert run(["--topic", "manual", "--directory", NODE, "--audit", missing]) == 1
    assert missing in capsys.readouterr().err
