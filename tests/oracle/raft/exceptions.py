"""The deliberate differences of the replica: those of docs/differences.md, each with a sequence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from records.codec import decode
from records.control import VotersRecord
from records.features.levels import KAFKA_4_3
from records.messages.elections import EndQuorumEpochRequest
from tests.oracle.raft.commands import LATE, Append, Fail, Pass, Request, Respond, Restart, Start, Upgrade
from tests.oracle.release import KAFKA

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.oracle.compare import Difference
    from tests.oracle.raft.commands import Answer, Command


VOTE, FETCH, END_QUORUM_EPOCH, FETCH_SNAPSHOT = 52, 1, 54, 59
REMOVE = 81
JOINS = (80, REMOVE)  # AddRaftVoter, RemoveRaftVoter


class Met(NamedTuple):
    """A difference: the command after which it was found, and the answers of both.

    before: the commands before it; events: what ours noted after these. within_batch: whether a Fetch so far began
    within a batch.
    """

    start: Start
    command: Command
    difference: Difference
    ours: Answer
    stock: Answer
    before: tuple[Command, ...] = ()
    events: tuple[str, ...] = ()
    within_batch: bool = False

    @property
    def where(self) -> str:
        return self.difference.where

    @property
    def follows(self) -> bool:
        return bool(self.ours.state["role"] == "Follower")

    def noted(self, *words: str) -> bool:
        """Whether our replica logged an event with these words."""
        return any(all(word in event for word in words) for event in self.ours.events)


class Deliberate(NamedTuple):
    """ends: whether the replicas differ in state from then on, so that the sequence ends there."""

    name: str
    ends: bool
    holds: Callable[[Met], bool]


# The exceptions that end stock's process, by a part of their text -> the commands at which they are raised.
STOPS: dict[str, tuple[type[Any], ...]] = {
    "which is inconsistent with current leader": (Request, Respond),
    "since it matches the local node.id": (Request, Respond),
    "Unknown leader endpoints": (Request, Respond),
    "Received unexpected invalid request error": (Respond,),
    "which is below the current high watermark": (Respond,),
    "Full log truncation expected but didn't happen": (Respond,),
    "Expected to be Follower, but the current state is": (Respond,),
    "out of bounds for length": (Request, Respond),
    "The provided listener name is null or empty string": (Request,),
    "Unexpected acknowledgement from non-voter": (Respond,),
    "request from the leader itself": (Request,),
    "must be in the set of voters": (Start, Restart),
}


def stops(met: Met) -> bool:
    """Stock's thread of the quorum raises an exception that it does not expect, and its process ends; ours goes on."""
    goes_on = bool(met.ours.state) and not met.ours.notes
    return goes_on and any(
        note.startswith("stopped: ") and text in note and isinstance(met.command, commands)
        for note in met.stock.notes
        for text, commands in STOPS.items()
    )


def is_not_flushed(met: Met) -> bool:
    """The only voter answers a Fetch with what it has just appended, and counts that as committed before the flush."""
    return (
        met.where == "Fetch.responses[].partitions[].highWatermark"
        and isinstance(met.command, Append | Pass | Upgrade | Request | Respond)
        and len(decode(VotersRecord, 0, met.ours.state["voters"]).voters) == 1
        and met.difference.ours < met.difference.stock
    )


def asks_itself(met: Met) -> bool:
    """A voter without bootstrap servers sends Fetches to the static voters to find the leader, including itself."""
    is_static = met.start.kraft_version == 0 and not met.start.bootstrap
    ours, stock = (
        any(sent.peer == met.start.id and sent.api_key == FETCH for sent in answer.sent)
        for answer in (met.ours, met.stock)
    )
    return is_static and stock and not ours


def refuses_records(met: Met) -> bool:
    """A leader sends records that cannot be the next ones: ours backs off; it is no successful Fetch."""
    return met.noted("fetched_records_refused")


