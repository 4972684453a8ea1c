"""The answers of a single controller without faults: the API as a sequential object.

Each operation is about one thing; a request about several is recorded as several concurrent operations:

| operation | answer |
|---|---|
| `("create", name, partitions, configs)` | `("ok", topic id)`, `exists` |
| `("delete", name, topic id or None)` | `ok`, `missing` |
| `("grow", name, partitions)` | `ok`, `missing`, `too few` |
| `("configure", name, ((key, value or None), …))` | `ok`, `missing` |
| `("replace", name, ((key, value), …))` | `ok`, `missing`: all configs of the topic become these |
| `("read", name)` | the topic's configs as `((key, value), …)` in order, `missing` |
| `("configure broker", id, ((key, value or None), …))`, `("read broker", id)` | `ok`; the configs |
| `("allocate",)` | the first id of the block |
| `("register", broker id, incarnation)` | the broker epoch |
| `("unregister", broker id)` | `ok`, `missing` |
| `("alter partition", topic id, partition, partition epoch)` | `("ok", new partition epoch)`, `stale` |
| `("set feature", name, level, "up" or "down")` | `ok`, `was higher`, `was lower` |
| `("validate", operation)` | the answer of the operation, `ok` without an id; and nothing changes |

`refused` is the answer to an operation that was refused for a reason outside of this model, such as too few brokers;
then nothing may have changed. Absent configs have no value; `()` stands for no configs.
A deletion names its topic, and also the id if the request did.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from simulations.histories.controller_nodes import allocate, alter_partition, register, set_feature, unregister
from simulations.histories.models import REFUSED
from simulations.histories.operations import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable


class Topic(NamedTuple):
    """An existing topic. id: None if no answer has named it yet."""

    id: Any
    partitions: int
    configs: tuple[tuple[str, str], ...] = ()


class ControllerApi:
    """The model. Its state is that of the one thing that a part of the history is about; None before the first."""

    initial: Hashable = None

    def key(self, asked: Any) -> Hashable:
        return KEYS[asked[0]](asked)

    def step(self, state: Any, asked: Any, answer: Any) -> Any:
        if answer == "refused":
            return state
        return STEPS[asked[0]](state, asked, answer)

    def is_read(self, asked: Any) -> bool:
        return str(asked[0]).startswith("read")


def create(state: Topic | None, asked: Any, answer: Any) -> Any:
    if state is not None:
        return state if answer in (UNKNOWN, "exists") else REFUSED
    if answer is UNKNOWN:
        return Topic(None, asked[2], asked[3])
    return Topic(answer[1], asked[2], asked[3]) if answer != "exists" else REFUSED


def delete(state: Topic | None, asked: Any, answer: Any) -> Any:
    # Ids are learned from creations that were answered: no request has the id of a lost one.
    is_there = state is not None and asked[2] in (None, state.id)
    if answer not in (UNKNOWN, "ok" if is_there else "missing"):
        return REFUSED
    return None if is_there else state


def grow(state: Topic | None, asked: Any, answer: Any) -> Any:
    if state is None:
        return state if answer in (UNKNOWN, "missing") else REFUSED
    if asked[2] <= state.partitions:
        return state if answer in (UNKNOWN, "too few") else REFUSED
    return state._replace(partitions=asked[2]) if answer in (UNKNOWN, "ok") else REFUSED


def configure(state: Topic | None, asked: Any, answer: Any) -> Any:
    if state is None:
        return state if answer in (UNKNOWN, "missing") else REFUSED
    return state._replace(configs=change_configs(state.configs, asked[2])) if answer in (UNKNOWN, "ok") else REFUSED


def replace(state: Topic | None, asked: Any, answer: Any) -> Any:
    if state is None:
        return state if answer in (UNKNOWN, "missing") else REFUSED
    return state._replace(configs=change_configs((), asked[2])) if answer in (UNKNOWN, "ok") else REFUSED


def read(state: Topic | None, _asked: Any, answer: Any) -> Any:
    seen = "missing" if state is None else state.configs
    return state if answer is UNKNOWN or answer == seen else REFUSED


def configure_broker(state: Any, asked: Any, answer: Any) -> Any:
    return change_configs(state or (), asked[2]) if answer in (UNKNOWN, "ok") else REFUSED


def read_broker(state: Any, _asked: Any, answer: Any) -> Any:
    return state if answer is UNKNOWN or answer == (state or ()) else REFUSED


def validate(state: Any, asked: Any, answer: Any) -> Any:
    """The answer that the operation would get in this state."""
    if answer is UNKNOWN:
        return state
    of_creation = asked[1][0] == "create" and answer == "ok"
    after = STEPS[asked[1][0]](state, asked[1], ("ok", None) if of_creation else answer)
    return REFUSED if after is REFUSED else state


def change_configs(configs: tuple[tuple[str, str], ...], changes: Any) -> tuple[tuple[str, str], ...]:
    """The configs after setting some; a value of None deletes."""
    values = dict(configs)
    for key, value in changes:
        if value is None:
            values.pop(key, None)
        else:
            values[key] = value
    return tuple(sorted(values.items()))


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
    "replace": replace,
    "validate": validate,
    "unregister": unregister,
    "set feature": set_feature,
}

KEYS: dict[str, Callable[[Any], Hashable]] = {
    **dict.fromkeys(("create", "delete", "grow", "configure", "replace", "read"), _topic),
    **dict.fromkeys(("configure broker", "read broker"), lambda asked: ("broker", asked[1])),
    "allocate": lambda _asked: "producer ids",
    **dict.fromkeys(("register", "unregister"), lambda asked: ("registrations of", asked[1])),
    "alter partition": lambda asked: ("partition", asked[1], asked[2]),
    "set feature": lambda asked: ("feature", asked[1]),
    "validate": lambda asked: KEYS[asked[1][0]](asked[1]),
}
