"""The state of a live quorum at a point, read from its leader: its newest snapshot, and the log behind that."""

from __future__ import annotations

from tools.client.live_quorum import LiveQuorum
from tools.client.quorum import NoLeader
from tools.kraftctl.points.points import NoPoint
from tools.offline.take_in import last_log_time_ms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from raft.network.security import ClientSecurity
    from tools.client.quorum import Address
    from tools.kraftctl.points.noting_image import NotingImage
    from tools.kraftctl.points.points import Reading
    from tools.offline.log_file import StoredBatch

WAIT_S = 30.0


class PastQuorum(LiveQuorum):
    """A live quorum, up to the end of a reading. It sends its newest snapshot, and the log behind that."""

    image: NotingImage

    def __init__(
        self, addresses: list[Address], client_id: str, reading: Reading, security: ClientSecurity | None = None,
        wait_s: float = WAIT_S,
    ) -> None:  # fmt: skip
        self.reading = reading
        super().__init__(addresses, client_id, wait_s, security)

    def new_image(self) -> NotingImage:
        return self.reading.new_image()

    def update(self) -> NotingImage:
        super().update()
        return self.image

    def admits(self, batch: StoredBatch) -> bool:
        return self.reading.admits(self.image, batch)

    def on_snapshot(self, data: bytes, end_offset: int, epoch: int) -> None:
        del epoch
        self.reading.begins(end_offset, last_log_time_ms(data))


def read_quorum(
    addresses: list[Address], client_id: str, reading: Reading, security: ClientSecurity | None
) -> NotingImage:
    """The state at the end of a reading. Raises NoPoint, also if no leader answers."""
    with PastQuorum(addresses, client_id, reading, security) as quorum:
        return first_image(quorum)


def first_image(quorum: PastQuorum) -> NotingImage:
    """The first state of a quorum. Raises NoPoint if no leader answers."""
    try:
        return quorum.update()
    except NoLeader as error:
        raise NoPoint(str(error)) from None
