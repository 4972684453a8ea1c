"""The inputs of a standby: committed record batches, and snapshots in place of records that the log no longer has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.core.authorization import on_loaded
from controller.core.serving import serve_parked
from controller.core.snapshot_schedule import Appended
from controller.core.snapshots import take_snapshot_if_due
from controller.interface.effects import Noted
from controller.state.partitions.bulk_batches import BatchReplay, load_records, replay_batch
from records.batch import batches

if TYPE_CHECKING:
    from controller.core.controller import Controller
    from controller.interface.inputs import (
        CaughtUp,
        Committed,
        CommittedPart,
        KraftVersion,
        KraftVersionSupport,
        SnapshotClosed,
        SnapshotOpened,
        SnapshotPart,
    )
    from controller.state.state import State
    from records.batch import Batch


def on_committed(controller: Controller, event: Committed) -> None:
    """Replay committed batches; the first one begins where the state ends."""
    assert not controller.is_active, "the active controller has replayed what it wrote"
    metrics = controller.metrics
    for batch in end_replay(controller) or replay_batches(controller.state, event.data):
        controller.snapshots.on_replayed(batch)
        metrics.last_applied_timestamp_ms = max(metrics.last_applied_timestamp_ms, batch.timestamp_ms)
    assert controller.state.end_offset >= controller.env.next_offset, "a standby's state does not go back"
    controller.env.next_offset = controller.state.end_offset
    controller.waiting.on_committed(controller.state.stable_end_offset)
    serve_parked(controller)
    take_snapshot_if_due(controller)


def on_committed_part(controller: Controller, event: CommittedPart) -> None:
    """Replay some records of a large batch. Until its end, no request is answered from the state, no snapshot is taken,
    and the ACLs are those of before, so nobody sees a part of it.
    """
    assert not controller.is_active, "the active controller has replayed what it wrote"
    state = controller.state
    if controller.replay is None:
        (batch,) = batches(event.data, check=False)
        assert batch.base_offset == state.end_offset, (batch.base_offset, state.end_offset)
        if controller.env.access is not None:
            state.acls.freeze()
        controller.replay = BatchReplay(state, event.data, batch)
    controller.replay.go_on(event.records)
    if controller.env.access is not None:
        state.acls.prepare()


def end_replay(controller: Controller) -> list[Appended]:
    """Show the batch that was replayed in parts; returns it, and nothing where there is none."""
    replay, controller.replay = controller.replay, None
    if replay is None:
        return []
    replay.end()
    if controller.env.access is not None:
        controller.state.acls.thaw()
    return [appended_batch(replay.batch)]


def replay_batches(state: State, data: bytes) -> list[Appended]:
    """Replay committed batches.

    Raises ReplayError, DecodeError or CorruptBatch; the state must not be used after that.
    """
    appended = []
    for batch in batches(data, check=False):
        assert batch.base_offset == state.end_offset, (batch.base_offset, state.end_offset)
        replay_batch(state, data, batch)
        appended.append(appended_batch(batch))
    return appended


def appended_batch(batch: Batch) -> Appended:
    size = 0 if batch.is_control else batch.size
    return Appended(batch.last_offset + 1, batch.leader_epoch, batch.max_timestamp, size)


def on_snapshot_opened(controller: Controller, event: SnapshotOpened) -> None:
    """Replace the state by a snapshot, whose parts follow."""
    assert not controller.is_active, "the active controller has everything"
    controller.loading = event.id
    controller.replay = controller.loaded = None
    controller.state.begin_load(event.id.end_offset)


def on_snapshot_part(controller: Controller, event: SnapshotPart) -> None:
    """Replay some records of a batch of the snapshot, its header and footer among these, as if at the last offset that
    it contains.

    The records of the snapshot 0-0 are those that the first active controller will write to the log (KIP-1170): they
    are not committed, and brokers, which read the log alone, would never see them if they counted as state.
    """
    assert controller.loading is not None
    if controller.loading.end_offset == 0:
        return
    if controller.loaded is None:
        (batch,) = batches(event.data, check=False)
        if batch.is_control:
            return
        controller.loaded = load_records(controller.state, event.data, batch)
    left = event.records
    for cost in controller.loaded:
        left -= cost
        if left <= 0:
            return
    controller.loaded = None


def on_snapshot_closed(controller: Controller, _event: SnapshotClosed) -> None:
    id_ = controller.loading
    assert id_ is not None
    controller.loading = None
    controller.metrics.snapshots_loaded += 1
    controller.state.end_load()
    controller.snapshots.restart(id_, controller.env.wall_ms, controller.env.now_ms)
    controller.env.next_offset = controller.state.end_offset
    controller.waiting.on_committed(controller.state.stable_end_offset)
    serve_parked(controller)
    if id_.end_offset:
        controller.effects.append(Noted("snapshot_loaded", {"end_offset": id_.end_offset, "epoch": id_.epoch}))


def on_caught_up(controller: Controller, _event: CaughtUp) -> None:
    """The state is as new as before the restart: requests may be answered from it again."""
    controller.is_catching_up = False
    on_loaded(controller)
    serve_parked(controller)


def on_kraft_version(controller: Controller, event: KraftVersion) -> None:
    controller.env.kraft_version, controller.env.kraft_version_offset = event.level, event.offset


def on_kraft_version_support(controller: Controller, event: KraftVersionSupport) -> None:
    controller.env.kraft_version_support = event.epoch, event.level
