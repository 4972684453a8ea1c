"""Replaying records for tests of one table."""

from __future__ import annotations

from typing import Any

from controller.state.state import State


def state_of(*records: Any, **options: Any) -> State:
    """A state that has replayed these records, none of them committed."""
    state = State(**options)
    for record in records:
        state.replay(record, state.end_offset)
    return state
