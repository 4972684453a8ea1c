"""Copies of a replica, so that a state can have several successors, and the comparison of its states.

Both visit the slots of the core's own classes, so that a new slot is copied and compared without a change here; a new
class must be listed. Times and request numbers are left out of the comparison: they only ever grow, and two states that
differ in nothing else behave alike.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from raft.interface import config, effects, inputs, voters
from raft.interface.limits import NEVER
from raft.interface.recovered import Recovered, StoredSnapshot
from raft.interface.voters import History, VoterSet
from raft.state.follower_state import Download, FollowerState
from raft.state.leader_state import LeaderState, Progress
from raft.state.log_view import LogView
from raft.state.other_addresses import OtherAddresses
from raft.state.parked import Parked
from raft.state.peers import Peers, _Entry
from raft.state.proposals import Proposals
from raft.state.replica import Replica
from raft.state.roles import Candidate, Follower, Leader, Prospective, Resigned, Unattached
from raft.state.rounds import Rounds
from raft.state.tally import Tally
from raft.state.voter_change import VoterChange

if TYPE_CHECKING:
    from collections.abc import Callable

# Classes that are changed in place: a copy needs its own.
COPIED = (
    Replica, LogView, Peers, _Entry, LeaderState, Progress, Proposals, Rounds, FollowerState, Download, Tally, Parked,
    History, VoterChange, OtherAddresses, Unattached, Prospective, Candidate, Leader, Follower, Resigned,
)  # fmt: skip

# Immutable classes: copies share them.
SHARED: tuple[type, ...] = (
    int, str, bytes, bool, type(None), float, tuple, frozenset, VoterSet, Recovered, StoredSnapshot,
    *(each for module in (config, effects, inputs, voters) for each in vars(module).values() if isinstance(each, type)),
)  # fmt: skip

# Left out of the comparison: fields that never differ, and counters.
IGNORED = {
    "config", "rng", "recovered", "static_voters", "own_id", "_number", "number", "correlation", "correlation_id",
    "notified_offset", "wall_offset_ms",
    "parts", "issued", "done", "_pending", "_saves", "_saved", "_effects", "_saving",
    "_request_timeout_ms", "_retry_backoff_ms", "bootstrap", "places", "key",
}  # fmt: skip


def slots_of(cls: type) -> tuple[str, ...]:
    """The names of all slots, those of base classes too."""
    names: list[str] = []
    for each in cls.__mro__:
        slots = each.__dict__.get("__slots__", ())
        names += (slots,) if isinstance(slots, str) else slots
    return tuple(dict.fromkeys(names))


def copy(value: Any) -> Any:
    """An independent copy. Raises TypeError for an object of a class in neither list."""
    return _COPIES.get(type(value), _learn)(value)


def _learn(value: Any) -> Any:
    cls = type(value)
    if not (cls in SHARED or issubclass(cls, tuple) or _is_message(cls)):
        raise TypeError(f"{cls.__module__}.{cls.__qualname__} is neither copied nor shared: say which")
    _COPIES[cls] = _same
    return value


# In an installation the packages stand below `kraft_quorum` (see setup.py).
_ABOVE = Replica.__module__.removesuffix("raft.state.replica")


def _is_message(cls: type) -> bool:
    """Messages are taken as immutable everywhere."""
    module = cls.__module__.removeprefix(_ABOVE)
    return module.startswith("records.") or not module.startswith(("raft.", "collections"))


def _same(value: Any) -> Any:
    return value


def _by_slots(cls: type) -> Callable[[Any], Any]:
    names = [name for name in slots_of(cls) if name != "__weakref__"]
    new, put = object.__new__, object.__setattr__

    def duplicate(value: Any) -> Any:
        made: Any = new(cls)
        for name in names:
            try:
                part = getattr(value, name)
            except AttributeError:
                continue
            way = _COPIES.get(type(part), _learn)
            put(made, name, part if way is _same else way(part))
        return made

    return duplicate


_COPIES: dict[type, Callable[[Any], Any]] = {
    **dict.fromkeys((int, str, bytes, bool, type(None), float, frozenset, tuple), _same),
    list: lambda value: [copy(each) for each in value],
    deque: lambda value: deque(copy(each) for each in value),
    set: set,
    dict: lambda value: {key: copy(each) for key, each in value.items()},
    **{cls: _by_slots(cls) for cls in COPIED},
}


def freeze(value: Any) -> Any:
    """An object as nested tuples: equal if two objects behave alike."""
    return _FREEZES.get(type(value), _learn_to_freeze)(value)


def _learn_to_freeze(value: Any) -> Any:
    cls = type(value)
    if isinstance(value, int):
        way: Callable[[Any], Any] = int
    elif issubclass(cls, tuple) and hasattr(cls, "_fields"):
        way = _by_names(cls, cls._fields)
    elif slots_of(cls):
        way = _by_names(cls, slots_of(cls))
    else:
        way = _by_name_only
    _FREEZES[cls] = way
    return way(value)


def _by_name_only(value: Any) -> Any:
    return type(value).__name__


def _by_names(cls: type, names: tuple[str, ...]) -> Callable[[Any], Any]:
    kept = [name for name in names if name not in IGNORED and not name.startswith("__")]
    times = {name for name in kept if name.endswith("_ms")}
    title = cls.__name__

    def walk(value: Any) -> Any:
        parts: list[Any] = [title]
        for name in kept:
            part = getattr(value, name, None)
            if name in times:
                parts.append(part if part in _TIMELESS else 1)
            else:
                parts.append(_FREEZES.get(type(part), _learn_to_freeze)(part))
        return tuple(parts)

    return walk


# Of a time only this counts: whether there is one.
_TIMELESS = {None, -1, NEVER}

_FREEZES: dict[type, Callable[[Any], Any]] = {
    **dict.fromkeys((int, str, bytes, bool, type(None), float), _same),
    tuple: lambda value: tuple(freeze(each) for each in value),
    list: lambda value: tuple(freeze(each) for each in value),
    deque: lambda value: tuple(freeze(each) for each in value),
    set: lambda value: tuple(sorted(value)),
    frozenset: lambda value: tuple(sorted(value)),
    dict: lambda value: tuple(sorted((freeze(key), freeze(each)) for key, each in value.items())),
    VoterSet: lambda value: value.ids,
}


def frozen_replica(replica: Replica) -> Any:
    """A replica with the operations that wait for its disk."""
    log = replica.log
    return (
        freeze(replica),
        log.issued - log.done,
        replica._saves - replica._saved,  # noqa: SLF001 - no public name for what is held back
        tuple(end for _, end in log._pending),  # noqa: SLF001
    )
