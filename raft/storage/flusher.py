"""The one thread that waits for the disk: it runs jobs in the order in which they were submitted."""

from __future__ import annotations

import threading
from queue import SimpleQueue
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable


class Executor(Protocol):
    """Runs jobs one after the other, in order. A simulation has its own, which runs them at simulated times."""

    def submit(self, job: Callable[[], None]) -> None: ...

    def close(self) -> None:
        """Return when all submitted jobs have run; later ones are not accepted."""


class FlushThread:
    """A thread. Jobs must not raise: each reports its own errors."""

    def __init__(self, name: str = "flush") -> None:
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._closed = False
        # A daemon, so that a node that stops on a fault does not hang on a disk that hangs.
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def submit(self, job: Callable[[], None]) -> None:
        assert not self._closed, "a job for a flush thread that is closed"
        self._jobs.put(job)

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._jobs.put(None)
            self._thread.join()

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()


class AtOnce:
    """Runs each job when it is submitted: for tools and tests, which may wait."""

    def submit(self, job: Callable[[], None]) -> None:
        job()

    def close(self) -> None:
        """Nothing is left to run."""
