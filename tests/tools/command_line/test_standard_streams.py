"""The streams of a tool: what is not printable is escaped on a terminal, and kept in a pipe."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.tools.offline.stock_directories import stock_directory
from tools.command_line.standard_streams import PlainStream, one_line, unwrap_stream

if TYPE_CHECKING:
    from pathlib import Path

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

    unwrap_stream(PlainStream(stream)).write("\r\x1b[K")
    unwrap_stream(stream).write("\x07")

    assert stream.getvalue() == "\r\x1b[K\x07"


@pytest.mark.parametrize("line", [
    "--help", "--version", "status --help", "completion bash", "log verify DIR", "log replay DIR",
    "recover measure DIR", "backup save --directory DIR COPY", "at end --directory DIR", "diff 0 end --directory DIR",
    "backup verify --help",
])  # fmt: skip
def test_a_command_ends_in_silence_when_its_reader_closes_the_pipe(tmp_path: Path, line: str) -> None:
    directory = stock_directory(tmp_path)
    words = line.replace("DIR", str(directory)).replace("COPY", str(tmp_path / "copy")).split()
    reader, writer = os.pipe()
    os.close(reader)

    done = subprocess.run(
        [sys.executable, "-m", "tools.kraftctl.main", *words], stdout=writer, stderr=subprocess.PIPE, check=False
    )
    os.close(writer)

    assert (done.returncode, b"Broken pipe" in done.stderr, b"Traceback" in done.stderr) == (0, False, False)


@pytest.mark.parametrize("module", ["tools.kraftctl.main", "tools.kafka.storage"])
@pytest.mark.parametrize("redirection", [">&-", "2>&-", ">&- 2>&-"])
def test_a_command_whose_streams_are_closed_ends_as_it_would_with_open_ones(module: str, redirection: str) -> None:
    codes = [
        subprocess.run(
            ["sh", "-c", f'"$0" -m {module} --help {where}', sys.executable], capture_output=True, check=False
        )
        for where in ("", redirection)
    ]

    assert codes[0].returncode == codes[1].returncode
    assert b"Traceback" not in codes[1].stderr
