"""A node of a small world: a replica of the real core with its disk, and its reactions to inputs.

Machines that behave alike are one object, and each reaction is remembered: so a search calls the core only for new
states.
"""

from __future__ import annotations

from collections import deque
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

from raft.interface import effects as do
from raft.interface.config import Endpoint, RaftConfig, ReplicaKey, Voter
from raft.interface.inputs import (
    Answered,
    Disconnected,
    Failed,
    Flushed,
    OffsetsReserved,
    Propose,
    Requested,
    Saved,
    Source,
    Ticked,
)
from raft.interface.recovered import Election, Recovered
from raft.interface.voters import VoterSet, control_values, write_endpoints
from raft.state.replica import Replica
from raft.state.roles import Follower, Leader
from raft.step import start, step
from records.batch import batches, build_batch
from records.errors import Error
from records.messages.versions import ApiVersionsRequest
from records.messages.voters import AddRaftVoterRequest, RemoveRaftVoterRequest
from records.schema import replace, schema_of
from simulations.spec.freezing import copy, freeze, frozen_replica
from simulations.world.releases import VERSIONS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

NODES = (1, 2, 3)
NOBODY = 0
"""The sender of requests on a connection whose answers are not read."""

CLUSTER = "exhausted-cluster-id"
VOTERS = VoterSet([Voter(ReplicaKey(node), (Endpoint("CONTROLLER", f"node-{node}", 9093),), (0, 1)) for node in NODES])
DIRECTORIES = {node: bytes(15) + bytes([node]) for node in NODES}
# kraft.version of dynamic voters.
DYNAMIC = 1

Saved_ = tuple[int, int | None, ReplicaKey | None]
Sets = tuple[tuple[int, tuple[int, ...]], ...]
"""Voter sets: (offset, ids), ascending."""
Event = tuple[str, int, int]
"""What happens to a machine: its name, a peer or a number, the form of a message."""


class Batch(NamedTuple):
    """A batch of a log. The data counts: two batches of one offset and epoch may differ if the core is wrong."""

    base_offset: int
    end_offset: int
    epoch: int
    data: bytes


class Sent(NamedTuple):
    """A request to a peer, or an answer to it, by the number of its form."""

    peer: int
    is_answer: bool
    form: int


class Reaction(NamedTuple):
    """The machine after an event, and the messages that it sends. hung_up: the peers that it sends new requests:
    answers to the earlier ones are no longer expected.
    """

    machine: Machine
    sent: tuple[Sent, ...]
    hung_up: tuple[int, ...] = ()


class Machine:
    """One node at one moment; immutable. number: of its kind, in this process; digest: of its kind, in any process.
    log: as its process sees it; election, disk_log: after a crash. committed: records below this offset are known to be
    committed. owed: whose requests wait for an answer; asked: its pending requests, by peer. voters: ids of the voter
    set that it follows; voter_sets: of its log, empty with static voters.
    """

    __slots__ = (
        "asked", "committed", "digest", "disk_log", "election", "epoch", "is_leader", "log", "node", "now_ms", "number",
        "owed", "replica", "voter_sets", "voters", "waiting", "waits_for_disk",
    )  # fmt: skip

    def __init__(
        self, number: int, digest: bytes, replica: Replica, election: Saved_ | None, disk_log: tuple[Batch, ...],
        waiting: tuple[Any, ...], log: tuple[Batch, ...], now_ms: int, voter_sets: Sets,
    ) -> None:  # fmt: skip
        role = replica.role
        self.number = number
        self.digest = digest
        self.replica = replica
        self.election = election
        self.disk_log = disk_log
        self.waiting = waiting
        self.log = log
        self.now_ms = now_ms
        self.node = replica.key.id
        self.epoch = role.epoch
        self.is_leader = isinstance(role, Leader)
        self.voters = replica.voters.ids
        self.voter_sets = voter_sets
        self.committed = replica.log.committed
        self.waits_for_disk = bool(waiting)
        self.owed = frozenset(role.state.parked) if isinstance(role, Leader) else frozenset()
        self.owed |= {effect.source.connection for _, effect in replica._held if isinstance(effect, ANSWERS)}  # noqa: SLF001
        entries = replica.peers._entries  # noqa: SLF001 - only there it stands
        self.asked = {peer: entry.request for peer, entry in entries.items() if entry.number}


