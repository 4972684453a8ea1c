"""The image of a live quorum, which an observer reads from its leader.

The image has only committed batches, so nothing has to be undone when the leader changes. Nothing is written, no lock
is taken.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from tools.client.observer import WAIT_S, Observer
from tools.client.quorum import NotAnswered
from tools.offline.image import LARGE_BYTES, Image
from tools.offline.log_file import DamagedLog
from tools.offline.take_in import last_log_time_ms, take_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from raft.network.security import ClientSecurity
    from tools.client.quorum import Address
    from tools.offline.log_file import StoredBatch

# Of one update: loads of a snapshot, diverging epochs and empty responses before it waits between requests.
RESTARTS_MAX = 4


class Position(NamedTuple):
    """The end of the image. end_offset: exclusive; epoch: of the last batch in it."""

    end_offset: int
    epoch: int


START = Position(0, 0)


class LiveQuorum(Observer):
    """An image of the metadata that `update` brings to the state of the quorum; a context manager.

    wait_s: how long `update` looks for a leader.
    image: as of the last update. position: the end of it.
    """

    def __init__(
        self, addresses: list[Address], client_id: str, wait_s: float = WAIT_S, security: ClientSecurity | None = None
    ) -> None:
        super().__init__(addresses, client_id, wait_s, security)
        self.image = self.new_image()
        self.position = START

    def update(self) -> Image:
        """Read up to the high watermark of the leader's first response; returns the image.

        If the log no longer reaches back to the end of the image, a new image is loaded from a snapshot. Raises
        NoLeader.
        """
        retries = self.retries()
        goal: int | None = None
        restarts = 0
        while True:
            before = self.position
            goal = self.repeat(partial(self._step, goal), retries)
            if goal is not None and self.position.end_offset >= goal:
                return self.image
            # A node that always answers with a snapshot, or a diverging epoch, makes no progress towards the goal.
            if goal is not None and self.position.end_offset <= before.end_offset:
                restarts += 1
                if restarts > RESTARTS_MAX:
                    self.note(f"{restarts} responses without progress to offset {goal}")
                    self.pause(retries)
            # The high watermark of a leader is unknown until it has committed a record of its own epoch.
            if goal is None:
                self.note("the leader does not know its high watermark yet")
                self.pause(retries)

    def _step(self, goal: int | None) -> int | None:
        """Send one Fetch; the high watermark, None while it is unknown. Raises one of FAILURES."""
        partition = self.fetch(*self.position)
        if partition.snapshot_id is not None and partition.snapshot_id.end_offset >= 0:
            self._load_snapshot(partition.snapshot_id.end_offset, partition.snapshot_id.epoch)
            return goal
        if partition.diverging_epoch is not None and partition.diverging_epoch.epoch >= 0:
            # Committed records are gone: another cluster has these addresses now, or the disks were lost.
            self._begin_anew()
            return goal
        high_watermark = int(partition.high_watermark)
        if high_watermark < 0:
            return goal
        if high_watermark < self.position.end_offset:
            raise NotAnswered(f"its high watermark is {high_watermark}, behind offset {self.position.end_offset}")
        data = bytes(partition.records or b"")
        try:
            taken = take_in(self.image, data, self.position.end_offset, high_watermark, self.admits)
        except DamagedLog as error:
            raise NotAnswered(str(error)) from None
        if taken.epoch is not None:
            self.on_batches(data[: taken.position], self.position.end_offset)
            self.position = Position(taken.end_offset, taken.epoch)
        if taken.is_refused:
            return self.position.end_offset
        if taken.epoch is None and self.position.end_offset < high_watermark:
            raise NotAnswered(f"it returned no batch at offset {self.position.end_offset}, below {high_watermark}")
        return high_watermark if goal is None else goal

    def _load_snapshot(self, end_offset: int, epoch: int) -> None:
        data = self.fetch_snapshot(end_offset, epoch)
        image = self.new_image()
        image.is_large = len(data) >= LARGE_BYTES
        try:
            is_whole = take_in(image, data, 0, None).position == len(data)
        except DamagedLog as error:
            raise NotAnswered(str(error)) from None
        if not is_whole:
            raise NotAnswered(f"snapshot {end_offset}-{epoch} is damaged")
        image.last_offset, image.last_epoch = end_offset - 1, epoch
        image.last_time_ms = last_log_time_ms(data)
        self.on_snapshot(data, end_offset, epoch)
        self.image, self.position = image, Position(end_offset, epoch)

    def new_image(self) -> Image:
        """An empty image."""
        return Image()

    def admits(self, batch: StoredBatch) -> bool:
        """Whether to replay a batch; `update` ends before the first that is refused."""
        del batch
        return True

    def on_snapshot(self, data: bytes, end_offset: int, epoch: int) -> None:
        """A whole snapshot was loaded, and replaces all that was read before; for a subclass that keeps the bytes."""

    def on_batches(self, data: bytes, offset: int) -> None:
        """Committed batches were replayed; those below `offset`, if there are any, were replayed before."""

    def _begin_anew(self) -> None:
        self.on_reset()
        self.image, self.position = self.new_image(), START

    def on_reset(self) -> None:
        """All that was read is void."""
