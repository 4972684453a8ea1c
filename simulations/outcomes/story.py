"""A trace as people read it: one line for each thing that happened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulations.world.trace import ARRIVAL, CUT, DEED, FAULT, LIFE, MESSAGE, NOTE, STEP

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from simulations.world.trace import Entry


def story(entries: Iterable[Entry], fields: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """Lines of `seconds  node  what`. fields: by name of a message, the names of what it says."""
    for entry in entries:
        if entry[1] == ARRIVAL:
            continue  # the step that handles it prints it
        yield f"{entry[0] / 1_000_000:11.6f}  {_describe(entry, fields)}"


def _describe(entry: Entry, fields: Mapping[str, tuple[str, ...]]) -> str:
    kind, node, *rest = entry[1:]
    if kind == STEP:
        name, role, epoch, end, watermark, effects = rest[:6]
        return f"{node}        {name} → {role} of epoch {epoch}, end {end}, watermark {watermark}, {effects} effects"
    if kind == MESSAGE:
        target, name, *gist = rest
        return f"{node} → {target}    {name} {_name_values(gist, fields.get(name, ()))}"
    if kind == NOTE:
        return f"{node}        notes {' '.join(map(str, rest))}"
    if kind == CUT:
        return f"*   nothing passes from {node} to {rest[0]}" if rest[1] else f"*   all passes from {node} to {rest[0]}"
    if kind == FAULT:
        place, name, *more = rest
        return f"{node or '*'}   FAULT {name} (number {place} of the plan){' '.join(['', *map(str, more)])}"
    if kind == LIFE:
        return f"{node}   {' '.join(map(str, rest)).upper()}"
    assert kind == DEED, entry
    return f"{node}        {' '.join(map(str, rest))}"


def _name_values(gist: list[object], names: tuple[str, ...]) -> str:
    """Values with their names, as far as there are names."""
    named = [f"{name} {value}" for name, value in zip(names, gist, strict=False)]
    return ", ".join(named + [str(value) for value in gist[len(names) :]])