def truncates(met: Met) -> bool:
    """A leader makes us truncate what is committed, now or by an earlier process; within a batch, ours stops."""
    is_split = any("CorruptLog" in note and "up to which all is committed" in note for note in met.ours.notes)
    return isinstance(met.command, Respond) and (met.noted("truncation_refused") or is_split)


def is_end(command: Command) -> bool:
    return isinstance(command, Request) and command.api_key == END_QUORUM_EPOCH


def grants_after_resignation(met: Met) -> bool:
    """A follower whose leader has resigned grants pre-votes at once."""
    resigned = any(is_end(command) for command in met.before)
    return met.where.endswith("voteGranted") and met.difference.ours is True and resigned and met.follows


def stands_after_resignation(met: Met) -> bool:
    """A leader has resigned, and then answers, or says so again: stock waits anew before it stands, ours as before.

    A replica that is alone asks nobody: the time is that of its first batch as leader, or of its role.
    """
    commands = (*met.before, met.command)
    first = next((place for place, command in enumerate(commands) if is_end(command)), len(commands))
    goes_on = any(isinstance(command, Respond) or is_end(command) for command in commands[first + 1 :])
    ours, stock = ([sent.ms for sent in answer.sent if sent.api_key == VOTE] for answer in (met.ours, met.stock))
    is_alone = len(decode(VotersRecord, 0, met.ours.state["voters"]).voters) == 1
    leads = met.where == "state.role" and "Leader" in {met.ours.state["role"], met.stock.state["role"]}
    return goes_on and (ours != stock or (is_alone and (leads or met.where.startswith("Fetch.records"))))


def joins_silent_leader(met: Met) -> bool:
    """An observer asked its leader to add it, and no Fetch was answered since: stock asks again, maybe after a backoff,
    ours sends a Fetch.
    """
    joins = bool(dict(met.start.config).get("auto_join"))
    ours, stock = (sum(sent.api_key in JOINS for sent in answer.sent) for answer in (met.ours, met.stock))
    backs_off = isinstance(met.command, Fail) and bool(met.ours.sent) and not met.stock.sent
    return joins and met.follows and (ours < stock or backs_off)


def starts_over(met: Met) -> bool:
    """FetchSnapshot is refused with a top-level error: ours sends a Fetch."""
    has_failed = any(
        isinstance(command, Fail) or (isinstance(command, Respond) and command.body.get("errorCode"))
        for command in (*met.before, met.command)
    )
    return has_failed and met.where == "sent[]: Fetch or FetchSnapshot" and bool(met.difference.ours["type"] == "Fetch")


def is_within_batch(met: Met) -> bool:
    """A Fetch from an offset within a batch: stock counts the offset of the batch's start."""
    is_offset = met.where.endswith(("ighWatermark", "logEndOffset"))
    return met.within_batch and is_offset and met.difference.ours > met.difference.stock


def counts_partitions(met: Met) -> bool:
    """FetchSnapshot with not just one partition; stock 4.3.1 checks that only where there are several topics too."""
    if isinstance(met.command, Request) and met.command.api_key == FETCH_SNAPSHOT:
        topics = met.command.body.get("topics", [])
    elif isinstance(met.command, Respond) and "topics" in met.command.body:
        topics = met.command.body["topics"]
        if not any("unalignedRecords" in part for topic in topics for part in topic.get("partitions", [])):
            return False
    else:
        return False
    return len(topics) != 1 or len(topics[0].get("partitions", [])) != 1


def is_deposed(met: Met) -> bool:
    """A leader learns of a higher epoch without a leader: stock leaves parked Fetches parked."""
    return met.where == "Fetch answered" and met.difference.stock is None and met.ours.state["role"] == "Unattached"


def refuses_part(met: Met) -> bool:
    """A part of a snapshot is empty, or the parts exceed the size: ours starts the download again."""
    return met.noted("snapshot_part_refused")


