"""Errors about a directory: each is one line for the operator who must repair it."""

from __future__ import annotations


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
    """A write, fsync or rename failed. It must not be retried: after a failed fsync the kernel may mark pages as clean
    that never reached the disk, and a second fsync would succeed.
    """

    def __init__(self, operation: str, error: OSError) -> None:
        self.operation = operation
        self.error = error
        super().__init__(operation, error)

    def __str__(self) -> str:
        return f"{self.operation}: {self.error}"
