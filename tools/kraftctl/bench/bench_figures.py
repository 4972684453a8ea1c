"""The figures of `kraftctl bench` beside what one should expect, and the likely cause of each that is high.

A commit takes one sync of the log on the disks of a majority and one round trip between the leader and them; a request
takes one round trip to the leader more, and the linger time before the append. Each limit below is made of these parts.
"""

from __future__ import annotations

from typing import NamedTuple

from tools.kraftctl.cluster.status import SILENT_MS, leader_now_ms, missing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tools.client.quorum import View
    from tools.kraftctl.bench.bench_measures import Commits, Load

IDLE_MS, LINGER_MS = "metadata.max.idle.interval.ms", "controller.quorum.append.linger.ms"
DEFAULTS = {IDLE_MS: 500.0, LINGER_MS: 25.0}
# Within one region. Above it a majority, and so each commit, waits for the network more than for disks.
TRIP_MS = 20.0
# A sync of an SSD takes 0.1 to 5 ms; disks that share a queue with data of brokers take longer than this.
SYNC_MS = 10.0
# What a controller computes for a request of one topic, with room for collections of garbage.
WORK_MS = 10.0
PAUSE_MS = 250.0
CLOCK_MS = 1000.0
LAG_MAX = 1000
PERCENTS = (50, 95, 99)


class Figure(NamedTuple):
    """One line of the result. values: by name such as `p50`; None where it was not measured.

    expected: in words, with the limit. cause: of what is high, empty if nothing is.
    """

    name: str
    unit: str
    values: dict[str, float | None]
    expected: str
    cause: str = ""


class Measured(NamedTuple):
    """What was measured. trips: by node, in ms; a text says why a node does not answer.

    settings: those of the leader that are set. scratch: times of creations and of deletions, in ms. stopped: why
    measurements ended early.
    """

    view: View
    trips: dict[int, list[float] | str]
    commits: Commits
    single: Load
    many: Load
    connections: int
    settings: dict[str, str]
    scratch: tuple[list[float], list[float]] | None = None
    stopped: tuple[str, ...] = ()


def percentile(values: list[float], percent: int) -> float | None:
    """The least value that this share of the values does not exceed; None if there are too few to say."""
    ordered = sorted(values)
    if not ordered or (percent > 50 and len(ordered) * (100 - percent) < 100):
        return None
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]


def figures(measured: Measured) -> list[Figure]:
    """All figures, in the order in which they explain each other."""
    return [
        *(_trip(node, times, node == measured.view.leader_id) for node, times in sorted(measured.trips.items())),
        *_clock(measured),
        _apart(measured),
        _commit(measured),
        *(_fetch(measured, node) for node in sorted(measured.commits.fetched)),
        *_lags(measured.view),
        _request(measured),
        _rate(measured),
        *_scratch(measured),
    ]


def _spread(times: list[float]) -> dict[str, float | None]:
    return {**{f"p{each}": percentile(times, each) for each in PERCENTS}, "max": max(times, default=None)}


def _median(times: list[float] | str) -> float:
    return (percentile(times, 50) or 0.0) if isinstance(times, list) else 0.0


def _trip(node: int, times: list[float] | str, leads: bool) -> Figure:
    name = f"round trip to node {node}" + (" (leader)" if leads else "")
    expected = f"at most {TRIP_MS:g}"
    if isinstance(times, str):
        return Figure(name, "ms", _spread([]), expected, f"it does not answer: {times}")
    cause = ""
    if _median(times) > TRIP_MS:
        cause = "the network from here to the node, or its CPU"
    elif max(times, default=0.0) > PAUSE_MS:
        cause = "pauses of the node or lost packets: look at its CPU, its collections of garbage, retransmissions"
    return Figure(name, "ms", _spread(times), expected, cause)


def _clock(measured: Measured) -> list[Figure]:
    if measured.commits.clock is None:
        return []
    ahead, error = measured.commits.clock
    expected = f"within {CLOCK_MS:g}"
    cause = "synchronise the clocks of all machines: chrony or ntp" if abs(ahead) - error > CLOCK_MS else ""
    return [Figure("clock of the leader, ahead of this one", "ms", {"p50": ahead, "error": error}, expected, cause)]


def _setting(measured: Measured, key: str) -> float:
    text = measured.settings.get(key, "")
    return float(text) if text.isascii() and text.isdigit() else DEFAULTS[key]


def _apart(measured: Measured) -> Figure:
    idle = _setting(measured, IDLE_MS)
    expected = f"at most {IDLE_MS}={idle:g}" if idle else f"none while idle: {IDLE_MS}=0"
    times = measured.commits.apart
    cause = ""
    if idle and measured.commits.seconds * 1000 > 4 * idle:
        if not times:
            cause = "the quorum commits nothing: too few voters fetch, or metadata.version is below 3.3-IV1"
        elif _median(times) > 2 * idle:
            cause = "the active controller writes no-op records late: look at its CPU and its event queue"
    return Figure("between two commits", "ms", _spread(times), expected, cause)


def majority_trip(measured: Measured) -> float:
    """An upper bound of the round trip from the leader to the followers of its majority, in ms.

    It is the sum of the round trips from this machine to the leader and to the slowest of these followers.
    """
    others = sorted(
        _median(times)
        for node, times in measured.trips.items()
        if node in measured.view.voters and node != measured.view.leader_id and isinstance(times, list)
    )
    needed = len(measured.view.voters) // 2
    if not needed or len(others) < needed:
        return 0.0
    return _median(measured.trips.get(measured.view.leader_id, [])) + others[needed - 1]


