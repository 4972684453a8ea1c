"""The command that measures the history checker fails if the checker is wrong, or cannot decide."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulations.commands.main import main
from simulations.histories import linearizable

if TYPE_CHECKING:
    import pytest


def test_histories_of_a_cluster_and_small_ones_are_decided(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["histories", "--seeds", "3", "--random", "40"])

    clusters, small = capsys.readouterr().out.splitlines()
    assert code == 0
    assert "1 histories explained, 0 are not, 0 are undecided" in clusters
    assert small.endswith("the checker differs for 0")


def test_a_checker_that_accepts_everything_is_detected(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(linearizable.Search, "run", lambda _search: True)

    code = main(["histories", "--seeds", "3", "--random", "40"])

    assert code == 1
    assert "trying all orders gives another result:" in capsys.readouterr().out
