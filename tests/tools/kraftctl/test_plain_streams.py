"""The standard streams of a verb: escaped but for our colours, put back afterwards, and ended when nobody reads."""

from __future__ import annotations

import io
import os
import subprocess
import sys

import pytest

from tools.kraftctl.plain_streams import COLOUR_END, GREEN, PlainStreams


def test_what_is_not_printable_is_escaped_and_a_colour_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    stdout, stderr = io.StringIO(), io.StringIO()
    monkeypatch.setattr(sys, "stdout", stdout)
    monkeypatch.setattr(sys, "stderr", stderr)

    with PlainStreams():
        print(f"\x1b[{GREEN}mfine{COLOUR_END} \x1b[2J")
        print("\x07", file=sys.stderr)

    assert (sys.stdout, sys.stderr) == (stdout, stderr)
    assert stdout.getvalue() == f"\x1b[{GREEN}mfine{COLOUR_END} \\x1b[2J\n"
    assert stderr.getvalue() == "\\x07\n"


def test_the_streams_are_put_back_after_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    stdout = io.StringIO()
    monkeypatch.setattr(sys, "stdout", stdout)

    with pytest.raises(RuntimeError), PlainStreams():
        raise RuntimeError

    assert sys.stdout is stdout


@pytest.mark.parametrize(("has_reader", "code"), [(True, 0), (False, 32)])
def test_a_command_without_a_reader_ends_if_it_is_for_what_it_prints(has_reader: bool, code: int) -> None:
    program = (
        "import os, sys\n"
        "from tools.kraftctl.plain_streams import PlainStreams\n"
        "sys.stdin.read()\n"
        "try:\n"
        f"    with PlainStreams(has_reader={has_reader}):\n"
        "        print('to nobody', flush=True)\n"
        "except BrokenPipeError as error:\n"
        "    os._exit(error.errno)\n"
    )
    read, write = os.pipe()
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=write, stderr=subprocess.DEVNULL
    ) as process:
        os.close(write)
        os.close(read)
        process.communicate(b"", timeout=30)
    assert process.returncode == code
