"""Pieces of HTML: tables that a screen reader can follow, sections, tiles."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Markup(str):
    """Text that is HTML already. Any other text is escaped where it goes into a page."""

    __slots__ = ()


def text(value: object) -> str:
    """A value within a page."""
    if isinstance(value, Markup):
        return value
    return '<span class="none">none</span>' if value is None else escape(str(value))


def table(caption: str, heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table. A head that begins with > is of numbers, which stand at the right; the first column names the row."""
    body = [
        "<tr>"
        + "".join(_cell(head, value, is_first=not at) for at, (head, value) in enumerate(zip(heads, row, strict=True)))
        + "</tr>"
        for row in rows
    ]
    head = "".join(f'<th scope="col"{_side(one)}>{escape(one.lstrip(">"))}</th>' for one in heads)
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{escape(caption)}"><table>'
        f"<caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table></div>"
    )


def _cell(head: str, value: object, *, is_first: bool) -> str:
    if is_first:
        return f'<th scope="row">{text(value)}</th>'
    return f"<td{_side(head)}>{text(value)}</td>"


def _side(head: str) -> str:
    return ' class="n"' if head.startswith(">") else ""


def section(id_: str, title: str, about: str, *parts: str) -> str:
    """A section, which the page's head links to."""
    return (
        f'<section id="{id_}" aria-labelledby="{id_}-title"><h2 id="{id_}-title">{escape(title)}</h2>'
        f"<p>{escape(about)}</p>{''.join(parts)}</section>"
    )


def tiles(entries: Iterable[tuple[str, str, str]]) -> str:
    """Figures that say the most: (what it is, the figure, what to know of it)."""
    found = "".join(
        f'<dl class="tile"><dt>{escape(name)}</dt><dd>{escape(figure)}<span class="sub">{escape(note)}</span></dd></dl>'
        for name, figure, note in entries
    )
    return f'<div class="tiles">{found}</div>'


def nothing(what: str) -> str:
    """What stands where there is nothing to show."""
    return f'<p class="none">{escape(what)}</p>'


def bad(what: str) -> Markup:
    """A mark that says by its word, not by its colour alone, that something is wrong."""
    return Markup(f'<span class="bad">{escape(what)}</span>')


def code(value: str | None) -> Markup:
    """A value as it was written."""
    return Markup(text(None) if value is None else f"<code>{escape(value)}</code>")
