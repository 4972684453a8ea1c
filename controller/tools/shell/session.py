"""The interactive shell: lines typed on a terminal, with completion and history, or piped in."""

from __future__ import annotations

import sys

from controller.tools.shell.commands import Exit, Shell
from controller.tools.shell.nodes import root
from controller.tools.shell.words import words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from controller.offline.image import Image

PROMPT = ">> "


def interact(image: Image, renew: Callable[[Shell], bool] | None = None) -> None:
    """Run commands until the user leaves. Raises MissingChild.

    renew: gives the shell its tree of now before each command; where it returns False, the command is not run.
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
    """What is typed; Ctrl-C takes back a line, the end of input ends it."""
    while True:
        try:
            sys.stdout.flush()
            yield read()
        except KeyboardInterrupt:
            sys.stdout.write("^C\n")
        except EOFError:
            return


def remember(shell: Shell, line: str) -> None:
    """Put a line into the history: not an empty one, one that begins with a space, nor the last one again."""
    kept = line.strip(" \t")
    if kept and not line.startswith(" ") and shell.history is not None and shell.history[-1:] != [kept]:
        shell.history.append(kept)


def screen_width() -> int:
    """The columns of the screen; 0 where the output is no screen."""
    if not sys.stdout.isatty():
        return 0
    from shutil import get_terminal_size

    return get_terminal_size((0, 0)).columns


def line_reader(shell: Shell) -> Callable[[], str]:
    """What reads a line: with all comforts where a user types it, plainly elsewhere."""
    if sys.stdin.isatty() and sys.stdout.isatty():
        try:
            from controller.tools.shell.prompt import prompting
        except ImportError:  # prompt_toolkit is not installed
            return lambda: input(PROMPT)
        return prompting(shell, PROMPT)
    return plain_line


def plain_line() -> str:
    """A line of a pipe or a file; raises EOFError at its end."""
    sys.stdout.write(PROMPT)
    sys.stdout.flush()
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line.rstrip("\r\n")
