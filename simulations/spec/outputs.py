"""Checks the effects of a replica: saves, writes, requests, answers, notifications of its state machine.

An order may wait until the state that it depends on is saved; so it is compared with the node as it is, as it was
during the step, and as it was while a save was under way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raft.interface import effects as do
from records.messages.elections import VoteRequest
from simulations.spec import disks, replication
from simulations.spec.elections import NOT_LEADER, need
from simulations.spec.membership import ADD, ASK, REMOVE, UPDATE
from simulations.spec.track import Sent, election_of
from simulations.spec.values import (
    CANDIDATE,
    FOLLOWER,
    LEADER,
    NOBODY,
    PROSPECTIVE,
    RESIGNED,
    UNATTACHED,
    Election,
    Log,
    Node,
    NotAllowed,
)  # fmt: skip
from simulations.world.chains import parts
from simulations.world.messages import KINDS, own_epoch
from simulations.world.voter_sets import NO_VOTERS, is_control, read_control

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from simulations.spec.track import Track


# Disks


def _save(_track: Track, node: Node, effect: do.SaveElection, _states: Sequence[Node], _now_ms: int) -> Node:
    voted = NOBODY if effect.voted is None else effect.voted.id
    election = Election(effect.epoch, NOBODY if effect.leader_id is None else effect.leader_id, voted)
    if election != election_of(node):
        raise NotAllowed("PersistElection", f"it saves what it is, {election_of(node)}, not {election}")
    return disks.order_save(node, effect.number, election)


def _append(_track: Track, node: Node, effect: do.Append, _states: Sequence[Node], _now_ms: int) -> Node:
    asked = node.disk.asked
    need(effect.base_offset == asked.end, "PersistLog", "an append at the end of the log")
    _has_voters(node, effect)
    grown = asked.append(effect.epoch, effect.end_offset)
    # Where it is the node's log, be it the same value too: then nothing has to compare the two any more.
    return disks.order_write(node, effect.number, node.log if grown == node.log else grown)


def _has_voters(node: Node, effect: do.Append) -> None:
    """Check that an append has the voter sets of the node's log there, unless they are truncated already."""
    if node.log.end < effect.end_offset or node.log.epoch_before(effect.end_offset) != effect.epoch:
        return
    known = [each[:3] for each in node.sets if effect.base_offset <= each.offset < effect.end_offset]
    written_sets: list[tuple[object, ...]] = []
    for part in parts(effect.data):
        batch = effect.data[part.start : part.stop]
        if is_control(batch):
            voters, _ = read_control(bytes(batch), NO_VOTERS)
            written_sets += [] if voters is NO_VOTERS else [voters[:3]]
    need(written_sets == known, "PersistLog", f"the voters {known} are written, not {written_sets}")


def _truncate(_track: Track, node: Node, effect: do.Truncate, _states: Sequence[Node], _now_ms: int) -> Node:
    return disks.order_write(node, effect.number, node.disk.asked.cut(effect.end_offset))


def _reset(_track: Track, node: Node, effect: do.ResetLog, _states: Sequence[Node], _now_ms: int) -> Node:
    return disks.order_write(node, effect.number, Log(effect.id.end_offset, effect.id.epoch))


def _advance(_track: Track, node: Node, effect: do.AdvanceLogStart, _states: Sequence[Node], _now_ms: int) -> Node:
    return disks.order_write(node, effect.number, node.disk.asked.begin_at(effect.start_offset))


def _freeze(track: Track, node: Node, effect: do.FreezeSnapshot, states: Sequence[Node], _now_ms: int) -> Node:
    snapshot = (effect.id.epoch, effect.id.end_offset)
    # Its role may have ended in the same step, and with it the download.
    downloads = [each.download for each in states]
    is_whole = any(each is not None and each.id == snapshot and each.position == each.size for each in downloads)
    need(is_whole, "LoadSnapshot", f"all of {snapshot} is here: {node.download}")
    track.freezes[effect.number] = snapshot
    return node.but(download=None, freezing=snapshot)


