"""The corpus: plans that once broke a property, of a former version of the code or of a mutant; one JSON file each.

The gate runs each plan: no property may break, and with its mutant in the code the same property must break as when it
was found. Plans are data and draw nothing for their faults, so they keep their meaning when the swarm changes.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

DIRECTORY = Path(__file__).parent


class Entry(NamedTuple):
    """name: of the file; plan: as text; mutant_id: empty if the code itself was broken; property_id: the violated
    property; found: how it was found. original: the plan before it was shrunk, as text, empty if it was not kept; runs,
    cpu_s: the cost of shrinking.
    """

    name: str
    plan: str
    level: str
    mutant_id: str
    property_id: str
    found: str
    original: str = ""
    runs: int = 0
    cpu_s: float = 0.0


def entries(directory: Path = DIRECTORY) -> Iterator[Entry]:
    """All entries, by name. Raises ValueError where a file is not one."""
    for path in sorted(directory.glob("*.json")):
        yield read(path)


def find(name: str, directory: Path = DIRECTORY) -> Entry:
    """The entry with this name. Raises ValueError where there is none."""
    path = directory / f"{name}.json"
    if not path.is_file():
        raise ValueError(f"the corpus has no {name!r}; it has {', '.join(each.name for each in entries(directory))}")
    return read(path)


def read(path: Path) -> Entry:
    """The entry in a file. Raises ValueError where it is not one."""
    try:
        tree = json.loads(path.read_text())
        shrunk = tree.get("shrunk", {})
        return Entry(
            path.stem, json.dumps(tree["plan"]), tree.get("level", "raft"), tree.get("mutant", ""), tree["property"],
            tree["found"], json.dumps(tree["original"]) if "original" in tree else "", shrunk.get("runs", 0),
            shrunk.get("cpu_s", 0.0),
        )  # fmt: skip
    except (json.JSONDecodeError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is not an entry of the corpus: {error!r}") from None


def write(entry: Entry, directory: Path = DIRECTORY) -> Path:
    """Store an entry; returns its path."""
    path = directory / f"{entry.name}.json"
    head = {"property": entry.property_id, "found": entry.found}
    if entry.level != "raft":
        head["level"] = entry.level
    if entry.mutant_id:
        head["mutant"] = entry.mutant_id
    lines = [f"  {json.dumps(name)}: {json.dumps(value)}" for name, value in head.items()]
    lines.append(f'  "plan": {_indent(entry.plan)}')
    if entry.original:
        lines.append(f'  "shrunk": {{"runs": {entry.runs}, "cpu_s": {entry.cpu_s}}}')
        lines.append(f'  "original": {_indent(entry.original)}')
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    return path


def _indent(plan: str) -> str:
    return plan.strip().replace("\n", "\n  ")
