"""Problems with peers that last: each is logged once, repeats are counted, and the current ones can be shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

# A problem that persists is logged again after this time, with the number of repeats; one that did not repeat for this
# time is over.
REPEAT_S = 60.0
# Peers choose what they send: no more problems than this are kept at a time.
KEPT_MAX = 64


class Problem(NamedTuple):
    """event: of the log. text: what was expected, what was found, and the remedy."""

    event: str
    text: str
    since_s: float
    last_s: float
    occurrences: int


def _refused(fields: Mapping[str, Any]) -> str:
    peer, error = fields.get("peer"), fields.get("error")
    if error == "INCONSISTENT_CLUSTER_ID":
        return (
            f"node {peer} refuses this node: the two were formatted with different cluster ids. Compare cluster.id in "
            "meta.properties of both, and format the wrong one again, or correct controller.quorum.voters"
        )
    return f"node {peer} refuses requests of this node with {error}"


def _other_cluster(fields: Mapping[str, Any]) -> str:
    return (
        f"a node with the cluster id {fields.get('found')} sends requests to this node, whose cluster id is "
        f"{fields.get('expected')}. Format the wrong one again, or correct controller.quorum.voters"
    )


def _other_key(fields: Mapping[str, Any]) -> str:
    return (
        f"node {fields.get('peer')} has another directory id than the voter set says: its disk was replaced, or its "
        "address leads to another node. Restore the disk, or replace the voter"
    )


def _same_id(fields: Mapping[str, Any]) -> str:
    return (
        f"another process fetches with the id of this node ({fields.get('key')}): two nodes have the same node.id. "
        "Give one of them another node.id and directory"
    )


def _voted_other(fields: Mapping[str, Any]) -> str:
    return (
        f"node {fields.get('candidate_id')} requests votes from a voter {fields.get('voter_id')} at the address of "
        "this node, which is another one. Correct controller.quorum.voters there"
    )


def _inconsistent(fields: Mapping[str, Any]) -> str:
    return (
        f"node {fields.get('peer')} names another leader for the epoch than this node knows: two quorums are mixed, or "
        "a log directory was restored from a copy"
    )


# By event: its text, from its fields.
TEXTS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "peer_answered_error": _refused,
    "peer_in_other_cluster": _other_cluster,
    "peer_has_other_key": _other_key,
    "fetch_from_own_id": _same_id,
    "vote_for_other_key": _voted_other,
    "peer_inconsistent": _inconsistent,
}


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
        describe = TEXTS.get(event)
        if describe is None:
            return True
        now_s = self._clock_s()
        self._forget(now_s)
        text = describe(fields)
        known = self._known.get(text)
        if known is None:
            if len(self._known) >= KEPT_MAX:
                return False
            self._known[text] = Problem(event, text, now_s, now_s, 1)
            self._logged[text] = (now_s, 1)
            fields["text"] = text
            return True
        self._known[text] = known = known._replace(last_s=now_s, occurrences=known.occurrences + 1)
        logged_s, count = self._logged[text]
        if now_s - logged_s < REPEAT_S:
            return False
        self._logged[text] = (now_s, known.occurrences)
        fields["text"], fields["repeated"] = text, known.occurrences - count
        return True

    def now_s(self) -> float:
        return self._clock_s()

    def current(self) -> list[Problem]:
        """The problems that occurred in the last minute, the oldest first."""
        self._forget(self._clock_s())
        return list(self._known.values())

    def _forget(self, now_s: float) -> None:
        for text in [text for text, problem in self._known.items() if now_s - problem.last_s >= REPEAT_S]:
            del self._known[text], self._logged[text]