# The state machine


def _commits(track: Track, node: Node, effect: do.HighWatermark, _states: Sequence[Node], _now_ms: int) -> Node:
    name = "AdvanceHighWatermark"
    need(track.notified < effect.offset, name, "the state machine is notified of more than before")
    need(effect.offset <= node.committed, name, "the state machine is notified only of what is known to be committed")
    track.notified = effect.offset
    return node


def _loads(track: Track, node: Node, effect: do.LoadSnapshot, _states: Sequence[Node], _now_ms: int) -> Node:
    track.notified = effect.id.end_offset
    return node


def _on_leader_changed(
    _track: Track, node: Node, effect: do.LeaderChanged, states: Sequence[Node], _now_ms: int
) -> Node:
    if effect.leader_id == node.id:
        knows = any(
            each.role == LEADER and each.epoch == effect.epoch and each.watermark == each.log.end == effect.end_offset
            for each in states
        )
        need(knows, "BecomeLeader", f"the state machine has all, up to {effect.end_offset}, before it leads")
    return node


def _on_confirmed(
    track: Track, node: Node, effect: do.LeadershipConfirmed, states: Sequence[Node], _now_ms: int
) -> Node:
    voters = track.questions.pop(effect.number, set())
    name = "ConfirmLeadership"
    need(any(each.role == LEADER and each.epoch == effect.epoch for each in states), name, "it leads")
    counted = [voter_id for voter_id in node.voters.ids if voter_id in voters]
    need(len(counted) >= node.voters.majority, name, f"a majority fetched since it asked: {sorted(voters)}")
    return node


# Requests


def _send(track: Track, node: Node, effect: do.Send, states: Sequence[Node], now_ms: int) -> Node:
    kind = KINDS[type(effect.request)]
    gist = kind.gist(effect.request)
    fits = REQUESTS[kind.name]
    peer = _named_voter(track, states, effect)
    is_newest = fits(track, states[0], peer, gist)
    if not is_newest and not any(fits(track, each, peer, gist) for each in states[1:]):
        raise NotAllowed(f"Send{kind.name}", f"no node that it was asks node {peer} for {gist}")
    epoch = own_epoch(kind.name, gist) if gist else None
    if epoch is not None:
        _knows(node, kind.name, epoch)
    is_exact = is_newest and not track.was_saving
    track.sent[effect.peer] = Sent(effect.number, now_ms, track.token, is_exact, effect.request)
    return node


def _named_voter(track: Track, states: Sequence[Node], effect: do.Send) -> int:
    """The node that a request is for. A Vote to an address that is not in the voter set names the voter by its key, in
    a version that has it: any other node at that address grants no vote.
    """
    request = effect.request
    if effect.peer >= 0 or type(request) is not VoteRequest:
        return effect.peer
    key = (request.voter_id, request.topics[0].partitions[0].voter_directory_id)
    is_named = any(key[1]) and effect.least_version >= 1 and any(key in each.electorate.keys for each in states)
    need(is_named and track.process.node.config.finds_moved_voters, "SendVote", "it names a voter by its directory id")
    return int(request.voter_id)


def _knows(node: Node, name: str, epoch: int) -> None:
    """Check that a message has no epoch that the sender could lose in a crash."""
    election = node.disk.election
    if election is None or epoch > election.epoch:
        raise NotAllowed(f"Send{name}", f"epoch {epoch} is on disk before a message has it; on disk is {election}")


def _sends_vote(_track: Track, node: Node, peer: int, gist: tuple[Any, ...]) -> bool:
    epoch, candidate, last_epoch, end, pre = gist
    return (
        node.role == (PROSPECTIVE if pre else CANDIDATE)
        and (epoch, candidate) == (node.epoch, node.id)
        and (last_epoch, end) == (node.log.last_epoch, node.log.end)
        and peer in node.electorate.ids
    )


def _sends_begin(_track: Track, node: Node, peer: int, gist: tuple[Any, ...]) -> bool:
    return node.role == LEADER and gist == (node.epoch, node.id) and peer in node.voters.ids


