"""The checks at the end of a chaos run: a planted loss, duplicate or difference is detected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from records.batch import build_batch
from simulations.chaos.clients import History
from simulations.chaos.stock import Numbers
from simulations.chaos.verdict import check_history, check_logs, check_numbers, check_processes, check_purpose

if TYPE_CHECKING:
    from pathlib import Path

    from simulations.chaos.quorum import Quorum


class Left:
    """The files and histories of three nodes after a run."""

    def __init__(self, directory: Path, logs: dict[int, bytes], says: str = "") -> None:
        self.directory = directory
        self.died: list[str] = []
        self.failures = dict.fromkeys(logs, 0)
        for node, data in logs.items():
            self.log_directory(node).mkdir(parents=True)
            (self.log_directory(node) / f"{0:020}.log").write_bytes(data)
            (directory / f"node-{node}.log").write_text(says)

    def log_directory(self, node: int) -> Path:
        return self.directory / f"node-{node}" / "__cluster_metadata-0"


def left(*args: Any, **kwargs: Any) -> Quorum:
    return cast("Quorum", Left(*args, **kwargs))


def batch(offset: int, value: bytes, epoch: int = 1) -> bytes:
    return build_batch([value], base_offset=offset, leader_epoch=epoch, timestamp_ms=0)


def history(*said: tuple[Any, Any]) -> History:
    made = History()
    for asked, answered in said:
        made.answer(made.ask(0, asked), answered)
    return made


def test_a_linearizable_history_is_no_violation() -> None:
    recorded = history(
        (("create", "a", 1, (("retention.ms", "5"),)), ("ok", b"1")),
        (("read", "a"), (("retention.ms", "5"),)),
        (("delete", "a", b"1"), "ok"),
    )

    assert check_history(recorded) == []


def test_the_loss_of_an_acknowledged_topic_is_detected() -> None:
    recorded = history((("create", "a", 1, ()), ("ok", b"1")), (("read", "a"), "missing"))

    assert [text[:4] for text in check_history(recorded)] == ["C05:"]


def test_a_history_in_which_everything_is_refused_fails_the_run() -> None:
    refused = history((("create", "a", 1, ()), "refused"), (("read", "a"), "missing"))
    done = history((("create", "a", 1, ()), ("ok", b"1")))

    assert (check_history(refused), len(check_purpose(refused)), check_purpose(done)) == ([], 1, [])


def test_logs_that_agree_in_their_common_range_are_no_violation(tmp_path: Path) -> None:
    long = batch(0, b"a") + batch(1, b"b") + batch(2, b"c")

    assert check_logs(left(tmp_path, {1: long, 2: batch(0, b"a") + batch(1, b"b"), 3: long})) == []


def test_a_log_with_another_batch_is_detected(tmp_path: Path) -> None:
    one, other = batch(0, b"a") + batch(1, b"b"), batch(0, b"a") + batch(1, b"x")

    wrong = check_logs(left(tmp_path, {1: one, 2: other, 3: one}))

    assert [text[:34] for text in wrong] == ["S04: at offset 1 node 1 has (1, 1,"]


def test_a_log_with_a_hole_is_detected(tmp_path: Path) -> None:
    whole = batch(0, b"a") + batch(1, b"b") + batch(2, b"c")

    wrong = check_logs(left(tmp_path, {1: whole, 2: whole, 3: batch(0, b"a") + batch(2, b"c")}))

    assert len(wrong) == 1


def test_a_node_that_failed_or_ended_by_itself_is_detected(tmp_path: Path) -> None:
    failed = "… node_failed error=… Traceback (most recent call last) …\n"
    quorum = left(tmp_path, dict.fromkeys((1, 2, 3), batch(0, b"a")), says=failed)
    quorum.died.append("node 2 ended by itself with exit code 1")

    assert len(check_processes(quorum)) == 4

    # Node 3 had to fail, and says where.
    quorum.failures[3] = 1
    assert len(check_processes(quorum)) == 3

    (tmp_path / "node-3.log").write_text("Traceback (most recent call last):\n")
    assert len(check_processes(quorum)) == 4


def test_lost_and_doubled_records_are_detected() -> None:
    assert check_numbers(Numbers({1, 2}, [1, 2, 3])) == []
    assert len(check_numbers(Numbers({1, 2}, [1, 3, 3]))) == 2
    assert check_numbers(Numbers(set(), [])) == ["C16: no record was ever confirmed"]
