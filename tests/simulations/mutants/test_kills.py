"""Stored kills, the figures computed from them, and verdicts on survivors."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

import pytest

from simulations.mutants import kills
from simulations.mutants.generated import generate, modules
from simulations.mutants.kills import Kill, Score, by_fault, by_property, read_survivors, score, survivor_row
from simulations.mutants.table import MUTANTS
from simulations.outcomes.outcome import Outcome
from simulations.properties.ids import PROPERTIES
from simulations.running.witnesses import WITNESSES

if TYPE_CHECKING:
    from pathlib import Path

KEPT = {
    "R01": [Kill(4, 4, "S02", 100, ("power",)), Kill(10_001, 1, "S01", 50)],
    "R02": [Kill(0, 200), Kill(10_009, 9, "S02", 70, ("power", "kill"))],
    "R03": [Kill(0, 200), Kill(0, 200)],
}


def test_stored_kills_are_read_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "kills.json"

    kills.write(KEPT, path)

    assert kills.read(path) == KEPT
    assert len(path.read_text().splitlines()) == 2 + len(KEPT)


def test_a_missing_file_gives_no_kills(tmp_path: Path) -> None:
    assert kills.read(tmp_path / "kills.json") == {}


def test_each_stored_kill_and_witness_names_a_known_mutant() -> None:
    assert [name for name in kills.read() if name not in MUTANTS] == []
    assert {each.mutant_id for each in WITNESSES} <= set(MUTANTS)


def test_a_file_that_holds_no_kills_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "kills.json"
    path.write_text("[]")

    with pytest.raises(ValueError, match="holds no first kills"):
        kills.read(path)


def test_ranges_share_no_seed() -> None:
    ranges = [set(kills.seeds_of(number, 500)) for number in range(kills.RANGES)]

    assert len(set().union(*ranges)) == 500 * kills.RANGES


def test_the_result_of_a_hunt_is_counted_range_by_range() -> None:
    outcomes = [
        Outcome(1),
        Outcome(2, "S02", events=7, needs=["power"]),
        Outcome(10_001),
        Outcome(20_001, "S01", events=5),
    ]

    assert kills.of_ranges(outcomes) == [
        Kill(2, 2, "S02", 7, ("power",)), Kill(0, 1), Kill(20_001, 1, "S01", 5), Kill(0, 0), Kill(0, 0),
    ]  # fmt: skip


def test_a_further_hunt_continues_where_the_last_one_ended() -> None:
    before = [Kill(2, 2, "S02", 7), Kill(0, 3), Kill(0, 5)]

    assert kills.remaining_seeds(before, 4, 5) == (10_004, 10_005, 30_001, 30_002, 30_003, 30_004, 30_005)
    assert kills.remaining_seeds((), 1, 2) == (1, 2)
    found = kills.of_ranges([Outcome(10_004), Outcome(10_005, "S01", events=4)], 4, before)
    assert found == [before[0], Kill(10_005, 5, "S01", 4), before[2], Kill(0, 0)]


def test_the_cheapest_kill_is_the_first_hint() -> None:
    assert kills.hints(KEPT["R01"]) == (10_001, 4)
    assert kills.hints(KEPT["R03"]) == ()


def test_a_score_counts_mutants_by_their_ranges() -> None:
    assert score(KEPT) == Score(3, ("R03",), ("R02",), inf, inf, 9, 6, 3)
    assert score({"R01": KEPT["R01"]}) == Score(1, (), (), 2.5, 4, 4, 2, 0)
    assert score({}) == Score(0, (), (), 0, 0, 0, 0, 0)


def test_kills_are_grouped_by_property_and_by_fault() -> None:
    assert by_property(KEPT, ("S01", "S02", "S03")) == {"S01": ["R01"], "S02": ["R01", "R02"], "S03": []}
    assert by_fault(KEPT, ("power", "split")) == {"power": ["R01", "R02"], "split": [], "kill": ["R02"]}


def test_each_verdict_is_on_a_mutant_that_exists() -> None:
    rows = read_survivors()

    known = {each.key for name in ("raft", "controller") for module in modules(name) for each in generate(module)}

    assert sorted(rows.keys() - known) == []
    assert all(len(row.why) >= 10 for row in rows.values())


def test_a_verdict_is_read_as_it_was_written() -> None:
    key = "raft.vote.can_grant swap `a | b < c` #2"

    assert read_survivors(survivor_row(key, "same", "why so"))[key] == (key, "same", "why so")


def test_an_unknown_verdict_is_refused() -> None:
    with pytest.raises(ValueError, match="'perhaps' is not a verdict"):
        read_survivors(survivor_row("raft.vote.f swap `a < b`", "perhaps", "why so"))


def test_each_kill_by_a_property_alone_names_a_known_property_and_mutant() -> None:
    for property_id, found in kills.read_alone().items():
        assert property_id in PROPERTIES
        assert found.keys() <= MUTANTS.keys(), property_id


def test_kills_by_a_property_alone_are_read_as_they_were_written(tmp_path: Path) -> None:
    kept = {"S12": {"D13": 6, "D01": 1}, "C05": {"Q01": 4}}

    kills.write_alone(kept, tmp_path / "alone.json")

    assert kills.read_alone(tmp_path / "alone.json") == kept


def test_a_file_that_holds_no_kills_by_a_property_alone_is_refused(tmp_path: Path) -> None:
    (tmp_path / "alone.json").write_text('["S12"]')

    with pytest.raises(ValueError, match="holds no kills"):
        kills.read_alone(tmp_path / "alone.json")
