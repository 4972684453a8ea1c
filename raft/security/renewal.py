"""A value that is made of files, and made again when they have changed: certificates, keys, tokens."""

from __future__ import annotations

from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING, Generic, TypeVar

from raft.security.files import FileError, stamp_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

CHECK_S = 1.0  # files are looked at when their value is used, at most once in this time

Value = TypeVar("Value")
Stamp = tuple[tuple[int, int, int], ...]


class Renewal(Generic[Value]):
    """Looks at the files when it is asked for the value, on any thread.

    Files that cannot be used are reported once, and the previous value stays in use: a renewal writes several files,
    and a client that connects in between must still be served.
    """

    def __init__(
        self,
        paths: Sequence[str],
        make: Callable[[], Value],
        *,
        now: Callable[[], float],
        renewed: Callable[[], None],
        refused: Callable[[str], None],
        pause_s: float = 0.0,
    ) -> None:
        """make: reads the files, raises FileError. now: a clock, in s; pause_s: the least time between two looks.

        renewed: called when a new value is in use; refused: with the reason, when new files cannot be used. Raises
        FileError.
        """
        self._paths = tuple(paths)
        self._make = make
        self._now, self._pause_s = now, pause_s
        self._on_renewed, self._on_refused = renewed, refused
        self._lock = Lock()
        self._refused = ""
        self._seen = self._stamp()
        self._looked_at = self._made_at = now()
        self._value = make()

    def value(self) -> Value:
        """The value of the files as they are, or of the last that could be used."""
        with self._lock:
            if self._paths and self._now() - self._looked_at >= self._pause_s:
                self._looked_at = self._now()
                self._look()
            return self._value

    def made_again(self) -> Value:
        """A value that is made anew, once in a second at most, from the files as they are; the present one if they
        cannot be used.
        """
        with self._lock:
            if self._now() - self._made_at >= 1:
                self._made_at = self._now()
                with suppress(FileError):
                    self._value = self._make()
            return self._value

    def _look(self) -> None:
        try:
            stamp = self._stamp()
            if stamp == self._seen:
                return
            self._seen = stamp
            value = self._make()
            if self._stamp() != stamp:
                self._seen = ()  # being written: look again next time
                return
        except FileError as error:
            if self._pause_s:
                self._seen = ()  # a token that is not valid yet becomes so without a change of its file
            if str(error) != self._refused:  # once, not for each of many connections
                self._refused = str(error)
                self._on_refused(str(error))
            return
        self._refused = ""
        if value != self._value:
            self._value = value
            self._on_renewed()

    def _stamp(self) -> Stamp:
        return tuple(stamp_of(path) for path in self._paths)
