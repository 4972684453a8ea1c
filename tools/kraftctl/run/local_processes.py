"""The processes of a quorum on this machine: those that `kraftctl up` starts, and those that run in its directory."""

from __future__ import annotations

import contextlib
import fcntl
import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from typing import NamedTuple

from tools.kraftctl.run import bound_process
from tools.offline.lock import lock_holder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

STOP_S = 8.0
# A `kraftctl up` that is stopped stops its brokers, then its nodes, each within STOP_S.
STOP_ALL_S = 3 * STOP_S
POLL_S = 0.05
# A `kraftctl up` holds a POSIX lock on this file of its directory, as a node does on `.lock` of its own.
LOCK_FILE = "up.lock"


class Exit(NamedTuple):
    """The end of a process. time_s: of `time.perf_counter`; code: negative for a signal."""

    name: str
    code: int
    time_s: float


class Processes:
    """Named processes, each with its log file; the end of each is put into `exits` at once (None: a wake-up)."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self.exits: queue.SimpleQueue[Exit | None] = queue.SimpleQueue()

    def log_of(self, name: str) -> Path:
        return self._directory / f"{name}.log"

    def pid(self, name: str) -> int | None:
        """None while the process does not run."""
        process = self._running.get(name)
        return None if process is None or process.poll() is not None else process.pid

    def start(self, name: str, command: list[str]) -> None:
        """On Linux the process gets SIGTERM when this one ends in any way, SIGKILL too."""
        if sys.platform == "linux":
            # The kernel sends the signal when the thread ends that started the process.
            assert threading.current_thread() is threading.main_thread(), "started by the main thread alone"
            command = [sys.executable, "-I", "-S", bound_process.__file__, str(os.getpid()), *command]
        with self.log_of(name).open("ab") as log:
            # In a session of its own: Ctrl-C goes to this process only, which then stops the others with SIGTERM.
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )
        self._running[name] = process
        threading.Thread(target=self._await_end, args=(name, process), daemon=True).start()

    def _await_end(self, name: str, process: subprocess.Popen[bytes]) -> None:
        code = process.wait()
        self.exits.put(Exit(name, code, time.perf_counter()))

    def stop(self, names: Iterable[str] | None = None) -> None:
        """Send SIGTERM to the processes, and after 8 s SIGKILL to those that still run. names: None for all."""
        chosen = [self._running[name] for name in (self._running if names is None else names)]
        for process in chosen:
            process.terminate()
        end = time.monotonic() + STOP_S
        for process in chosen:
            try:
                process.wait(max(0.1, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def exit_reason(self, ended: Exit) -> str:
        """Why a process ended: the signal that ended it, or its exit code and the last line of its log."""
        if ended.code < 0:
            return f"killed by {signal.Signals(-ended.code).name}"
        last = self.log_of(ended.name).read_text(errors="replace").strip().splitlines()
        return f"exited with code {ended.code}: {last[-1] if last else 'its log is empty'}"


class AlreadyRuns(Exception):
    """Another `kraftctl up` runs in the directory. process: its id, 0 if it is not known here."""

    def __init__(self, process: int) -> None:
        super().__init__(process)
        self.process = process


@contextmanager
def alone_in_directory(directory: Path) -> Iterator[None]:
    """Be the only `kraftctl up` of a directory, which must exist. Raises AlreadyRuns, OSError."""
    path = directory / LOCK_FILE
    with path.open("a") as lock:
        try:
            fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            raise AlreadyRuns(lock_holder(str(path)) or 0) from None
        yield


def up_process(directory: Path) -> int | None:
    """The `kraftctl up` of a directory; None if none runs, 0 if its process id is not known here. Raises OSError."""
    return lock_holder(str(directory / LOCK_FILE))


def running_processes(directory: Path) -> dict[str, int]:
    """Name -> process id of each node and broker whose log directory is locked, whoever started it; 0 if not known."""
    named = {
        path.parent.name: lock_holder(str(path))
        for path in sorted(directory.glob("*/.lock"))
        if re.fullmatch(r"(node|broker)-\d+", path.parent.name)
    }
    return {name: process for name, process in named.items() if process is not None}


def stop_directory(directory: Path) -> bool:
    """Stop the `kraftctl up` of a directory, then each process that still runs there; False if nothing ran.

    Raises OSError: a process may not be signalled, or runs in another container or on another machine.
    """
    up = up_process(directory)
    if up is not None:
        _signal("kraftctl up", up, signal.SIGTERM)
        _await(lambda: up_process(directory) != up, STOP_ALL_S)
    left = running_processes(directory)
    for name, process in left.items():
        _signal(name, process, signal.SIGTERM)
    if not _await(lambda: not running_processes(directory), STOP_S):
        for name, process in running_processes(directory).items():
            _signal(name, process, signal.SIGKILL)
        _await(lambda: not running_processes(directory), STOP_S)
    return up is not None or bool(left)


def _signal(name: str, process: int, number: signal.Signals) -> None:
    if not process:
        raise OSError(f"{name} runs in another container or on another machine; stop it there")
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, number)


def _await(condition: Callable[[], bool], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(POLL_S)
    return True
