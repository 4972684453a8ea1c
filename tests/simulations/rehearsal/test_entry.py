"""The whole rehearsal, from its arguments to what it prints."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from simulations.rehearsal.entry import choose, rehearse, usual_seeds
from simulations.rehearsal.layout import BadLayout, Layout

if TYPE_CHECKING:
    from pathlib import Path

LAYOUT = Layout({1: "a", 2: "a", 3: "b"})
GIVEN: dict[str, Any] = {
    "again": "again", "json_form": True, "html": None, "trace": None, "note": lambda _done, _total: None,
}  # fmt: skip


def test_the_same_arguments_give_the_same_bytes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    printed, pages = [], []
    for number in (1, 2):
        target = tmp_path / f"{number}.html"
        given = GIVEN | {"html": str(target)}
        assert rehearse(LAYOUT, None, ["site-a", "node-1"], range(1, 3), number, **given) == 0
        printed.append(capsys.readouterr().out)
        pages.append(target.read_bytes())

    assert printed[0] == printed[1]
    assert pages[0] == pages[1]
    assert json.loads(printed[0])["not_survived"] == ["site-a"]


def test_a_trace_repeats_line_for_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in (1, 2):
        given = GIVEN | {"trace": str(tmp_path / str(number))}
        assert rehearse(LAYOUT, None, ["node-1"], range(3, 4), 1, **given) == 0
    lines = (tmp_path / "1").read_text().splitlines()

    assert lines == (tmp_path / "2").read_text().splitlines()
    assert any("node 1 lost with its disk" in line for line in lines)
    assert any("LOST POWER" in line for line in lines)
    assert any("→ Leader of epoch 2" in line for line in lines)


@pytest.mark.parametrize(
    ("names", "seeds", "trace", "said"),
    [
        (["site-c"], range(1, 2), None, "there is none of this name; known are steady, node-1"),
        (["node-1"], range(1, 3), "-", "--trace is of one run"),
        ([], range(1, 2), "-", "--trace is of one run"),
        (["node-1"], range(1, 2), "-", "--trace - and --json both print to stdout"),
        (["node-1"], range(1, 2), "nowhere/run.txt", "nowhere is no directory that this user may write to"),
    ],
)
def test_a_wrong_choice_is_refused(names: list[str], seeds: range, trace: str | None, said: str) -> None:
    with pytest.raises(BadLayout, match=said):
        rehearse(LAYOUT, None, names, seeds, 1, **(GIVEN | {"trace": trace}))


def test_sites_whose_names_would_make_two_scenarios_of_one_name_are_refused() -> None:
    with pytest.raises(BadLayout, match="two scenarios would have the same name"):
        choose(Layout({1: "a", 2: "b", 3: "to-b"}), [])


def test_many_scenarios_are_played_with_fewer_seeds_but_each_voter_leads() -> None:
    five = Layout({1: "a", 2: "a", 3: "b", 4: "b", 5: "c"})

    assert usual_seeds(LAYOUT, []) == usual_seeds(LAYOUT, ["node-1"]) == 12
    assert usual_seeds(five, []) == 7
    assert usual_seeds(Layout({voter: str(voter) for voter in range(1, 10)}), []) == 9
