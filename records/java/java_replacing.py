r"""Replacement of the matches of a regular expression, with Java's notation for groups: `$1`, `${name}`, `\$`."""

from __future__ import annotations

from string import ascii_letters, digits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from records.java.java_matching import Match, Program, Steps

_NAME = frozenset(ascii_letters + digits)


def replace_matches(program: Program, text: str, replacement: str, steps: Steps, *, is_first_only: bool = False) -> str:
    """The text with its matches, or the first of them, replaced. Raises TooManySteps, and ValueError for a replacement
    that Java refuses, which it does only where there is a match.
    """
    parts = []
    position = 0
    for match in program.find_all(text, steps):
        parts += [text[position : match.start], _expand(program, replacement, match)]
        position = match.end
        if is_first_only:
            break
    return "".join([*parts, text[position:]])


def _expand(program: Program, replacement: str, match: Match) -> str:
    parts = []
    position = 0
    while position < len(replacement):
        char = replacement[position]
        position += 1
        if char == "\\":
            if position == len(replacement):
                raise ValueError(f"the replacement {replacement} ends with a backslash")
            char = replacement[position]
            position += 1
        elif char == "$":
            group, position = _group(program, replacement, position)
            char = match[group] or ""
        parts.append(char)
    return "".join(parts)


def _group(program: Program, replacement: str, position: int) -> tuple[int, int]:
    """The number of the group that is named behind a dollar sign, and where its name ends."""
    if replacement.startswith("{", position):
        name, brace, _ = replacement[position + 1 :].partition("}")
        if not brace or name not in program.names or not _NAME.issuperset(name):
            raise ValueError(f"the replacement {replacement} names a group that the pattern does not have")
        return program.names[name], position + len(name) + 2
    if position == len(replacement) or replacement[position] not in digits:
        raise ValueError(f"the replacement {replacement} has a dollar sign without a group")
    group = int(replacement[position])
    if group > program.groups:
        raise ValueError(f"the replacement {replacement} has group {group}, and the pattern {program.groups}")
    position += 1
    while position < len(replacement) and replacement[position] in digits:
        longer = 10 * group + int(replacement[position])
        if longer > program.groups:
            break
        group = longer
        position += 1
    return group, position
