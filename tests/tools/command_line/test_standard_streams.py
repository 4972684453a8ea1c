"""The streams of a tool: what is not printable is escaped on a terminal, and kept in a pipe."""

from __future__ import annotations

import io

from tools.command_line.standard_streams import PlainStream, one_line, unguarded

RED, END = "\x1b[31m", "\x1b[0m"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_plain_stream_escapes_all_but_line_breaks_tabs_and_our_own_colours() -> None:
    stream = io.StringIO()

    print(f"{RED}a\tb{END}\n\x1b[2J\x1b[32m\x9b\r", file=PlainStream(stream, (END, RED)))

    assert stream.getvalue() == f"{RED}a\tb{END}\n\\x1b[2J\\x1b[32m\\x9b\\r\n"


def test_a_text_that_is_a_part_of_a_line_is_escaped_if_it_may_reach_a_terminal() -> None:
    name = "a\nb\tc"

    assert one_line(name, io.StringIO()) == name
    assert one_line(name, Terminal()) == r"a\nb\tc"
    assert one_line(name, io.StringIO(), PlainStream(Terminal())) == r"a\nb\tc"


def test_what_a_tool_draws_itself_goes_to_the_stream_behind() -> None:
    stream = io.StringIO()

    unguarded(PlainStream(stream)).write("\r\x1b[K")
    unguarded(stream).write("\x07")

    assert stream.getvalue() == "\r\x1b[K\x07"
