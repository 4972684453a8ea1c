"""Snapshots of the state: one is taken when it is due, and its end is noted (KIP-630)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.interface.effects import Noted, TakeSnapshot
from controller.state.view import stable_view

if TYPE_CHECKING:
    from controller.core.controller import Controller
    from controller.interface.inputs import SnapshotGivenUp, SnapshotWritten, Stopping
    from raft.interface.config import SnapshotId


def take_snapshot_if_due(controller: Controller) -> None:
    """Ask for a snapshot if one is due, after something was committed."""
    id_ = controller.snapshots.due(controller.state.stable_end_offset, controller.env.now_ms)
    if id_ is not None:
        _take(controller, id_)


def on_stopping(controller: Controller, _event: Stopping) -> None:
    """The node is about to stop: ask for a snapshot if a restart would have much to replay."""
    if controller.is_shut_down or controller.is_catching_up or controller.is_partial:
        return
    id_ = controller.snapshots.due_at_stop(controller.state.stable_end_offset)
    if id_ is not None:
        _take(controller, id_)


def _take(controller: Controller, id_: SnapshotId) -> None:
    schedule = controller.snapshots
    schedule.writing = id_
    schedule.begin(controller.env.now_ms)
    controller.effects.append(TakeSnapshot(id_, schedule.last.timestamp_ms, stable_view(controller.state)))


def on_snapshot_written(controller: Controller, event: SnapshotWritten) -> None:
    """The snapshot is on disk."""
    controller.snapshots.on_done(event.id)
    controller.metrics.snapshot_bytes, controller.metrics.snapshot_ms = event.size, controller.env.now_ms
    fields = {"end_offset": event.id.end_offset, "epoch": event.id.epoch, "bytes": event.size}
    controller.effects.append(Noted("snapshot_written", fields))


def on_snapshot_given_up(controller: Controller, event: SnapshotGivenUp) -> None:
    """The snapshot was not written; the next one is due when as much was committed again."""
    controller.snapshots.on_done(event.id)
    fields = {"end_offset": event.id.end_offset, "epoch": event.id.epoch, "reason": event.reason}
    controller.effects.append(Noted("snapshot_given_up", fields))
