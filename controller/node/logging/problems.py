"""Problems that last, of a peer or of this node: each is logged once, and shown while it lasts; repeats are counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from raft.interface.limits import OVERRIDE_PEER

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

# A problem that persists is logged again after this time, with the number of repeats; one that did not repeat for this
# time is over.
REPEAT_S = 60.0
# Those that occur again within moments while they last are over, for those who look, after this time.
OVER_S = 10.0
SEEN_OFTEN = {
    "peer_answered_error", "peer_in_other_cluster", "peer_has_other_key", "vote_for_other_key", "fetch_from_own_id",
    "node_id_shared", "peer_inconsistent", "majority_missing",
}  # fmt: skip
# A peer connects again and again, each time from another port: that is no other problem.
_BY_HOST = {"peer_in_other_cluster"}
# Peers choose what they send: no more problems than this are kept at a time.
KEPT_MAX = 64
# Of these, which last for long, the time until the next line.
_LOGGED_AGAIN_S = {"certificate_expires": 24 * 3600.0, "certificate_expired": 3600.0, "disk_nearly_full": 3600.0}


class Problem(NamedTuple):
    """event: of the log. text: what was expected, what was found, and the remedy."""

    event: str
    text: str
    since_s: float
    last_s: float
    occurrences: int


# A leader asks for records to be dropped that this node knows to be committed.
DATA_LOST = "truncation_refused"

# By event, of some events by error too: the text, with the fields of the event in braces.
TEXTS = {
    "peer_answered_error": "node {peer} refuses requests of this node with {error}",
    "peer_answered_error INCONSISTENT_CLUSTER_ID": (
        "node {peer} refuses this node: the two were formatted with different cluster ids. Compare cluster.id in "
        "meta.properties of both: mount the disk of this cluster where it is another, or correct "
        "controller.quorum.voters. Format a directory again only if it holds nothing to keep"
    ),
    "peer_in_other_cluster": (
        "{sender} at {address} sends requests with the cluster id {found} to this node, whose cluster id is "
        "{expected}. Mount the disk of this cluster there, or correct controller.quorum.voters"
    ),
    "peer_has_other_key": (
        "node {peer} has another directory id than the voter set says: its disk was replaced, or its address leads to "
        "another node. Restore the disk, or replace the voter"
    ),
    "fetch_from_own_id": (
        "another process fetches with the id of this node ({key}): two nodes have the same node.id. Give one of them "
        "another node.id and directory"
    ),
    "node_id_shared": (
        "two processes fetch with node id {peer}, which must belong to one: {first}, {second}. Stop the wrong one, and "
        "give it another node.id and a newly formatted directory"
    ),
    "vote_for_other_key": (
        "node {candidate_id} requests the vote of voter {voter_id} at the address of this node, which is another one. "
        "It does so while voter {voter_id} does not answer at its own address: start that voter. If it runs, correct "
        "controller.quorum.voters on node {candidate_id}"
    ),
    "clock_jumped": (
        "the wall clock of this host moved by {by_ms} ms between two seconds. The quorum does not depend on it, but "
        "the timestamps of records and the validity of tokens and certificates do. Check its time service"
    ),
    "disk_slow": (
        "the disk of {directory} has completed no write for {limit_s} s, although one is pending. A voter "
        "acknowledges nothing meanwhile; the others commit as a majority. Check the disk, and what else writes to it"
    ),
    "disk_nearly_full": (
        "less than {limit} are free on the file system of {directory}. The node stops when a write fails. Free "
        "space on it, or enlarge it"
    ),
    "audit_log_failed": (
        "the audit log {path} cannot be written: {error}. Its lines wait in memory, and are dropped when more than 4 "
        "MiB wait. Free space, or correct the permissions of the file and its directory"
    ),
    "audit_lines_lost": (
        "lines of the audit log {path} are dropped: more than {limit_bytes} bytes wait for its disk. Check the disk"
    ),
    "certificate_expires": (
        "the certificate of {listener} in {file} is valid until {until}, and refused from then on. Write a new one to "
        "the file; the node reads it without a restart"
    ),
    "certificate_expired": (
        "the certificate of {listener} in {file} was valid until {until}; peers and clients refuse it. Write a new one "
        "to the file; the node reads it without a restart"
    ),
    DATA_LOST: (
        "the quorum has lost data: node {leader_id}, which leads epoch {epoch}, has another log from offset "
        "{end_offset} on, and this node has committed all records below {committed}. It keeps them, and does not "
        'follow. Stop the other controllers, and do not format this node: docs/operations.md, "The quorum has lost '
        'data"'
    ),
    "fetched_records_refused": (
        "the leader sends records that do not follow the log of this node, which refuses them; the field `reason` of "
        "the line says why. Look at the leader's disk and at its log"
    ),
    "snapshot_offer_refused": (
        "the leader offers a snapshot that cannot continue the log of this node, which refuses it. Look at the "
        "leader's disk and at its snapshots"
    ),
    "snapshot_part_refused": (
        "the leader sends parts of a snapshot that do not fit together, or more than 2 GiB, and this node refuses "
        "them. Look at the leader's disk and at its snapshots"
    ),
    "snapshot_refused": (
        "a snapshot that the leader sent fails its check, and was deleted. Look at the leader's disk and at its "
        "snapshots"
    ),
    "majority_missing": (
        "there is no leader: {reached} of {voters} voters can be reached, this node included, and a majority is "
        "{needed}. Start the voters {lost}, or repair the network to them"
    ),
    "peer_inconsistent": (
        "a peer names node {said_leader_id} as the leader, against what this node knows: two processes have the same "
        "node.id, two quorums are mixed, or a log directory was restored from a copy. Compare node.id, cluster.id and "
        "directory.id in meta.properties of all nodes"
    ),
}


class _Fields(dict[str, Any]):
    """The fields of an event; None for one that it does not have."""

    def __missing__(self, name: str) -> None:
        return None


def text_of(event: str, fields: Mapping[str, Any]) -> str | None:
    """The text of a problem; None for an event that is no problem."""
    form = TEXTS.get(f"{event} {fields.get('error')}") or TEXTS.get(event)
    if form is None:
        return None
    peer = fields.get("peer")
    if isinstance(peer, int):
        address = fields.get("address")
        form = form.replace("node {peer}", f"{name_of(peer)} at {{address}}" if address else name_of(peer))
    return form.format_map(_Fields(fields))


def _without_port(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {**fields, "address": str(fields.get("address")).rpartition(":")[0]}


def name_of(peer: int) -> str:
    """A peer in words: those of `controller.quorum.bootstrap.servers` have negative ids until they name theirs."""
    if peer <= OVERRIDE_PEER:
        return f"the override of node {OVERRIDE_PEER - peer}"
    return f"node {peer}" if peer >= 0 else f"bootstrap server {-peer - 1} of controller.quorum.bootstrap.servers"


class Problems:
    """The problems of one node. clock_s: monotonic."""

    def __init__(self, clock_s: Callable[[], float]) -> None:
        self._clock_s = clock_s
        self._known: dict[str, Problem] = {}
        self._logged: dict[str, tuple[float, int]] = {}

    def see(self, event: str, fields: dict[str, Any]) -> bool:
        """Count an event with these fields. Returns whether it is logged; then `text` and `repeated` are added.

        An event that is no problem is always logged.
        """
        text = text_of(event, fields)
        if text is None:
            return True
        # The identity of the problem, which is its text in all but these events.
        key = text_of(event, _without_port(fields)) or text if event in _BY_HOST else text
        now_s = self._clock_s()
        self._forget(now_s)
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= KEPT_MAX:
                return False
            self._known[key] = Problem(event, text, now_s, now_s, 1)
            self._logged[key] = (now_s, 1)
            fields["text"] = text
            return True
        self._known[key] = known = known._replace(text=text, last_s=now_s, occurrences=known.occurrences + 1)
        logged_s, count = self._logged[key]
        if now_s - logged_s < _LOGGED_AGAIN_S.get(event, REPEAT_S):
            return False
        self._logged[key] = (now_s, known.occurrences)
        fields["text"], fields["repeated"] = text, known.occurrences - count
        return True

    def end(self, event: str, but: Collection[str | None] = ()) -> None:
        """The problems of this event are over. but: the texts of those that last."""
        for text in [text for text, problem in self._known.items() if problem.event == event and text not in but]:
            del self._known[text], self._logged[text]

    def now_s(self) -> float:
        return self._clock_s()

    def is_current(self, event: str) -> bool:
        """Whether a problem of this event occurred in the last minute."""
        return any(problem.event == event for problem in self.current())

    def current(self) -> list[Problem]:
        """The problems that last, the oldest first: they occurred in the last minute, or 10 s where they repeat."""
        now_s = self._clock_s()
        self._forget(now_s)
        return [
            problem for problem in self._known.values()
            if problem.event not in SEEN_OFTEN or now_s - problem.last_s < OVER_S
        ]  # fmt: skip

    def _forget(self, now_s: float) -> None:
        for text in [text for text, problem in self._known.items() if now_s - problem.last_s >= REPEAT_S]:
            del self._known[text], self._logged[text]
