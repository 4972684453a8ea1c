"""Logs of random histories are truncated, restored and recovered, and each end is compared with what was acknowledged.

Five voters are elected, write, take checkpoints, drop what is below them, and raise kraft.version, as Raft allows it.
Their directories are written by the storage of a node; the model keeps the batches, and says what each must hold.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, NamedTuple

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from controller.config.node import NodeConfig
from raft.interface.config import Endpoint, ReplicaKey, SnapshotId, Voter
from raft.interface.effects import (
    AdvanceLogStart,
    Append,
    DeleteSnapshot,
    HighWatermark,
    SaveElection,
    SaveEpochs,
    Truncate,
)
from raft.interface.voters import VoterSet, voters_record
from raft.storage.files import OsFiles
from raft.storage.flusher import AtOnce
from raft.storage.log import LogLimits
from raft.storage.meta_properties import MetaProperties, write_meta_properties
from raft.storage.names import KEPT_QUORUM_STATE, QUORUM_STATE
from raft.storage.storage import Storage
from records.batch import build_batch, build_control_batch
from records.control import KRaftVersionRecord, LeaderChangeMessage
from records.control_batch import encode_control
from records.frame import encode_record
from records.metadata.configs import ConfigRecord
from tests.tools.offline.stock_directories import PARTITION
from tools.offline.backups import save_directory, verify_backup
from tools.offline.examined import examine
from tools.offline.forced_voters import force_voter
from tools.offline.recovery_plan import CannotRecover, best_of, make_plan, parse_plan, plan_text
from tools.offline.replayed import Replay
from tools.offline.restoring import CannotRestore, plan_restoring, restore
from tools.offline.saved_copy import digests
from tools.offline.truncation import CannotTruncate, plan_truncation, truncate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from raft.interface.inputs import Input
    from tools.offline.examined import Examined

VOTERS = VoterSet(
    [Voter(ReplicaKey(number, bytes([number] * 16)), (Endpoint("CONTROLLER", "127.0.0.1", 9090 + number),), (0, 1))
     for number in range(1, 6)]
)  # fmt: skip
MAJORITY = 3
CLUSTER_ID = "AAAAAAAAAAAAAAAAAAAAAQ"
LIMITS = LogLimits(segment_bytes_max=400, prefix_bytes_max=300, prefix_bytes_min=100)
CLIENT_METRICS = 16
FRACTIONS = st.floats(0, 1)


class Batch(NamedTuple):
    """A batch as every replica has it. names: that it sets; kraft_version: that it raises, 0 for none."""

    base_offset: int
    end_offset: int
    epoch: int
    data: bytes
    names: tuple[str, ...] = ()
    kraft_version: int = 0


def end_of(log: Sequence[Batch]) -> int:
    return log[-1].end_offset if log else 0


def names_below(log: Sequence[Batch], end_offset: int) -> set[str]:
    return {name for batch in log if batch.end_offset <= end_offset for name in batch.names}


def names_in(found: Examined) -> set[str]:
    """What a controller that starts from the directory knows."""
    replayed = Replay(found).run()
    assert replayed.fault is None, replayed.fault
    assert replayed.end_offset == found.end_offset
    return {name for kind, name in replayed.state.configs if kind == CLIENT_METRICS}


class Voting:
    """One voter. log: its batches from the beginning, also those that its directory has as a checkpoint alone.

    epoch: that it voted in last. committed: the high watermark that it was told.
    """

    def __init__(self, root: Path, number: int) -> None:
        self.number = number
        self.directory = root / f"node-{number}"
        self.log: list[Batch] = []
        self.epoch = self.committed = 0
        self.checkpoints: list[SnapshotId] = []
        (self.directory / PARTITION).mkdir(parents=True)
        write_meta_properties(
            OsFiles(), str(self.directory), MetaProperties(1, CLUSTER_ID, number, bytes([number] * 16)), 0
        )

    @property
    def rank(self) -> tuple[int, int]:
        return (self.log[-1].epoch if self.log else 0, end_of(self.log))

    def perform(self, *effects: object) -> None:
        opened = storage(self.directory)
        assert opened.notes == [], opened.notes
        for effect in effects:
            opened.perform(effect)  # type: ignore[arg-type]
        opened.perform(SaveEpochs(tuple(opened.log.epochs)))
        opened.close()

    def vote(self, epoch: int) -> None:
        self.epoch = epoch
        level = max((batch.kraft_version for batch in self.log), default=0)
        self.perform(SaveElection(1, epoch, None, None, level, VOTERS.ids))

    def take(self, log: Sequence[Batch], committed: int) -> None:
        """Make the log equal to that of a leader, as a Fetch does."""
        same = sum(1 for mine, other in zip(self.log, log, strict=False) if mine == other)
        effects: list[object] = []
        if same < len(self.log):
            effects.append(Truncate(1, end_of(self.log[:same])))
        effects += [
            Append(number, batch.base_offset, batch.end_offset, batch.epoch, batch.data)
            for number, batch in enumerate(log[same:], 2)
        ]
        self.log = list(log)
        self.committed = max(self.committed, committed)
        self.perform(*effects, HighWatermark(self.committed))

    def checkpoint(self, end_offset: int) -> None:
        covered = [batch for batch in self.log if batch.end_offset <= end_offset]
        snapshot = SnapshotId(end_offset, covered[-1].epoch)
        opened = storage(self.directory)
        level = max(batch.kraft_version for batch in covered)
        writer = opened.new_snapshot(snapshot, 0, 0, kraft_version=level, voters=VOTERS if level else None)
        assert writer is not None
        for name in sorted(names_below(self.log, end_offset)):
            writer.append([config(name)])
        writer.freeze()
        opened.close()
        self.checkpoints = sorted([*self.checkpoints, snapshot])

    def drop_below(self, snapshot: SnapshotId) -> None:
        older = [each for each in self.checkpoints if each < snapshot]
        self.perform(AdvanceLogStart(1, snapshot.end_offset), *(DeleteSnapshot(each) for each in older))
        self.checkpoints = [each for each in self.checkpoints if each not in older]


def config(name: str) -> bytes:
    return encode_record(ConfigRecord(resource_type=CLIENT_METRICS, resource_name=name, name="metrics", value="*"), 0)


class Unsynced(OsFiles):
    """No power is lost here: the model's own writes need not be on the disk."""

    def sync(self, handle: int) -> None:
        """Nothing to wait for."""

    sync_data = sync

    def sync_directory(self, path: str) -> None:
        """Nothing to wait for."""


