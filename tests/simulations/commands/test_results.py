"""RESULTS.md is what the stored results give."""

from __future__ import annotations

from simulations.commands import results


def test_the_results_are_up_to_date() -> None:
    assert results.PATH.read_text() == results.text(), "run `python -m simulations results`"
