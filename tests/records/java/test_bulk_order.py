"""The order of very many names: as one by one."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from records.java.bulk_order import bucket_places, hash_codes
from records.java.java_order import DEFAULT_CAPACITY, MANY_NAMES, bucket_order, buckets, hash_code, hash_order

NAMES = st.lists(
    st.one_of(st.text(), st.text(st.characters(codec="ascii")), st.text("ab", min_size=240, max_size=300)),
    min_size=1,
    unique=True,
)


@given(NAMES)
def test_the_hashes_are_those_of_the_names_one_by_one(names: list[str]) -> None:
    assert hash_codes(names, lambda: None).tolist() == [hash_code(name) for name in names]


def test_half_of_a_surrogate_pair_is_hashed_as_java_hashes_it() -> None:
    names = ["\ud800", "a\udc00b", "\U0001f600", "ü"]

    assert hash_codes(names, lambda: None).tolist() == [0xD800, (31 * 97 + 0xDC00) * 31 + 98, 0xD83D * 31 + 0xDE00, 252]


@given(st.lists(st.integers(0, 0xFFFFFFFF), min_size=1, unique=True), st.sampled_from((1, 16, 1000)))
def test_keys_stand_as_one_by_one(codes: list[int], capacity: int) -> None:
    places = bucket_places(np.array(codes, np.uint32), buckets(len(codes), capacity))

    assert [codes[place] for place in places] == bucket_order(codes, codes, capacity)


@pytest.mark.parametrize("last", ["ü", "x" * 249, "x" * 250])
def test_many_names_stand_as_one_by_one_with_pauses_between(last: str) -> None:
    names = [f"topic-{number * number}" for number in range(MANY_NAMES)] + [last]
    pauses: list[None] = []

    ordered = hash_order([*names, *names], pause=lambda: pauses.append(None))

    assert ordered == bucket_order(names, [hash_code(name) for name in names], DEFAULT_CAPACITY)
    assert len(pauses) >= len("topic-998001")


def test_a_process_without_numpy_does_not_load_it_for_this(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"topic-{number * number}" for number in range(MANY_NAMES)]
    expected = hash_order(names)
    monkeypatch.delitem(sys.modules, "numpy")
    pauses: list[None] = []

    assert hash_order(names, pause=lambda: pauses.append(None)) == expected
    assert len(pauses) == MANY_NAMES
    assert "numpy" not in sys.modules
