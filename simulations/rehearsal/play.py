"""One scenario played once: a quorum that commits, what happens to it, and what was observed afterwards."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from simulations.rehearsal.scenarios import CUT, KILL, LOST, ROLLING, SLOW_DISK, SLOW_LINK, STEADY, STOP, reach
from simulations.rehearsal.world import RehearsalWorld
from simulations.world.world import MS, SECOND

if TYPE_CHECKING:
    from simulations.rehearsal.layout import Layout
    from simulations.rehearsal.metadata import Metadata
    from simulations.rehearsal.scenarios import Scenario
    from simulations.world.trace import Trace

# How long a quorum may take until it commits; one that cannot within this time is not rehearsed.
SETTLE_US_MAX = 60 * SECOND
# It commits for this long before anything happens, which shows how long a commit takes.
BEFORE_US = 2 * SECOND
# Writes go on if there are commits in the last of the time that is observed.
LAST_US = 2 * SECOND
# A node follows if it has applied what the leader had applied so long before.
FOLLOWS_US = SECOND
# From a restart in a rolling restart until the next node is stopped, once the node serves again.
ROLL_GAP_US = SECOND // 2


class CannotSettle(Exception):
    """The quorum has no leader, or commits nothing, although nothing fails; the text is one line."""


class Played(NamedTuple):
    """One run. led_by: the leader before; is_struck: whether the scenario strikes it, or its way to a majority.

    gap_ms: the longest time between two commits that clients were told of, from the strike on. goes_on: whether there
    were commits at the end. stopped_after_ms: the last commit after the strike, -1 where commits go on. back_ms: from
    the repair of the links until the next commit, -1 where nothing is repaired or no commit follows. elections: how
    often a node became leader since; epochs: by how much the epoch grew. before_ms, after_ms: the median time that a
    write took. told: writes that clients were told of; lost: how many of them the quorum has no more, or where it does
    not commit any more, are in no surviving log. serving: nodes, leader first. fenced: brokers that were fenced.
    failures: (node, reason) of processes that stopped by themselves. roles: (ms since the strike, node, role, epoch);
    commits: ms since the strike; marks: (ms, text).
    """

    scenario: str
    seed: int
    led_by: int
    is_struck: bool
    gap_ms: float
    goes_on: bool
    stopped_after_ms: float
    back_ms: float
    elections: int
    epochs: int
    before_ms: float
    after_ms: float
    told: int
    lost: int
    serving: tuple[int, ...]
    fenced: int
    failures: tuple[tuple[int, str], ...]
    roles: tuple[tuple[float, int, str, int], ...]
    commits: tuple[float, ...]
    marks: tuple[tuple[float, str], ...]


class Rehearsal:
    """A quorum of a layout that has settled, on which one scenario can be played."""

    def __init__(self, layout: Layout, metadata: Metadata | None, seed: int, trace: Trace | None = None) -> None:
        voters = layout.voters
        self.layout = layout
        self.run = RehearsalWorld(layout, metadata, seed, voters[seed % len(voters)], trace)
        self.marks: list[tuple[int, str]] = []
        self._settle()

    def _settle(self) -> None:
        run, world = self.run, self.run.world
        while len(run.serving()) < len(run.nodes) or not run.observed.commits:
            if world.now > SETTLE_US_MAX or run.observed.failures:
                raise CannotSettle(self._why_not())
            world.run(world.now + 10 * MS)
        run.settle()
        world.run(world.now + BEFORE_US)
        if not run.serving():
            raise CannotSettle(self._why_not())

    def _why_not(self) -> str:
        run = self.run
        if run.observed.failures:
            node, reason = run.observed.failures[0]
            return f"node {node} does not start: {reason}"
        seconds = SETTLE_US_MAX // SECOND
        what = "no leader" if run.active() is None else "no stable leader"
        slowest = max((self.layout.round_trip(a, b) for a in run.nodes for b in run.nodes if a != b), default=0.0)
        return (
            f"within {seconds} simulated seconds this layout has {what}, although nothing fails: the slowest round "
            f"trip is {slowest:g} ms, controller.quorum.fetch.timeout.ms "
            f"{self.layout.number('controller.quorum.fetch.timeout.ms', 2000)}, controller.quorum.election.timeout.ms "
            f"{self.layout.number('controller.quorum.election.timeout.ms', 1000)}"
        )

    # One scenario

    def play(self, scenario: Scenario) -> Played:
        """Play it. Of each rehearsal this is called once."""
        run, world = self.run, self.run.world
        rng = run.stream("scenario", scenario.name)
        world.run(world.now + int(rng.random() * SECOND))
        active = run.active()
        led_by = -1 if active is None else active.node.id
        began, epoch = world.now, run.epoch()
        is_struck = self._strike(scenario, led_by)
        if scenario.kind == ROLLING:
            self._roll()
        world.run(max(world.now, began + observed_us(self.layout) - FOLLOWS_US))
        seen = run.active()
        offset = 1 if seen is None else seen.machine.offset
        world.run(world.now + FOLLOWS_US)
        end = world.now
        times = [at for at, _, _ in run.observed.commits]
        goes_on = bool(times) and times[-1] >= end - LAST_US
        last = max((at for at in times if at <= end), default=began)
        serving = run.serving(offset) if goes_on else []
        back_ms = -1.0
        if scenario.kind == CUT and not goes_on:
            back_ms = self._repair(scenario, end)
        told = {number for at, number, _ in run.observed.commits}
        latencies = run.observed.commits
        leads = [each for each in run.observed.roles if each[0] > began and each[2] == "Leader" and each[0] <= end]
        return Played(
            scenario.name, run.seed, led_by, is_struck,
            gap_ms=_gap(times, began, end, goes_on=goes_on) / MS,
            goes_on=goes_on,
            stopped_after_ms=-1.0 if goes_on else max(0, last - began) / MS,
            back_ms=back_ms,
            elections=len(leads),
            epochs=run.epoch() - epoch,
            before_ms=_median([took for at, _, took in latencies if at < began]) / MS,
            after_ms=_median([took for at, _, took in latencies if began < at <= end]) / MS,
            told=len(told),
            lost=self._count_lost(scenario, told),
            serving=tuple(serving),
            fenced=len(run.heartbeats.refused),
            failures=tuple(run.observed.failures),
            roles=self._roles(began, end),
            commits=tuple(round((at - began) / MS, 1) for at in times if began - SECOND <= at <= end),
            marks=tuple((round((at - began) / MS, 1), text) for at, text in self.marks),
        )  # fmt: skip

    def _mark(self, text: str, node_id: int = 0) -> None:
        self.marks.append((self.run.world.now, text))
        self.run.observed.on_struck(node_id, text)

    def _strike(self, scenario: Scenario, led_by: int) -> bool:
        """Begin it; returns whether it strikes the leader, or its way to a majority."""
        run, kind = self.run, scenario.kind
        if kind in {STEADY, ROLLING}:
            return kind == ROLLING
        if kind == CUT:
            for way in scenario.ways:
                run.network.links.cut(*way)
            self._mark(scenario.title)
            return len(reach(self.layout, scenario).get(led_by, ())) < self.layout.majority
        if kind == LOST:
            self._mark(scenario.title, scenario.nodes[0])
            for node_id in scenario.nodes:
                run.nodes[node_id].stop()
                run.nodes[node_id].lose_power()
            return led_by in scenario.nodes
        node = run.nodes[led_by]
        if kind == KILL:
            self._mark(f"SIGKILL of node {led_by}", led_by)
            node.kill()
            node.start_after(run.start_us)
        elif kind == STOP:
            self._mark(f"SIGTERM of node {led_by}", led_by)
            node.shut_down()
        elif kind == SLOW_DISK:
            self._mark(f"disk of node {led_by} is slow", led_by)
            node.pace = run.pace(self.layout.slow_sync_ms)
        elif kind == SLOW_LINK:
            self._mark(f"links of node {led_by} are slow", led_by)
            for other in run.nodes:
                for way in ((led_by, other), (other, led_by)):
                    if led_by != other:
                        link = run.network.links.link(*way)
                        link.extra_us += int(self.layout.slow_link_ms * MS / 2)
        return True

    def _roll(self) -> None:
        """Stop one node after the other by SIGTERM; the next one once all follow a leader again."""
        run, world = self.run, self.run.world
        for node_id, node in run.nodes.items():
            self._mark(f"SIGTERM of node {node_id}", node_id)
            node.shut_down()
            limit = world.now + SETTLE_US_MAX
            while node.process is not None and world.now < limit:
                world.run(world.now + 10 * MS)
            node.start_after(run.start_us)
            while len(run.serving()) < len(run.nodes) and world.now < limit + run.start_us:
                world.run(world.now + 10 * MS)
            world.run(world.now + ROLL_GAP_US)

    def _repair(self, scenario: Scenario, end: int) -> float:
        """Heal the links; returns the time until the next commit, in ms."""
        run, world = self.run, self.run.world
        for way in scenario.ways:
            run.network.links.heal(*way)
        self._mark("the links carry packets again")
        count = len(run.observed.commits)
        while len(run.observed.commits) == count:
            if world.now > end + SETTLE_US_MAX:
                return -1.0
            world.run(world.now + 10 * MS)
        return (run.observed.commits[count][0] - end) / MS

    def _count_lost(self, scenario: Scenario, told: set[int]) -> int:
        """How many of the writes that clients were told of are gone.

        Where a controller is active, it is asked; otherwise the best of the logs that are left, from which
        `kraftctl recover` would make a quorum.
        """
        run = self.run
        left = [node_id for node_id in run.nodes if node_id not in scenario.nodes]
        active = run.active()
        if active is not None and active.node.id in left and run.serving():
            return len(told - run.writes_on(active.node.id))
        return min((len(told - run.writes_on(node_id)) for node_id in left), default=len(told))

    def _roles(self, began: int, end: int) -> tuple[tuple[float, int, str, int], ...]:
        """Those that nodes had one second before the strike, and each change since."""
        start = began - SECOND
        before: dict[int, tuple[int, str, int]] = {}
        for at, node_id, role, epoch in self.run.observed.roles:
            if at <= start:
                before[node_id] = (at, role, epoch)
        roles = [(start, node_id, role, epoch) for node_id, (_, role, epoch) in before.items()]
        roles += [each for each in self.run.observed.roles if start < each[0] <= end]
        return tuple((round((at - began) / MS, 1), *rest) for at, *rest in roles)  # type: ignore[misc]


def observed_us(layout: Layout) -> int:
    """For how long a scenario is observed: a lost leader is noticed, elections are repeated, and commits go on."""
    fetch_ms = layout.number("controller.quorum.fetch.timeout.ms", 2000)
    election_ms = layout.number("controller.quorum.election.timeout.ms", 1000)
    return int(2 * fetch_ms + 6 * election_ms) * MS + LAST_US


def _gap(times: list[int], began: int, end: int, *, goes_on: bool) -> int:
    """The longest time between two commits of which the second is after the strike; to the end where none follow."""
    before = max((at for at in times if at <= began), default=began)
    points = [before, *(at for at in times if began < at <= end)]
    if not goes_on:
        points.append(end)
    return max((later - at for at, later in pairwise(points)), default=0)


def _median(values: list[int]) -> float:
    ordered = sorted(values)
    if not ordered:
        return -1.0 * MS
    middle = len(ordered) // 2
    return float(ordered[middle]) if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def play(
    layout: Layout, metadata: Metadata | None, scenario: Scenario, seed: int, trace: Trace | None = None
) -> Played:
    """Play a scenario from the start of the quorum on. Raises CannotSettle."""
    return Rehearsal(layout, metadata, seed, trace).play(scenario)
