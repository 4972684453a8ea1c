"""The metadata at an offset or a time, and a change before -> after."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from tests.records.golden import GOLDEN
from tests.tools.kraftctl.history.test_history import NODE
from tools.kraftctl.points.changes import compare
from tools.kraftctl.points.places import Place, read
from tools.kraftctl.points.points import END, START, Point, Reading


@pytest.mark.parametrize("name", ["4.0-static/node-1", "4.1-static/node-1", "4.3-static/node-1", "4.3-dynamic/node-1"])
def test_the_changes_between_two_points_add_up_to_their_difference(name: str) -> None:
    """What is noted record by record equals the comparison of two states, each from its own reading."""
    place = Place(directory=str(GOLDEN / name))
    end = Reading()
    read(place, end, "test")
    points = [end.end_offset * part // 5 for part in range(6)]
    for since, until in [*pairwise(points), (0, end.end_offset)]:
        noted: dict[tuple[str, str, str], list[Any]] = {}
        whole = read(place, Reading(Point(offset=until), Point(offset=since)), "test")
        for each in whole.changes:
            change = each.change
            if change.kind != "leader":
                noted.setdefault(change[:3], [change.before, None])[1] = change.after
        one, other = (read(place, Reading(Point(offset=point)), "test") for point in (since, until))

        net = {key: tuple(pair) for key, pair in noted.items() if pair[0] != pair[1]}
        differences = compare(one.value_tables(), other.value_tables(), lambda _change: True)
        assert net == {change[:3]: (change.before, change.after) for change in differences}


def test_the_beginning_and_the_end_are_points() -> None:
    assert read(Place(directory=NODE), Reading(START), "test").last_offset == -1
    assert read(Place(directory=NODE), Reading(END), "test").last_offset == 1038
