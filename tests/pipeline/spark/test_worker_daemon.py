"""Workers whose output is no longer read end without a message."""

from __future__ import annotations

import socket
import sys
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator


def test_a_worker_with_unread_output_ends_silently_and_other_errors_are_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    from pipeline import worker_daemon

    def fails(error: Exception) -> None:
        def worker(_sock: Any, _authenticated: bool) -> int:
            raise error

        monkeypatch.setattr(worker_daemon, "_worker", worker)

    fails(BrokenPipeError())
    assert worker_daemon.worker(None, True) == 1
    fails(ValueError("wrong"))
    with pytest.raises(ValueError, match="wrong"):
        worker_daemon.worker(None, True)


# Spark leaves the closing of its two files to the end of the process.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_what_a_worker_cannot_write_at_its_end_prints_nothing(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Spark's own `worker` on a socket whose other end is closed: its buffer is flushed last."""
    import pyspark.worker

    from pipeline import worker_daemon

    own_end, other_end = socket.socketpair()
    other_end.close()
    monkeypatch.setattr(sys, "argv", ["daemon"])
    monkeypatch.setattr(pyspark.worker, "main", lambda _asked, answer: answer.write(b"rows"))

    with own_end:
        code = worker_daemon.worker(own_end, True)

    assert (code, capfd.readouterr()) == (1, ("", ""))


def test_the_sessions_workers_are_forked_by_this_daemon(spark: Any) -> None:
    def whose(batches: Iterator[Any]) -> Iterator[Any]:
        import sys

        for _ in batches:
            is_ours = "pipeline.worker_daemon" in getattr(sys.modules["__main__"].__spec__, "name", "")
            yield pa.RecordBatch.from_pydict({"ours": [is_ours]})

    assert spark.range(1).mapInArrow(whose, "ours boolean").first()["ours"] is True


def test_the_planner_of_a_data_source_is_forked_by_this_daemon_too(spark: Any) -> None:
    """It asks for the partitions, in a process of its own, and `spark.python.daemon.module` is not read for it."""
    from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

    class Reader(DataSourceReader):  # type: ignore[misc]
        def partitions(self) -> list[Any]:
            import sys

            return [InputPartition(getattr(sys.modules["__main__"].__spec__, "name", ""))]

        def read(self, partition: Any) -> Iterator[Any]:
            yield (partition.value,)

    class Planned(DataSource):  # type: ignore[misc]
        @classmethod
        def name(cls) -> str:
            return "planned"

        def schema(self) -> str:
            return "module string"

        def reader(self, schema: Any) -> Reader:
            return Reader()

    spark.dataSource.register(Planned)

    assert spark.read.format("planned").load().first()["module"] == "pipeline.worker_daemon"
