"""`.lock` in a node's directory: held while the node runs, so that no other node, ours or stock, uses it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raft.storage.errors import StorageError

if TYPE_CHECKING:
    from raft.storage.files import Files

LOCK = ".lock"


class DirectoryLock:
    """The lock on a directory, held from construction to `release`."""

    def __init__(self, files: Files, directory: str) -> None:
        """Take the lock. Raises StorageError where another process, or another node in this process, holds the lock."""
        self._files = files
        self._path = f"{directory}/{LOCK}"
        try:
            handle = files.lock(self._path)
        except OSError as error:
            raise StorageError(f"Failed to acquire lock on file .lock in {directory}: {error}") from None
        if handle is None:
            raise StorageError(
                f"Failed to acquire lock on file .lock in {directory}. A Kafka instance in another process or thread "
                "is using this directory."
            )
        self._handle: int | None = handle

    def release(self) -> None:
        """Release the lock; the file stays."""
        if self._handle is not None:
            self._files.unlock(self._path, self._handle)
            self._handle = None
