"""The standard streams of a tool: UTF-8 in any locale, in the order written, no traceback when a pipe is closed."""

from __future__ import annotations

import os
import sys

from records.plain_text import plain_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn, TextIO


class PlainStream:
    """A text stream that escapes what is not printable (`plain_text`), but line breaks, tabs and our own colours.

    It is the last guard of a terminal; a text that is not ours and is a part of a line is escaped where it is printed.
    All but `write` is the stream's own. own: sequences that are written as they are.
    """

    def __init__(self, stream: TextIO, own: tuple[str, ...] = ()) -> None:
        self.stream = stream
        self._own = own

    def write(self, text: str) -> int:
        return self.stream.write(text if text.isprintable() else escape(text, self._own, keep="\n\t"))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


class ReadStream(PlainStream):
    """A `PlainStream` that ends the command, with exit code 0, when its reader closes the pipe (`| head`).

    SystemExit passes by what a verb does about an OSError of its files.
    """

    def write(self, text: str) -> int:
        try:
            return super().write(text)
        except BrokenPipeError:
            self._end()

    def flush(self) -> None:
        try:
            self.stream.flush()
        except BrokenPipeError:
            self._end()

    def _end(self) -> NoReturn:
        _drop_output(self.stream)
        raise SystemExit(0)


def escape(text: str, own: tuple[str, ...], keep: str = "") -> str:
    """`plain_text`, with the sequences of `own` as they are."""
    if not own:
        return plain_text(text, keep)
    return own[0].join(escape(part, own[1:], keep) for part in text.split(own[0]))


def unwrap_stream(stream: TextIO) -> TextIO:
    """The stream behind a `PlainStream`, for what we draw ourselves; a stream that is none, as it is."""
    return stream.stream if isinstance(stream, PlainStream) else stream


def one_line(text: object, *streams: TextIO) -> str:
    """A text that is not ours as a part of a line: escaped for a terminal; for a pipe as it is, as stock prints it.

    streams: where it may be written, stdout by default.
    """
    is_shown = any(stream.isatty() for stream in streams or (sys.stdout,))
    return plain_text(text) if is_shown else str(text)


def running(run: Callable[[list[str]], int], tool: str) -> int:
    """Run a tool with the arguments of this process; returns the exit code, 130 after Ctrl-C. tool: its command."""
    from tools.command_line.own_options import own_answer  # not for kraftctl, which has its streams alone from here

    open_closed_streams()
    for name in ("stdout", "stderr"):
        # Names of files may hold any byte, and are printed unchanged.
        stream = getattr(sys, name)
        stream.reconfigure(encoding="utf-8", errors="surrogateescape")
        if stream.isatty():
            setattr(sys, name, PlainStream(stream))
    try:
        own = own_answer(tool, sys.argv[1:])
        sys.stdout.write(own or "")
        code = run(sys.argv[1:]) if own is None else 0
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_output()  # the reader closed the pipe (`| head`)
        return 0
    except OSError as error:
        _drop_output()
        complain(f"The output cannot be written: {error.strerror}\n")
        return 1
    except KeyboardInterrupt:
        return 130
    return code


def open_closed_streams() -> None:
    """Discard what is written to a standard stream that was closed before the tool started (`>&-`)."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115


def _drop_output(stream: TextIO | None = None) -> None:
    """Discard buffered output, so that Python's exit does not fail to write it again. stream: stdout by default."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), (stream or sys.stdout).fileno())


def complain(text: str) -> None:
    """Flush stdout, then write to stderr."""
    sys.stdout.flush()
    sys.stderr.write(text)
    sys.stderr.flush()
