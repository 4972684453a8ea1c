"""A file of the configuration that is read anew when it changes, without a restart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

CHECK_S = 1.0  # the file is looked at when it is used, at most once in this time
FILE_BYTES_MAX = 4 << 20

T = TypeVar("T")


class FileError(ValueError):
    """A file cannot be used; the text names it, and holds nothing secret."""


class WatchedFile(Generic[T]):
    """What `parse` makes of a file.

    Once it was read, a change that cannot be used is logged once, and the previous content stays in use.
    """

    def __init__(
        self,
        path: str,
        parse: Callable[[bytes], T],
        now: Callable[[], float],
        note: Callable[[str, dict[str, Any]], None],
    ) -> None:
        """parse: raises ValueError, with a text that holds nothing secret; now: a clock, in s; note: takes events for
        the log. Raises FileError.
        """
        self._path = path
        self._parse = parse
        self._now = now
        self._note = note
        self._refused = ""
        self._seen = self._stamp()
        self._checked_at = now()
        self._value = self._made()

    def value(self) -> T:
        """What is in use now."""
        if self._now() - self._checked_at < CHECK_S:
            return self._value
        self._checked_at = self._now()
        try:
            stamp = self._stamp()
            if stamp != self._seen:
                made = self._made()
                if self._stamp() == stamp:  # else it is being written, and the next call sees to it
                    self._seen, self._value, self._refused = stamp, made, ""
                    self._note("security_file_renewed", {"file": self._path})
        except FileError as error:
            if str(error) != self._refused:
                self._refused = str(error)
                self._note("security_file_refused", {"file": self._path, "reason": str(error)})
        return self._value

    def _stamp(self) -> tuple[int, int, int]:
        from pathlib import Path  # 0.6 MiB with what it imports, which a node without such files does not need

        try:
            status = Path(self._path).stat()
        except (OSError, ValueError) as error:
            raise FileError(f"{self._path}: {getattr(error, 'strerror', None) or error}") from None
        return status.st_mtime_ns, status.st_ino, status.st_size

    def _made(self) -> T:
        try:
            return self._parse(read_bounded(self._path))
        except FileError:
            raise
        except ValueError as error:
            raise FileError(f"{self._path}: {error}") from None


def read_bounded(path: str) -> bytes:
    """The content of a file. Raises FileError."""
    from pathlib import Path  # 0.6 MiB with what it imports, which a node without such files does not need

    try:
        with Path(path).open("rb") as file:
            data = file.read(FILE_BYTES_MAX + 1)
    except (OSError, ValueError) as error:
        raise FileError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    if len(data) > FILE_BYTES_MAX:
        raise FileError(f"{path} has more than {FILE_BYTES_MAX} bytes")
    return data
