"""What the autopilot decides on: the replicas as their leader knows them, and the registered controllers."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from raft.change_stages import refusal_of_change
from raft.state.leader_state import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Mapping

    from raft.interface.config import Endpoint, ReplicaKey
    from raft.state.leader_state import Progress
    from raft.state.replica import Replica
    from raft.state.roles import Leader

Endpoints = tuple["Endpoint", ...]


class Rules(NamedTuple):
    """The configuration (`kraft.autopilot.*`). Times in ms.

    live_ms: a replica that has not fetched for longer does not count as live. stabilization_ms: for how long an
    observer must be level before it becomes a voter. dead_after_ms: 0: no voter is taken for dead. voters_max: the
    autopilot makes no more voters. zones: node id -> zone; a node without one may always be added.
    """

    enabled: bool = False
    live_ms: int = 2000
    stabilization_ms: int = 10_000
    dead_after_ms: int = 0
    voters_max: int = 5
    zones: Mapping[int, str] = {}


class Member(NamedTuple):
    """A voter, or an observer that is a controller. Times are monotonic, in ms; UNKNOWN for never.

    fetched_ms, caught_up_ms: of its last Fetch, and when it last had the leader's whole log. endpoints: of an observer,
    as it registered; empty where it has no endpoint for the listener of the quorum.
    """

    key: ReplicaKey
    is_voter: bool
    fetched_ms: int
    caught_up_ms: int
    endpoints: Endpoints = ()


class View(NamedTuple):
    """The quorum at one moment, as its leader knows it.

    members: the voters, and those observers that are controllers, by key. registered: ids of the registered
    controllers. refusal: why the voter set cannot be changed now; empty where it can. can_unregister: whether
    metadata.version has the record for it. drained: ids of controllers that are to become no voters. log_end,
    durable_end: of the leader's own log, exclusive.
    """

    now_ms: int
    leader: ReplicaKey
    members: tuple[Member, ...]
    registered: frozenset[int] = frozenset()
    refusal: str = ""
    is_paused: bool = False
    can_unregister: bool = False
    drained: frozenset[int] = frozenset()
    log_end: int = 0
    durable_end: int = 0


def view_of(
    replica: Replica, role: Leader, controllers: Mapping[int, Endpoints], now_ms: int, *, is_paused: bool = False,
    can_unregister: bool = False, drained: frozenset[int] = frozenset(),
) -> View:  # fmt: skip
    """The view of a leader. controllers: the registered ones, with their endpoints."""
    state, listener = role.state, replica.config.listener
    members = [_member(replica, progress, now_ms, is_voter=True) for progress in state.voters.values()]
    for progress in state.observers.values():
        if progress.key.id in controllers:
            endpoints = controllers[progress.key.id]
            has_listener = any(endpoint.listener == listener for endpoint in endpoints)
            observer = _member(replica, progress, now_ms, is_voter=False)
            members.append(observer._replace(endpoints=endpoints if has_listener else ()))
    refusal = refusal_of_change(replica, role, "changing")
    return View(
        now_ms,
        replica.key,
        tuple(sorted(members)),
        frozenset(controllers),
        "" if refusal is None else refusal[1],
        is_paused,
        can_unregister,
        drained,
        replica.log.end,
        replica.log.durable_end,
    )


def _member(replica: Replica, progress: Progress, now_ms: int, *, is_voter: bool) -> Member:
    if progress.key == replica.key:
        return Member(progress.key, is_voter, now_ms, now_ms)
    return Member(progress.key, is_voter, progress.fetched_ms, progress.caught_up_ms)


def is_live(member: Member, rules: Rules, now_ms: int) -> bool:
    """Whether a replica fetches from this leader."""
    return member.fetched_ms != UNKNOWN and now_ms - member.fetched_ms <= rules.live_ms


def is_level(member: Member, rules: Rules, now_ms: int) -> bool:
    """Whether a replica fetches, and had the whole log a moment ago."""
    has_caught_up = member.caught_up_ms != UNKNOWN and now_ms - member.caught_up_ms <= rules.live_ms
    return has_caught_up and is_live(member, rules, now_ms)
