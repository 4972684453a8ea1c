"""Inputs of a replica as actions of the specification: for each kind of input, the nodes that may result.

Each function returns (action, node) pairs, the likeliest first. There are several only if it cannot be seen whether an
answer came in time. The expected answer to a request is noted in the track.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raft.interface.effects import WriteSnapshotPart
from raft.interface.inputs import (  # fmt: skip
    Answered,
    ConfirmLeadership,
    Failed,
    Flushed,
    Propose,
    Requested,
    Saved,
    ShutDown,
    SnapshotStored,
    SnapshotTaken,
)
from simulations.spec import disks
from simulations.spec.answers import ANSWERS
from simulations.spec.elections import UNAVAILABLE
from simulations.spec.requests import REQUESTS
from simulations.spec.values import LEADER, Node
from simulations.world.messages import ANSWERS as MESSAGES

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulations.spec.track import Sent, Track

Outcomes = list[tuple[str, Node]]

LIVE, DEAD, UNSURE = range(3)


def _on_requested(track: Track, event: Requested, now_ms: int) -> Outcomes:
    handler = REQUESTS.get(type(event.request))
    return [("", track.node)] if handler is None else [handler(track, event, now_ms)]


def _on_answered(track: Track, event: Answered, now_ms: int) -> Outcomes:
    sent, is_live = _take_sent(track, event.peer, event.number, now_ms)
    ignored = ("", track.node)
    if sent is None or is_live == DEAD:
        return [ignored]
    kind = type(event.response)
    if kind is not MESSAGES[type(sent.request)]:
        return [ignored]
    said = ANSWERS[kind](track, event, sent, now_ms)
    if is_live == LIVE:
        return [said]
    # An input that changes nothing need not have been handled at all.
    return [ignored] if said[1] is track.node or _is_unwritten(track, said[1]) else [said, ignored]


def _is_unwritten(track: Track, node: Node) -> bool:
    """Whether a part of a snapshot would have been taken, but the step writes none: its request had timed out."""
    before, after = track.node.download, node.download
    is_taken = before is not None and after is not None and after.position != before.position
    return is_taken and not track.was_saving and not any(type(each) is WriteSnapshotPart for each in track.effects)


def _on_failed(track: Track, event: Failed, now_ms: int) -> Outcomes:
    sent, is_live = _take_sent(track, event.peer, event.number, now_ms)
    if sent is None or is_live == DEAD:
        return [("", track.node)]
    node = track.node
    if (
        node.download is not None
        and type(sent.request).__name__ == "FetchSnapshotRequest"
        and event.error != UNAVAILABLE
    ):
        node = node.but(download=None)
    return [("", node)]


def _take_sent(track: Track, peer: int, number: int, now_ms: int) -> tuple[Sent | None, int]:
    """The request of an answer, and whether the answer counts: it came in time, and in the role of the request."""
    sent = track.sent.get(peer)
    if sent is None or sent.number != number:
        return None, DEAD
    del track.sent[peer]
    waited = now_ms - sent.at_ms
    if sent.token != track.token or waited >= track.rules.request_ms:
        return sent, DEAD
    return sent, LIVE if sent.is_exact else UNSURE


def _on_saved(track: Track, event: Saved, _now_ms: int) -> Outcomes:
    return [("PersistElection", disks.persist_election(track.node, event.number))]


def _on_flushed(track: Track, event: Flushed, _now_ms: int) -> Outcomes:
    return [("PersistLog", disks.persist_log(track.node, event.number, event.end_offset))]


def _on_proposed(track: Track, event: Propose, _now_ms: int) -> Outcomes:
    node = track.node
    leading = node.leading
    if leading is None or event.epoch != node.epoch or node.leaving:
        return [("", node)]
    expected = max(leading.proposed, node.log.end)
    if event.base_offset != expected:
        return [("", node)]
    return [("", node.but(leading=leading._replace(proposed=event.last_offset + 1)))]


def _asks_whether_it_leads(track: Track, event: ConfirmLeadership, _now_ms: int) -> Outcomes:
    if track.node.role == LEADER:
        track.questions[event.number] = {track.node.id}
    return [("", track.node)]


def _took_snapshot(track: Track, event: SnapshotTaken, _now_ms: int) -> Outcomes:
    snapshot = (event.id.epoch, event.id.end_offset, event.size)
    return [("TakeSnapshot", disks.take_snapshot(track.node, snapshot))]


def _on_stored(track: Track, event: SnapshotStored, _now_ms: int) -> Outcomes:
    node = track.node
    snapshot = track.freezes.pop(event.number, None)
    if snapshot is None or node.freezing != snapshot:
        return [("", node)]
    if event.refused:
        return [("", node.but(freezing=None))]
    assert track.sets_at is not None, "a track of a run knows the committed voter sets"
    after = disks.load_snapshot(node, snapshot, event.size, track.sets_at(snapshot[1]))
    return [("LoadSnapshot" if after.log is not node.log else "", after)]


def _shuts_down(track: Track, _event: ShutDown, _now_ms: int) -> Outcomes:
    return [("", track.node.but(leaving=True))]


INPUTS: dict[type, Callable[[Track, Any, int], Outcomes]] = {
    Requested: _on_requested,
    Answered: _on_answered,
    Failed: _on_failed,
    Saved: _on_saved,
    Flushed: _on_flushed,
    Propose: _on_proposed,
    ConfirmLeadership: _asks_whether_it_leads,
    SnapshotTaken: _took_snapshot,
    SnapshotStored: _on_stored,
    ShutDown: _shuts_down,
}
