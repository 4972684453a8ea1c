"""Ghost voters: voters that count for the majority of the quorum but do not run.

Definition. A voter of the newest voter set is a ghost if either
- it has been a voter for at least 10 minutes, no controller of its id ever registered, and another voter's did (from
  metadata.version 3.7 on all controllers register); or
- it was a voter in the last 20 elections or more, and neither won one nor is among the granting voters of one.
A leader records the votes that made its majority, so a slow voter may be missing from some elections, and by chance
from several: hence 20 of them. Each ghost reduces by one the failures that the quorum tolerates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pipeline.anomalies.anomaly import Anomaly

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from collections.abc import Set as AbstractSet

UNREGISTERED_MS = 10 * 60_000
SILENT_ELECTIONS = 20
KIND = "ghost voter"


class VoterSet(NamedTuple):
    """The voters from an offset on. granting: at an election, the leader and the voters that voted
    for it; else None.
    """

    cluster: str
    offset: int
    time_ms: int
    voters: frozenset[int]
    granting: frozenset[int] | None = None


def ghosts(
    sets: Iterable[VoterSet], registered: Mapping[str, AbstractSet[int]], until_ms: Mapping[str, int]
) -> list[Anomaly]:  # fmt: skip
    """The ghosts, by cluster and voter.

    registered: by cluster, the controllers that ever registered. until_ms: by cluster, the end of its history.
    """
    by_cluster: dict[str, list[VoterSet]] = {}
    for one in sets:
        by_cluster.setdefault(one.cluster, []).append(one)
    anomalies: list[Anomaly] = []
    for cluster, history in sorted(by_cluster.items()):
        history.sort(key=lambda one: one.offset)
        end_ms = max(until_ms.get(cluster, 0), history[-1].time_ms)
        known = registered.get(cluster, frozenset())
        for voter in sorted(history[-1].voters):
            since = _since(voter, history)
            seen = _explain_unregistered(voter, since, end_ms, history[-1].voters, known) or _silent(voter, since)
            if seen:
                anomalies.append(Anomaly(cluster, KIND, f"voter {voter}", since[0].time_ms, end_ms, seen))
    return anomalies


def _since(voter: int, history: list[VoterSet]) -> list[VoterSet]:
    """The voter sets that it is in, without a break, up to the newest."""
    since: list[VoterSet] = []
    for one in reversed(history):
        if voter not in one.voters:
            break
        since.append(one)
    return since[::-1]


def _explain_unregistered(
    voter: int, since: list[VoterSet], end_ms: int, voters: AbstractSet[int], known: AbstractSet[int]
) -> str | None:
    if voter in known or not known & voters or end_ms - since[0].time_ms < UNREGISTERED_MS:
        return None
    return "No controller of this id ever registered."


def _silent(voter: int, since: list[VoterSet]) -> str | None:
    elections = [one for one in since if one.granting is not None]
    silent = 0
    for one in reversed(elections):
        if voter in (one.granting or ()):
            break
        silent += 1
    if silent < SILENT_ELECTIONS:
        return None
    return f"It neither won nor is named among the voters of the last {silent} elections."
