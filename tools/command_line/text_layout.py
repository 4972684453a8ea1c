"""Lines of help and of errors laid out like argparse4j's: filled to a width and justified."""

from __future__ import annotations

import os

DEFAULT_WIDTH = 75
INDENT = 25  # the column in which the help of an argument stands


def format_width() -> int:
    """The width of texts: 5 columns less than the terminal's, 75 without a terminal.

    `COLUMNS` in the environment overrides the terminal's width.
    """
    columns = os.environ.get("COLUMNS")
    if columns is not None:
        try:
            width = int(columns)
        except ValueError:
            width = -1
    else:
        width = _terminal_width()
    return width - 5 if width > 5 else DEFAULT_WIDTH


def _terminal_width() -> int:
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return -1
    try:
        return os.get_terminal_size(terminal).columns
    except OSError:
        return -1
    finally:
        os.close(terminal)


def wrap(text: str, width: int, offset: int = 0, indent: str = "") -> str:
    """The text in lines of at most `width` columns, except for longer words; each line but the last is justified.

    offset: the column in which the first line starts. indent: the prefix of all other lines.
    """
    from tools.command_line.line_breaks import pieces

    lines = []
    line = ""
    column = offset
    for piece in pieces(text):
        column += len(piece)
        if column > width:
            lines.append(f"{stretch(line, width, column - len(piece))}\n{indent}")
            line = ""
            column = len(indent) + len(piece)
        line += piece
        if piece.endswith("\n"):
            lines.append(f"{line}{indent}")
            line = ""
            column = len(indent)
    return "".join(lines) + line


def stretch(line: str, width: int, column: int) -> str:
    """The line, which ends in `column`, with its gaps widened until it ends in column `width`.

    The remainder of the division goes to the gaps in the middle. Spaces at both ends are dropped.
    """
    stripped = line.strip(" ")
    lack = width - (column - (len(line) - len(stripped)))
    words = stripped.split(" ")
    gaps = [number for number in range(1, len(words)) if words[number]]  # a run of spaces is one gap, at its end
    if not gaps:
        return stripped
    # Java's division rounds towards zero; this matters if a single piece is longer than the width.
    each = int(lack / len(gaps))
    rest = lack - each * len(gaps)
    first = int((len(gaps) - rest + 1) / 2)
    result = words[0]
    gap = 0
    for number in range(1, len(words)):
        if words[number - 1] or number == 1:  # the first space of a run
            add = each + (1 if first <= gap < first + rest else 0)
            result += " " * max(add, 0)
            gap += 1
        result += " " + words[number]
    return result


def entry(title: str, text: str, width: int) -> str:
    """One entry of a help screen: the title, and its text in a column of its own."""
    if not text:
        return f"  {title}\n"
    gap = " " * (INDENT - len(title) - 2) if len(title) <= 21 else "\n" + " " * INDENT
    return f"  {title}{gap}{wrap(text, width, INDENT, ' ' * INDENT)}\n"
