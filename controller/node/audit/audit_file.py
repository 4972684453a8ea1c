"""The file of the audit log: lines are queued on the loop's thread, and written and rotated on a thread of its own.

FILE is the current one, FILE.1 the newest that was rotated. A line is in the file some milliseconds after `put`; it is
not flushed to the disk, so a power failure may lose the last seconds.
"""

from __future__ import annotations

import errno
import os
import stat
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

# Bytes of lines that may wait for the disk. One more line is dropped, and counted.
QUEUE_BYTES_MAX = 4 << 20
# Lines of this time are written together; the first line after a pause is written at once.
BATCH_S = 0.05
RETRY_S = 1.0
# A node that stops waits this long for the last lines: a disk that hangs must not hold it.
CLOSE_S = 1.0
MODE = 0o640
# Mistakes of the configuration, for which a node refuses to start. With other errors it starts without the file.
_REFUSED = {errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EACCES, errno.EPERM, errno.ELOOP, errno.ENAMETOOLONG}


class AuditFile:
    """note: takes events for the node's log, on any thread. lost: lines that were dropped since the start."""

    def __init__(
        self,
        path: str,
        bytes_max: int,
        rotated_files: int,
        note: Callable[[str, dict[str, Any]], None],
        *,
        queue_bytes_max: int = QUEUE_BYTES_MAX,
        retry_s: float = RETRY_S,
    ) -> None:
        """Raises OSError if the file can never be written: its directory is missing or not writable, for example."""
        self.path = path
        self.lost = 0
        self._bytes_max = bytes_max
        self._rotated_files = rotated_files
        self._note = note
        self._queue_bytes_max = queue_bytes_max
        self._retry_s = retry_s
        self._lock = threading.Lock()  # of the next three, and `lost`
        self._queued: list[bytes] = []
        self._queued_bytes = 0
        self._is_losing = False
        # Of the thread: what it took from the queue, and how much of the first line is written.
        self._taken: list[bytes] = []
        self._begun = 0
        self._fd = -1
        self._size = 0
        self._is_failing = False
        self._is_closing = False
        self._wake = threading.Event()
        self._pause = threading.Event()
        try:
            self._open()
        except OSError as error:
            if error.errno in _REFUSED:
                raise
            self._on_failure(error)
        self._thread = threading.Thread(target=self._run, name="audit-log", daemon=True)
        self._thread.start()

    def put(self, line: bytes) -> None:
        """Queue a line, which ends with a newline; it is dropped if too many wait."""
        with self._lock:
            is_full = self._queued_bytes + len(line) > self._queue_bytes_max
            if is_full:
                self.lost += 1
                is_first, self._is_losing = not self._is_losing, True
            else:
                self._queued.append(line)
                self._queued_bytes += len(line)
        if is_full:
            if is_first:
                self._note("audit_lines_lost", {"path": self.path, "limit_bytes": self._queue_bytes_max})
        elif not self._wake.is_set():
            self._wake.set()

    def close(self) -> None:
        """Write what is queued, and end; gives up after CLOSE_S."""
        self._is_closing = True
        self._wake.set()
        self._pause.set()
        self._thread.join(CLOSE_S)

    def _run(self) -> None:
        while True:
            self._wake.wait()
            self._wake.clear()
            is_closing = self._is_closing  # read before the queue: lines that were queued before `close` are written
            try:
                self._write_all()
            except OSError as error:
                self._on_failure(error)
            if is_closing:
                if self._fd >= 0:
                    os.close(self._fd)
                return
            if self._is_failing:
                self._pause.wait(self._retry_s)
                self._wake.set()
            else:
                self._pause.wait(BATCH_S)

    def _write_all(self) -> None:
        """Write the lines that are queued now. Raises OSError."""
        with self._lock:
            self._taken += self._queued
            self._queued = []
        if not self._taken and not self._is_failing:
            return
        if self._fd < 0 or self._is_replaced():
            self._open()
        while self._taken:
            if self._size and self._begun == 0 and self._size + len(self._taken[0]) > self._bytes_max:
                self._rotate()
            room = max(self._bytes_max - self._size, 1)
            count, size = 0, 0
            while count < len(self._taken) and (count == 0 or size + len(self._taken[count]) <= room):
                size += len(self._taken[count])
                count += 1
            self._wrote(os.write(self._fd, b"".join(self._taken[:count])[self._begun :]))
        self._on_success()

    def _wrote(self, written: int) -> None:
        """Take what is written from the queue: whole lines, and the beginning of the next."""
        self._size += written
        self._begun += written
        count = done = 0
        while count < len(self._taken) and done + len(self._taken[count]) <= self._begun:
            done += len(self._taken[count])
            count += 1
        del self._taken[:count]
        self._begun -= done
        with self._lock:
            self._queued_bytes -= done

    def _is_replaced(self) -> bool:
        """Whether the path leads to another file now: another program renamed or deleted this one."""
        try:
            there, ours = os.stat(self.path), os.fstat(self._fd)  # noqa: PTH116 - a path is text here
        except FileNotFoundError:
            return True
        self._size = ours.st_size if stat.S_ISREG(ours.st_mode) else 0
        return (there.st_dev, there.st_ino) != (ours.st_dev, ours.st_ino)

    def _open(self) -> None:
        """Open the file at the path. A line that a crash or a full disk cut short is ended. Raises OSError."""
        self._forget()
        self._fd = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, MODE)
        status = os.fstat(self._fd)
        self._size = status.st_size if stat.S_ISREG(status.st_mode) else 0
        if self._size and os.pread(self._fd, 1, self._size - 1) != b"\n":
            self._size += os.write(self._fd, b"\n")

    def _forget(self) -> None:
        """Close the file. A line of which a part is in it is lost."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
        if self._begun:
            with self._lock:
                self.lost += 1
                self._queued_bytes -= len(self._taken[0])
            del self._taken[0]
            self._begun = 0

    def _rotate(self) -> None:
        """FILE becomes FILE.1, FILE.1 becomes FILE.2, and so on; the oldest is deleted. Raises OSError."""
        number = max(self._rotated_files, 1)
        while self._delete(f"{self.path}.{number}"):
            number += 1  # an earlier configuration may have kept more files
        for number in range(self._rotated_files - 1, 0, -1):
            if os.path.exists(f"{self.path}.{number}"):  # noqa: PTH110
                os.replace(f"{self.path}.{number}", f"{self.path}.{number + 1}")  # noqa: PTH105
        if self._rotated_files:
            os.replace(self.path, f"{self.path}.1")  # noqa: PTH105
        else:
            os.unlink(self.path)  # noqa: PTH108
        self._open()

    def _delete(self, path: str) -> bool:
        try:
            os.unlink(path)  # noqa: PTH108
        except FileNotFoundError:
            return False
        return True

    def _on_failure(self, error: OSError) -> None:
        """The lines wait for the next attempt. The node's log counts repeats of the same cause."""
        self._is_failing = True
        self._note("audit_log_failed", {"path": self.path, "error": error.strerror or str(error)})

    def _on_success(self) -> None:
        with self._lock:
            was_losing, self._is_losing = self._is_losing, False
        if was_losing or self._is_failing:
            self._is_failing = False
            self._note("audit_log_resumed", {"path": self.path, "lost": self.lost})
