"""A small world for replicas in one process: a clock, links, disks that lose unflushed data, state machines.

A save may overtake a flush, and a flush a save: the core asks for no order between the two (`raft/DESIGN.md`).

All random numbers come from one seed. After each step the world checks: one leader in an epoch, no committed record
that a majority does not have on disk, and one history of committed records.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from heapq import heappop, heappush
from random import Random
from typing import TYPE_CHECKING, Any

from raft.interface import effects, inputs
from raft.interface.config import RaftConfig, SnapshotId
from raft.interface.limits import NEVER
from raft.interface.recovered import Election, Recovered, StoredSnapshot
from raft.interface.voters import VoterSet, control_values
from raft.state.replica import Replica
from raft.state.roles import Leader
from raft.step import start, step
from records.batch import batches, build_batch, records_of
from records.codec import decode, encode
from records.errors import Error
from records.schema import replace
from tests.raft.building import CLUSTER, endpoint, key, latest, snake, static_voters

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass
class Disk:
    """Durable data. log: (base offset, end offset, epoch, bytes) of each batch; start: where the log begins."""

    election: Election | None = None
    log: tuple[tuple[int, int, int, bytes], ...] = ()
    start: int = 0
    snapshots: dict[SnapshotId, bytes] = field(default_factory=dict)


@dataclass
class Rules:
    """The settings of links and disks; times in ms, as (least, most)."""

    link_ms: tuple[int, int] = (1, 1)
    save_ms: tuple[int, int] = (1, 1)
    flush_ms: tuple[int, int] = (1, 1)
    loss: float = 0.0
    refuses: bool = True
    snapshot_every: int = 0


class Node:
    """A running replica, or a stopped one: its disk, and the state in memory. flush_ms: of this disk, where it is not
    as the rules say.
    """

    def __init__(self, world: World, replica_id: int) -> None:
        self.world = world
        self.id = replica_id
        self.disk = Disk()
        self.flush_ms: tuple[int, int] | None = None
        self.lives = 0
        self.is_up = False

    def boot(self) -> None:
        self.lives += 1
        self.is_up = True
        disk = self.disk
        self.log = list(disk.log)
        self.start = disk.start
        self.values: list[bytes] = []
        self.checked = 0
        self.applied = 0
        self.parts: dict[SnapshotId, bytes] = {}
        self.led: tuple[int, int] | None = None
        self.base = 0
        self.confirmed: list[int] = []
        self.issued = self.flushed = 0
        self.is_flushing = False
        self.timer = NEVER
        self.is_shut_down = False
        self.notified_offset = -1
        recovered = self._recover()
        config = RaftConfig(CLUSTER, **{"endpoints": (endpoint(self.id),), **self.world.config})
        rng = Random(f"{self.world.seed}:{self.id}:{self.lives}")
        self.replica = Replica(config, key(self.id), self.world.voters, recovered, rng)
        self.take(start(self.replica, self.world.now))

    def _recover(self) -> Recovered:
        disk = self.disk
        newest = max(disk.snapshots, key=lambda each: (each.epoch, each.end_offset), default=None)
        end = self.log[-1][1] if self.log else self.start
        if newest is not None and (newest.epoch, newest.end_offset) > (self.log[-1][2] if self.log else 0, end):
            self.log, self.start, end = [], newest.end_offset, newest.end_offset
        epochs: list[tuple[int, int]] = []
        voters: list[tuple[int, VoterSet]] = []
        versions: list[tuple[int, int]] = []
        for base, _, epoch, data in self.log:
            if not epochs or epochs[-1][0] != epoch:
                epochs.append((epoch, base))
            for batch in batches(data):
                for offset, value in control_values(data, batch) if batch.is_control else ():
                    voters.append((offset, value)) if isinstance(value, VoterSet) else versions.append((offset, value))
        stored = tuple(
            StoredSnapshot(each, len(data), 0) for each, data in disk.snapshots.items() if each.end_offset >= self.start
        )
        size = sum(len(entry[3]) for entry in self.log)
        return Recovered(disk.election, self.start, end, tuple(epochs), stored, tuple(voters), tuple(versions), size)

    # Driving

    def step(self, event: Any) -> None:
        if self.is_up:
            self.take(step(self.replica, event, self.world.now))

    def take(self, ordered: list[Any]) -> None:
        life = self.lives
        for effect in ordered:
            if self.is_up and self.lives == life:
                getattr(self, f"do_{snake(type(effect).__name__)}")(effect)
        if self.is_up and self.lives == life:
            deadline = max(self.replica.deadline_ms, self.world.now + 1)
            if deadline < NEVER and deadline != self.timer:
                self.timer = deadline
                self._later(deadline - self.world.now, self._wake, deadline)
            self.world.check(self)

    def _wake(self, deadline: int) -> None:
        if self.timer == deadline:
            self.timer = NEVER
            self.step(inputs.Ticked())

    def _later(self, ms: int, act: Callable[..., None], *args: Any) -> None:
        life = self.lives
        self.world.at(ms, lambda: act(*args) if self.is_up and self.lives == life else None)

    def do_noted(self, effect: effects.Noted) -> None:
        self.world.notes.append((self.id, effect.name, effect.fields))

    def do_save_election(self, effect: effects.SaveElection) -> None:
        self._later(self.world.between(self.world.rules.save_ms), self._saved, effect)

    def _saved(self, effect: effects.SaveElection) -> None:
        voted = effect.voted if effect.kraft_version else effect.voted and effect.voted._replace(directory_id=bytes(16))
        self.disk.election = Election(effect.epoch, effect.leader_id, voted)
        self.world.saw_saved(self, effect)
        self.step(inputs.Saved(effect.number))

    def do_append(self, effect: effects.Append) -> None:
        assert effect.base_offset == (self.log[-1][1] if self.log else self.start)
        for batch in batches(effect.data):
            data = effect.data[batch.position : batch.position + batch.size]
            self.log.append((batch.base_offset, batch.last_offset + 1, batch.leader_epoch, data))
        self._write(effect.number)

    def do_truncate(self, effect: effects.Truncate) -> None:
        self.log = [entry for entry in self.log if entry[1] <= effect.end_offset]
        self._write(effect.number)

    def do_reset_log(self, effect: effects.ResetLog) -> None:
        self.log, self.start = [], effect.id.end_offset
        self._write(effect.number)

    def do_advance_log_start(self, effect: effects.AdvanceLogStart) -> None:
        self.log = [entry for entry in self.log if entry[1] > effect.start_offset]
        self.start = effect.start_offset
        self._write(effect.number)

    def _write(self, number: int) -> None:
        self.issued = number
        if not self.is_flushing:
            self.is_flushing = True
            within_ms = self.flush_ms or self.world.rules.flush_ms
            self._later(self.world.between(within_ms), self._flush, number, tuple(self.log), self.start)

    def _flush(self, number: int, log: tuple[Any, ...], log_start: int) -> None:
        self.disk.log, self.disk.start = log, log_start
        self.is_flushing = False
        if self.issued > number:
            self._write(self.issued)
        end = log[-1][1] if log else log_start
        self.step(inputs.Flushed(number, end, sum(len(entry[3]) for entry in log)))

    def do_save_epochs(self, effect: effects.SaveEpochs) -> None:
        ends = [epoch for epoch, _ in effect.epochs]
        assert ends == sorted(set(ends)), effect

    def do_send(self, effect: effects.Send) -> None:
        self.world.send(self, effect)

    def do_reply(self, effect: effects.Reply) -> None:
        self.world.reply(self, effect.source, effect.response)

    def do_reply_records(self, effect: effects.ReplyRecords) -> None:
        data, size = [], 0
        for base, end, _, entry in self.log:
            if (
                end <= effect.start_offset
                or base >= effect.end_offset
                or (data and size + len(entry) > effect.bytes_max)
            ):
                continue
            data.append(entry)
            size += len(entry)
        topic = effect.response.responses[0]
        part = replace(topic.partitions[0], records=b"".join(data))
        response = replace(effect.response, responses=(replace(topic, partitions=(part,)),))
        self.world.reply(self, effect.source, response)

    def do_reply_snapshot(self, effect: effects.ReplySnapshot) -> None:
        data = self.disk.snapshots[effect.id][effect.position : effect.position + effect.length]
        topic = effect.response.topics[0]
        part = replace(topic.partitions[0], unaligned_records=data)
        response = replace(effect.response, topics=(replace(topic, partitions=(part,)),))
        self.world.reply(self, effect.source, response)

    # Snapshots

    def do_write_snapshot_part(self, effect: effects.WriteSnapshotPart) -> None:
        have = b"" if effect.position == 0 else self.parts[effect.id]
        assert len(have) == effect.position, effect
        self.parts[effect.id] = have + effect.data
        self._later(1, lambda: self.step(inputs.PartWritten(effect.number)))

    def do_freeze_snapshot(self, effect: effects.FreezeSnapshot) -> None:
        self._later(self.world.between(self.world.rules.flush_ms), self._frozen, effect)

    def _frozen(self, effect: effects.FreezeSnapshot) -> None:
        data = self.parts.pop(effect.id)
        self.disk.snapshots[effect.id] = data
        self.step(inputs.SnapshotStored(effect.number, len(data), 0, None, None))

    def do_drop_snapshot_part(self, effect: effects.DropSnapshotPart) -> None:
        self.parts.pop(effect.id, None)

    def do_delete_snapshot(self, effect: effects.DeleteSnapshot) -> None:
        del self.disk.snapshots[effect.id]

    # The state machine

    def do_load_snapshot(self, effect: effects.LoadSnapshot) -> None:
        self.checked = 0
        self.values = [value.encode() for value in json.loads(self.disk.snapshots[effect.id])]
        self.applied = effect.id.end_offset

    def do_high_watermark(self, effect: effects.HighWatermark) -> None:
        for base, end, _, data in self.log:
            if self.applied <= base and end <= effect.offset:
                for batch in batches(data):
                    if not batch.is_control:
                        self.values += [record.value or b"" for record in records_of(data, batch)]
                self.applied = end
        assert self.applied == effect.offset, (
            f"node {self.id} applied up to {self.applied}, but was notified of {effect.offset}"
        )
        every = self.world.rules.snapshot_every
        newest = max((each.end_offset for each in self.disk.snapshots), default=0)
        if every and self.applied - newest >= every:
            self._snapshot()

    def _snapshot(self) -> None:
        epoch = next(entry[2] for entry in reversed(self.log) if entry[1] <= self.applied)
        taken = SnapshotId(self.applied, epoch)
        self.disk.snapshots[taken] = json.dumps([value.decode() for value in self.values]).encode()
        self._later(0, lambda: self.step(inputs.SnapshotTaken(taken, len(self.disk.snapshots[taken]), 0)))

    def do_leader_changed(self, effect: effects.LeaderChanged) -> None:
        self.led = None
        if effect.leader_id == self.id:
            self.led = (effect.epoch, effect.end_offset)
            self.base = effect.end_offset
            assert self.applied == effect.end_offset, "it leads before it knows all that is committed"

    def propose(self, value: bytes) -> None:
        assert self.led is not None
        data = build_batch([value], base_offset=self.base, leader_epoch=self.led[0], timestamp_ms=self.world.now)
        self.base += 1
        self.step(inputs.Propose(self.led[0], self.base - 1, self.base - 1, data))

    def ask(self) -> None:
        """Request a confirmation of leadership; the world remembers the leaders at that time."""
        self.world.questions.append((self.world.now, self.world.steps))
        self.step(inputs.ConfirmLeadership(len(self.world.questions) - 1))

    def do_reserve_offsets(self, effect: effects.ReserveOffsets) -> None:
        def leave() -> None:
            if self.led is not None and self.led[0] == effect.epoch:
                base, self.base = self.base, self.base + effect.count
                self.step(inputs.OffsetsReserved(effect.epoch, base))

        self._later(0, leave)

    def do_kraft_version_support(self, effect: effects.KraftVersionSupport) -> None:
        pass

    def do_proposal_refused(self, effect: effects.ProposalRefused) -> None:
        if self.led is not None and self.led[0] == effect.epoch:
            self.led = None

    def do_leadership_confirmed(self, effect: effects.LeadershipConfirmed) -> None:
        self.confirmed.append(effect.number)
        self.world.saw_confirmed(self, effect)

    def do_shutdown_complete(self, effect: effects.ShutdownComplete) -> None:
        self.is_shut_down = True

    def do_denied(self, effect: effects.Denied) -> None:
        raise AssertionError(f"node {effect.peer} denies what it should allow")

    def do_voters_changed(self, effect: effects.VotersChanged) -> None:
        pass


class World:
    """Voters 1 to `count`, then observers; `config` is that of every replica."""

    def __init__(
        self, count: int = 3, *, seed: int = 1, rules: Rules | None = None, observers: int = 0, **config: Any
    ) -> None:
        self.seed = seed
        self.rng = Random(seed)
        self.rules = rules or Rules()
        self.config = config
        self.voters = static_voters(*range(1, count + 1))
        self.now = 0
        self.notes: list[tuple[int, str, dict[str, Any]]] = []
        self.leaders: dict[int, int] = {}
        self.elected: dict[int, int] = {}  # epoch -> the step in which its leader was elected
        self.questions: list[tuple[int, int]] = []
        self.votes: dict[tuple[int, int], int] = {}
        self.history: list[bytes] = []
        self.committed = 0
        self.steps = 0
        self.cuts: set[tuple[int, int]] = set()
        self._queue: list[tuple[int, int, Callable[[], None]]] = []
        self._order = 0
        self._links: dict[tuple[int, int], int] = {}
        self._connections = 0
        self._waiting: dict[int, tuple[Node, int, effects.Send]] = {}
        self.nodes = {each: Node(self, each) for each in range(1, count + observers + 1)}

    # Time

    def at(self, ms: int, act: Callable[[], None]) -> None:
        self._order += 1
        heappush(self._queue, (self.now + ms, self._order, act))

    def between(self, ms: tuple[int, int]) -> int:
        return self.rng.randint(*ms)

    def run(self, ms: int) -> None:
        end = self.now + ms
        while self._queue and self._queue[0][0] <= end:
            self.turn()
        self.now = end

    def run_until(self, done: Callable[[], bool], limit_ms: int = 20_000) -> int:
        """Run until something is true; returns how long that took."""
        begin = self.now
        while not done():
            assert self._queue, "nothing happens any more"
            assert self.now - begin <= limit_ms, f"not within {limit_ms} ms; {self.describe()}"
            self.turn()
        return self.now - begin

    def turn(self) -> None:
        self.now, _, act = heappop(self._queue)
        act()

    # Nodes

    def boot(self, *ids: int) -> World:
        for each in ids if ids or self.steps else self.nodes:
            self.nodes[each].boot()
        return self

    def crash(self, replica_id: int) -> None:
        """The process ends, and all unflushed data is lost; peers see their connections break."""
        node = self.nodes[replica_id]
        node.is_up = False
        for connection, (sender, _, send) in list(self._waiting.items()):
            if send.peer == replica_id and sender.is_up:
                self._fail(connection)

    @property
    def leader(self) -> Node | None:
        """The active leader of the highest epoch."""
        found = [node for node in self.nodes.values() if node.is_up and node.led is not None]
        return max(found, key=lambda node: node.led or (0, 0), default=None)

    def elect(self) -> Node:
        self.run_until(lambda: self.leader is not None)
        assert self.leader is not None
        return self.leader

    def describe(self) -> str:
        return "; ".join(
            f"{node.id}: {type(node.replica.role).__name__} {node.replica.epoch} log {node.replica.log.end}"
            for node in self.nodes.values()
            if node.is_up
        )

    # Links

    def send(self, sender: Node, send: effects.Send) -> None:
        link = (sender.id, send.peer)
        old = self._links.get(link)
        if old is None or old in self._waiting:
            # The first one, or the last answer is still open: a connection never carries two open requests.
            if old is not None:
                self._waiting.pop(old)
                self._notify_disconnected(send.peer, old)
            self._connections += 1
            self._links[link] = self._connections
        connection = self._links[link]
        self._waiting[connection] = (sender, sender.lives, send)
        version = latest(send.request)
        data = encode(send.request, version)
        kind = type(send.request)
        if self._passes(sender.id, send.peer):
            self.at(self.between(self.rules.link_ms), lambda: self._arrive(connection, send.peer, kind, version, data))

    def _passes(self, source: int, target: int) -> bool:
        return (source, target) not in self.cuts and self.rng.random() >= self.rules.loss

    def _arrive(self, connection: int, target: int, kind: type, version: int, data: bytes) -> None:
        if connection not in self._waiting:
            return
        node = self.nodes[target]
        if node.is_up:
            request = decode(kind, version, data)
            node.step(inputs.Requested(inputs.Source(connection, 0), request, version, "CONTROLLER"))
        else:
            self._fail(connection)

    def _fail(self, connection: int) -> None:
        """Nobody listens: the operating system of the peer refuses, unless it is down too."""
        sender, life, send = self._waiting[connection]
        if not self.rules.refuses or (send.peer, sender.id) in self.cuts:
            return
        del self._waiting[connection]
        self._links.pop((sender.id, send.peer), None)

        def tell() -> None:
            if sender.is_up and sender.lives == life:
                sender.step(inputs.Failed(send.peer, send.number, Error.BROKER_NOT_AVAILABLE))
                sender.step(inputs.Refused(send.peer))

        self.at(self.between(self.rules.link_ms), tell)

    def _notify_disconnected(self, target: int, connection: int) -> None:
        self.at(1, lambda: self.nodes[target].step(inputs.Disconnected(connection)))

    def reply(self, node: Node, source: inputs.Source, response: Any) -> None:
        if source.connection not in self._waiting:
            return
        sender, life, send = self._waiting[source.connection]
        if not self._passes(node.id, sender.id):
            return
        data = encode(response, latest(response))
        kind = type(response)

        def arrive() -> None:
            if self._waiting.get(source.connection, (None, 0, None))[2] is not send:
                return
            del self._waiting[source.connection]
            if sender.is_up and sender.lives == life:
                sender.step(inputs.Answered(send.peer, send.number, decode(kind, latest(response), data)))

        self.at(self.between(self.rules.link_ms), arrive)

    def cut(self, *ids: int) -> None:
        """Cut these replicas off from all others."""
        for one in ids:
            for other in self.nodes:
                if other not in ids:
                    self.cuts |= {(one, other), (other, one)}

    def heal(self) -> None:
        self.cuts.clear()

    # What must hold

    def check(self, node: Node) -> None:
        self.steps += 1
        replica = node.replica
        if isinstance(replica.role, Leader):
            self.elected.setdefault(replica.epoch, self.steps)
            first = self.leaders.setdefault(replica.epoch, node.id)
            assert first == node.id, f"{first} and {node.id} both lead epoch {replica.epoch}"
        watermark = -1 if replica.high_watermark is None else replica.high_watermark
        assert replica.log.start <= replica.log.committed <= replica.log.end
        assert watermark <= replica.log.committed
        assert replica.notified_offset >= node.notified_offset, (
            f"node {node.id} was notified of {node.notified_offset}, then {replica.notified_offset}"
        )
        node.notified_offset = replica.notified_offset
        if isinstance(replica.role, Leader) and watermark > self.committed:
            holding = [
                each.id for each in self.nodes.values() if each.id in self.voters.ids and self._holds(each, node)
            ]
            assert len(holding) >= self.voters.majority, (
                f"{watermark} is committed, and on the disks of {holding} alone"
            )
            self.committed = watermark
        shared = min(len(node.values), len(self.history))
        assert node.values[node.checked : shared] == self.history[node.checked : shared], f"node {node.id} differs"
        self.history += node.values[shared:]
        node.checked = len(node.values)

    def _holds(self, other: Node, leader: Node) -> bool:
        """Whether another's disk holds all that the leader says is committed."""
        end = leader.replica.high_watermark or 0
        on_disk = {entry[0]: entry[3] for entry in other.disk.log}
        covered = max((each.end_offset for each in other.disk.snapshots), default=0)
        return all(
            on_disk.get(entry[0]) == entry[3] for entry in leader.log if max(covered, self.committed) < entry[1] <= end
        )

    def saw_saved(self, node: Node, saved: effects.SaveElection) -> None:
        """One vote an epoch, per disk."""
        if saved.voted is not None:
            first = self.votes.setdefault((node.id, saved.epoch), saved.voted.id)
            assert first == saved.voted.id, f"{node.id} voted for {first} and {saved.voted.id} in {saved.epoch}"

    def saw_confirmed(self, node: Node, confirmed: effects.LeadershipConfirmed) -> None:
        """No leader of a later epoch was elected before the confirmation was requested."""
        _, asked = self.questions[confirmed.number]
        later = [epoch for epoch, since in self.elected.items() if epoch > confirmed.epoch and since < asked]
        assert later == [], (
            f"{node.id} got its leadership of {confirmed.epoch} confirmed, and {later} were elected before the request"
        )