class Steady:
    """A generator that always returns the same number: times do not count here, so jitter would change nothing."""

    def randrange(self, *_: int) -> int:
        return 0


RNG: Random = Steady()  # type: ignore[assignment]

# Effects for the state machine and the event log, and a file that is never read.
NOT_OF_THIS_WORLD = {
    do.HighWatermark, do.LeaderChanged, do.Noted, do.SaveEpochs, do.ProposalRefused, do.LeadershipConfirmed,
    do.VotersChanged, do.LoadSnapshot, do.KraftVersionSupport, do.ReserveOffsets,
}  # fmt: skip


ANSWERS = (do.Reply, do.ReplyRecords)


class Laboratory:
    """All machines and messages that were seen. voters: ids of the first voters, where the quorum is formatted with
    dynamic voters; None for static voters, all nodes. steps: how often the core was called.
    """

    def __init__(self, voters: tuple[int, ...] | None = None) -> None:
        self.steps = 0
        self._first_voters = None if voters is None else VoterSet(_voter(node) for node in voters)
        self._machines: dict[Any, Machine] = {}
        self._reactions: dict[tuple[int, Event], Reaction] = {}
        self._forms: dict[Any, int] = {}
        self._bodies: list[Any] = []
        self._digests: list[bytes] = []

    def digest(self, form: int) -> bytes:
        """The digest of a message of this form: the same in all processes."""
        return self._digests[form]

    def body(self, form: int) -> Any:
        """A message of this form."""
        return self._bodies[form]

    def boot(self, node: int, election: Saved_ | None, log: tuple[Batch, ...]) -> Reaction:
        """A process on the contents of a disk, and the messages that it sends at once."""
        # Without the quiet time, Fetches interleave with the messages of an election in every way.
        config = RaftConfig(CLUSTER, endpoints=VOTERS.endpoints(node), election_quiet_ms=0)
        epochs: list[tuple[int, int]] = []
        for batch in log:
            if not epochs or batch.epoch > epochs[-1][0]:
                epochs.append((batch.epoch, batch.base_offset))
        recovered = Recovered(
            election=None if election is None else Election(*election),
            log_end=log[-1].end_offset if log else 0,
            epochs=tuple(epochs),
        )
        if self._first_voters is not None:
            recovered.voter_sets = tuple(self._voter_sets(log))
            recovered.kraft_versions = ((-1, DYNAMIC),)
        replica = Replica(config, ReplicaKey(node, DIRECTORIES[node]), VOTERS, recovered, RNG)
        done = start(replica, 0)
        return Reaction(*self._perform(replica, election, log, (), log, 0, done), _find_asked_anew({}, replica))

    def react(self, machine: Machine, event: Event) -> Reaction:
        """A machine after an event, and the messages that it sends. Raises AssertionError if the core is wrong."""
        key = (machine.number, event)
        reaction = self._reactions.get(key)
        if reaction is None:
            self.steps += 1
            reaction = self._reactions[key] = (
                self._flush(machine) if event[0] == "flush" else self._step(machine, event)
            )
        return reaction

    def _step(self, machine: Machine, event: Event) -> Reaction:
        now_ms = machine.now_ms
        if event[0] == "tick":
            now_ms = max(now_ms, machine.replica.deadline_ms)
        elif event[0] == "wait":
            now_ms = max(now_ms, patience_ms(machine.replica))
        if event[0] == "request" and isinstance(self._bodies[event[2]], ApiVersionsRequest):
            return Reaction(machine, (Sent(event[1], True, self._form(VERSIONS)),))  # the node answers it, not the core
        replica = copy(machine.replica)
        if event[0] == "disconnected":
            # What is held back for it until a save is done, the driver will have nobody to give to.
            held = [each for each in replica._held if not _is_for(each[1], event[1])]  # noqa: SLF001
            replica._held = deque(held)  # noqa: SLF001
        done = _step(replica, self._input(replica, event), now_ms)
        performed = self._perform(
            replica, machine.election, machine.disk_log, machine.waiting, machine.log, now_ms, done
        )
        return Reaction(*performed, _find_asked_anew(numbers_of(machine.replica), replica))

    def _input(self, replica: Replica, event: Event) -> Any:
        name, number, form = event
        if name == "request":
            body = self._bodies[form]
            return Requested(Source(number, 1), body, schema_of(type(body)).versions[1], "CONTROLLER")
        if name in {"tick", "wait"}:
            return Ticked()
        if name == "change":
            request = _change(replica, number)
            return Requested(Source(NOBODY, 1), request, schema_of(type(request)).versions[1], "CONTROLLER")
        if name == "disconnected":
            return Disconnected(number)
        if name == "write":
            role = replica.role
            assert isinstance(role, Leader), f"{role} takes no writes"
            offset = role.state.proposals.next_offset
            value = bytes([replica.key.id, role.epoch, number])
            data = build_batch([value], base_offset=offset, leader_epoch=role.epoch, timestamp_ms=0)
            return Propose(role.epoch, offset, offset, data)
        entry = replica.peers._entries.get(number)  # noqa: SLF001 - only there it stands
        waits_for = entry.number if entry is not None and entry.number else -1
        if name == "answer":
            return Answered(number, waits_for, self._bodies[form])
        assert name == "failed", f"{name} is no event"
        return Failed(number, waits_for, Error.BROKER_NOT_AVAILABLE)

    def _flush(self, machine: Machine) -> Reaction:
        """Everything pending is written to disk; then the machine gets the input of each save and of the last
        operation.
        """
        election, log, completions, last = machine.election, machine.disk_log, list[Any](), None
        for effect in machine.waiting:
            if type(effect) is do.SaveElection:
                election = (effect.epoch, effect.leader_id, effect.voted)
                completions.append(Saved(effect.number))
            else:
                log = _change_log(log, effect)
                last = effect
        if last is not None:
            completions.append(Flushed(last.number))
        sent: list[Sent] = []
        before = numbers_of(machine.replica)
        replica, waiting, seen_log = copy(machine.replica), (), machine.log
        for event in completions:
            done = _step(replica, event, machine.now_ms)
            anew = _find_asked_anew(before, replica)
            machine, more = self._perform(replica, election, log, waiting, seen_log, machine.now_ms, done)
            replica, waiting, seen_log = copy(machine.replica), machine.waiting, machine.log
            sent += more
        return Reaction(machine, tuple(sent), anew)

    def _perform(
        self, replica: Replica, election: Saved_ | None, disk_log: tuple[Batch, ...], waiting: tuple[Any, ...],
        log: tuple[Batch, ...], now_ms: int, done: list[do.Effect],
    ) -> tuple[Machine, tuple[Sent, ...]]:  # fmt: skip
        """Start the effects of a step, in order; those on the disk complete when it is flushed."""
        sent = []
        for effect in done:
            kind = type(effect)
            if isinstance(effect, do.Send):
                sent.append(Sent(effect.peer, False, self._form(effect.request)))
            elif isinstance(effect, do.Reply):
                sent.append(Sent(effect.source.connection, True, self._form(effect.response)))
            elif isinstance(effect, do.ReplyRecords):
                sent.append(Sent(effect.source.connection, True, self._form(_fill(effect, log))))
            elif isinstance(effect, (do.Append, do.Truncate, do.SaveElection)):
                waiting = (*waiting, effect)
                log = _change_log(log, effect)
            else:
                assert kind in NOT_OF_THIS_WORLD, f"{kind.__name__} is not of this world"
        key = (replica.key.id, frozen_replica(replica), freeze(waiting), election, disk_log, log)
        machine = self._machines.get(key)
        if machine is None:
            number = len(self._machines)
            sets = tuple((offset, voters.ids) for offset, voters in self._voter_sets(log))
            machine = Machine(number, digest_of(key), replica, election, disk_log, waiting, log, now_ms, sets)
            self._machines[key] = machine
        return machine, tuple(sent)

    def _voter_sets(self, log: tuple[Batch, ...]) -> Iterator[tuple[int, VoterSet]]:
        """The voter set of the formatter and those of a log, with their offsets; none with static voters."""
        if self._first_voters is None:
            return
        yield -1, self._first_voters
        for batch in log:
            for header in batches(batch.data, check=False):
                for offset, value in control_values(batch.data, header) if header.is_control else ():
                    if isinstance(value, VoterSet):
                        yield offset, value

    def _form(self, body: Any) -> int:
        key = freeze(body)
        form = self._forms.get(key)
        if form is None:
            form = self._forms[key] = len(self._bodies)
            self._bodies.append(body)
            self._digests.append(digest_of(key))
        return form


