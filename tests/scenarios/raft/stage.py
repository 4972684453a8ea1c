"""A stage for replicas: commands move messages, disks and time, and print what each replica orders."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from raft.interface import effects, inputs
from raft.interface.config import RaftConfig, SnapshotId
from raft.interface.recovered import Election, Recovered, StoredSnapshot
from raft.interface.voters import VoterSet, control_values
from raft.state.replica import Replica
from raft.state.roles import Leader
from raft.step import start, step
from records.batch import batches, build_batch, records_of
from records.errors import Error, error_name
from records.messages.quorum import DescribeQuorumRequest
from records.messages.voters import RemoveRaftVoterRequest
from records.schema import replace
from tests.raft.building import CLUSTER, dynamic_voters, endpoint, key, latest, snake, static_voters

NOBODY = 0
"""The connection of requests whose answers no replica reads."""


class Actor:
    """A replica with its disk: `log` in memory, `durable` on the disk; `open` is what the disk has not done."""

    def __init__(
        self, stage: Stage, replica_id: int, durable: Recovered, log: list[tuple[int, int, int, bytes]]
    ) -> None:
        self.id = replica_id
        self.stage = stage
        self.log = list(log)
        self.saved: Election | None = durable.election
        self.synced = (list(log), durable.log_start)
        self.start = durable.log_start
        self.snapshots: dict[SnapshotId, bytes] = {each.id: b"?" * each.size for each in durable.snapshots}
        self.parts: dict[SnapshotId, bytes] = {}
        self.open: list[Any] = []
        self.is_slow = False
        config = RaftConfig(CLUSTER, **{"endpoints": (endpoint(replica_id),), **stage.config})
        self.replica = Replica(config, key(replica_id), stage.voters, durable, Random(replica_id))

    def data(self, first: int, end: int) -> bytes:
        return b"".join(entry[3] for entry in self.log if entry[1] > first and entry[0] < end)


class Stage:
    """The commands of the scenario files; each method `do_…` is one, and returns the lines that it prints."""

    def __init__(self) -> None:
        self.now = 0
        self.voters = static_voters()
        self.formatted: VoterSet | None = None
        self.config: dict[str, Any] = {}
        self.actors: dict[int, Actor] = {}
        self.disks: dict[int, tuple[Recovered, list[tuple[int, int, int, bytes]], dict[SnapshotId, bytes]]] = {}
        self.transit: list[tuple[int, int, int, Any]] = []  # from, to, connection, Send or response
        self.asked: dict[int, tuple[int, effects.Send]] = {}  # connection -> requester, request
        self.connections = 0
        self.links: dict[tuple[int, int], int] = {}
        self.lines: list[str] = []
        self.is_quiet = False

    def execute(self, command: str) -> list[str]:
        name, *words = command.split()
        self.lines = []
        getattr(self, f"do_{name}")(*words)
        return [] if self.is_quiet else self.lines

    # Setting the stage

    def do_voters(self, *ids: str) -> None:
        """Voters 1 2 3: the voter set."""
        self.voters = static_voters(*map(int, ids))

    def do_dynamic_voters(self, *ids: str) -> None:
        """Dynamic_voters 1 2 3: the voter set that the formatter wrote, with kraft.version 1."""
        self.do_voters(*ids)
        self.formatted = dynamic_voters(*map(int, ids))

    def do_set(self, name: str, value: str) -> None:
        """Set fetch_timeout_ms 500: a setting of all replicas that start from now on."""
        self.config[name] = int(value)

    def do_start(self, replica_id: str, *words: str) -> None:
        """Start 1 [epoch=3] [leader=2] [voted=1] [log=1:5,2:7] [snapshot=5-1:100]: log is epoch:end, ascending."""
        options = dict(word.split("=") for word in words)
        entries: list[tuple[int, int, int, bytes]] = []
        epochs = []
        offset = first = int(options.get("from", 0))
        for run in filter(None, options.get("log", "").split(",")):
            epoch, end = map(int, run.split(":"))
            epochs.append((epoch, offset))
            while offset < end:
                entries.append((offset, offset + 1, epoch, value(offset, epoch, f"{epoch}.{offset}")))
                offset += 1
        snapshots = []
        for each in filter(None, options.get("snapshot", "").split(",")):
            name, size = each.split(":")
            end_offset, epoch = map(int, name.split("-"))
            snapshots.append(StoredSnapshot(SnapshotId(end_offset, epoch), int(size), 0))
        election = None
        if "epoch" in options:
            voted = options.get("voted")
            leader = options.get("leader")
            election = Election(
                int(options["epoch"]), int(leader) if leader else None, key(int(voted)) if voted else None
            )
        recovered = Recovered(election, first, offset, tuple(epochs), tuple(snapshots))
        self.enter(int(replica_id), recovered, entries)

    def enter(self, replica_id: int, recovered: Recovered, entries: list[tuple[int, int, int, bytes]]) -> None:
        if self.formatted is not None:
            recovered.voter_sets = ((-1, self.formatted), *voter_sets(entries))
            recovered.kraft_versions = ((-1, 1),)
        actor = self.actors[replica_id] = Actor(self, replica_id, recovered, entries)
        self.take(actor, start(actor.replica, self.now))

    def do_crash(self, replica_id: str) -> None:
        """Crash 1: the process is gone, with all that was not on the disk; messages of and to it too."""
        actor = self.actors.pop(int(replica_id))
        log, first = actor.synced
        epochs: list[tuple[int, int]] = []
        for base, _, epoch, _ in log:
            if not epochs or epochs[-1][0] != epoch:
                epochs.append((epoch, base))
        snapshots = tuple(StoredSnapshot(each, len(data), 0) for each, data in actor.snapshots.items())
        end = log[-1][1] if log else first
        recovered = Recovered(actor.saved, first, end, tuple(epochs), snapshots)
        self.disks[actor.id] = (recovered, log, actor.snapshots)
        self.transit = [each for each in self.transit if actor.id not in each[:2]]

    def do_restart(self, replica_id: str) -> None:
        """Restart 1: with what the disk had."""
        recovered, log, snapshots = self.disks[int(replica_id)]
        self.enter(int(replica_id), recovered, log)
        self.actors[int(replica_id)].snapshots = snapshots

    def do_quiet(self) -> None:
        """Quiet: print nothing before `loud`."""
        self.is_quiet = True

    def do_loud(self) -> None:
        self.is_quiet = False

    # Time, disks, links

    def do_wait(self, ms: str, *ids: str) -> None:
        """Wait 100 [1 2]: time passes for all; the named ones (or all) are woken when they asked to be."""
        end = self.now + int(ms)
        named = [self.actors[int(each)] for each in ids] or list(self.actors.values())
        while self.now < end:
            self.now = min([end, *(max(actor.replica.deadline_ms, self.now + 1) for actor in named)])
            for actor in named:
                if actor.replica.deadline_ms <= self.now:
                    self.step(actor, inputs.Ticked())

    def do_slow(self, replica_id: str) -> None:
        """Slow 1: its disk does nothing before `sync 1`."""
        self.actors[int(replica_id)].is_slow = True

    def do_sync(self, replica_id: str) -> None:
        """Sync 1: its disk does what is open, and is quick from now on."""
        actor = self.actors[int(replica_id)]
        actor.is_slow = False
        self.settle(actor)

    def do_deliver(self, *ids: str) -> None:
        """Deliver [1 2]: what is in transit now, from 1 to 2 (or all), arrives."""
        for each in self.picked(ids):
            self.arrive(*each)

    def do_drop(self, *ids: str) -> None:
        """Drop [1 2]: what is in transit is lost."""
        self.picked(ids)

    def picked(self, ids: tuple[str, ...]) -> list[tuple[int, int, int, Any]]:
        chosen = [each for each in self.transit if not ids or each[:2] == (int(ids[0]), int(ids[1]))]
        self.transit = [each for each in self.transit if each not in chosen]
        return chosen

    def do_stabilize(self, *ids: str) -> None:
        """Stabilize [1 2]: messages among these (or all) arrive until none is left; others stay in transit."""
        named = [int(each) for each in ids] or list(self.actors)
        for _ in range(100):
            chosen = [each for each in self.transit if each[0] in named and each[1] in named]
            if not chosen:
                return
            self.transit = [each for each in self.transit if each not in chosen]
            for each in chosen:
                self.arrive(*each)
        raise AssertionError("it does not come to rest")

    def do_refuse(self, replica_id: str, peer: str) -> None:
        """Refuse 2 1: replica 2 finds nobody where 1 was; what it asked it has failed."""
        actor = self.actors[int(replica_id)]
        for connection, (asker, send) in list(self.asked.items()):
            if (asker, send.peer) == (actor.id, int(peer)):
                del self.asked[connection]
                self.step(actor, inputs.Failed(send.peer, send.number, Error.BROKER_NOT_AVAILABLE))
        self.step(actor, inputs.Refused(int(peer)))

    # The state machine

    def do_propose(self, replica_id: str, *texts: str) -> None:
        """Propose 1 a b: one batch, with a record for each word."""
        actor = self.actors[int(replica_id)]
        base, epoch = actor.replica.log.end, actor.replica.epoch
        if isinstance(actor.replica.role, Leader):
            base = actor.replica.role.state.proposals.next_offset
        data = build_batch([each.encode() for each in texts], base_offset=base, leader_epoch=epoch, timestamp_ms=0)
        self.step(actor, inputs.Propose(epoch, base, base + len(texts) - 1, data))

    def do_confirm(self, replica_id: str, number: str) -> None:
        """Confirm 1 70: does 1 lead still?"""
        self.step(self.actors[int(replica_id)], inputs.ConfirmLeadership(int(number)))

    def do_remove(self, replica_id: str, voter: str) -> None:
        """Remove 1 2: an administrator has 1 remove the voter 2."""
        removed = key(int(voter))
        self.ask(
            replica_id,
            RemoveRaftVoterRequest(cluster_id=CLUSTER, voter_id=removed.id, voter_directory_id=removed.directory_id),
        )

    def do_describe(self, replica_id: str) -> None:
        """Describe 1: DescribeQuorum."""
        partition = DescribeQuorumRequest.TopicData.PartitionData(partition_index=0)
        topic = DescribeQuorumRequest.TopicData(topic_name="__cluster_metadata", partitions=(partition,))
        self.ask(replica_id, DescribeQuorumRequest(topics=(topic,)))

    def ask(self, replica_id: str, request: Any) -> None:
        source = inputs.Source(NOBODY, 0)
        self.step(self.actors[int(replica_id)], inputs.Requested(source, request, latest(request), "CONTROLLER"))

    def do_snapshot(self, replica_id: str, size: str) -> None:
        """Snapshot 1 100: 1 has written a snapshot of all that is committed."""
        actor = self.actors[int(replica_id)]
        end = actor.replica.log.committed
        taken = SnapshotId(end, next(entry[2] for entry in reversed(actor.log) if entry[1] <= end))
        actor.snapshots[taken] = b"?" * int(size)
        self.step(actor, inputs.SnapshotTaken(taken, int(size), 0))

    def do_resign(self, replica_id: str) -> None:
        actor = self.actors[int(replica_id)]
        self.step(actor, inputs.Resign(actor.replica.epoch))

    def do_shutdown(self, replica_id: str) -> None:
        self.step(self.actors[int(replica_id)], inputs.ShutDown())

    def do_state(self, *ids: str) -> None:
        """State [1 2]: what each is, and how far."""
        for actor in [self.actors[int(each)] for each in ids] or self.actors.values():
            replica = actor.replica
            role = replica.role
            leader = "" if role.leader_id is None else f", leader {role.leader_id}"
            voted = "" if role.voted is None else f", voted {role.voted.id}"
            log = replica.log
            self.say(
                actor, f"{type(role).__name__}, epoch {role.epoch}{leader}{voted}, log {log.start} to {log.end}"
                f" of {log.epochs}, committed {log.committed}"
            )  # fmt: skip

    # Inside

    def say(self, actor: Actor, text: str) -> None:
        self.lines.append(f"{actor.id}: {text}")

    def step(self, actor: Actor, event: Any) -> None:
        self.take(actor, step(actor.replica, event, self.now))

    def take(self, actor: Actor, ordered: list[Any]) -> None:
        for effect in ordered:
            name = type(effect).__name__
            if name == "Noted":
                self.note(actor, effect)
                continue
            getattr(self, f"on_{snake(name)}")(actor, effect)
        if not actor.is_slow:
            self.settle(actor)

    def settle(self, actor: Actor) -> None:
        while actor.open:
            effect = actor.open.pop(0)
            if isinstance(effect, effects.SaveElection):
                actor.saved = Election(effect.epoch, effect.leader_id, effect.voted)
                self.take(actor, step(actor.replica, inputs.Saved(effect.number), self.now))
            else:
                actor.synced = (list(actor.log), actor.start)
                self.take(actor, step(actor.replica, inputs.Flushed(effect.number), self.now))

    def arrive(self, source: int, target: int, connection: int, what: Any) -> None:
        actor = self.actors.get(target)
        if actor is None:
            return
        if isinstance(what, effects.Send):
            event = inputs.Requested(inputs.Source(connection, 0), what.request, latest(what.request), "CONTROLLER")
            self.step(actor, event)
        elif connection in self.asked:
            _, send = self.asked.pop(connection)
            self.step(actor, inputs.Answered(source, send.number, what))

    def note(self, actor: Actor, effect: effects.Noted) -> None:
        if effect.name == "role_changed":
            fields = effect.fields
            leader = "" if fields["leader_id"] is None else f", leader {fields['leader_id']}"
            self.say(actor, f"becomes {fields['now']}, epoch {fields['epoch']}{leader}")
        elif effect.name not in {"vote_answered", "leader_silent", "leader_gone"}:
            self.say(actor, f"notes {effect.name}")

    def on_send(self, actor: Actor, effect: effects.Send) -> None:
        link = (actor.id, effect.peer)
        if self.links.get(link) is None or self.asked.pop(self.links[link], None) is not None:
            # A connection never carries two open requests.
            self.connections += 1
            self.links[link] = self.connections
        connection = self.links[link]
        self.asked[connection] = (actor.id, effect)
        self.transit.append((actor.id, effect.peer, connection, effect))
        self.say(actor, f"asks {effect.peer}: {describe(effect.request)}")

    def answer(self, actor: Actor, source: inputs.Source, response: Any) -> None:
        asker = self.asked.get(source.connection)
        if asker is not None:
            self.transit.append((actor.id, asker[0], source.connection, response))
        self.say(actor, f"answers {asker[0] if asker else 'nobody'}: {describe(response)}")

    def on_reply(self, actor: Actor, effect: effects.Reply) -> None:
        self.answer(actor, effect.source, effect.response)

    def on_reply_records(self, actor: Actor, effect: effects.ReplyRecords) -> None:
        topic = effect.response.responses[0]
        part = replace(topic.partitions[0], records=actor.data(effect.start_offset, effect.end_offset))
        self.answer(actor, effect.source, replace(effect.response, responses=(replace(topic, partitions=(part,)),)))

    def on_reply_snapshot(self, actor: Actor, effect: effects.ReplySnapshot) -> None:
        topic = effect.response.topics[0]
        data = actor.snapshots[effect.id][effect.position : effect.position + effect.length]
        part = replace(topic.partitions[0], unaligned_records=data)
        self.answer(actor, effect.source, replace(effect.response, topics=(replace(topic, partitions=(part,)),)))

    def on_save_election(self, actor: Actor, effect: effects.SaveElection) -> None:
        leader = "" if effect.leader_id is None else f", leader {effect.leader_id}"
        voted = "" if effect.voted is None else f", voted {effect.voted.id}"
        self.say(actor, f"saves epoch {effect.epoch}{leader}{voted}")
        actor.open.append(effect)

    def on_append(self, actor: Actor, effect: effects.Append) -> None:
        shown = []
        for batch in batches(effect.data):
            data = effect.data[batch.position : batch.position + batch.size]
            actor.log.append((batch.base_offset, batch.last_offset + 1, batch.leader_epoch, data))
            values = [(record.value or b"").decode() for record in records_of(data, _first(data))]
            shown += ["control"] if batch.is_control else values
        self.say(
            actor, f"appends {effect.base_offset} to {effect.end_offset} of epoch {effect.epoch}: {' '.join(shown)}"
        )
        actor.open.append(effect)

    def on_truncate(self, actor: Actor, effect: effects.Truncate) -> None:
        actor.log = [entry for entry in actor.log if entry[1] <= effect.end_offset]
        self.say(actor, f"cuts its log at {effect.end_offset}")
        actor.open.append(effect)

    def on_reset_log(self, actor: Actor, effect: effects.ResetLog) -> None:
        actor.log, actor.start = [], effect.id.end_offset
        self.say(actor, f"starts its log at snapshot {name(effect.id)}")
        actor.open.append(effect)

    def on_advance_log_start(self, actor: Actor, effect: effects.AdvanceLogStart) -> None:
        actor.log = [entry for entry in actor.log if entry[1] > effect.start_offset]
        actor.start = effect.start_offset
        self.say(actor, f"drops its log below {effect.start_offset}")
        actor.open.append(effect)

    def on_save_epochs(self, actor: Actor, effect: effects.SaveEpochs) -> None:
        pass

    def on_write_snapshot_part(self, actor: Actor, effect: effects.WriteSnapshotPart) -> None:
        have = actor.parts.get(effect.id, b"") if effect.position else b""
        actor.parts[effect.id] = have + effect.data
        self.say(actor, f"writes {len(effect.data)} bytes of snapshot {name(effect.id)} at {effect.position}")
        self.step(actor, inputs.PartWritten(effect.number))

    def on_freeze_snapshot(self, actor: Actor, effect: effects.FreezeSnapshot) -> None:
        actor.snapshots[effect.id] = actor.parts.pop(effect.id)
        self.say(actor, f"has the whole of snapshot {name(effect.id)}")
        self.step(actor, inputs.SnapshotStored(effect.number, len(actor.snapshots[effect.id])))

    def on_drop_snapshot_part(self, actor: Actor, effect: effects.DropSnapshotPart) -> None:
        actor.parts.pop(effect.id, None)
        self.say(actor, f"gives up snapshot {name(effect.id)}")

    def on_delete_snapshot(self, actor: Actor, effect: effects.DeleteSnapshot) -> None:
        del actor.snapshots[effect.id]
        self.say(actor, f"deletes snapshot {name(effect.id)}")

    def on_load_snapshot(self, actor: Actor, effect: effects.LoadSnapshot) -> None:
        self.say(actor, f"loads snapshot {name(effect.id)}")

    def on_high_watermark(self, actor: Actor, effect: effects.HighWatermark) -> None:
        self.say(actor, f"has committed up to {effect.offset}")

    def on_leader_changed(self, actor: Actor, effect: effects.LeaderChanged) -> None:
        if effect.leader_id == actor.id:
            self.say(actor, f"tells its state machine to lead epoch {effect.epoch} from {effect.end_offset}")

    def on_proposal_refused(self, actor: Actor, effect: effects.ProposalRefused) -> None:
        self.say(actor, f"refuses a proposal at {effect.base_offset}")

    def on_leadership_confirmed(self, actor: Actor, effect: effects.LeadershipConfirmed) -> None:
        self.say(actor, f"leads epoch {effect.epoch}: confirmed {effect.number}")

    def on_shutdown_complete(self, actor: Actor, effect: effects.ShutdownComplete) -> None:
        self.say(actor, "may leave")

    def on_denied(self, actor: Actor, effect: effects.Denied) -> None:
        self.say(actor, f"may take no part, says {effect.peer}")

    def on_reserve_offsets(self, actor: Actor, effect: effects.ReserveOffsets) -> None:
        role = actor.replica.role
        assert isinstance(role, Leader), f"{role} reserves offsets"
        self.step(actor, inputs.OffsetsReserved(effect.epoch, role.state.proposals.next_offset))

    def on_kraft_version_support(self, actor: Actor, effect: effects.KraftVersionSupport) -> None:
        """Read by the controller alone."""

    def on_voters_changed(self, actor: Actor, effect: effects.VotersChanged) -> None:
        self.say(actor, f"votes with {[voter.key.id for voter in effect.voters]}")


def value(offset: int, epoch: int, text: str) -> bytes:
    return build_batch([text.encode()], base_offset=offset, leader_epoch=epoch, timestamp_ms=0)


def voter_sets(entries: list[tuple[int, int, int, bytes]]) -> list[tuple[int, VoterSet]]:
    """The voter sets in the control batches of a log, with their offsets."""
    found = [
        item
        for *_, data in entries
        for batch in batches(data)
        if batch.is_control
        for item in control_values(data, batch)
    ]
    return [(offset, value) for offset, value in found if isinstance(value, VoterSet)]


def _first(data: bytes) -> Any:
    return next(batches(data))


def name(snapshot: SnapshotId) -> str:
    return f"{snapshot.end_offset}-{snapshot.epoch}"


def describe(message: Any) -> str:
    """A message in a few words."""
    return DESCRIBE[type(message).__name__](message)


def _vote(message: Any) -> str:
    asked = message.topics[0].partitions[0]
    kind = "PreVote" if asked.pre_vote else "Vote"
    return f"{kind} epoch {asked.replica_epoch}, log ends at {asked.last_offset} of {asked.last_offset_epoch}"


def _voted(message: Any) -> str:
    part = message.topics[0].partitions[0]
    verdict = "granted" if part.vote_granted else "refused"
    return f"{verdict}{_rest(part.error_code, part.leader_epoch, part.leader_id)}"


def _begin(message: Any) -> str:
    return f"BeginQuorumEpoch epoch {message.topics[0].partitions[0].leader_epoch}"


def _end(message: Any) -> str:
    part = message.topics[0].partitions[0]
    successors = [each.candidate_id for each in part.preferred_candidates]
    return f"EndQuorumEpoch epoch {part.leader_epoch}, successors {json.dumps(successors)}"


def _acknowledged(message: Any) -> str:
    part = message.topics[0].partitions[0]
    return f"acknowledged{_rest(part.error_code, part.leader_epoch, part.leader_id)}"


def _fetch(message: Any) -> str:
    part = message.topics[0].partitions[0]
    known = "" if part.high_watermark < 0 else f", committed {part.high_watermark}"
    return f"Fetch epoch {part.current_leader_epoch}, from {part.fetch_offset} of {part.last_fetched_epoch}{known}"


def _fetched(message: Any) -> str:
    part = message.responses[0].partitions[0]
    words = []
    if part.records:
        found = list(batches(part.records))
        words.append(f"records {found[0].base_offset} to {found[-1].last_offset + 1}")
    if part.diverging_epoch.epoch >= 0:
        words.append(f"epoch {part.diverging_epoch.epoch} ends at {part.diverging_epoch.end_offset}")
    if part.snapshot_id.epoch >= 0:
        words.append(f"snapshot {part.snapshot_id.end_offset}-{part.snapshot_id.epoch}")
    if part.high_watermark >= 0:
        words.append(f"committed {part.high_watermark}")
    if part.error_code:
        words.append(error_name(part.error_code))
    return (", ".join(words) or "nothing") + _rest(0, part.current_leader.leader_epoch, part.current_leader.leader_id)


def _fetch_snapshot(message: Any) -> str:
    part = message.topics[0].partitions[0]
    return f"FetchSnapshot {part.snapshot_id.end_offset}-{part.snapshot_id.epoch} from {part.position}"


def _fetched_snapshot(message: Any) -> str:
    part = message.topics[0].partitions[0]
    if part.error_code:
        return error_name(part.error_code)
    return f"{len(part.unaligned_records)} of {part.size} bytes from {part.position}"


def _removed(message: Any) -> str:
    return f"removed, {error_name(message.error_code)}"


def _described(message: Any) -> str:
    part = message.topics[0].partitions[0]
    voters, observers = ([each.replica_id for each in group] for group in (part.current_voters, part.observers))
    return f"voters {voters}, observers {observers}"


def _rest(error: int, epoch: int, leader: int) -> str:
    words = f", epoch {epoch}" + ("" if leader < 0 else f", leader {leader}")
    return f", {error_name(error)}{words}" if error else words


DESCRIBE = {
    "VoteRequest": _vote,
    "VoteResponse": _voted,
    "BeginQuorumEpochRequest": _begin,
    "BeginQuorumEpochResponse": _acknowledged,
    "EndQuorumEpochRequest": _end,
    "EndQuorumEpochResponse": _acknowledged,
    "FetchRequest": _fetch,
    "FetchResponse": _fetched,
    "FetchSnapshotRequest": _fetch_snapshot,
    "FetchSnapshotResponse": _fetched_snapshot,
    "RemoveRaftVoterResponse": _removed,
    "DescribeQuorumResponse": _described,
}
