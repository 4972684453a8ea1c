"""The completions of Tab: names of commands, then paths."""

from __future__ import annotations

from tools.kafka.shell.commands import COMMANDS
from tools.kafka.shell.paths import names_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tools.kafka.shell.commands import Shell
    from tools.kafka.shell.nodes import Directory

_WITH_PATHS = frozenset(("cat", "find", "ls", "tree"))


def completions(shell: Shell, typed: list[str]) -> list[str]:
    """The completions of the last word typed; a directory ends with `/`."""
    if len(typed) <= 1:
        return [name for name in COMMANDS if name.startswith(typed[0] if typed else "")]
    command = typed[0]
    if command in _WITH_PATHS or (command == "cd" and len(typed) == 2):
        return paths(shell, typed[-1])
    if command == "man" and len(typed) == 2:
        return [name for name in COMMANDS if name.startswith(typed[1])]
    return []


def paths(shell: Shell, prefix: str) -> list[str]:
    """The paths that begin with a prefix."""
    names = names_of(prefix if prefix.startswith("/") else f"{shell.working_directory}/{prefix}")
    start, slash, last = prefix.rpartition("/")
    if prefix and last and names:
        names.pop()
    directory: Directory | str | None = shell.root
    for name in names:
        directory = directory.child(name) if directory is not None and not isinstance(directory, str) else None
    if directory is None or isinstance(directory, str):
        return []
    completions = []
    for name in directory.sorted_names():
        if name.startswith(last):
            child = directory.child(name)
            is_leaf = child is None or isinstance(child, str)
            completions.append(f"{start}{slash}{name}{'' if is_leaf else '/'}")
    return completions