def _commit_limit(measured: Measured) -> float:
    # The measurement itself adds a request and the pause before it.
    return SYNC_MS + majority_trip(measured) + _median(measured.trips.get(measured.view.leader_id, [])) + 1.0


def _commit(measured: Measured) -> Figure:
    limit = _commit_limit(measured)
    times = measured.commits.committed
    cause = _slow_part(measured, limit) if _median(times) > limit else ""
    return Figure("append → commit", "ms", _spread(times), f"at most {limit:.1f}: one sync and one round trip", cause)


def _slow_part(measured: Measured, limit: float) -> str:
    """Which part of a commit is likely to be slow."""
    followers = {node: _median(times) for node, times in measured.commits.fetched.items() if times}
    slow = sorted(node for node, taken in followers.items() if taken > limit)
    if len(measured.view.voters) == 1:
        return "the leader's disk or CPU: no other voter takes part"
    if slow and len(slow) < len(followers):
        names = ", ".join(map(str, slow))
        return f"node {names} fetches late, others do not: its disk (sync), its CPU, or the network to it"
    if majority_trip(measured) > TRIP_MS:
        return "the network: round trips are long"
    return "all voters are late and round trips are short: the leader's CPU or disk, or disks that all of them share"


def _fetch(measured: Measured, node: int) -> Figure:
    times = measured.commits.fetched[node]
    own = measured.trips.get(node, [])
    limit = SYNC_MS + _median(own) + 2 * _median(measured.trips.get(measured.view.leader_id, [])) + 1.0
    cause = ""
    if _median(times) > limit:
        is_far = isinstance(own, list) and _median(own) > TRIP_MS
        cause = "the network to it" if is_far else "its disk (sync) or CPU: its round trip is short"
    return Figure(f"append → node {node} has it", "ms", _spread(times), f"at most {limit:.1f}", cause)


def _lags(view: View) -> list[Figure]:
    silent = missing(view)
    now_ms = leader_now_ms(view)
    lags = []
    for number, member in sorted(view.voters.items()):
        if number == view.leader_id:
            continue
        lag = view.lag(member)
        ago = now_ms - member.last_fetch_ms if now_ms >= 0 and member.last_fetch_ms >= 0 else None
        cause = ""
        if number in silent:
            cause = "the node is down, or does not reach the leader: kraftctl doctor on its machine"
        elif lag is not None and lag > LAG_MAX:
            cause = "the node is still catching up, or its disk is too slow"
        values: dict[str, float | None] = {"lag": lag, "last fetch, ms ago": ago}
        expected = f"lag at most {LAG_MAX}, fetched within {SILENT_MS // 1000} s"
        lags.append(Figure(f"lag of node {number}", "records", values, expected, cause))
    return lags


def _request(measured: Measured) -> Figure:
    # Ours confirms its leadership by a majority before it answers.
    limit = WORK_MS + majority_trip(measured) + _median(measured.trips.get(measured.view.leader_id, []))
    times = measured.single.times
    cause = ""
    if _median(times) > limit:
        cause = "the active controller: its CPU, its event queue, collections of garbage; round trips alone are shorter"
    return Figure("CreateTopics, only validated", "ms", _spread(times), f"at most {limit:.1f}", cause)


def _rate(measured: Measured) -> Figure:
    load = measured.many
    name = f"… of {measured.connections} connections"
    values = {"rate": len(load.times) / load.seconds if load.seconds else None, **_spread(load.times)}
    cause = f"stopped early: {load.stopped}" if load.stopped else ""
    single = _median(measured.single.times)
    best = (
        f"at most {1000 * measured.connections / single:.0f}; less with full CPUs, this one's included"
        if single
        else "-"
    )
    return Figure(name, "per s", values, best, cause)


def _scratch(measured: Measured) -> list[Figure]:
    if measured.scratch is None:
        return []
    trip = _median(measured.trips.get(measured.view.leader_id, []))
    linger = _setting(measured, LINGER_MS)
    limit = linger + SYNC_MS + majority_trip(measured) + trip + WORK_MS
    lines = []
    for name, times in zip(("creation", "deletion"), measured.scratch, strict=True):
        cause = ""
        if _median(times) > limit:
            cause = _scratch_cause(measured, _median(times) - linger)
        unset = "" if LINGER_MS in measured.settings else ", its default; kraft-quorum has 0"
        expected = f"at most {limit:.1f}" + (f", with {LINGER_MS}={linger:g}{unset}" if linger else "")
        lines.append(Figure(f"commit of a topic's {name}", "ms", _spread(times), expected, cause))
    times = [*measured.scratch[0], *measured.scratch[1]]
    values: dict[str, float | None] = {"rate": 1000 * len(times) / sum(times) if times else None}
    lines.append(Figure("… one after the other", "per s", values, f"at least {1000 / limit:.0f}"))
    return lines


def _scratch_cause(measured: Measured, without_linger: float) -> str:
    idle = _median(measured.commits.committed)
    if idle > without_linger / 2:
        return "the commit itself: see append → commit"
    if _median(measured.single.times) > without_linger / 2:
        return "the active controller: see CreateTopics, only validated"
    return "commits wait behind other writes: look at the event queue and the append rate of the active controller"


def is_high(all_figures: list[Figure]) -> bool:
    return any(figure.cause for figure in all_figures)


def as_json(measured: Measured, all_figures: list[Figure]) -> dict[str, Any]:
    """One object for scripts."""
    return {
        "cluster_id": measured.view.cluster_id,
        "leader_id": measured.view.leader_id,
        "epoch": measured.view.epoch,
        "answers": measured.commits.answers,
        "stopped": list(measured.stopped),
        "figures": [figure._asdict() for figure in all_figures],
    }
