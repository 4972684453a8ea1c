"""Checks each step of each replica against the specification: T01 StepAllowed.

A step of the core is one input and the work that is due after it; in the specification that is one action, or several,
which follow from the input, from the role after the step, and from the effects. The guards of each must hold, the
resulting node must equal the observed one, and each effect must be one that the specification allows.
"""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from typing import TYPE_CHECKING, Any

from raft.interface.inputs import (
    Failed,
    OffsetsReserved,
    Refused,
    Requested,
    Resign,
    SnapshotTaken,
    UpgradeKraftVersion,
)
from records.errors import Error
from simulations.spec import disks, elections, membership, replication
from simulations.spec.inputs import INPUTS
from simulations.spec.outputs import EFFECTS
from simulations.spec.paths import Moment, Step, check_time, path
from simulations.spec.track import Seen, Track, election_of, expected_state, log_of, see, voters_of
from simulations.spec.values import LEADER, NOBODY, PROSPECTIVE, Election, Node, NotAllowed, Rules
from simulations.world.violation import Violation

if TYPE_CHECKING:
    from raft.interface.recovered import Recovered
    from simulations.world.ledger import Ledger
    from simulations.world.process import Process
    from simulations.world.voter_sets import Voters
    from simulations.world.world import World

_NO_PRE_VOTES = int(Error.UNSUPPORTED_VERSION)

# Inputs by which a leader appends before it looks at its timeouts.
_APPENDS_AT_ONCE = (OffsetsReserved, UpgradeKraftVersion)