def _sends_end(_track: Track, node: Node, peer: int, gist: tuple[Any, ...]) -> bool:
    return node.role == RESIGNED and gist[:2] == (node.epoch, node.id) and peer in node.voters.ids


def _sends_fetch(_track: Track, node: Node, _peer: int, gist: tuple[Any, ...]) -> bool:
    epoch, offset, last_epoch, watermark = gist
    return (
        # During a download too: a peer that sends no part may know another leader.
        node.role in {UNATTACHED, FOLLOWER}
        and epoch == node.epoch
        and offset == node.log.end == node.disk.holds(node.log)
        and not node.disk.writing
        and last_epoch == node.log.last_epoch
        and watermark == node.watermark
    )


def _sends_fetch_snapshot(_track: Track, node: Node, peer: int, gist: tuple[Any, ...]) -> bool:
    epoch, end, of_epoch, position = gist
    download = node.download
    return (
        node.role == FOLLOWER
        and (epoch, peer) == (node.epoch, node.leader)
        and download is not None
        and (download.id, download.position) == ((of_epoch, end), position)
    )


def _sends_update(_track: Track, node: Node, peer: int, gist: tuple[Any, ...]) -> bool:
    voters = node.voters
    is_due = node.is_voter and (not voters.is_dynamic or voters.host_of(node.key) != gist[2])
    return node.role == FOLLOWER and (peer, *gist[:2]) == (node.leader, node.epoch, node.id) and is_due


def _sends_add(track: Track, node: Node, peer: int, gist: tuple[Any, ...]) -> bool:
    return _joins(track, node, peer) and gist == (node.id, node.directory.hex()) and node.id not in node.voters.ids


def _sends_remove(track: Track, node: Node, peer: int, gist: tuple[Any, ...]) -> bool:
    former = [(node.id, key[1].hex()) for key in node.voters.keys if key[0] == node.id]
    return _joins(track, node, peer) and gist in former


def _joins(track: Track, node: Node, peer: int) -> bool:
    """Whether a node is to become a voter by itself, by its leader."""
    is_observer = node.voters.is_dynamic and not node.is_voter and track.process.node.config.auto_join
    return is_observer and node.role == FOLLOWER and peer == node.leader


def _sends_api_versions(_track: Track, node: Node, peer: int, _gist: tuple[Any, ...]) -> bool:
    wanted = node.leading.wanted if node.leading is not None else ()
    return any(each.kind in {ADD, ASK} and each.key[0] == peer for each in wanted)


REQUESTS: dict[str, Callable[[Track, Node, int, tuple[Any, ...]], bool]] = {
    "Vote": _sends_vote,
    "Begin": _sends_begin,
    "End": _sends_end,
    "Fetch": _sends_fetch,
    "FetchSnapshot": _sends_fetch_snapshot,
    "UpdateVoter": _sends_update,
    "AddVoter": _sends_add,
    "RemoveVoter": _sends_remove,
    "ApiVersions": _sends_api_versions,
}


# Answers


def _reply(track: Track, node: Node, effect: Any, states: Sequence[Node], _now_ms: int) -> Node:
    owed = track.owed.pop(effect.source, None)
    if owed is None:
        return node
    name, gist_of, _ = KINDS[type(effect.response)]
    gist = gist_of(effect.response)
    if owed.exact is not None:
        if gist[: len(owed.exact)] != owed.exact:
            raise NotAllowed(name, f"the answer is {owed.exact}, and not {gist}")
    elif owed.change is not None:
        _answers_change(owed, name, gist[0], states)
    else:
        _answers_fetch(owed.fetch, gist, effect, states)
    if len(gist) > 2:
        _knows(node, name, gist[1])
        election = node.disk.election
        if gist[2] == node.id and election is not None and election.epoch == gist[1]:
            need(election.leader == node.id, name, "the leader is on disk before an answer names it")
        if name == "VoteAnswer" and gist[3]:
            _gives_vote(owed, node, gist)
    return node


