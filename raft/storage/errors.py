"""Errors about a directory: each is one line for the operator who must repair it."""

from __future__ import annotations

import errno


class StorageError(Exception):
    """A directory that cannot be used as it is, or a disk that failed. The text names the file."""


class CorruptLog(StorageError):
    """A segment with other bytes than were written: truncating it would lose records that may be committed.

    offset: of the batch that is damaged or missing; position: its byte in the file.
    """

    def __init__(self, path: str, position: int, offset: int, reason: str) -> None:
        self.path = path
        self.position = position
        self.offset = offset
        self.reason = reason
        super().__init__(path, position, offset, reason)

    def __str__(self) -> str:
        return f"{self.path}, byte {self.position}, offset {self.offset}: {self.reason}"


class CorruptSnapshot(StorageError):
    """A file that is not a complete snapshot."""

    def __init__(self, path: str, position: int, reason: str) -> None:
        self.path = path
        self.position = position
        self.reason = reason
        super().__init__(path, position, reason)

    def __str__(self) -> str:
        return f"{self.path}, byte {self.position}: {self.reason}"


class DiskFailed(StorageError):
    """A write, fsync or rename failed (or, by a bug, a job of the flush thread). It must not be retried:
    after a failed fsync the kernel may mark pages as clean that never reached the disk, and a second fsync would
    succeed.
    """

    def __init__(self, operation: str, error: Exception) -> None:
        self.operation = operation
        self.error = error
        super().__init__(operation, error)

    def __str__(self) -> str:
        kind = "" if isinstance(self.error, OSError) else f"{type(self.error).__name__}: "
        return f"{self.operation}: {kind}{self.error}"


# By the number of the system's error.
_REMEDIES = {
    errno.ENOSPC: "the file system is full. Free space on it, or enlarge it, and start the node again. No acknowledged "
    "record is lost",
    errno.EDQUOT: "the quota of the node's user is used up. Raise it, and start the node again. No acknowledged record "
    "is lost",
    errno.EROFS: "the file system is read-only, as the system makes it after an error. Check the disk",
    errno.EIO: "the disk reported an error. Check the disk, and replace the voter if its data is lost",
}


def remedy_of(error: BaseException) -> str | None:
    """What is wrong with the disk and what to do, in words; None for an error that says all that is known."""
    cause = error.error if isinstance(error, DiskFailed) else error
    if isinstance(cause, StorageError):
        cause = cause.__cause__ or cause
    return _REMEDIES.get(cause.errno or 0) if isinstance(cause, OSError) else None


def remedy_fields(error: BaseException) -> dict[str, str]:
    """The remedy as a field of an event of the log; no field without one."""
    text = remedy_of(error)
    return {} if text is None else {"text": text}
