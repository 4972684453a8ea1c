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
    """A value as HTML text."""
    if isinstance(value, Markup):
        return value
    return '<span class="none">none</span>' if value is None else escape(str(value))


def table(caption: str, heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table. A heading that begins with > is of numbers, which are right-aligned; the first column names the row."""
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
    """A section, with a link in the page's head."""
    return (
        f'<section id="{id_}" aria-labelledby="{id_}-title"><h2 id="{id_}-title">{escape(title)}</h2>'
        f"<p>{escape(about)}</p>{''.join(parts)}</section>"
    )


def tiles(entries: Iterable[tuple[str, str, str]]) -> str:
    """The most important figures: (name, figure, explanation)."""
    items = "".join(
        f'<dl class="tile"><dt>{escape(name)}</dt><dd>{escape(figure)}<span class="sub">{escape(note)}</span></dd></dl>'
        for name, figure, note in entries
    )
    return f'<div class="tiles">{items}</div>'


def nothing(what: str) -> str:
    """The text of a section without data."""
    return f'<p class="none">{escape(what)}</p>'


def bad(what: str) -> Markup:
    """A mark for a problem, by a word and not only by its colour."""
    return Markup(f'<span class="bad">{escape(what)}</span>')


def code(value: str | None) -> Markup:
    """A value in monospace."""
    return Markup(text(None) if value is None else f"<code>{escape(value)}</code>")
