"""Which function takes which input of the controller: a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.core import active as leading
from controller.core import periodic_work as duties
from controller.core import serving
from controller.core import standby as following
from controller.interface import inputs

if TYPE_CHECKING:
    from collections.abc import Callable

    from controller.core.controller import Controller

STEPS: dict[type, Callable[[Controller, Any], None]] = {
    inputs.Requested: serving.on_requested,
    inputs.Disconnected: serving.on_disconnected,
    inputs.LeaderChanged: leading.on_leader_changed,
    inputs.HighWatermark: leading.on_high_watermark,
    inputs.AppendRefused: leading.on_append_refused,
    inputs.LeadershipConfirmed: leading.on_leadership_confirmed,
    inputs.ShutDown: leading.on_shut_down,
    inputs.Committed: following.on_committed,
    inputs.SnapshotOpened: following.on_snapshot_opened,
    inputs.SnapshotPart: following.on_snapshot_part,
    inputs.SnapshotClosed: following.on_snapshot_closed,
    inputs.CaughtUp: following.on_caught_up,
    inputs.KraftVersion: following.on_kraft_version,
    inputs.Ticked: duties.on_ticked,
    inputs.WallClock: duties.on_wall_clock,
    inputs.SnapshotWritten: duties.on_snapshot_written,
    inputs.SnapshotGivenUp: duties.on_snapshot_given_up,
    inputs.SendAnswered: duties.on_send_answered,
}