class Validator:
    """actions: how often each action was taken; pairs: how often one after another, by the same node. refusal: the
    first step that no action allows; nothing is checked after it.

    It is raised when the run is over (`conclude`), so that a more specific property is reported first.
    """

    def __init__(self, ledger: Ledger, world: World) -> None:
        self._ledger = ledger
        self._world = world
        self._tracks: dict[int, Track] = {}
        self._left: dict[int, tuple[int, Node]] = {}  # by node id: how often it forgot, and what it was at its end
        self._leaders: dict[int, int] = {}
        self.refusal: Violation | None = None
        self.actions: dict[str, int] = defaultdict(int)
        self.pairs: dict[tuple[str, str], int] = defaultdict(int)

    def conclude(self) -> None:
        """End the run. Raises Violation where a step was not allowed."""
        if self.refusal is not None:
            raise self.refusal

    @property
    def refusal_text(self) -> str:
        """The text of `refusal`; empty without one."""
        return "" if self.refusal is None else self.refusal.text

    # Lives

    def on_recovered(self, process: Process, recovered: Recovered) -> None:
        """RestartWithState: the recovered state is one that a crash may have left."""
        if self.refusal is not None:
            return
        node = process.node
        self._leave(node.id)
        election = _election(recovered)
        log = log_of(recovered.log_start, recovered.log_end, recovered.epochs, recovered.snapshots)
        snapshots = tuple((each.id.epoch, each.id.end_offset, each.size) for each in recovered.snapshots)
        disks_lost, before = self._left.get(node.id, (0, None))
        if before is not None and disks_lost == node.disks_lost and node.id not in self._ledger.damaged:
            wrong = disks.may_survive(
                before.disk, election, log, [(each.id.epoch, each.id.end_offset) for each in recovered.snapshots]
            )
            if wrong:
                text = f"node {node.id}, {before.describe()}; started; RestartWithState is not allowed: {wrong}"
                self.refusal = Violation("T01", text)
            elif before.role == LEADER and (election is None or election.epoch < before.epoch):
                self._leaders.pop(before.epoch, None)  # it was not saved, so nobody was told
        sets = self._ledger.all_voters(process)
        state = disks.restart((node.id, node.key.directory_id), sets, election, log, snapshots, process.now_ms())
        config = node.config
        rules = Rules(
            config.fetch_timeout_ms, max(config.election_timeout_ms, 1), max(config.request_timeout_ms, 1),
            config.election_backoff_max_ms,
        )  # fmt: skip
        track = self._tracks[node.id] = Track(process, rules, state, partial(self._sets_at, process))
        if before is not None:
            track.last_action = "Crash"

    def _sets_at(self, process: Process, end_offset: int) -> tuple[Voters, ...]:
        """The voter sets of the committed records up to an offset, where a snapshot ends."""
        number = self._ledger.history.chain_at.get(end_offset)
        if number is None:
            raise NotAllowed("LoadSnapshot", f"no committed batch ends at {end_offset}")
        return self._ledger.all_voters_at(process, number)

    def on_ended(self, process: Process) -> None:
        """A process ended, and its unsynced data is lost."""
        self._leave(process.node.id)

    def _leave(self, node_id: int) -> None:
        track = self._tracks.pop(node_id, None)
        if track is not None:
            if track.last_action != "Crash":  # else it was gone again before its first step
                self._count(track, "Crash")
            self._left[node_id] = (track.process.node.disks_lost, track.node)

    # Steps

    def on_stepped(self, process: Process, name: str, event: Any, effects: list[Any]) -> None:
        """Check a step."""
        if self.refusal is not None:
            return
        track = self._tracks[process.node.id]
        replica = process.replica
        seen = see(replica)
        act = INPUTS.get(type(event))
        now_ms = process.now_ms()
        try:
            if act is None and not effects and seen == track.seen and replica.role is track.role:
                check_time(track.node, track.rules, now_ms)
                return
            self._take(track, event, effects, seen, now_ms)
        except NotAllowed as refusal:
            was = track.node.describe()
            text = f"node {process.node.id}, {was}; took {name}; {refusal.action} is not allowed: {refusal.guard}"
            self.refusal = Violation("T01", f"{text}; now it is {_describe(seen)}, at {self._world.now} us")

    def _take(self, track: Track, event: Any, effects: list[Any], seen: Seen, now_ms: int) -> None:
        before = track.node
        track.was_saving = bool(before.disk.saving)
        track.effects = effects
        act = INPUTS.get(type(event))
        if act is None:
            outcomes = [("RestartWithState" if event is None else "", before)]
        else:
            outcomes = act(track, event, now_ms)
        role = track.process.replica.role
        if seen == track.seen and role is track.role and outcomes[0][1] is before:
            steps = [outcomes[0]]
        else:
            steps = self._explain(track, event, outcomes, seen, now_ms)
        node = steps[-1][1]
        _agree_on_voters(track, node)
        if type(event) is SnapshotTaken:
            _keeps_voters(track, node, event)
        if role is not track.role:
            self._note_roles(track, before, node, steps)
        if effects:
            states = [*(step[1] for step in reversed(steps)), before] if len(steps) > 1 else [node, before]
            states += track.earlier
            for effect in effects:
                perform = EFFECTS.get(type(effect))
                if perform is not None:
                    node = perform(track, node, effect, states, now_ms)
        if node is not before or effects:
            self._is_ordered(node)
        for step in steps:
            if step[0]:
                self._count(track, step[0])
        track.node, track.seen = node, seen
        track.role = role
        if node.disk.saving:
            track.earlier = [*(step[1] for step in reversed(steps)), before, *track.earlier]
        elif track.earlier:
            track.earlier = []
        check_time(node, track.rules, now_ms)

    def _explain(self, track: Track, event: Any, outcomes: list[Step], seen: Seen, now_ms: int) -> list[Step]:
        """The actions of a step, and the resulting nodes. Raises NotAllowed if there are none."""
        first: NotAllowed | None = None
        for outcome in outcomes:
            try:
                return self._lead_on(track, event, outcome, seen, now_ms)
            except NotAllowed as refusal:
                first = first or refusal
        assert first is not None, "there is an outcome at least"
        raise first

    def _lead_on(self, track: Track, event: Any, outcome: Step, seen: Seen, now_ms: int) -> list[Step]:
        node = outcome[1]
        steps = [outcome]
        if node.role == PROSPECTIVE and _asks_again(track, node, event, seen):
            node = elections.lose_pre_vote(node, track.rules, now_ms)
            steps.append(("ConcludePreVote", node))
        elif node.role != LEADER and expected_state(node) == seen:
            return steps  # it did nothing by itself
        if node.role == LEADER and seen.end > node.log.end and type(event) in _APPENDS_AT_ONCE:
            node = _append(track, node, steps, seen, now_ms)
        if node[2:6] != seen[:4]:
            # A leader that is to resign handles the fetch first, and may commit by it.
            node = _advance(track, node, steps, seen)
            steps += path(node, seen, _moment(track, event, now_ms))
            node = steps[-1][1]
        node = _advance(track, node, steps, seen)
        if node.role == LEADER and seen.end > node.log.end:
            node = _append(track, node, steps, seen, now_ms)
        if seen.start > node.log.start:
            node = disks.clean_log(node, seen.start)
            steps.append(("CleanLog", node))
        wanted = expected_state(node)
        if wanted != seen:
            raise NotAllowed(outcome[0] or "step", f"it makes {_difference(wanted, seen)}")
        return steps

    def _note_roles(self, track: Track, before: Node, node: Node, steps: list[Step]) -> None:
        roles = {(step[1].role, step[1].epoch, step[1].leader) for step in steps}
        if len(roles) > 1 or (before.role, before.epoch, before.leader) not in roles:
            track.token += 1
            if node.role == LEADER:
                first = self._leaders.setdefault(node.epoch, node.id)
                elections.need(first == node.id, "BecomeLeader", f"nobody else leads epoch {node.epoch}: node {first}")
                track.questions.clear()
        else:
            track.sent = {peer: sent._replace(is_exact=False) for peer, sent in track.sent.items()}

    def _is_ordered(self, node: Node) -> None:
        """State that must be durable is being written."""
        disk = node.disk
        said = disk.said
        if said is None or (said[0] != node.epoch or said[1] != node.leader or said[2] != node.voted):
            raise NotAllowed("PersistElection", f"{election_of(node)} is saved; {said} is")
        if disk.asked is not node.log and not disk.saving and disk.asked != node.log:
            raise NotAllowed("PersistLog", f"{node.log} is written; {disk.asked} is")

    def _count(self, track: Track, action: str) -> None:
        self.actions[action] += 1
        if track.last_action:
            self.pairs[track.last_action, action] += 1
        track.last_action = action


