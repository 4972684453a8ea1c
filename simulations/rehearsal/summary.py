"""What the runs of a rehearsal show: figures of each scenario, and what the layout survives, with the reasons."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from simulations.rehearsal.layout import move_sites
from simulations.rehearsal.scenarios import (
    CUT,
    KILL,
    LOST,
    ROLLING,
    SLOW_DISK,
    SLOW_LINK,
    STEADY,
    STOP,
    can_commit,
    reach,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simulations.rehearsal.layout import Layout
    from simulations.rehearsal.play import Played
    from simulations.rehearsal.scenarios import Scenario

SURVIVES, STOPS, UNSTABLE = "go on", "stop", "unstable"


@dataclass(slots=True, frozen=True)
class Times:
    """Of a number of runs, in ms: -1 where there are none. p95: of the runs, by nearest rank."""

    runs: int
    median: float = -1.0
    p95: float = -1.0
    worst: float = -1.0


@dataclass(slots=True, frozen=True)
class Result:
    """A scenario in all its runs. writes: whether they go on, stop, or go on in some runs. expected: whether the
    arithmetic of majorities allows a leader.

    struck, others: the longest time without a commit, where the leader was struck and where not. before, after: the
    median time of a write, in ms. elections, epochs, lost, fenced: the most of a run; lost_runs: runs that lost a
    write. stopped_after: until the last commit; back: from the repair to the next commit. serving: the sets of nodes
    that served afterwards, with the number of runs. why: sentences.
    """

    scenario: Scenario
    runs: int
    writes: str
    expected: bool
    struck: Times
    others: Times
    before: float
    after: float
    elections: int
    epochs: int
    lost: int
    lost_runs: int
    fenced: int
    stopped_after: Times
    back: Times
    serving: tuple[tuple[tuple[int, ...], int], ...]
    failures: tuple[str, ...]
    shown: Played
    why: str = ""

    @property
    def agrees(self) -> bool:
        """Whether the runs show what the arithmetic of majorities says."""
        return self.writes == (SURVIVES if self.expected else STOPS)

    @property
    def is_finding(self) -> bool:
        """Whether a run shows what a sound quorum never does."""
        return bool(self.failures) or not self.agrees or (self.expected and self.lost > 0)


def times(values: Iterable[float]) -> Times:
    ordered = sorted(values)
    if not ordered:
        return Times(0)
    count = len(ordered)
    middle = (ordered[(count - 1) // 2] + ordered[count // 2]) / 2
    return Times(count, round(middle, 1), round(ordered[-(-count * 95 // 100) - 1], 1), round(ordered[-1], 1))


def results(layout: Layout, scenarios: list[Scenario], played: list[Played]) -> list[Result]:
    return [_result(layout, each, [run for run in played if run.scenario == each.name]) for each in scenarios]


def _result(layout: Layout, scenario: Scenario, runs: list[Played]) -> Result:
    going = sum(run.goes_on for run in runs)
    serving = Counter(tuple(sorted(run.serving)) for run in runs if run.goes_on)
    failures = {f"node {node}: {reason}" for run in runs for node, reason in run.failures}
    result = Result(
        scenario,
        len(runs),
        SURVIVES if going == len(runs) else UNSTABLE if going else STOPS,
        can_commit(layout, scenario),
        times(run.gap_ms for run in runs if run.is_struck and run.goes_on),
        times(run.gap_ms for run in runs if not run.is_struck and run.goes_on),
        times(run.before_ms for run in runs).median,
        times(run.after_ms for run in runs if run.goes_on).median,
        max(run.elections for run in runs),
        max(run.epochs for run in runs),
        max(run.lost for run in runs),
        sum(run.lost > 0 for run in runs),
        max(run.fenced for run in runs),
        times(run.stopped_after_ms for run in runs if not run.goes_on),
        times(run.back_ms for run in runs if run.back_ms >= 0),
        tuple(sorted(serving.items(), key=lambda each: (-each[1], each[0]))),
        tuple(sorted(failures)),
        max(runs, key=lambda run: (run.is_struck, run.gap_ms, -run.seed)),
    )
    return _with_reason(layout, result)


def _with_reason(layout: Layout, result: Result) -> Result:
    return replace(result, why=" ".join((_arithmetic(layout, result.scenario), _result_text(result))))


def _arithmetic(layout: Layout, scenario: Scenario) -> str:
    """Why the quorum can or cannot commit while the scenario lasts."""
    count, majority = len(layout.voters), layout.majority
    if scenario.kind == LOST:
        left = count - len(scenario.nodes)
        are = "is" if left == 1 else "are"
        if left >= majority:
            return f"{left} of {count} voters {are} left, and {majority} are a majority."
        return f"{left} of {count} voters {are} left, and a majority is {majority}: no leader can be elected."
    if scenario.kind == CUT:
        reached = reach(layout, scenario)
        best = max(reached, key=lambda voter: (len(reached[voter]), -voter))
        if len(reached[best]) >= majority:
            able = [voter for voter in layout.voters if len(reached[voter]) >= majority]
            return (
                f"A voter must reach {majority} of {count} voters, itself included, in both directions: "
                f"{voters_text(able)} {'does' if len(able) == 1 else 'do'}."
            )
        return f"No voter reaches {majority} of {count} voters in both directions, so none can lead."
    return {
        STEADY: f"All {count} voters run.",
        KILL: f"The process starts again with its disk; {majority} of {count} voters are a majority meanwhile.",
        STOP: f"A leader that is stopped names its successors before it leaves; {majority} of {count} are a majority.",
        ROLLING: f"One voter at a time is away; {majority} of {count} are a majority.",
        SLOW_DISK: f"A commit needs the disks of {majority} of {count} voters, not necessarily the leader's.",
        SLOW_LINK: "A commit needs one round trip between the leader and a majority.",
    }[scenario.kind]


def voters_text(voters: Iterable[int]) -> str:
    listed = list(voters)
    return f"voter {listed[0]}" if len(listed) == 1 else f"voters {', '.join(map(str, listed))}"


def _result_text(result: Result) -> str:
    """What the runs show."""
    parts = []
    if result.writes == STOPS:
        last = result.stopped_after.worst
        when = "" if last < 1 else f" later than {milliseconds(last)}"
        parts.append(f"In none of {result.runs} runs was a write committed{when} afterwards.")
        if result.lost:
            parts.append(
                f"In {result.lost_runs} of them, up to {result.lost} acknowledged writes are missing in the best log "
                "that is left: `kraftctl recover` cannot bring them back."
            )
        if result.back.runs:
            parts.append(f"Once packets passed again, a write was committed within {milliseconds(result.back.worst)}.")
    else:
        if result.writes == UNSTABLE:
            parts.append(f"Writes went on in some of {result.runs} runs only.")
        if result.struck.runs:
            parts.append(
                f"Where it struck the leader ({result.struck.runs} of {result.runs} runs), the longest time without a "
                f"commit was {milliseconds(result.struck.median)} in the median, {milliseconds(result.struck.worst)} "
                "at worst."
            )
        if result.others.runs:
            if result.struck.runs:
                parts.append(f"Otherwise it was {milliseconds(result.others.worst)} at worst.")
            else:
                parts.append(
                    f"In {result.others.runs} runs the longest time without a commit was "
                    f"{milliseconds(result.others.worst)}."
                )
        if result.lost:
            parts.append(f"{result.lost} acknowledged writes are lost: this must not be, please report it.")
    if result.fenced:
        parts.append(f"Up to {result.fenced} brokers were fenced, as their heartbeats were not answered in time.")
    if not result.agrees:
        parts.append("The simulation and the arithmetic of majorities differ: look at the timeline.")
    parts += [f"A process stopped by itself: {text}." for text in result.failures]
    return " ".join(parts)


def milliseconds(value: float) -> str:
    """A time for people."""
    return f"{value / 1000:.1f} s" if value >= 1000 else f"{value:.0f} ms"


def advice(layout: Layout) -> list[str]:
    """What other layouts of the same voters would survive; a sentence or two each."""
    count, majority = len(layout.voters), layout.majority
    names = layout.site_names
    sentences = []
    if count > 1 and count % 2 == 0:
        sentences.append(
            f"With {count - 1} voters a majority is {(count - 1) // 2 + 1}: the same number of lost voters is survived "
            "with one node less."
        )
    if count < 3:
        sentences.append("Three voters are the fewest of which one may be lost.")
        return sentences
    fatal = [site for site in names if count - len(layout.at(site)) < majority]
    if not fatal:
        sentences.append("No site holds so many voters that its loss ends writes.")
        return sentences
    if len(names) <= 2:
        sentences.append(
            f"No placement of {count} voters in two sites survives the loss of each: one site always holds at least "
            f"{-(-count // 2)} of {count}, which leaves fewer than {majority}."
        )
    tried = (spread(layout, sites) for sites in range(max(3, len(names)), count + 1))
    better = next((each for each in tried if each is not None), None)
    if better is not None:
        new = sorted(set(better.values()) - set(names))
        where = " and ".join(new)
        sizes = ", ".join(
            f"{site}: {len([1 for at in better.values() if at == site])}" for site in sorted(set(better.values()))
        )
        begin = f"With a further site ({where})" if len(new) == 1 else "With other places"
        if len(new) > 1:
            begin = f"With further sites ({where})"
        changed = move_sites(layout, better)
        sentences.append(
            f"{begin} and the voters placed {sizes}, the loss of any one site leaves at least "
            f"{count - max(len(changed.at(site)) for site in changed.site_names)} of {count} voters, a majority: "
            f"kraftctl rehearse --voters {changed.voters_text()}"
        )
    return sentences


def spread(layout: Layout, sites: int) -> dict[int, str] | None:
    """The voters over so many sites with the fewest moves, such that every site may be lost; None if it cannot be."""
    count = len(layout.voters)
    most = count - layout.majority
    if most < 1 or most * sites < count:
        return None
    names = list(layout.site_names)
    for letter in "abcdefghijklmnopqrstuvwxyz":
        if len(names) >= sites:
            break
        if letter not in names:
            names.append(letter)
    placed = dict(layout.sites)
    room = {name: most - sum(1 for site in placed.values() if site == name) for name in names}
    for voter in sorted(placed, reverse=True):
        if room[placed[voter]] < 0:
            target = max(room, key=lambda name: (room[name], [-ord(letter) for letter in name]))
            room[placed[voter]] += 1
            room[target] -= 1
            placed[voter] = target
    return placed
