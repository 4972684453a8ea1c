"""Paths and globs: how the shell finds nodes."""

from __future__ import annotations

from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from re import Pattern

    from tools.kafka.shell.nodes import Directory


class MissingChild(Exception):
    """A name is listed that has no node (a default client quota)."""


class Found:
    """A node, and the names that lead to it from the root."""

    __slots__ = ("node", "path")

    def __init__(self, path: tuple[str, ...], node: Directory | str) -> None:
        self.path = path
        self.node = node

    @property
    def last_name(self) -> str:
        return self.path[-1] if self.path else "/"

    @property
    def absolute(self) -> str:
        return "/" + "/".join(self.path)


def names_of(path: str) -> list[str]:
    """The names of an absolute path, with `.` and `..` resolved; `..` at the root is the root."""
    names: list[str] = []
    for name in path.split("/"):
        if name == "..":
            del names[-1:]
        elif name not in ("", "."):
            names.append(name)
    return names


def find(root: Directory, working_directory: str, glob: str) -> Iterator[Found]:
    """The nodes that a glob matches, sorted by name. Raises MissingChild."""
    names = names_of(glob if glob.startswith("/") else f"{working_directory}/{glob}")
    return _find(root, names, ())


def _find(node: Directory | str, names: list[str], path: tuple[str, ...]) -> Iterator[Found]:
    if len(path) == len(names):
        yield Found(path, node)
        return
    if isinstance(node, str):
        return
    name = names[len(path)]
    pattern = pattern_of(name)
    if pattern is None:
        child = node.child(name)
        if child is not None:
            yield from _find(child, names, (*path, name))
        return
    for child_name in node.sorted_names():
        if pattern.fullmatch(child_name):
            child = node.child(child_name)
            if child is None:
                package = JAVA_PACKAGES.get(node.kind, "org.apache.kafka.image.node")
                raise MissingChild(
                    f"Expected {child_name} to be a valid child of class {package}.{node.kind}, but it was not."
                )
            yield from _find(child, names, (*path, child_name))


JAVA_PACKAGES = dict.fromkeys(("RootShellNode", "LocalShellNode"), "org.apache.kafka.shell.node")


@cache
def pattern_of(name: str) -> Pattern[str] | None:
    """The pattern of a name with wildcards `*`, `?` and `{a,b}`; None for a name to compare as typed.

    A malformed pattern is compared as typed too. A backslash escapes the next character, but a name without a wildcard
    is compared as typed, backslashes included.
    """
    if not any(character in name for character in "*?{"):
        return None
    from re import compile, escape  # noqa: A004

    parts = []
    is_literal = True
    in_group = False
    characters = iter(name)
    for character in characters:
        if character == "?":
            is_literal = False
            parts.append(".")
        elif character == "*":
            is_literal = False
            parts.append(".*")
        elif character == "\\":
            parts.append(escape(next(characters, "\\")))
        elif character == "{":
            if in_group:
                return None
            is_literal = False
            in_group = True
            parts.append("(?:(?:")
        elif character in ",}" and in_group:
            parts.append(")|(?:" if character == "," else "))")
            in_group = character == ","
        else:
            parts.append(escape(character))
    return None if is_literal or in_group else compile("".join(parts))
