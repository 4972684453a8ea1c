"""Plans: the complete input of a run as plain data, and its JSON form.

A run is a function of its plan alone. All random numbers that are not in the list of faults are noise, from random
streams whose root is the plan's seed: the latency of a packet, the unsynced sectors that survive. So a fault can be
left out, and the rest stays the same.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from typing import Any

VERSION = 1


@dataclass(slots=True)
class Fault:
    """One fault. kind: a row of `faults.KINDS`, with its args.

    It happens at `at_ms`; or when a node reaches the point `on` for the `nth` time from then on, a given node or any,
    in a given role or any; or when the state `when` holds for the first time from then on.
    """

    kind: str
    args: dict[str, Any] = field(default_factory=dict)
    at_ms: int = 0
    on: str = ""
    nth: int = 1
    node: int = 0
    role: str = ""
    when: str = ""


@dataclass(slots=True)
class RecoveryPlan:
    """The recovery phase after the faults: a core of the voters is healthy, and must make progress.

    core: their ids; others: what the rest do: join, off (dead), apart (cut off), flap (cut off and back, again and
    again). quiet: no writes while the quorum must keep its leader, so that no log falls behind. skipped: the
    world ends before this phase.
    """

    core: list[int] = field(default_factory=list)
    others: str = "join"
    quiet: bool = False
    skipped: bool = False


@dataclass(slots=True)
class Load:
    """The clients: writes of `records` records with `size` extra bytes, about every `every_ms`, 0 for never; in `asks`
    of 100 cases a confirmation of leadership instead of a write. slow_ms: how long a state machine takes at most to
    pass its batch to raft. rogue_ms: the mean interval of valid and invalid requests of rogue clients to a node, 0
    for never.
    """

    every_ms: int = 100
    records: int = 1
    size: int = 20
    asks: int = 0
    slow_ms: int = 0
    rogue_ms: int = 0


@dataclass(slots=True)
class Plan:
    """seed: root of the noise. voters: ids 1 to this number; observers have the next ids. config: of `RaftConfig`, the
    fields that differ from its defaults. latency: of `links.Latency`; pace: of `node.DiskPace`. segment_bytes,
    cache_bytes: limits of the storage. clocks: by node, (the clock's value at the start in ms, drift in ppm). releases:
    by node, where it is not the newest. removes_quorum_state: whoever starts a process removes that file before, as
    Strimzi's images do. noise_ms: from when to when packets and disks take longer than the least; empty
    for always; noise_of: which of them, as in `noise`; empty for all.
    """

    seed: int
    voters: int = 3
    observers: int = 0
    chaos_ms: int = 10_000
    noise_ms: list[int] = field(default_factory=list)
    noise_of: list[str] = field(default_factory=list)
    config: dict[str, Any] = field(default_factory=dict)
    latency: list[float] = field(default_factory=lambda: [200, 600, 0.0, 0])
    pace: list[float] = field(default_factory=lambda: [100, 400, 0.0, 0])
    codec: bool = True
    late_answers: bool = False
    journal: bool = True
    removes_quorum_state: bool = False
    kraft_version: int = 0
    snapshot_every: int = 0
    snapshot_padding: int = 0
    segment_bytes: int = 1 << 30
    cache_bytes: int = 4 << 20
    clocks: dict[int, list[int]] = field(default_factory=dict)
    releases: dict[int, str] = field(default_factory=dict)
    load: Load = field(default_factory=Load)
    recovery: RecoveryPlan = field(default_factory=RecoveryPlan)
    faults: list[Fault] = field(default_factory=list)

    @property
    def ids(self) -> list[int]:
        return list(range(1, self.voters + self.observers + 1))

    @property
    def software(self) -> set[str]:
        """The releases with which the nodes start."""
        from simulations.world.releases import NEWEST  # not before a mutant is in place: it imports the messages

        return {self.releases.get(node_id, NEWEST) for node_id in self.ids}

    @property
    def voter_ids(self) -> list[int]:
        return list(range(1, self.voters + 1))


def to_json(plan: Plan) -> str:
    """The plan as text, without fields that have their default; one fault a line."""
    tree = {"version": VERSION, **_short(plan)}
    faults = tree.pop("faults", [])
    lines = [f"  {json.dumps(name)}: {json.dumps(value)}" for name, value in tree.items()]
    if faults:
        rows = ",\n".join(f"    {json.dumps(fault)}" for fault in faults)
        lines.append(f'  "faults": [\n{rows}\n  ]')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def from_json(text: str, kind: type = Plan) -> Any:
    """The plan of this class that a text describes. Raises ValueError where it does not describe one."""
    try:
        tree = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"the plan is no JSON: {error}") from None
    if not isinstance(tree, dict):
        raise ValueError("the plan is no JSON object")  # noqa: TRY004 - the text is wrong, not our call
    version = tree.pop("version", VERSION)
    if version != VERSION:
        raise ValueError(f"the plan has version {version}; only {VERSION} is read")
    if "seed" not in tree:
        raise ValueError("the plan has no seed")
    tree["load"] = _make(Load, tree.get("load", {}))
    tree["recovery"] = _make(RecoveryPlan, tree.get("recovery", {}))
    tree["faults"] = [_make(Fault, fault) for fault in tree.get("faults", [])]
    for name in ("clocks", "releases"):
        tree[name] = {int(node): value for node, value in tree.get(name, {}).items()}
    return _make(kind, tree)


def _short(value: Any) -> dict[str, Any]:
    """The fields that differ from their defaults."""
    plain = type(value)(**{"seed": value.seed} if isinstance(value, Plan) else {"kind": value.kind})
    own, default = asdict(value), asdict(plain)
    short = {name: own[name] for name in own if own[name] != default[name] or name in {"seed", "kind"}}
    if isinstance(value, Plan):
        if value.faults:
            short["faults"] = [_short(fault) for fault in value.faults]
        for name in ("load", "recovery"):
            if name in short:
                short[name] = {key: own[name][key] for key in own[name] if own[name][key] != default[name][key]}
    return short


def _make(cls: type, tree: Any) -> Any:
    if not isinstance(tree, dict):
        raise ValueError(f"{cls.__name__} is {tree!r}, not an object")  # noqa: TRY004 - the text is wrong
    known = {each.name for each in fields(cls)}
    unknown = sorted(set(tree) - known)
    if unknown:
        raise ValueError(f"{cls.__name__} has {', '.join(unknown)}; known are {', '.join(sorted(known))}")
    return cls(**tree)
