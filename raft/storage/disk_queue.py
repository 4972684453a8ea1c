"""Jobs for the flush thread, group commit, and the stop of all work at the first failure."""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from raft.storage.errors import DiskFailed

if TYPE_CHECKING:
    from collections.abc import Callable

    from raft.storage.files import Files
    from raft.storage.flusher import Executor


class DiskQueue:
    """Passes jobs to the executor. After the first error, here or there, nothing more is done or reported. An error
    of any kind counts: a thread that ended in silence would leave a node that runs and never flushes again.

    on_failure: called once, on the thread of the failure. asked, done: how many jobs were submitted, and have ended.
    """

    def __init__(self, executor: Executor, on_failure: Callable[[DiskFailed], None]) -> None:
        self._executor = executor
        self._on_failure = on_failure
        self._failing = threading.Lock()
        self.failure: DiskFailed | None = None
        self.asked = self.done = 0

    def submit(self, operation: str, job: Callable[[], None]) -> None:
        """Run `job` after all jobs that were submitted before. operation: its name, for the text of an error."""

        def run_guarded() -> None:
            if self.failure is None:
                try:
                    job()
                except Exception as error:  # whatever it is, the node ends
                    self.fail(operation, error)
            self.done += 1

        self.asked += 1
        self._executor.submit(run_guarded)

    def fail(self, operation: str, error: Exception) -> DiskFailed:
        """Stop all work; returns the first failure, which may be an earlier one."""
        with self._failing:  # two threads may fail at once; only the first failure is reported
            is_first = self.failure is None
            if self.failure is None:
                self.failure = DiskFailed(operation, error)
        if is_first:
            self._on_failure(self.failure)
        return self.failure

    def close(self) -> None:
        self._executor.close()


class LogPoint(NamedTuple):
    """A log operation when it is complete in memory and page cache. handle: None if no file was written; names_changed:
    files were made, renamed or removed; end_offset, log_bytes: of the log after it.
    """

    number: int
    handle: int | None
    names_changed: bool
    end_offset: int
    log_bytes: int


class GroupCommit:
    """Makes log operations durable: each flush covers all operations since the one before it began."""

    def __init__(self, files: Files, directory: str, queue: DiskQueue, on_flushed: Callable[[LogPoint], None]) -> None:
        self._files = files
        self._directory = directory
        self._queue = queue
        self._on_flushed = on_flushed
        self._waiting: deque[LogPoint] = deque()
        self._scheduled = False

    def add(self, point: LogPoint) -> None:
        """Called after an operation, when its bytes are in the page cache."""
        self._waiting.append(point)
        # The flush clears the mark before it takes what waits. So whatever is added under a set mark is taken by a
        # flush to come.
        if not self._scheduled:
            self._scheduled = True
            self._queue.submit("flush of the log", self._flush)

    def _flush(self) -> None:
        self._scheduled = False
        handles: list[int] = []
        names_changed = False
        last = None
        while self._waiting:
            last = self._waiting.popleft()
            names_changed |= last.names_changed
            if last.handle is not None and last.handle not in handles:
                handles.append(last.handle)
        if last is None:
            return
        for handle in handles:
            self._files.sync_data(handle)
        if names_changed:
            self._files.sync_directory(self._directory)
        self._on_flushed(last)
