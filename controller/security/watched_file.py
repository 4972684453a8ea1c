"""A file of the configuration that is read anew when it changes, without a restart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

from controller.security.files import FileError, read_bounded, stamp_of

if TYPE_CHECKING:
    from collections.abc import Callable

CHECK_S = 1.0  # the file is looked at when it is used, at most once in this time

T = TypeVar("T")


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
        self._seen = stamp_of(self._path)
        self._checked_at = now()
        self._value = self._made()

    def value(self) -> T:
        """What is in use now."""
        if self._now() - self._checked_at < CHECK_S:
            return self._value
        self._checked_at = self._now()
        try:
            stamp = stamp_of(self._path)
            if stamp != self._seen:
                made = self._made()
                if stamp_of(self._path) == stamp:  # else it is being written, and the next call sees to it
                    self._seen, self._value, self._refused = stamp, made, ""
                    self._note("security_file_renewed", {"file": self._path})
        except FileError as error:
            if str(error) != self._refused:
                self._refused = str(error)
                self._note("security_file_refused", {"file": self._path, "reason": str(error)})
        return self._value

    def _made(self) -> T:
        try:
            return self._parse(read_bounded(self._path))
        except FileError:
            raise
        except ValueError as error:
            raise FileError(f"{self._path}: {error}") from None