def _voter(node: int) -> Voter:
    return Voter(ReplicaKey(node, DIRECTORIES[node]), VOTERS.endpoints(node), (0, 1))


def _change(replica: Replica, node: int) -> Any:
    """A request to remove a node that is a voter, or to add one that is not."""
    if node in replica.voters.ids:
        return RemoveRaftVoterRequest(cluster_id=CLUSTER, voter_id=node, voter_directory_id=DIRECTORIES[node])
    listeners = write_endpoints(AddRaftVoterRequest.Listener, VOTERS.endpoints(node))
    return AddRaftVoterRequest(
        cluster_id=CLUSTER, timeout_ms=1000, voter_id=node, voter_directory_id=DIRECTORIES[node], listeners=listeners,
        ack_when_committed=True,
    )  # fmt: skip


def _step(replica: Replica, event: Any, now_ms: int) -> list[do.Effect]:
    """A step of the core. A leader's state machine, which has no proposals of its own under way, reserves offsets at
    once.
    """
    done = step(replica, event, now_ms)
    role = replica.role
    if isinstance(role, Leader) and any(type(effect) is do.ReserveOffsets for effect in done):
        done += step(replica, OffsetsReserved(role.epoch, role.state.proposals.next_offset), now_ms)
    return done


def digest_of(key: Any) -> bytes:
    """Eight bytes for nested tuples: the same in all processes."""
    return blake2b(repr(key).encode(), digest_size=8).digest()


