"""Two plans side by side: the shrunk one, and the one that it was made from."""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

WIDTH = 560
ROW = 9


def schedules(plan: str, original: str) -> str:
    """The HTML of both; of one if nothing was left out. plan, original: in JSON, the second may be empty."""
    small = json.loads(plan)
    if not original:
        return _column("Plan", plan, small, small, _end(small))
    before = json.loads(original)
    end = max(_end(small), _end(before))
    return _column("Minimal", plan, small, small, end) + _column("As it was found", original, before, small, end)


def _end(tree: dict[str, Any]) -> int:
    last = max((fault.get("at_ms", 0) + _lasts(fault) for fault in tree.get("faults", ())), default=0)
    return max(1, int(tree.get("chaos_ms", 10_000)), min(last, 4 * int(tree.get("chaos_ms", 10_000))))


def _column(title: str, text: str, tree: dict[str, Any], kept: dict[str, Any], end_ms: int) -> str:
    """kept: the shrunk plan; parts of this plan that are not in it are marked."""
    faults = tree.get("faults", [])
    is_kept = _find_kept(faults, kept.get("faults", []))
    items = "".join(
        f'<li class="{"" if held else "out"}">{escape(describe(fault))}'
        f"{'' if held else ' <small>left out</small>'}</li>"
        for fault, held in zip(faults, is_kept, strict=True)
    )
    drawn = _draw(title, faults, is_kept, int(tree.get("chaos_ms", 10_000)), end_ms)
    listed = f"<ol>{items}</ol>" if items else '<p class="soft">No fault: it breaks by itself.</p>'
    count = f"{len(faults)} fault{'' if len(faults) == 1 else 's'}"
    return (
        f"<div><h3>{escape(title)}: {count}</h3>{drawn}{listed}"
        f'<p class="soft">{escape(_settings(tree))}</p>'
        f"<details><summary>in JSON</summary><pre>{escape(text)}</pre></details></div>"
    )


def describe(fault: dict[str, Any]) -> str:
    """A fault as text."""
    particulars = {**fault.get("args", {}), **{name: fault[name] for name in ("node", "role") if fault.get(name)}}
    args = ", ".join(f"{name} {value}" for name, value in particulars.items())
    when = f"from {fault.get('at_ms', 0)} ms on"
    if fault.get("on"):
        when += f", the {fault.get('nth', 1)}. time at {fault['on']}"
    elif fault.get("when"):
        when += f", when {fault['when']}"
    else:
        when = f"at {fault.get('at_ms', 0)} ms"
    return f"{fault['kind']} {when}{args and ': '}{args}"


def _find_kept(faults: list[dict[str, Any]], left: list[dict[str, Any]]) -> list[bool]:
    """The faults that are still there, perhaps with rounded numbers; they keep their order."""
    are_kept = [False] * len(faults)
    at = 0
    for fault in left:
        alike = [
            place for place in range(at, len(faults))
            if all(faults[place].get(name) == fault.get(name) for name in ("kind", "on", "when"))
        ]  # fmt: skip
        if alike:
            exact = [place for place in alike if faults[place].get("at_ms", 0) // 100 == fault.get("at_ms", 0) // 100]
            place = (exact or alike)[0]
            are_kept[place], at = True, place + 1
    return are_kept


def _settings(tree: dict[str, Any]) -> str:
    """The other fields of the plan that differ from their defaults."""
    parts = []
    for name, value in tree.items():
        if name in {"version", "faults", "seed", "chaos_ms"}:
            continue
        inner = ", ".join(f"{key} {each}" for key, each in value.items()) if isinstance(value, dict) else str(value)
        parts.append(f"{name} {inner}")
    return f"seed {tree['seed']}, {tree.get('chaos_ms', 10_000)} ms; " + "; ".join(parts)


def _draw(title: str, faults: list[dict[str, Any]], is_kept: list[bool], chaos_ms: int, end_ms: int) -> str:
    """A time line with a bar for each fault."""
    height = ROW * max(1, len(faults)) + 8
    scale = WIDTH / end_ms
    parts = [
        (
            f'<svg class="strip" role="img" aria-label="{escape(title)}: when the faults strike" '
            f'viewBox="0 0 {WIDTH} {height}">'
        ),
        f'<rect class="chaos" x="0" y="0" width="{chaos_ms * scale:.1f}" height="{height}"/>',
        *_bars(faults, is_kept, scale),
        "</svg>",
    ]
    return "".join(parts)


def _bars(faults: list[dict[str, Any]], is_kept: list[bool], scale: float) -> Iterator[str]:
    for row, (fault, held) in enumerate(zip(faults, is_kept, strict=True)):
        x, width = fault.get("at_ms", 0) * scale, max(3.0, _lasts(fault) * scale)
        yield (
            f'<rect class="{"held" if held else "left"}" x="{x:.1f}" y="{4 + ROW * row}" width="{width:.1f}"'
            f' height="{ROW - 3}"><title>{escape(describe(fault))}</title></rect>'
        )


def _lasts(fault: dict[str, Any]) -> int:
    args = fault.get("args", {})
    lasts = args.get("for_ms", args.get("down_ms", 0))
    return max(lasts, default=0) if isinstance(lasts, list) else int(lasts)
