"""Workers whose output is no longer read end without a message."""

from __future__ import annotations

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


def test_the_sessions_workers_are_forked_by_this_daemon(spark: Any) -> None:
    def whose(batches: Iterator[Any]) -> Iterator[Any]:
        import sys

        for _ in batches:
            is_ours = "pipeline.worker_daemon" in getattr(sys.modules["__main__"].__spec__, "name", "")
            yield pa.RecordBatch.from_pydict({"ours": [is_ours]})

    assert spark.range(1).mapInArrow(whose, "ours boolean").first()["ours"] is True
