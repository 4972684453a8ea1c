from __future__ import annotations

from tools.command_line.suggestions import distance, suggestions


def test_swapping_neighbours_costs_nothing() -> None:
    assert [distance("formta", "format"), distance("form", "format"), distance("formatx", "format")] == [0, 2, 4]


def test_the_nearest_names_are_suggested() -> None:
    assert suggestions("formt", {"--format": "format", "--info": "info"}) == "\nDid you mean:\n\t--format\n"


def test_there_is_no_suggestion_without_a_similar_name() -> None:
    assert suggestions("unimaginable", {"a": "info", "b": "format"}) == ""