def _advance(track: Track, node: Node, steps: list[Step], seen: Seen) -> Node:
    """A leader about which, or about whose voters, more is known than before the step."""
    if node.role != LEADER or node is track.node:
        return node
    after = replication.advance_high_watermark(node)
    # A new voter set may have what its majority holds committed at once; a leader looks at the next flush or Fetch.
    if after is not node and (seen.watermark != node.watermark or node.disk.holds(node.log) > node.voters.offset):
        steps.append(("AdvanceHighWatermark", after))
        return after
    return node


def _append(track: Track, node: Node, steps: list[Step], seen: Seen, now_ms: int) -> Node:
    """A leader whose log has grown: by records of clients, by the first batch of its epoch, by a voter set."""
    voters = voters_of(track.process.replica)
    own_host = track.process.replica.config.endpoints[0].host
    has_voters = voters.offset >= node.log.end
    if node.leading is not None and node.log.end == node.leading.start:
        node = replication.client_request(node, seen.end)
        steps.append(("HandleClientRequest", membership.begin_epoch(node, voters if has_voters else None, own_host)))
        return steps[-1][1]
    if has_voters:
        name, is_raised = "", not node.voters.is_dynamic
        begin = voters.offset - is_raised  # the level stands before the voters
        if begin > node.log.end:
            node = replication.client_request(node, begin)
            steps.append(("HandleClientRequest", node))
        if is_raised:
            name, node = membership.RAISE, membership.raise_version(node, voters, own_host, now_ms)
        else:
            name, node = membership.change_voters(node, voters, now_ms)
        steps.append((name, node))
    if seen.end > node.log.end:
        node = replication.client_request(node, seen.end)
        steps.append(("HandleClientRequest", node))
    return node


def _agree_on_voters(track: Track, node: Node) -> None:
    """Check that a replica follows the newest voter set of its log."""
    replica = track.process.replica
    entry = replica.voter_sets.last()
    if entry is track.entry and node.sets is track.node.sets:
        return
    voters, known = voters_of(replica), node.voters
    if voters[:2] != known[:2]:
        raise NotAllowed("VotersChanged", f"it follows the newest voters of its log, {known}; it has {voters}")
    track.entry = entry


def _keeps_voters(track: Track, node: Node, taken: SnapshotTaken) -> None:
    """Check that a replica still has the voter set at the end of a snapshot: what follows may yet be truncated."""
    replica, end_offset = track.process.replica, taken.id.end_offset
    known = [voters for voters in node.sets if 0 <= voters.offset < end_offset]
    if not known or replica.log.snapshot(taken.id) is None:
        return
    at_end = replica.voter_sets.at(end_offset - 1)
    if at_end is None or at_end.ids != known[-1].ids:
        raise NotAllowed("TakeSnapshot", f"at {end_offset - 1} the voters are {known[-1]}; it has {at_end}")


def _moment(track: Track, event: Any, now_ms: int) -> Moment:
    kind, node = type(event), track.node
    return Moment(
        track.rules,
        now_ms,
        is_refused=kind is Refused and event.peer == node.leader,
        may_skip=kind is Failed and event.error == _NO_PRE_VOTES,
        is_asked=kind is Resign and event.epoch == node.epoch,
        starts=event is None,
    )


def _asks_again(track: Track, node: Node, event: Any, seen: Seen) -> bool:
    """Whether a Prospective lost the pre-vote and asks again, all in one step."""
    return (
        seen.role == PROSPECTIVE
        and node is track.node
        and track.process.replica.role is not track.role
        and type(event) is not Requested
    )


def _election(recovered: Recovered) -> Election | None:
    election = recovered.election
    if election is None:
        return None
    voted = NOBODY if election.voted is None else election.voted.id
    return Election(election.epoch, NOBODY if election.leader_id is None else election.leader_id, voted)


def _difference(wanted: Seen, seen: Seen) -> str:
    return ", ".join(
        f"{name} {one} where {other} is seen"
        for name, one, other in zip(Seen._fields, wanted, seen, strict=True)
        if one != other
    )


def _describe(seen: Seen) -> str:
    return ", ".join(f"{name} {value}" for name, value in zip(Seen._fields, seen, strict=True))