def storage(directory: Path) -> Storage:
    def on_input(_: Input) -> None:
        """A model has no core to tell."""

    def on_failure(failure: Exception) -> None:
        raise failure

    return Storage(
        Unsynced(), str(directory / PARTITION), AtOnce(), on_input=on_input, on_failure=on_failure, limits=LIMITS
    )


class Repairs(RuleBasedStateMachine):
    """A quorum of five, on whose stopped directories the tools are tried."""

    def __init__(self) -> None:
        super().__init__()
        self.root = Path(tempfile.mkdtemp(prefix="repairs-"))
        self.nodes = [Voting(self.root, number) for number in range(1, 6)]
        self.leader = self.nodes[0]
        self.written = self.copies = 0

    def teardown(self) -> None:
        shutil.rmtree(self.root)

    @initialize()
    def begin(self) -> None:
        self.elect({0, 1, 2})

    @rule(asked=st.sets(st.integers(0, 4), min_size=MAJORITY))
    def elect(self, asked: set[int]) -> None:
        voters = [self.nodes[number] for number in asked]
        epoch = max(node.epoch for node in voters) + 1
        leader = max(voters, key=lambda node: node.rank)
        for node in voters:
            node.vote(epoch)
        self.leader = leader
        change = encode_control(LeaderChangeMessage(version=0, leader_id=leader.number, voters=(), granting_voters=()))
        self._append(leader, build_control_batch([change], **self._place(leader)), 1)

    @rule(count=st.integers(1, 3), asked=st.sets(st.integers(0, 4), min_size=1))
    def write(self, count: int, asked: set[int]) -> None:
        """The leader writes; those whom it reaches follow, and a majority commits."""
        names = tuple(f"n{self.written + number}" for number in range(count))
        self.written += count
        self._append(
            self.leader, build_batch([config(name) for name in names], **self._place(self.leader)), count, names
        )
        self._replicate(asked)

    @precondition(lambda self: not any(batch.kraft_version for batch in self.leader.log))
    @rule(asked=st.sets(st.integers(0, 4)))
    def raise_kraft_version(self, asked: set[int]) -> None:
        records = [
            encode_control(KRaftVersionRecord(version=0, kraft_version=1)),
            encode_control(voters_record(VOTERS)),
        ]
        self._append(self.leader, build_control_batch(records, **self._place(self.leader)), 2, kraft_version=1)
        self._replicate(asked)

    def _place(self, leader: Voting) -> dict[str, int]:
        return {"base_offset": end_of(leader.log), "leader_epoch": leader.epoch, "timestamp_ms": 1000 + self.written}

    def _append(
        self, leader: Voting, data: bytes, count: int, names: tuple[str, ...] = (), kraft_version: int = 0
    ) -> None:
        base = end_of(leader.log)
        batch = Batch(base, base + count, leader.epoch, data, names, kraft_version)
        leader.take([*leader.log, batch], leader.committed)

    def _replicate(self, asked: set[int]) -> None:
        leader = self.leader
        followers = [
            node for node in map(self.nodes.__getitem__, asked) if node is not leader and node.epoch <= leader.epoch
        ]
        is_committed = len(followers) + 1 >= MAJORITY
        for node in followers:
            if node.epoch < leader.epoch:
                node.vote(leader.epoch)
            node.take(leader.log, leader.committed)
        for node in (leader, *followers) if is_committed else ():
            node.take(leader.log, end_of(leader.log))

    @rule(asked=st.sets(st.integers(0, 4), min_size=1), fraction=FRACTIONS)
    def take_checkpoints(self, asked: set[int], fraction: float) -> None:
        for node in map(self.nodes.__getitem__, asked):
            newest = node.checkpoints[-1].end_offset if node.checkpoints else 0
            ends = [batch.end_offset for batch in node.log if newest < batch.end_offset <= node.committed]
            if ends:
                node.checkpoint(ends[int(fraction * (len(ends) - 1))])

    @rule(asked=st.sets(st.integers(0, 4), min_size=1), fraction=FRACTIONS)
    def drop_what_a_checkpoint_has(self, asked: set[int], fraction: float) -> None:
        for node in map(self.nodes.__getitem__, asked):
            if node.checkpoints:
                node.drop_below(node.checkpoints[int(fraction * (len(node.checkpoints) - 1))])

    def _copy(self, node: Voting) -> Path:
        self.copies += 1
        return Path(shutil.copytree(node.directory, self.root / f"copy-{self.copies}"))

    def _offsets(self, node: Voting) -> Iterator[int]:
        """Where faults live: at the ends of checkpoints, at ends of batches, and within a batch."""
        for each in node.checkpoints:
            yield from (each.end_offset - 1, each.end_offset, each.end_offset + 1)
        yield from (batch.end_offset for batch in node.log)

    @rule(number=st.integers(0, 4), data=st.data(), is_torn=st.booleans())
    def cut(self, number: int, data: st.DataObject, *, is_torn: bool) -> None:
        node = self.nodes[number]
        offsets = sorted({*self._offsets(node)})
        if not offsets:
            return
        at = data.draw(st.sampled_from(offsets))
        directory = self._copy(node)
        if is_torn:
            with max((directory / PARTITION).glob("*.log")).open("ab") as log:
                log.write(node.log[-1].data[:70])
        found = examine(str(directory))
        boundary = max((batch.end_offset for batch in node.log if batch.end_offset <= at), default=0)
        is_reachable = found.start_offset == 0 or any(
            found.start_offset <= each.end_offset <= boundary for each in node.checkpoints
        )
        try:
            plan = plan_truncation(found, at)
        except CannotTruncate:
            assert at > end_of(node.log) or not is_reachable, f"{at} of {offsets}"
            return
        truncate(plan)

        assert is_reachable
        assert plan.end_offset == boundary
        assert (
            plan.lost_committed
            >= min(node.checkpoints[-1].end_offset if node.checkpoints else 0, end_of(node.log)) - boundary
        )
        self._check(directory, node, boundary)
        kept = [each for each in node.checkpoints if each.end_offset <= boundary]
        assert examine(str(directory)).snapshots == kept
        if boundary >= node.committed:  # no promise is broken: it goes on so
            shutil.rmtree(node.directory)
            shutil.copytree(directory, node.directory)
            node.log = [batch for batch in node.log if batch.end_offset <= boundary]

    def _check(self, directory: Path, node: Voting, end_offset: int) -> None:
        """The directory is that of the node, up to an offset, and a node starts from it without a repair."""
        found = examine(str(directory))
        below = [batch for batch in node.log if batch.end_offset <= end_offset]
        assert (found.fault, found.torn, found.end_offset) == (None, None, end_offset)
        assert names_in(found) == names_below(node.log, end_offset)
        assert found.kraft_version == max((batch.kraft_version for batch in below), default=0)
        assert found.epoch == (below[-1].epoch if below else 0)
        opened = storage(directory)
        assert (opened.notes, opened.recovered.log_end) == ([], end_offset)
        opened.close()

    @rule(number=st.integers(0, 4), data=st.data(), is_dynamic=st.booleans())
    def restore_as_of(self, number: int, data: st.DataObject, *, is_dynamic: bool) -> None:
        node = self.nodes[number]
        offsets = sorted({*self._offsets(node)})
        if not offsets:
            return
        as_of = data.draw(st.sampled_from(offsets))
        self.copies += 1
        target = self.root / f"restore-{self.copies}"
        backup = f"{target}-backup"
        save_directory(examine(str(node.directory)), backup, 5)
        manifest, found = verify_backup(backup)
        boundary = max((batch.end_offset for batch in node.log if batch.end_offset <= as_of), default=0)
        level = max((batch.kraft_version for batch in node.log if batch.end_offset <= boundary), default=0)
        try:
            plan = plan_restoring(backup, manifest, found, node_config(target, is_dynamic=is_dynamic), as_of, None)
        except CannotTruncate:
            assert as_of > found.end_offset or found.start_offset > 0
            return
        except CannotRestore:
            assert boundary == 0 or (is_dynamic and level == 0)
            return
        restore(plan, Random(7).getrandbits, 0)

        found = examine(str(target))
        assert (plan.end_offset, plan.kraft_version, found.fault) == (boundary, level, None)
        assert names_in(found) == names_below(node.log, boundary)
        assert found.voters is not None
        assert list(found.voters.ids) == [7]
        assert found.election is not None
        assert found.election.epoch > node.rank[0]
        opened = storage(target)
        assert opened.notes == []
        opened.close()

    @rule(asked=st.lists(st.integers(0, 4), min_size=1, max_size=4, unique=True), broken=st.sets(st.integers(0, 4)))
    def recover(self, asked: list[int], broken: set[int]) -> None:
        survivors = [node for node in map(self.nodes.__getitem__, asked) if node.log]
        if not survivors:
            return
        copies = {node.number: self._copy(node) for node in survivors}
        for node in survivors:
            if node.number - 1 in broken:
                (copies[node.number] / PARTITION / QUORUM_STATE).write_text("{")
                (copies[node.number] / PARTITION / KEPT_QUORUM_STATE).write_text("{")
        measured = [examine(str(directory)) for directory in copies.values()]
        survivors = [node for node in survivors if node.number - 1 not in broken]
        if not survivors:
            with pytest.raises(CannotRecover, match="no directory is sound"):
                best_of(measured)
            return
        best = max(survivors, key=lambda node: node.rank)
        static = {voter.key.id: ("127.0.0.1", 9093) for voter in VOTERS}
        try:
            plan = make_plan(measured, digests(str(copies[best.number])), static_voters=static, listener="CONTROLLER")
        except CannotRecover:
            assert len(survivors) >= MAJORITY
            return
        plan = parse_plan(plan_text(plan, 0))
        chosen = next(node for node in survivors if node.number == plan.node_id)
        force_voter(examine(str(copies[chosen.number])), plan.voter, plan.new_epoch, 0, plan.new_kraft_version)

        assert len(survivors) < MAJORITY
        assert chosen.rank == best.rank
        assert plan.new_epoch > max(node.epoch for node in self.nodes)
        found = examine(str(copies[chosen.number]))
        acknowledged = set.union(*(names_below(node.log, node.committed) for node in survivors))
        assert acknowledged <= names_in(found) == names_below(chosen.log, end_of(chosen.log))
        assert found.voters is not None
        assert (list(found.voters.ids), found.epoch) == ([chosen.number], plan.new_epoch)
        opened = storage(copies[chosen.number])
        assert opened.notes == []
        opened.close()


def node_config(directory: Path, *, is_dynamic: bool) -> NodeConfig:
    address = "127.0.0.1:9093"
    voters = (
        {"controller.quorum.bootstrap.servers": address}
        if is_dynamic
        else {"controller.quorum.voters": f"7@{address},8@127.0.0.1:9094"}
    )
    return NodeConfig(
        {
            "process.roles": "controller",
            "node.id": "7",
            "controller.listener.names": "CONTROLLER",
            "listeners": f"CONTROLLER://{address}",
            "log.dirs": str(directory),
            **voters,
        }
    )


Repairs.TestCase.settings = settings(
    # Shrinking takes minutes: an example is short enough to be read.
    max_examples=settings.default.max_examples // 2,
    phases=[Phase.generate],
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
TestRepairs = Repairs.TestCase
