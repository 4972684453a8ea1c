"""Bugs of other projects, and of Kafka's raft: each is a mutant that is there, and there are enough of them."""

from __future__ import annotations

from collections import Counter

from simulations.mutants.history import BUGS
from simulations.mutants.peer import KILLED, NOT_TRIED, SURVIVED, TRANSLATIONS
from simulations.mutants.table import MUTANTS
from simulations.mutants.tags import TAGS, has_tag


def test_each_bug_of_a_project_is_a_mutant_that_is_there() -> None:
    unknown = [mutant_id for bug in BUGS for mutant_id in bug.mutants if mutant_id not in MUTANTS]

    assert unknown == []
    assert [issue for issue, count in Counter(bug.issue for bug in BUGS).items() if count > 1] == []


def test_forty_bugs_of_kafka_and_ten_of_others_are_put_in_again() -> None:
    kafkas = [bug for bug in BUGS if bug.issue.startswith("KAFKA-") and bug.mutants]
    others = [bug for bug in BUGS if not bug.issue.startswith("KAFKA-") and bug.mutants]

    assert len(kafkas) >= 40
    assert len(others) >= 10


def test_twenty_eight_lines_of_kafkas_raft_have_a_mutant_each() -> None:
    assert len({translation.mutant_id for translation in TRANSLATIONS}) == len(TRANSLATIONS) == 28
    assert {translation.mutant_id for translation in TRANSLATIONS} - set(MUTANTS) == {"R42"}  # it lives: BOUNDARY.md
    assert Counter(translation.theirs for translation in TRANSLATIONS) == {KILLED: 10, SURVIVED: 8, NOT_TRIED: 10}


def test_a_mutant_is_chosen_by_each_of_its_tags() -> None:
    chosen = {tag: [mutant.id for mutant in MUTANTS.values() if has_tag(mutant, tag)] for tag in TAGS}

    assert "R01" in chosen["gate"]
    assert "R01" in chosen["peer"]
    assert "R26" in chosen["history"]
    assert "R37" not in chosen["peer"]
