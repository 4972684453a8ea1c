"""The command that measures the checker of histories fails where the checker is wrong, or cannot decide."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulations.commands.main import main
from simulations.histories import linearizable

if TYPE_CHECKING:
    import pytest


def test_a_cluster_and_small_histories_are_well(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["histories", "--seeds", "3", "--random", "40"])

    clusters, small = capsys.readouterr().out.splitlines()
    assert code == 0
    assert "1 are explained, 0 are not, 0 not decided" in clusters
    assert small.endswith("of 0 the checker says otherwise")


def test_a_checker_that_finds_all_well_is_found_out(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(linearizable.Search, "run", lambda _search: True)

    code = main(["histories", "--seeds", "3", "--random", "40"])

    assert code == 1
    assert "all orders say otherwise:" in capsys.readouterr().out
