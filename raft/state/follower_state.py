"""The state of a follower: the leader's deadline and high watermark, and the snapshot under download."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from raft.interface.config import SnapshotId


class Download:
    """A snapshot that is fetched part by part. position: bytes written to the file, or ordered to be; size: None
    before the first part arrived. writing: the number of the part that is being written, 0 for none.
    """

    __slots__ = ("id", "position", "size", "writing")

    def __init__(self, snapshot: SnapshotId) -> None:
        self.id = snapshot
        self.position = 0
        self.size: int | None = None
        self.writing = 0


class FollowerState:
    """fetch_deadline_ms: when the fetch timeout ends, or the wait before an election where the leader has resigned.
    has_fetched: whether a Fetch of this epoch succeeded, and the leader has not resigned since.

    leader_high_watermark: from the last answer; it may be above our log end; -1 before the first. update_deadline_ms:
    when it is next checked whether the voter set has this replica as it is; has_updated: whether this leader has
    this replica's endpoints and versions, which with kraft.version 0 no log keeps. has_resigned: whether the leader has
    said so (EndQuorumEpoch); it does not lead this epoch again. has_asked: whether it was asked to add this observer to
    the voters since its last successful answer.
    """

    __slots__ = (
        "download", "fetch_deadline_ms", "has_asked", "has_fetched", "has_resigned", "has_updated",
        "leader_high_watermark", "update_deadline_ms",
    )  # fmt: skip

    def __init__(self, fetch_deadline_ms: int, update_deadline_ms: int) -> None:
        self.fetch_deadline_ms = fetch_deadline_ms
        self.update_deadline_ms = update_deadline_ms
        self.has_asked = False
        self.has_fetched = False
        self.has_resigned = False
        self.has_updated = False
        self.leader_high_watermark = -1
        self.download: Download | None = None

    def on_fetched(self, now_ms: int, timeout_ms: int) -> None:
        """The leader answered successfully: the fetch timeout starts again, unless it has resigned since.

        An answer may arrive after EndQuorumEpoch, which comes on another connection.
        """
        if self.has_resigned:
            return
        self.fetch_deadline_ms = now_ms + timeout_ms
        self.has_fetched = True
        self.has_asked = False

    def on_resigned(self, deadline_ms: int) -> None:
        """The leader has resigned: there is no leader to protect from pre-votes. deadline_ms: of our own election.

        It says so again where our answer was lost. That does not put the election off.
        """
        self.fetch_deadline_ms = min(deadline_ms, self.fetch_deadline_ms) if self.has_resigned else deadline_ms
        self.has_resigned = True
        self.has_fetched = False
