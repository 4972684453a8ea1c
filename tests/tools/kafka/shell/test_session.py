from __future__ import annotations

from typing import TYPE_CHECKING

from tools.kafka.shell.commands import Shell
from tools.kafka.shell.nodes import fixed_directory
from tools.kafka.shell.session import lines, remember

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest


def test_the_history_skips_blank_and_repeated_lines() -> None:
    shell = Shell(fixed_directory("RootShellNode", {}), lambda _: None, history=[])

    for line in ("pwd", "pwd", " ls", "", "  ", "ls  ", "pwd"):
        remember(shell, line)

    assert shell.history == ["pwd", "ls", "pwd"]


def test_ctrl_c_discards_a_line_and_ctrl_d_exits(capsys: pytest.CaptureFixture[str]) -> None:
    typed: Iterator[str | BaseException] = iter(["ls", KeyboardInterrupt(), "pwd", EOFError()])

    def read() -> str:
        line = next(typed)
        if isinstance(line, str):
            return line
        raise line

    assert list(lines(read)) == ["ls", "pwd"]
    assert capsys.readouterr().out == "^C\n"
