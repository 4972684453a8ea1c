"""Columns of lists behave like Python's lists."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from pipeline.arrow import TYPES
from pipeline.tables.lists import Lists, concat

BROKERS = st.lists(st.integers(min_value=-2, max_value=4), max_size=4) | st.lists(
    st.integers(min_value=0, max_value=12), min_size=7, max_size=11
)
PAIRS = st.lists(st.tuples(BROKERS, BROKERS), min_size=1, max_size=8)


def lists(values: list[list[int] | None]) -> Lists:
    return Lists.of(pa.array(values, TYPES["array<int>"]))


@given(PAIRS)
def test_lists_are_compared_and_subtracted_row_by_row(pairs: list[tuple[list[int], list[int]]]) -> None:
    ours, theirs = lists([one for one, _ in pairs]), lists([other for _, other in pairs])

    assert ours.equals(theirs).tolist() == [one == other for one, other in pairs]
    assert ours.without(theirs).arrow().to_pylist() == [[x for x in one if x not in other] for one, other in pairs]
    assert ours.same_members(theirs).tolist() == [set(one) == set(other) for one, other in pairs]
    assert ours.without(theirs, ascending=True).arrow().to_pylist() == [
        sorted(x for x in one if x not in other) for one, other in pairs
    ]
    assert ours.first().tolist() == [one[0] if one else -1 for one, _ in pairs]


@given(st.lists(BROKERS, min_size=1, max_size=8), st.data())
def test_rows_of_one_column_are_compared_as_those_of_two(values: list[list[int]], data: st.DataObject) -> None:
    column = lists(values)
    rows = st.lists(st.integers(min_value=0, max_value=len(values) - 1), min_size=len(values), max_size=len(values))
    ours, theirs = data.draw(rows), data.draw(rows)

    equal = column.take(np.array(ours)).equals(column.take(np.array(theirs)))

    assert equal.tolist() == [values[one] == values[other] for one, other in zip(ours, theirs, strict=True)]


@given(st.lists(st.none() | BROKERS, min_size=1, max_size=8))
def test_lists_are_converted_to_arrow_and_back(values: list[list[int] | None]) -> None:
    column = lists(values)
    backwards = np.arange(len(values))[::-1]

    assert column.arrow().to_pylist() == values
    assert column.take(backwards).arrow().to_pylist() == values[::-1]
    assert concat([column, column.take(backwards)]).arrow().to_pylist() == values + values[::-1]
    assert column.or_empty().arrow().to_pylist() == [value or [] for value in values]
