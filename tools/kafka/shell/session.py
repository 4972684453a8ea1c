"""The interactive shell: it reads lines from a terminal, with completion and history, or from a pipe."""

from __future__ import annotations

import sys

from tools.kafka.shell.commands import Exit, Shell
from tools.kafka.shell.nodes import root
from tools.kafka.shell.words import words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tools.offline.image import Image

PROMPT = ">> "


def interact(image: Image, renew: Callable[[Shell], bool] | None = None) -> None:
    """Run commands until the user exits. Raises MissingChild.

    renew: updates the tree of the shell before each command; if it returns False, the command is not run.
    """
    sys.stdout.write("Loading...\nStarting...\n[ Kafka Metadata Shell ]\n")
    shell = Shell(root(image), sys.stdout.write, history=[])
    read = line_reader(shell)
    try:
        for line in lines(read):
            remember(shell, line)
            shell.width = screen_width()
            if renew is None or not line.strip() or renew(shell):
                shell.run(words(line))
    except Exit:
        pass


def lines(read: Callable[[], str]) -> Iterator[str]:
    """The lines typed; Ctrl-C discards a line, the end of input ends the iteration."""
    while True:
        try:
            sys.stdout.flush()
            yield read()
        except KeyboardInterrupt:
            sys.stdout.write("^C\n")
        except EOFError:
            return


def remember(shell: Shell, line: str) -> None:
    """Add a line to the history, unless it is empty, begins with a space, or repeats the last one."""
    kept = line.strip(" \t")
    if kept and not line.startswith(" ") and shell.history is not None and shell.history[-1:] != [kept]:
        shell.history.append(kept)


def screen_width() -> int:
    """The columns of the screen; 0 if the output is not a terminal."""
    if not sys.stdout.isatty():
        return 0
    from shutil import get_terminal_size

    return get_terminal_size((0, 0)).columns


def line_reader(shell: Shell) -> Callable[[], str]:
    """The function that reads a line: prompt_toolkit's on a terminal, else `plain_line`."""
    if sys.stdin.isatty() and sys.stdout.isatty():
        try:
            from tools.kafka.shell.prompt import prompting
        except ImportError:  # prompt_toolkit is not installed
            return lambda: input(PROMPT)
        return prompting(shell, PROMPT)
    return plain_line


def plain_line() -> str:
    """A line from a pipe or a file; raises EOFError at its end."""
    sys.stdout.write(PROMPT)
    sys.stdout.flush()
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line.rstrip("\r\n")
