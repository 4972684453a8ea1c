"""stdout and stderr of a verb: what is not printable is escaped, but our colours. Small, as each verb imports it."""

from __future__ import annotations

import sys

from tools.command_line.standard_streams import PlainStream, ReadStream, open_closed_streams

GREEN, YELLOW, RED = "32", "33", "31"
COLOUR_END = "\x1b[0m"
COLOURS = (COLOUR_END, *(f"\x1b[{colour}m" for colour in (GREEN, YELLOW, RED)))


class PlainStreams:
    """Within the context, stdout and stderr escape what is not printable, in a pipe too.

    has_reader: the command is for what it prints, and ends when nobody reads it any more.
    """

    def __init__(self, *, has_reader: bool = True) -> None:
        self._stream = ReadStream if has_reader else PlainStream

    def __enter__(self) -> None:
        open_closed_streams()
        self._before = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = (self._stream(stream, COLOURS) for stream in self._before)

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            if kind is None:
                sys.stdout.flush()
        finally:
            sys.stdout, sys.stderr = self._before