def numbers_of(replica: Replica) -> dict[int, int]:
    """The number of the request that is in flight, by peer."""
    entries = replica.peers._entries  # noqa: SLF001 - only there it stands
    return {peer: entry.number for peer, entry in entries.items() if entry.number}


def _find_asked_anew(before: dict[int, int], replica: Replica) -> tuple[int, ...]:
    return tuple(peer for peer, number in numbers_of(replica).items() if before.get(peer) != number)


def _is_for(effect: do.Effect, connection: int) -> bool:
    return isinstance(effect, ANSWERS) and effect.source.connection == connection


def patience_ms(replica: Replica) -> int:
    """Until when a replica waits for an election, for its leader, or for a majority of followers."""
    role = replica.role
    if isinstance(role, Leader):
        return role.state.quorum_deadline_ms
    if isinstance(role, Follower):
        return role.state.fetch_deadline_ms
    return role.election_deadline_ms


def _change_log(log: tuple[Batch, ...], effect: Any) -> tuple[Batch, ...]:
    if type(effect) is do.Append:
        return (*log, *_batches(effect))
    if type(effect) is do.Truncate:
        return tuple(batch for batch in log if batch.end_offset <= effect.end_offset)
    return log


def _batches(effect: do.Append) -> Iterator[Batch]:
    for header in batches(effect.data, check=False):
        data = bytes(effect.data[header.position : header.position + header.size])
        yield Batch(header.base_offset, header.last_offset + 1, effect.epoch, data)


def _fill(effect: do.ReplyRecords, log: tuple[Batch, ...]) -> Any:
    data = b"".join(
        batch.data
        for batch in log
        if effect.start_offset <= batch.base_offset and batch.end_offset <= effect.end_offset
    )
    topic = effect.response.responses[0]
    partition = replace(topic.partitions[0], records=data)
    return replace(effect.response, responses=(replace(topic, partitions=(partition,)),))
