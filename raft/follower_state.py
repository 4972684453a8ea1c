"""The state of a follower: the leader's deadline and high watermark, and the snapshot under download."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from raft.config import SnapshotId


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
    """fetch_deadline_ms: when the fetch timeout ends; has_fetched: whether a Fetch of this epoch succeeded.

    leader_high_watermark: from the last answer; it may be above our log end; -1 before the first. update_deadline_ms:
    when it is next checked whether the voter set has this replica as it is; has_updated: whether this leader has
    this replica's endpoints and versions, which with kraft.version 0 no log keeps.
    """

    __slots__ = (
        "download", "fetch_deadline_ms", "has_fetched", "has_updated", "leader_high_watermark", "update_deadline_ms",
    )  # fmt: skip

    def __init__(self, fetch_deadline_ms: int) -> None:
        self.fetch_deadline_ms = fetch_deadline_ms
        self.update_deadline_ms = fetch_deadline_ms
        self.has_fetched = False
        self.has_updated = False
        self.leader_high_watermark = -1
        self.download: Download | None = None

    def fetched(self, now_ms: int, timeout_ms: int) -> None:
        """The leader answered successfully: the fetch timeout starts again."""
        self.fetch_deadline_ms = now_ms + timeout_ms
        self.has_fetched = True
