"""The measure of the longest step."""

from __future__ import annotations

from controller.node.longest_step import LongestStep


def test_the_longest_step_is_shown_for_one_to_two_minutes() -> None:
    times_s = [0.0]
    longest = LongestStep(lambda: times_s[-1])
    longest.add(0.2)
    longest.add(0.1)

    shown = []
    for each_s in (0.0, 59.0, 61.0, 119.0, 122.0):
        times_s.append(each_s)
        shown += [longest.seconds()]

    assert shown == [0.2, 0.2, 0.2, 0.2, 0.0]


def test_a_shorter_step_of_this_minute_replaces_a_longer_one_of_an_earlier_minute() -> None:
    now_s = 0.0
    longest = LongestStep(lambda: now_s)
    longest.add(0.2)

    now_s = 61.0
    longest.add(0.1)
    now_s = 122.0

    assert longest.seconds() == 0.1
