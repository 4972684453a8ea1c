"""The twin of java.util.Random draws what the JDK draws, as its documentation specifies the generator."""

from __future__ import annotations

from tests.oracle.java_random import JavaRandom, Twin


def test_numbers_below_a_bound_are_those_of_the_jdk() -> None:
    random = JavaRandom(42)

    drawn = [random.next_int(10) for _ in range(6)]

    assert drawn == [0, 3, 8, 4, 0, 5]


def test_a_shuffle_keeps_all_items() -> None:
    items = list(range(9))

    Twin(7).shuffle(items)

    assert sorted(items) == list(range(9))
