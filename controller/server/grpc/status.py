"""The quorum in the view of this node, also without a leader; keys are those of `/quorum`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.server.http.probes import known_leader, role_name
from controller.server.http.quorum import UNKNOWN, addresses, key_view
from raft.state.roles import Leader
from records.uuids import uuid_text

if TYPE_CHECKING:
    from controller.node.node import Node
    from raft.state.leader_state import Progress
    from raft.state.replica import Replica


def status_of(node: Node) -> dict[str, Any]:
    """The response of `Status` (docs/watch.md). Only the leader knows the offsets of other replicas."""
    replica, state = node.replica, node.controller.state
    leader_id = known_leader(replica)
    progress = replica.role.state.voters if isinstance(replica.role, Leader) else {}
    now_ms = node.now_ms()
    return {
        "cluster_id": node.controller.env.cluster_id,
        "node_id": replica.key.id,
        "directory_id": uuid_text(replica.key.directory_id),
        "role": role_name(replica),
        "is_active_controller": node.controller.is_active,
        "leader_id": leader_id,
        "epoch": replica.epoch,
        "high_watermark": replica.high_watermark,
        "log_start_offset": replica.log.start,
        "log_end_offset": replica.log.end,
        "watch_end_offset": state.stable_end_offset,
        "metadata_version": state.metadata_version,
        "voters": [
            {
                **key_view(voter.key),
                "endpoints": addresses(voter.endpoints),
                "is_leader": voter.key.id == leader_id,
                **(_progress(replica, progress[voter.key.id], now_ms) if voter.key.id in progress else {}),
            }
            for voter in replica.voters
        ],
        "observers": _observers(replica, now_ms),
    }


def _observers(replica: Replica, now_ms: int) -> list[dict[str, Any]]:
    if not isinstance(replica.role, Leader):
        return []
    observers = replica.role.state.observers
    return [{**key_view(key), **_progress(replica, observers[key], now_ms)} for key in sorted(observers)]


def _progress(replica: Replica, progress: Progress, now_ms: int) -> dict[str, Any]:
    """The progress of a replica, which the leader knows from its fetches; its own is that of its log."""
    if progress.key.id == replica.key.id:
        return {"end_offset": replica.log.end, "lag": 0, "fetched_ago_ms": None, "caught_up_ago_ms": 0}
    end_offset = None if progress.end_offset == UNKNOWN else progress.end_offset
    return {
        "end_offset": end_offset,
        "lag": None if end_offset is None else max(replica.log.end - end_offset, 0),
        "fetched_ago_ms": None if progress.fetched_ms == UNKNOWN else now_ms - progress.fetched_ms,
        "caught_up_ago_ms": None if progress.caught_up_ms == UNKNOWN else now_ms - progress.caught_up_ms,
    }
