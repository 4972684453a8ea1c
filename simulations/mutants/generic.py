"""Ordinary mutants, made by rule from any module: what hand-written ones do not think of.

An id tells all, for as long as the code stays: `G/raft.vote/94/7/negate`. A key outlives lines that move: the function, the
rule, and the words that are changed.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from simulations.mutants.row import Edit, Mutant
from simulations.mutants.rules import changes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulations.mutants.rules import Change

PREFIX = "G/"

# By the name of a level: packages whose own modules are the core that it is to judge, and those of them that are edges.
CORES = {
    "raft": ("raft",),
    "controller": (
        "controller.core",
        "controller.features",
        "controller.handlers",
        "controller.interface",
        "controller.rules",
        "controller.state",
        "controller.state.partitions",
        "controller.state.tables",
    ),
}
# Parts of a node that only the level of whole nodes runs: envelopes, and the bound on the size of a frame.
OF_NODES = ("controller.node.envelope", "controller.node.request_bounds")

_SHOWN = 90


class Ordinary(NamedTuple):
    """A mutant that a rule made. text: what is changed, on one line; before: how many of its function, rule and text came
    before it.
    """

    module: str
    change: Change
    text: str
    before: int

    @property
    def id(self) -> str:
        change = self.change
        return f"{PREFIX}{self.module}/{change.line}/{change.column}/{change.rule}"

    @property
    def key(self) -> str:
        """What it is known by when lines have moved."""
        rule = re.sub(r"-\d+$", "", self.change.rule)
        again = f" #{self.before + 1}" if self.before else ""
        return f"{self.module}.{self.change.function} {rule} `{self.text}`{again}"

    def mutated(self, source: str) -> str:
        """The source of the module with the change."""
        data = source.encode()
        return (data[: self.change.start] + self.change.after.encode() + data[self.change.end :]).decode()


def modules(name: str) -> list[str]:
    """The modules of a level's core, or of a package without those of packages below it; of a module, itself."""
    if name in CORES:
        found = [module for package in CORES[name] for module in _of_package(package)]
        return [*found, *OF_NODES] if name == "controller" else found
    return _of_package(name)


def _of_package(package: str) -> list[str]:
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return [package]
    root = Path(spec.submodule_search_locations[0])
    return [f"{package}.{path.stem}" for path in sorted(root.glob("*.py")) if path.stem != "__init__"]


def ordinary_of(module: str) -> Iterator[Ordinary]:
    """All of a module, in the order of its lines."""
    source = source_of(module)
    data = source.encode()
    counts: dict[str, int] = {}
    for change in changes(source):
        text = " ".join(data[change.start : change.end].decode().split())
        text = text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
        first = Ordinary(module, change, text, 0)
        count = counts[first.key] = counts.get(first.key, -1) + 1
        yield first._replace(before=count)


def sample(name: str, count: int | None, seed: int = 1) -> list[Ordinary]:
    """So many of a core, package or module, by luck; all where count is None.

    A larger sample holds the smaller ones, and code that changes takes few others in.
    """
    found = [each for module in modules(name) for each in ordinary_of(module)]
    if count is None:
        return found
    chosen = sorted(found, key=lambda each: blake2b(f"{seed}/{each.key}".encode(), digest_size=8).digest())[:count]
    return sorted(chosen, key=lambda each: (each.module, each.change.start, each.change.rule))


def find(mutant_id: str) -> Mutant:
    """The mutant of an id; raises ValueError where the code has none such."""
    try:
        _, module, line, column, rule = mutant_id.split("/")
    except ValueError:
        raise ValueError(f"{mutant_id!r} is not G/module/line/column/rule") from None
    for each in ordinary_of(module):
        if each.id == mutant_id:
            return as_mutant(each)
    raise ValueError(f"{module} has no {rule} at line {line}, column {column}")


def as_mutant(ordinary: Ordinary) -> Mutant:
    """The row that the other commands take."""
    module, change, text, _ = ordinary
    source = source_of(module)
    name = f"{module}:{change.line}: {text} → {' '.join(change.after.split())[:60]}"
    edit = Edit(module, source, ordinary.mutated(source))
    return Mutant(ordinary.id, name, "generic", change.rule, (), (edit,), level=level_of(module))


def level_of(module: str) -> str:
    """The level at which the mutants of a module are hunted."""
    if module in OF_NODES:
        return "node"
    return "controller" if module.startswith("controller") else "raft"


def source_of(module: str) -> str:
    """The text of a module; raises ValueError where there is none."""
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise ValueError(f"no module {module}")
    return Path(spec.origin).read_text()
