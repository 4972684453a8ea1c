"""Our replica behind the commands: `raft.step` on its own storage, with controlled time and random numbers."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections import deque
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from raft.interface import effects as do
from raft.interface.config import SnapshotId
from raft.interface.inputs import (
    Answered,
    Failed,
    OffsetsReserved,
    Propose,
    Requested,
    Resign,
    Source,
    Ticked,
    UpgradeKraftVersion,
)
from raft.interface.voters import VoterSet, voters_record
from raft.snapshots import may_take
from raft.state.replica import Replica
from raft.state.roles import Leader
from raft.step import start, step
from raft.storage.files import OsFiles
from raft.storage.flusher import AtOnce
from raft.storage.names import CHECKPOINT, QUORUM_STATE, snapshot_name
from raft.storage.storage import Storage
from records.batch import batches, build_batch
from records.codec import decode, encode
from records.errors import Error
from records.messages.fetch import FetchRequest
from records.registry import request_class, response_class
from records.schema import schema_of
from records.uuids import ZERO_UUID, uuid_text
from tests.oracle.raft.commands import (
    LATE,
    Answer,
    Append,
    Fail,
    Pass,
    Request,
    Respond,
    Restart,
    Sent,
    Snapshot,
    Start,
    Upgrade,
    newest_version,
)
from tests.oracle.raft.commands import Resign as ResignCommand
from tests.oracle.raft.directory import PARTITION, START_MS, config_of, files_of, own_key, record, voter_set
from tests.oracle.stock import SPEEDY

if TYPE_CHECKING:
    from raft.interface.effects import Effect
    from raft.interface.inputs import Input
    from raft.interface.recovered import Recovered
    from tests.oracle.raft.commands import Command

MASK = (1 << 64) - 1
FETCH = 1
# The level of kraft.version that is upgraded to.
LEVEL = 1
# More steps at one moment than any chain of effects needs.
STEPS_MAX = 200


class TimedRandom(Random):
    """TimedRandom.java in Python: a number is a function of the seed, of the time, and of the bound."""

    def __init__(self, seed: int) -> None:
        super().__init__(0)
        self.seed_value = seed
        self.now_ms = START_MS

    def randrange(self, start: int, stop: int | None = None, step: int = 1) -> int:
        assert stop is None
        assert step == 1
        value = (self.seed_value + self.now_ms * 0x9E3779B97F4A7C15 + start * 0xD1B54A32D192ED03) & MASK
        value = ((value ^ value >> 30) * 0xBF58476D1CE4E5B9) & MASK
        value = ((value ^ value >> 27) * 0x94D049BB133111EB) & MASK
        return (value >> 33) % start


def scratch() -> Path:
    """A directory for the files of one replica: in memory, where the system has such a place."""
    return Path(tempfile.mkdtemp(prefix="kraft-oracle", dir=SPEEDY if Path(SPEEDY).is_dir() else None))


class Ours:
    """One replica. sent: the requests that it sent, by peer, as (number, request, time); asked: requests, by number.

    stepped_ms: the times at which it took a step while time passed last.
    """

    def __init__(self, begin: Start) -> None:
        self.begin = begin
        self.config = config_of(begin)
        self.now_ms = START_MS
        self.rng = TimedRandom(begin.seed)
        self.root = scratch()
        self.directory = self.root / PARTITION
        self.directory.mkdir()
        for name, data in files_of(begin).items():
            (self.directory / name).write_bytes(data)
        self.sent: dict[int, list[tuple[int, Any, int]]] = {}
        self.asked: dict[int, tuple[Any, int]] = {}
        self.answer = Answer()
        self.is_appending = False
        self.stepped_ms: list[int] = []
        self.inputs: deque[Input] = deque()
        self._open()

    def close(self) -> None:
        self.storage.close()
        shutil.rmtree(self.root)

    # What generators and lookups see

    @property
    def recovered(self) -> Recovered:
        return self.storage.recovered

    def batch_ends(self) -> list[tuple[int, int]]:
        """(end offset, epoch) of each batch in the log, and of the snapshot that it starts from, ascending."""
        log = self.replica.log
        first = [stored.id for stored in log.snapshots if stored.id.end_offset == log.start]
        ends = [(found.end_offset, found.epoch) for found in first]
        offset = log.start
        while offset < log.end:
            data = self.storage.read(offset, log.end, 1 << 20)
            for found in batches(data):
                ends.append((found.last_offset + 1, found.leader_epoch))
                offset = found.last_offset + 1
        return ends

    def is_within_batch(self, command: Request, body: bytes) -> bool:
        """Whether a Fetch begins at an offset of our log at which no batch begins or ends."""
        if command.api_key != FETCH:
            return False
        request = decode(FetchRequest, command.version, body)
        offsets = {part.fetch_offset for topic in request.topics for part in topic.partitions}
        log = self.replica.log
        return not offsets - {offset for offset in offsets if not log.start < offset < log.end} <= {
            end for end, _ in self.batch_ends()
        }

    # Commands

    def run(self, command: Command, number: int, body: bytes = b"") -> Answer:
        """Run one command; body: of a request or of a response. Returns its result."""
        self.answer = Answer()
        self.is_appending = False
        match command:
            case Request():
                self.asked[number] = (command.api_key, command.version)
                request = decode(request_class(command.api_key), command.version, body)
                self._step(Requested(Source(number, number), request, command.version, self.config.listener))
            case Respond():
                sent = self._sent(command.peer, command.back)
                api_key = schema_of(type(sent[1])).api_key
                response = decode(response_class(api_key), command.version, body)
                self._step(Answered(command.peer, sent[0], response))
            case Fail():
                error = next(known for known in Error if known == command.error)
                self._step(Failed(command.peer, self._sent(command.peer, command.back)[0], error))
            case Pass():
                self._pass(command.ms)
            case Append():
                self._append(command)
            case Upgrade():
                self._upgrade(command)
            case Snapshot():
                self._snapshot(command)
            case ResignCommand():
                self._resign()
            case Restart():
                self.storage.close()
                self._open()
        return self.take()

    def take(self) -> Answer:
        """The result of the start, or of the last command."""
        self.answer.state = self._state()
        return self.answer

    def _sent(self, peer: int, back: int) -> tuple[int, Any]:
        """The number of a request that is answered now, and the request."""
        number, request, sent_ms = self.sent[peer][-1 - back]
        if self.now_ms - sent_ms >= self.config.request_timeout_ms:
            self.answer.events.append(LATE)
        return number, request

    def _open(self) -> None:
        self.sent.clear()
        self.storage = Storage(
            OsFiles(), str(self.directory), AtOnce(), on_input=self.inputs.append, on_failure=self._disk_failed,
            on_note=self._note,
        )  # fmt: skip
        statics = VoterSet() if self.begin.kraft_version else voter_set(self.begin)
        self.rng.now_ms = self.now_ms
        self.replica = Replica(self.config, own_key(self.begin), statics, self.storage.recovered, self.rng)
        self._perform(start(self.replica, self.now_ms))
        self._drain()

    def _disk_failed(self, failure: Exception) -> None:
        raise failure

    def _note(self, name: str, fields: dict[str, Any]) -> None:
        self.answer.events.append(f"{name} {fields}")

    def _pass(self, ms: int) -> None:
        end_ms = self.now_ms + ms
        self.stepped_ms.clear()
        while self.now_ms < end_ms:
            self.now_ms = self.rng.now_ms = max(min(self.replica.deadline_ms, end_ms), self.now_ms + 1)
            self.stepped_ms.append(self.now_ms)
            self._step(Ticked())

    def _append(self, command: Append) -> None:
        replica = self.replica
        epoch = replica.epoch + command.epoch
        base_offset = self._next_offset()
        values = self.records(command)
        data = build_batch(values, base_offset=base_offset, leader_epoch=epoch, timestamp_ms=self.now_ms)
        self.is_appending = True
        self._step(Propose(epoch, base_offset, base_offset + command.count - 1, data))

    def _upgrade(self, command: Upgrade) -> None:
        """As the controller does: nothing where the level is reached."""
        replica = self.replica
        epoch = replica.epoch + command.epoch
        is_done = isinstance(replica.role, Leader) and not command.epoch and replica.kraft_version >= LEVEL
        if not is_done:
            self.is_appending = True
            self._step(UpgradeKraftVersion(epoch, self._next_offset(), LEVEL))

    def _next_offset(self) -> int:
        """The offset that the state machine of a leader gives out next."""
        role = self.replica.role
        return role.state.proposals.next_offset if isinstance(role, Leader) else 0

    def records(self, command: Append) -> list[bytes]:
        """The records that the state machine appends."""
        return [record(self.replica.epoch, place) for place in range(command.count)]

    def snapshot_id(self, command: Snapshot) -> SnapshotId | None:
        """The id of the snapshot that is taken: it ends where a committed batch ends.

        None where there is no such batch, and where the log has a later snapshot: a state machine takes its snapshots
        in their order. Otherwise both replicas stop at one of a later epoch, and ours has no voters before the newest.
        """
        known = self.replica.high_watermark
        ends = [end for end in self.batch_ends() if known is not None and end[0] <= known]
        if command.place >= len(ends):
            return None
        snapshot = SnapshotId(*ends[-1 - command.place])
        log = self.replica.log
        newest = max((each.id for each in log.snapshots), default=snapshot)
        is_next = snapshot.epoch >= newest.epoch and snapshot.end_offset >= newest.end_offset
        return snapshot if is_next or snapshot.end_offset < log.start else None

    def _snapshot(self, command: Snapshot) -> None:
        snapshot = self.snapshot_id(command)
        assert snapshot is not None
        if not may_take(self.replica, snapshot):
            self.answer.snapshot = b""
            return
        kraft_version, voters = self.replica.control_state_at(snapshot.end_offset)
        writer = self.storage.new_snapshot(
            snapshot, self.now_ms - 1, self.now_ms, kraft_version=kraft_version, voters=voters
        )
        assert writer is not None
        writer.append(self.snapshot_records(snapshot))
        writer.freeze()
        self._drain()
        self.answer.snapshot = (self.directory / snapshot_name(*snapshot)).read_bytes()

    def snapshot_records(self, snapshot: SnapshotId) -> list[bytes]:
        return [b"taken at %d" % snapshot.end_offset] * (1 + snapshot.end_offset % 3)

    def _resign(self) -> None:
        if self.replica.leader_id != self.replica.key.id:
            self.answer.notes.append("refused")
        self._step(Resign(self.replica.epoch))

    # Steps

    def _step(self, event: Input) -> None:
        self.rng.now_ms = self.now_ms
        self._perform(step(self.replica, event, self.now_ms))
        self._drain()

    def _drain(self) -> None:
        for _ in range(STEPS_MAX):
            if not self.inputs:
                return
            self._perform(step(self.replica, self.inputs.popleft(), self.now_ms))
        raise AssertionError(f"{STEPS_MAX} steps at one moment")

    def _perform(self, effects: list[Effect]) -> None:
        for effect in effects:
            self._effect(effect)

    def _effect(self, effect: Effect) -> None:
        if self.storage.performs(effect):
            self.storage.perform(effect)
            return
        match effect:
            case do.Send():
                self._send(effect)
            case do.Reply():
                self._reply(effect.source, effect.response)
            case do.ReplyRecords():
                data = self.storage.read(effect.start_offset, effect.end_offset, effect.bytes_max)
                effect.response.responses[0].partitions[0].records = data
                self._reply(effect.source, effect.response)
            case do.ReplySnapshot():
                data = self.storage.read_snapshot(effect.id, effect.position, effect.length)
                effect.response.topics[0].partitions[0].unaligned_records = data
                self._reply(effect.source, effect.response)
            case do.ReserveOffsets():
                self.inputs.append(OffsetsReserved(effect.epoch, self._next_offset()))
            case do.ProposalRefused() if self.is_appending:
                self.answer.notes.append("refused")
            case do.VotersChanged():
                self._note("voters_changed", {"count": len(effect.voters)})
            case do.Noted():
                self._note(effect.name, effect.fields)

    def _send(self, effect: do.Send) -> None:
        schema = schema_of(type(effect.request))
        self.sent.setdefault(effect.peer, []).append((effect.number, effect.request, self.now_ms))
        body = encode(effect.request, newest_version(schema.api_key or 0))
        self.answer.sent.append(
            Sent(effect.peer, effect.endpoint.host, effect.endpoint.port, self.now_ms, schema.api_key or 0, body)
        )

    def _reply(self, source: Source, response: Any) -> None:
        _, version = self.asked[source.connection]
        self.answer.responses.append((source.connection, self.now_ms, encode(response, version)))

    def _state(self) -> dict[str, Any]:
        replica = self.replica
        role, log = replica.role, replica.log
        voted = ""
        if role.voted is not None:
            known = "" if role.voted.directory_id == ZERO_UUID else uuid_text(role.voted.directory_id)
            voted = f"{role.voted.id}@{known}"
        path = self.directory / QUORUM_STATE
        return {
            "role": type(role).__name__,
            "epoch": role.epoch,
            "leader": -1 if role.leader_id is None else role.leader_id,
            "endpoints": len(role.endpoints),
            "voted": voted,
            "highWatermark": -1 if replica.high_watermark is None else replica.high_watermark,
            "logStart": log.start,
            "logEnd": log.end,
            "lastEpoch": log.last_epoch,
            "snapshots": sorted(entry.name for entry in self.directory.iterdir() if entry.name.endswith(CHECKPOINT)),
            "quorumState": json.loads(path.read_bytes()) if path.exists() else None,
            "kraftVersion": replica.kraft_version,
            "voters": encode(voters_record(replica.voters), 0),
        }
