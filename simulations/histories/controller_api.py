"""What one controller that nothing ever happened to would answer to its clients: the API as a sequential object.

Operations, each about one thing; a request about several is written down as several of one time:

| asked | told |
|---|---|
| `("create", name, partitions, configs)` | `("ok", topic id)`, `exists` |
| `("delete", name, topic id or None)` | `ok`, `missing` |
| `("grow", name, partitions)` | `ok`, `missing`, `too few` |
| `("configure", name, ((key, value or None), …))` | `ok`, `missing` |
| `("read", name)` | the topic's configs as `((key, value), …)` in order, `missing` |
| `("configure broker", id, ((key, value or None), …))`, `("read broker", id)` | `ok`; the configs |
| `("allocate",)` | the first id of the block |
| `("register", broker id, incarnation)` | the broker epoch |
| `("alter partition", topic id, partition, partition epoch)` | `("ok", new partition epoch)`, `stale` |
| `("set feature", name, level)`, `("read feature", name)` | `ok`; the level |

`refused` is the answer to what was refused for a reason that this object knows nothing of, as that no broker lives;
then nothing may have changed. Absent configs have no value; `()` is that of none.
A deletion names its topic, and where it was by id that too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from simulations.histories.models import REFUSED
from simulations.histories.operations import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

BLOCK = 1000


class Topic(NamedTuple):
    """A topic that is there. id: None where nobody was told yet which it got."""

    id: Any
    partitions: int
    configs: tuple[tuple[str, str], ...] = ()


class ControllerApi:
    """The model. Its state is that of the one thing that a part of the history is about; None for nothing yet."""

    initial: Hashable = None

    def key(self, asked: Any) -> Hashable:
        return KEYS[asked[0]](asked)

    def step(self, state: Any, asked: Any, told: Any) -> Any:
        if told == "refused":
            return state
        return STEPS[asked[0]](state, asked, told)

    def is_read(self, asked: Any) -> bool:
        return str(asked[0]).startswith("read")


def create(state: Topic | None, asked: Any, told: Any) -> Any:
    if state is not None:
        return state if told in (UNKNOWN, "exists") else REFUSED
    if told is UNKNOWN:
        return Topic(None, asked[2], asked[3])
    return Topic(told[1], asked[2], asked[3]) if told != "exists" else REFUSED


def delete(state: Topic | None, asked: Any, told: Any) -> Any:
    # Ids are learned from creations that were answered: nobody asks by that of a lost one.
    is_there = state is not None and asked[2] in (None, state.id)
    if told not in (UNKNOWN, "ok" if is_there else "missing"):
        return REFUSED
    return None if is_there else state


def grow(state: Topic | None, asked: Any, told: Any) -> Any:
    if state is None:
        return state if told in (UNKNOWN, "missing") else REFUSED
    if asked[2] <= state.partitions:
        return state if told in (UNKNOWN, "too few") else REFUSED
    return state._replace(partitions=asked[2]) if told in (UNKNOWN, "ok") else REFUSED


def configure(state: Topic | None, asked: Any, told: Any) -> Any:
    if state is None:
        return state if told in (UNKNOWN, "missing") else REFUSED
    return state._replace(configs=changed(state.configs, asked[2])) if told in (UNKNOWN, "ok") else REFUSED


def read(state: Topic | None, _asked: Any, told: Any) -> Any:
    seen = "missing" if state is None else state.configs
    return state if told is UNKNOWN or told == seen else REFUSED


def configure_broker(state: Any, asked: Any, told: Any) -> Any:
    return changed(state or (), asked[2]) if told in (UNKNOWN, "ok") else REFUSED


def read_broker(state: Any, _asked: Any, told: Any) -> Any:
    return state if told is UNKNOWN or told == (state or ()) else REFUSED


def allocate(state: int | None, _asked: Any, told: Any) -> Any:
    """Blocks do not overlap, and go up; those of unanswered requests are skipped."""
    if told is UNKNOWN:
        return state
    return told + BLOCK if told >= (state or 0) else REFUSED


def register(state: tuple[Any, int] | None, asked: Any, told: Any) -> Any:
    """Each new incarnation of a broker has a greater epoch; one that asks again is told the same."""
    if told is UNKNOWN:
        return state
    incarnation, epoch = state or (None, -1)
    fits = told == epoch if asked[2] == incarnation else told > epoch
    return (asked[2], told) if fits else REFUSED


def alter_partition(state: int | None, asked: Any, told: Any) -> Any:
    """Of each partition epoch one change goes out; the controller may raise the epoch by itself at any time."""
    if told is UNKNOWN or told == "stale":
        return state
    expected = asked[3]
    if (state is not None and expected < state) or told[1] not in (expected, expected + 1):
        return REFUSED
    return told[1]


def set_feature(_state: int | None, asked: Any, told: Any) -> Any:
    return asked[2] if told in (UNKNOWN, "ok") else REFUSED


def read_feature(state: int | None, _asked: Any, told: Any) -> Any:
    return state if told is UNKNOWN or told == (state or 0) else REFUSED


def changed(configs: tuple[tuple[str, str], ...], changes: Any) -> tuple[tuple[str, str], ...]:
    """Configs after some were set, or deleted where the value is None."""
    found = dict(configs)
    for key, value in changes:
        if value is None:
            found.pop(key, None)
        else:
            found[key] = value
    return tuple(sorted(found.items()))


def _topic(asked: Any) -> Hashable:
    return ("topic", asked[1])


STEPS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "create": create,
    "delete": delete,
    "grow": grow,
    "configure": configure,
    "read": read,
    "configure broker": configure_broker,
    "read broker": read_broker,
    "allocate": allocate,
    "register": register,
    "alter partition": alter_partition,
    "set feature": set_feature,
    "read feature": read_feature,
}

KEYS: dict[str, Callable[[Any], Hashable]] = {
    **dict.fromkeys(("create", "delete", "grow", "configure", "read"), _topic),
    **dict.fromkeys(("configure broker", "read broker"), lambda asked: ("broker", asked[1])),
    "allocate": lambda _asked: "producer ids",
    "register": lambda asked: ("registrations of", asked[1]),
    "alter partition": lambda asked: ("partition", asked[1], asked[2]),
    **dict.fromkeys(("set feature", "read feature"), lambda asked: ("feature", asked[1])),
}
