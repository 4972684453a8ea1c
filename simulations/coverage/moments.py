"""Named moments that some world must reach: situations that make elections, logs, snapshots and disks hard.

Each is recognised by a step of one node and the state before it. None of them is a violation.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from raft.interface import effects as do
from raft.interface.inputs import Failed, Flushed, Requested, Saved, SnapshotStored
from raft.state.roles import Candidate, Follower, Leader, Prospective, Resigned, Unattached
from records.messages.elections import VoteRequest
from records.messages.fetch import FetchRequest
from records.messages.fetch_snapshot import FetchSnapshotRequest
from simulations.coverage.cells import outcome_of_reply as says
from simulations.spec.forms import is_of_log
from simulations.world.trace import DISK

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulations.world.ledger import Ledger
    from simulations.world.process import Process
    from simulations.world.trace import Entry


class Life:
    """The state of a process before the step: the role; (start, end) of the log; the durable end; whether an election
    is being saved; whether a part of a snapshot is missing; how often the log was truncated since it grew.
    """

    def __init__(self) -> None:
        self.role: Any = None
        self.log = (0, 0)
        self.durable_end = 0
        self.is_saving = False
        self.lacks_part = False
        self.cuts = 0


class Step(NamedTuple):
    """A step of a node."""

    process: Process
    event: Any
    effects: list[Any]
    before: Life
    ledger: Ledger


class Moments:
    """counts: of each moment, by name."""

    def __init__(self, ledger: Ledger) -> None:
        self.counts: Counter[str] = Counter()
        self._ledger = ledger
        self._lives: dict[tuple[int, int], Life] = {}

    def on_stepped(self, process: Process, event: Any, effects: list[Any]) -> None:
        """Count the moments of a step."""
        life = self._lives.setdefault((process.node.id, process.life), Life())
        step = Step(process, event, effects, life, self._ledger)
        for name, holds in BY_INPUT.get(type(event), ()):
            if holds(step):
                self.counts[name] += 1
        if process.replica.role is not life.role:
            for name, holds in BY_ROLE.get(type(process.replica.role), ()):
                if holds(step):
                    self.counts[name] += 1
        for effect in effects:
            for name, does in BY_ORDER.get(type(effect), ()):
                if does(step, effect):
                    self.counts[name] += 1
        _remember(life, step)

    def on_noted(self, process: Process, name: str, fields: dict[str, Any]) -> None:
        """The core, or its driver, reports an event."""
        if name in BY_NOTE:
            self.counts[BY_NOTE[name]] += 1
        if name == "disk_failed" and process.steps:
            leads = isinstance(process.replica.role, Leader)
            if "no space" in fields["reason"]:
                self.counts[LEADER_FULL if leads else OTHER_FULL] += 1
            elif leads:
                self.counts[LEADER_FAILED] += 1

    def on_detail(self, entry: Entry) -> None:
        """A detail that no trace contains: an operation on a disk."""
        if entry[1] == DISK and entry[3:] == ("truncate", "log", "done"):
            process = self._ledger.nodes[entry[2]].process
            if process is not None and not process.steps:
                self.counts[TORN] += 1


def _remember(life: Life, step: Step) -> None:
    replica = step.process.replica
    life.role = replica.role
    life.log = (replica.log.start, replica.log.end)
    life.durable_end = replica.log.durable_end
    kinds = {type(effect) for effect in step.effects}
    if do.SaveElection in kinds:
        life.is_saving = True
    elif type(step.event) is Saved:
        life.is_saving = False
    if do.Append in kinds:
        life.cuts = 0
    elif do.Truncate in kinds:
        life.cuts += 1
    download = _download(step)
    if do.WriteSnapshotPart in kinds or download is None:
        life.lacks_part = False
    elif type(step.event) is Failed and download.position:
        life.lacks_part = True


def _download(step: Step) -> Any:
    role = step.process.replica.role
    return role.state.download if isinstance(role, Follower) else None


# Votes


def _is_vote(step: Step, *, pre: bool, granted: bool) -> bool:
    """A Vote or a pre-vote that gets this answer in the same step."""
    event = step.event
    if (
        type(event.request) is not VoteRequest
        or not is_of_log(event.request)
        or _requested_partition(step).pre_vote != pre
    ):
        return False
    wanted = "granted" if granted else "refused"
    return any(type(each) is do.Reply and each.source == event.source and says(each) == wanted for each in step.effects)


def _requested_partition(step: Step) -> Any:
    return step.event.request.topics[0].partitions[0]


def _is_shorter(step: Step) -> bool:
    asked, log = _requested_partition(step), step.process.replica.log
    return bool((asked.last_offset_epoch, asked.last_offset) < (log.last_epoch, log.end))


def _voted_candidate(step: Step) -> int | None:
    """The candidate for which the node had voted in the epoch of the request."""
    role = step.before.role
    voted = getattr(role, "voted", None)
    return voted.id if voted is not None and role.epoch == _requested_partition(step).replica_epoch else None


def _is_refused_for_log(step: Step) -> bool:
    return _is_vote(step, pre=False, granted=False) and _voted_candidate(step) is None and _is_shorter(step)


def _is_refused_for_other(step: Step) -> bool:
    return _is_vote(step, pre=False, granted=False) and _voted_candidate(step) not in {
        None,
        _requested_partition(step).replica_id,
    }


def _is_given_again(step: Step) -> bool:
    return _is_vote(step, pre=False, granted=True) and _voted_candidate(step) == _requested_partition(step).replica_id


def _is_protected(step: Step) -> bool:
    role = step.before.role
    return (
        isinstance(role, Follower)
        and role.state.has_fetched
        and _is_vote(step, pre=True, granted=False)
        and not _is_shorter(step)
    )


def _is_refused_by_leader(step: Step) -> bool:
    return isinstance(step.before.role, Leader) and _is_vote(step, pre=True, granted=False) and not _is_shorter(step)


def _is_fresh_follower(step: Step) -> bool:
    return isinstance(step.before.role, Follower) and _is_vote(step, pre=True, granted=True)


def _comes_while_saving(step: Step) -> bool:
    return step.before.is_saving and type(step.event.request) is VoteRequest


# Logs


def _fetches_beyond(step: Step) -> bool:
    request = step.event.request
    replica = step.process.replica
    return (
        isinstance(replica.role, Leader)
        and type(request) is FetchRequest
        and is_of_log(request)
        and request.topics[0].partitions[0].current_leader_epoch == replica.epoch
        and request.topics[0].partitions[0].fetch_offset > replica.log.end
    )


def _lacks_snapshot(step: Step) -> bool:
    """A voter fetches a snapshot that is deleted already."""
    request = step.event.request
    return (
        type(request) is FetchSnapshotRequest
        and request.replica_id in step.ledger.voter_ids
        and any(type(each) is do.Reply and says(each) == "SNAPSHOT_NOT_FOUND" for each in step.effects)
    )


def _commits(step: Step) -> bool:
    return isinstance(step.process.replica.role, Leader) and any(
        type(each) is do.HighWatermark for each in step.effects
    )


def _cuts_to_snapshot(step: Step, effect: do.Truncate) -> bool:
    log = step.process.replica.log
    return log.start > 0 and effect.end_offset == log.start


def _cuts_twice(step: Step, _effect: do.Truncate) -> bool:
    return step.before.cuts > 0


def _resets_full(step: Step, _effect: do.ResetLog) -> bool:
    return step.before.log[1] > step.before.log[0]


def _goes_on(step: Step, effect: do.WriteSnapshotPart) -> bool:
    return effect.position > 0 and step.before.lacks_part


# Roles


def _began(step: Step) -> bool:
    return step.event is None


def _has_voted(step: Step) -> bool:
    return _began(step) and isinstance(role := step.process.replica.role, Unattached) and role.voted is not None


def _leaders(ledger: Ledger) -> list[Process]:
    return [each for each in ledger.running() if each.steps and isinstance(each.replica.role, Leader)]


def _is_second_leader(step: Step) -> bool:
    return len(_leaders(step.ledger)) > 1


def _is_split(step: Step) -> bool:
    epoch = step.process.replica.epoch
    others = [each for each in step.ledger.running() if each.steps and each is not step.process]
    return any(isinstance(each.replica.role, Candidate) and each.replica.epoch == epoch for each in others)


def _inherits(step: Step) -> bool:
    return step.before.log[1] > step.ledger.history.end


def _may_leave_unflushed(step: Step) -> bool:
    return isinstance(step.before.role, Leader) and step.before.durable_end < step.before.log[1]


def _has_lost_pre_vote(step: Step) -> bool:
    return isinstance(step.before.role, Prospective) and step.before.role.epoch == step.process.replica.epoch


def _leaps(step: Step) -> bool:
    return step.before.role is not None and step.process.replica.epoch > step.before.role.epoch + 1


LEADER_FULL, OTHER_FULL = "no space is left on a leader's disk", "no space is left on the disk of another node"
LEADER_FAILED, TORN = "a leader's disk fails in another way", "a torn tail is truncated at a start"

BY_NOTE = {
    "quorum_lost": "a leader resigns because no majority fetches",
    "leader_gone": "a follower becomes prospective because its leader refuses connections",
    "leader_silent": "a follower becomes prospective because its leader is silent",
    "pre_vote_unsupported": "a voter becomes candidate because a peer has no pre-votes",
    "truncation_refused": "a truncation of committed records is refused",
    "fetched_records_refused": "damaged records are refused",
    "snapshot_part_refused": "a part of a snapshot does not fit",
    "snapshot_offer_refused": "an offered snapshot is refused",
    "peer_inconsistent": "a peer contradicts what is known of a leader",
    "peer_has_other_key": "a peer has another voter key",
}  # fmt: skip

BY_INPUT: dict[type, tuple[tuple[str, Callable[[Step], bool]], ...]] = {
    Requested: (
        ("a vote is refused for a shorter log", _is_refused_for_log),
        ("a vote is refused that another candidate has", _is_refused_for_other),
        ("a vote is granted again to the same candidate", _is_given_again),
        ("a pre-vote is refused by a follower of a live leader", _is_protected),
        ("a pre-vote is refused by the leader", _is_refused_by_leader),
        ("a pre-vote is granted by a follower that has fetched nothing yet", _is_fresh_follower),
        ("a vote is requested while an election is being saved", _comes_while_saving),
        ("a fetch is beyond the end of the leader's log", _fetches_beyond),
        ("a voter fetches a deleted snapshot", _lacks_snapshot),
    ),
    Flushed: (("a leader's own disk is the last of a majority", _commits),),
    SnapshotStored: (("a downloaded snapshot is invalid", lambda step: step.event.refused),),
}  # fmt: skip

BY_ORDER: dict[type, tuple[tuple[str, Callable[[Step, Any], bool]], ...]] = {
    do.Truncate: (
        ("a log is truncated to its snapshot's end", _cuts_to_snapshot),
        ("a log is truncated twice before it grows", _cuts_twice),
    ),
    do.ResetLog: (("a snapshot replaces a log with records", _resets_full),),
    do.WriteSnapshotPart: (
        ("a snapshot comes in several parts", lambda _step, effect: effect.position > 0),
        ("a download continues after a part was lost", _goes_on),
    ),
    do.DropSnapshotPart: (("a download is given up", lambda _step, _effect: True),),
    do.ProposalRefused: (("a write is refused by a former leader", lambda _step, _effect: True),),
    do.LeadershipConfirmed: (("a leader is confirmed by a round of fetches", lambda _step, _effect: True),),
    do.ShutdownComplete: (
        (
            "a leader shuts down when all voters have acknowledged",
            lambda step, _effect: isinstance(step.before.role, Resigned),
        ),
    ),
}  # fmt: skip

BY_ROLE: dict[type, tuple[tuple[str, Callable[[Step], bool]], ...]] = {
    Unattached: (
        ("a node starts with a saved vote", _has_voted),
        ("a lost pre-vote leads back to Unattached", _has_lost_pre_vote),
        ("a node skips an epoch", _leaps),
        ("a leader loses records that are not on its disk", _may_leave_unflushed),
    ),
    Candidate: (
        ("a candidate starts as one", _began),
        ("two candidates in one epoch", _is_split),
    ),
    Resigned: (("a leader starts as one that resigned", _began),),
    Follower: (
        ("a follower starts as one", _began),
        ("a lost pre-vote leads back to the leader", _has_lost_pre_vote),
        ("a leader loses records that are not on its disk", _may_leave_unflushed),
    ),
    Leader: (
        ("a second leader exists, and the first does not know it", _is_second_leader),
        ("a leader inherits records that are not known to be committed", _inherits),
    ),
}  # fmt: skip


def moments() -> list[str]:
    """All names."""
    tables = (BY_INPUT, BY_ORDER, BY_ROLE)
    names = [name for table in tables for rows in table.values() for name, _ in rows]
    return list(dict.fromkeys((*BY_NOTE.values(), *names, LEADER_FULL, OTHER_FULL, LEADER_FAILED, TORN)))
