"""The corpus: plans that once broke something, of the code as it was or of a mutant; here, one JSON file each.

Each is lived through again by every landing, and must be well; with its mutant in the code the same property must break
as when it was found. Plans are data and draw no luck for their faults, so they mean the same when the swarm is changed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

DIRECTORY = Path(__file__).parent


class Entry(NamedTuple):
    """name: of the file; plan: as text; mutant_id: empty where the code itself was broken; property_id: what broke;
    found: how it was come upon.
    """

    name: str
    plan: str
    level: str
    mutant_id: str
    property_id: str
    found: str


def entries(directory: Path = DIRECTORY) -> Iterator[Entry]:
    """All of them, by name. Raises ValueError where a file is none."""
    for path in sorted(directory.glob("*.json")):
        yield read(path)


def read(path: Path) -> Entry:
    """One of them. Raises ValueError where the file is none."""
    try:
        tree = json.loads(path.read_text())
        return Entry(
            path.stem, json.dumps(tree["plan"]), tree.get("level", "raft"), tree.get("mutant", ""), tree["property"],
            tree["found"],
        )  # fmt: skip
    except (json.JSONDecodeError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is no entry of the corpus: {error!r}") from None


def write(entry: Entry, directory: Path = DIRECTORY) -> Path:
    """Keep one; returns where."""
    path = directory / f"{entry.name}.json"
    head = {"property": entry.property_id, "found": entry.found}
    if entry.level != "raft":
        head["level"] = entry.level
    if entry.mutant_id:
        head["mutant"] = entry.mutant_id
    lines = [f"  {json.dumps(name)}: {json.dumps(value)}" for name, value in head.items()]
    plan = entry.plan.strip().replace("\n", "\n  ")
    path.write_text("{\n" + ",\n".join(lines) + f',\n  "plan": {plan}\n}}\n')
    return path
