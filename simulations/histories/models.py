"""Sequential models: the answers of one server to one operation after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from simulations.histories.operations import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Hashable


class Model(Protocol):
    """A deterministic object. initial: its first state, hashable, as all states are."""

    initial: Hashable

    def key(self, asked: Any) -> Hashable:
        """The key of an operation; operations of different keys are independent."""
        ...

    def step(self, state: Any, asked: Any, answer: Any) -> Any:
        """The state after an operation with this answer, or REFUSED if this state does not give this answer. To an
        operation with the answer UNKNOWN any answer is possible; a state that depends on the answer must keep that
        open.
        """
        ...

    def is_read(self, asked: Any) -> bool:
        """Whether an operation never changes the state."""
        ...


REFUSED: Any = type("Refused", (), {"__repr__": lambda _self: "refused", "__slots__": ()})()
"""The operation cannot have this answer in this state."""


class Register:
    """One register with compare-and-set. ("read",) -> value; ("write", v) -> anything; ("cas", old, new) -> bool."""

    def __init__(self, initial: Hashable = None) -> None:
        self.initial = initial

    def key(self, asked: Any) -> Hashable:  # noqa: ARG002 - there is one register
        return "register"

    def step(self, state: Any, asked: Any, answer: Any) -> Any:
        match asked:
            case ("read",):
                return state if answer is UNKNOWN or answer == state else REFUSED
            case ("write", value):
                return value
            case ("cas", old, new):
                if answer is not UNKNOWN and answer != (state == old):
                    return REFUSED
                return new if state == old else state
        raise AssertionError(f"a register is not asked {asked!r}")

    def is_read(self, asked: Any) -> bool:
        return bool(asked[0] == "read")


class Strings:
    """A map of strings with ("get", key) -> value, ("put", key, value), ("append", key, value)."""

    initial = ""

    def key(self, asked: Any) -> Hashable:
        return str(asked[1])

    def step(self, state: Any, asked: Any, answer: Any) -> Any:
        match asked:
            case ("get", _):
                return state if answer is UNKNOWN or answer == state else REFUSED
            case ("put", _, value):
                return value
            case ("append", _, value):
                return state + value
        raise AssertionError(f"a map of strings is not asked {asked!r}")

    def is_read(self, asked: Any) -> bool:
        return bool(asked[0] == "get")