def prefers_connected(met: Met) -> bool:
    """Of voters with equal logs, a leader that resigns prefers that which has been connected for longest."""
    ours, stock = (
        [
            sorted(candidate.candidate_id for candidate in partition.preferred_candidates)
            for sent in answer.sent
            if sent.api_key == END_QUORUM_EPOCH
            for topic in decode(EndQuorumEpochRequest, 1, sent.body).topics
            for partition in topic.partitions
        ]
        for answer in (met.ours, met.stock)
    )
    return ".preferredCandidates[]." in met.where and ours == stock


def names_second_leader(met: Met) -> bool:
    """An answer names another leader of our epoch: ours takes nothing from it."""
    return met.noted("peer_inconsistent")


def is_late(met: Met) -> bool:
    """A request is answered after its timeout, and nothing was sent to the peer since: stock uses the answer."""
    return isinstance(met.command, Respond | Fail) and met.noted(LATE)


def is_of_other_version(met: Met) -> bool:
    """kraft.version has changed: stock writes quorum-state in its new form with the next election."""
    ours, stock = met.ours.state["quorumState"], met.stock.state["quorumState"]
    return met.where.startswith("state.quorumState.") and ours["data_version"] != stock["data_version"]


def lost_directory(met: Met) -> bool:
    """The old form of quorum-state has no directory id of the vote, so stock does not know it after a restart."""
    is_vote = met.where in {"state.voted", "state.quorumState.votedDirectoryId"}
    has_changed = met.start.kraft_version == 0 and met.ours.state["kraftVersion"] == 1
    return is_vote and has_changed and isinstance(met.command, Restart)


def stands_removed(met: Met) -> bool:
    """The newest voter set removes the replica: ours may stand for election until it knows that set to be committed."""
    voters = decode(VotersRecord, 0, met.ours.state["voters"]).voters
    is_removed = met.start.id not in {voter.voter_id for voter in voters}
    asks, stock_asks = (any(sent.api_key == VOTE for sent in answer.sent) for answer in (met.ours, met.stock))
    role, stock_role = met.ours.state["role"], met.stock.state["role"]
    stands = role in {"Prospective", "Candidate", "Leader"} and role != stock_role
    return is_removed and (stands or (asks and not stock_asks))


def is_behind_truncation(met: Met) -> bool:
    """Stock does not read voters and kraft.version that are written where the log was truncated before."""
    is_control = met.where in {"state.logEnd", "state.kraftVersion"} or met.where.startswith("state.voters")
    return is_control and any(event.startswith("truncated ") for event in (*met.events, *met.ours.events))


def starts_log_elsewhere(met: Met) -> bool:
    """Cleaning left the newest snapshot alone, which ends at the end of the log: stock empties the log at a restart."""
    end_offset = met.difference.stock
    return (
        met.where == "state.logStart"
        and isinstance(met.command, Restart)
        and met.difference.ours < end_offset
        and met.stock.state["snapshots"][0].startswith(f"{end_offset:020}-")
        and any(event.startswith("log_cleaned ") and f"'start_offset': {end_offset}}}" in event for event in met.events)
    )


def gives_time(met: Met) -> bool:
    """The only voter adds another: ours waits for it as for any voter. Stock's deadline is of the epoch's start.

    Stock resigns then. If a request with a later epoch comes before EndQuorumEpoch is sent, only the high watermark
    shows it, which a resigned leader does not keep.
    """
    changes = [event for event in (*met.events, *met.ours.events) if event.startswith("voters_changed ")]
    sizes = [len(met.start.voters), *(int(event.partition("'count': ")[2].rstrip("}")) for event in changes)]
    ours = [sent.ms for sent in met.ours.sent if sent.api_key == END_QUORUM_EPOCH]
    stock = [sent.ms for sent in met.stock.sent if sent.api_key == END_QUORUM_EPOCH]
    resigned = bool(stock) and (not ours or stock[0] < ours[0])
    deposed = met.ours.state["role"] == "Unattached" and met.where.endswith("ighWatermark")
    return sizes[-2:] == [1, 2] and (resigned or (deposed and met.difference.stock == -1))


