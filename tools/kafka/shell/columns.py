"""Names listed in columns, as `ls` does on a screen."""

from __future__ import annotations


def listing(leaves: list[str], directories: list[tuple[str, list[str]]], width: int) -> str:
    """The lines for leaves, then for directories (name, children). width: of the screen; 0 for one name per line."""
    text = columns(leaves, width)
    with_headings = bool(leaves) or len(directories) > 1
    is_first = not leaves
    for name, children in directories:
        heading = ""
        if with_headings:
            heading = f"{'' if is_first else chr(10)}{name}:\n"
            is_first = False
        if children:
            text += heading + columns(children, width)
    return text


def columns(names: list[str], width: int) -> str:
    """The names column by column, in as many columns as fit."""
    count = column_count(names, width)
    lines = -(-len(names) // count)
    widths = [max(map(len, column), default=0) + 2 for column in split(names, count)]
    text = ""
    for line in range(lines):
        for column in range(count):
            index = line + column * lines
            if index < len(names):
                name = names[index]
                text += name if column == count - 1 else f"{name:{widths[column]}}"
        text += "\n"
    return text


def column_count(names: list[str], width: int) -> int:
    """The greatest number of columns whose last is not empty and which fit in `width`."""
    for count in range(width // 4, 1, -1):
        parts = split(names, count)
        if parts[-1] and sum(max(map(len, part)) + 2 for part in parts if part) <= width:
            return count
    return 1


def split(names: list[str], count: int) -> list[list[str]]:
    """The names in `count` columns of equal length, the last ones perhaps shorter."""
    length = -(-len(names) // count)
    return [names[length * column : length * (column + 1)] for column in range(count)]