def _gives_vote(owed: Any, node: Node, gist: tuple[Any, ...]) -> None:
    """Check that a vote is on disk before it is granted."""
    election = node.disk.election
    candidate = owed.candidate
    if candidate is None or election is None or election.epoch != gist[1]:
        return
    need(election.voted == candidate, "HandleVoteRequest", f"the vote for {candidate} is on disk: {election}")


def _answers_change(owed: Any, name: str, error: int, states: Sequence[Node]) -> None:
    """Check the answer to a request for a change of the voters that was not refused at once."""
    need(error in owed.errors, name, f"the answer is one of {sorted(owed.errors)}, and not {error}")
    kind, key, host = owed.change
    if error == NOT_LEADER:
        need(any(each.role != LEADER for each in states), name, "it leads no more")
    node = states[0]
    if error or (kind == UPDATE and not node.voters.is_dynamic):
        return  # of static voters the leader alone keeps what they report
    is_made = key not in node.voters.keys if kind == REMOVE else node.voters.host_of(key) == host
    need(is_made, name, f"the change is made: {owed.change}, where the voters are {node.voters}")
    if owed.waits:
        offset = node.voters.offset
        need(offset < node.committed, name, f"the voters at {offset} are committed; up to {node.committed} is")


def _answers_fetch(fetch: tuple[Any, Any], gist: tuple[Any, ...], effect: Any, states: Sequence[Node]) -> None:
    """Check the answer of a Fetch that was not refused at once."""
    asked, place = fetch
    epoch, leader = gist[1:3]
    if gist[0]:
        is_over = gist[0] == NOT_LEADER and any(
            each.role != LEADER and (each.epoch, each.leader) == (epoch, leader) for each in states
        )
        need(is_over, "RejectFetchRequest", f"it leads epoch {asked.epoch} no more, where it answers {gist}")
        return
    leading = [each for each in states if each.role == LEADER and each.epoch == epoch == asked.epoch]
    if not leading:
        raise NotAllowed(place.kind, f"it leads epoch {asked.epoch}, where it answers {gist}")
    need(gist[3] <= leading[0].watermark, place.kind, "the high watermark that it sends is its own")
    try:
        _check_place(leading[0], asked, gist, effect)
    except NotAllowed:
        # It may have cleaned its log in the same step, behind the answer.
        if len({each.log.start for each in leading}) == 1:
            raise
        _check_place(next(each for each in leading if each.log.start != leading[0].log.start), asked, gist, effect)


def _check_place(now: Node, asked: Any, gist: tuple[Any, ...], effect: Any) -> None:
    """Check the position that a follower is given, by the leader's log."""
    place = replication.place(now, asked)
    if place.kind == replication.DIVERGING:
        need(gist[4:] == ("diverging", place.epoch, place.end), place.kind, f"it diverges at {place}, but sends {gist}")
    elif place.kind == replication.SNAPSHOT:
        need(gist[4:] == ("snapshot", place.end, place.epoch), place.kind, f"it needs {place}, but sends {gist}")
    else:
        need(len(gist) == 5, place.kind, "the logs agree, and the answer says nothing else")
        if isinstance(effect, do.ReplyRecords):
            is_next = effect.start_offset == asked.offset and effect.end_offset <= now.log.end
            need(is_next, place.kind, "it gives records of its log, from where it was asked")


EFFECTS: dict[type, Callable[[Track, Node, Any, Sequence[Node], int], Node]] = {
    do.SaveElection: _save,
    do.Append: _append,
    do.Truncate: _truncate,
    do.ResetLog: _reset,
    do.AdvanceLogStart: _advance,
    do.FreezeSnapshot: _freeze,
    do.HighWatermark: _commits,
    do.LoadSnapshot: _loads,
    do.LeaderChanged: _on_leader_changed,
    do.LeadershipConfirmed: _on_confirmed,
    do.Send: _send,
    do.Reply: _reply,
    do.ReplyRecords: _reply,
    do.ReplySnapshot: _reply,
}