def resigns_when_removed(met: Met) -> bool:
    """A leader that removed itself hears nothing of the one voter that is left: ours resigns, stock's leads on."""
    ids = [voter.voter_id for voter in decode(VotersRecord, 0, met.ours.state["voters"]).voters]
    is_removed = len(ids) == 1 and ids != [met.start.id]
    return is_removed and met.noted("quorum_lost") and met.stock.state["role"] == "Leader"


def resigns_after_timeout(met: Met) -> bool:
    """A leader removes itself, and the request times out before the removal is committed: ours resigns at the commit
    all the same, stock's forgets that and leads on.
    """
    commands = (*met.before, met.command)
    asked = [place for place, each in enumerate(commands) if isinstance(each, Request) and each.api_key == REMOVE]
    ids = {voter.voter_id for voter in decode(VotersRecord, 0, met.ours.state["voters"]).voters}
    if not asked or met.start.id in ids:
        return False
    passed_ms = sum(each.ms for each in commands[asked[-1] :] if isinstance(each, Pass))
    has_timed_out = passed_ms >= dict(met.start.config).get("request_timeout_ms", 2000)
    return has_timed_out and (met.ours.state["role"], met.stock.state["role"]) == ("Resigned", "Leader")


DELIBERATE: tuple[Deliberate, ...] = (
    Deliberate("raft-stock-stops", True, stops),
    Deliberate("raft-snapshot-part-refused", True, refuses_part),
    Deliberate("raft-second-leader", True, names_second_leader),
    Deliberate("raft-connected-successor", False, prefers_connected),
    Deliberate("raft-commit-before-flush", False, is_not_flushed),
    Deliberate("raft-asks-itself", True, asks_itself),
    Deliberate("raft-records-refused", True, refuses_records),
    Deliberate("raft-truncates-committed", True, truncates),
    Deliberate("raft-pre-vote-after-resignation", False, grants_after_resignation),
    Deliberate("raft-resignation-is-final", True, stands_after_resignation),
    Deliberate("raft-joins-silent-leader", True, joins_silent_leader),
    Deliberate("raft-snapshot-starts-over", True, starts_over),
    Deliberate("raft-fetch-within-batch", True, is_within_batch),
    Deliberate("raft-late-answer", True, is_late),
    Deliberate("raft-quorum-state-version", False, is_of_other_version),
    Deliberate("raft-quorum-state-version", True, lost_directory),
    Deliberate("raft-voters-behind-truncation", True, is_behind_truncation),
    *([Deliberate("raft-fetch-snapshot-partitions", True, counts_partitions)] if KAFKA is KAFKA_4_3 else []),
    Deliberate("raft-parked-when-deposed", True, is_deposed),
    Deliberate("raft-removed-leader-resigns", True, resigns_when_removed),
    Deliberate("raft-removed-leader-resigns", True, resigns_after_timeout),
    Deliberate("raft-removed-voter-stands", True, stands_removed),
    Deliberate("raft-log-start-after-restart", True, starts_log_elsewhere),
    Deliberate("raft-second-voter-has-time", True, gives_time),
)


PENDING: tuple[Deliberate, ...] = ()


def parts_ways(answer: Answer) -> bool:
    """Whether ours did otherwise on purpose where stock's state shows it later: its fetch timeout starts again, or it
    used what was answered too late.
    """
    names = ("peer_inconsistent ", "fetched_records_refused ", LATE)
    return any(event.startswith(names) for event in answer.events)


def names() -> tuple[set[str], set[str]]:
    """The names of the deliberate differences, and of those that are not corrected yet."""
    return {row.name for row in DELIBERATE}, {row.name for row in PENDING}


def known_as(met: Met) -> Deliberate | None:
    """The row that a difference belongs to."""
    rows = (*DELIBERATE, *PENDING)
    if not (met.ours.state and met.stock.state):
        # One of the two has stopped, and has no state.
        rows = tuple(row for row in rows if row.holds in {stops, truncates})
    return next((row for row in rows if row.holds(met)), None)
