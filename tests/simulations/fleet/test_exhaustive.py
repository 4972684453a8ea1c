"""A scope in parts equals the scope: the parts together reach its states, and each state is counted once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from simulations.fleet.exhaustive import batches_of, parts_of, schema, states_in, whole_of
from simulations.spec.model import Scope
from simulations.spec.search import Found, search

if TYPE_CHECKING:
    from pathlib import Path

SMALL = Scope(epochs=1, records=1, ticks=0, losses=1, crashes=1, in_flight=2, led=True)


def states_of(scope: Scope) -> set[int]:
    seen: set[int] = set()
    search(scope, seen=seen)
    return seen


def test_the_parts_have_the_states_of_the_whole() -> None:
    whole = states_of(SMALL)

    parts = [states_of(part) for part in parts_of(SMALL)]

    assert len(parts) == 9
    assert all(part < whole for part in parts)
    assert set().union(*parts) == whole


@pytest.mark.parametrize(("crashes", "losses", "count"), [(0, 0, 1), (1, 0, 3), (0, 1, 3), (2, 2, 1), (2, 1, 3)])
def test_a_scope_with_two_crashes_is_not_divided_by_them(crashes: int, losses: int, count: int) -> None:
    assert len(parts_of(Scope(crashes=crashes, losses=losses))) == count


def test_states_of_several_parts_count_once(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet

    found = [Found(3, 5, 2, 1, True, 0.5), Found(2, 4, 2, 1, False, 0.25, "S01: why", ("a", "b"))]
    batches = [*batches_of(1, found[1], {7, 8}), *batches_of(0, found[0], {7, -2, 9})]
    pyarrow.parquet.write_table(pa.Table.from_batches(batches, schema()), tmp_path / "states.parquet")

    whole = whole_of(tmp_path)

    assert (whole.parts, whole.states, whole.is_whole) == (found, 4, False)


def test_states_of_several_scopes_count_once(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet

    directories = []
    for number, states in enumerate(({7, 8}, {8, 9, -1})):
        directories.append(tmp_path / str(number))
        directories[-1].mkdir()
        batches = batches_of(0, Found(len(states), 5, 2, 1, True, 0.5), states)
        pyarrow.parquet.write_table(pa.Table.from_batches(batches, schema()), directories[-1] / "states.parquet")

    assert states_in(directories) == 4
