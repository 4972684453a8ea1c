"""A node that never lets an update end."""

from __future__ import annotations

import pytest

from tools.client.live_quorum import LiveQuorum, Position
from tools.client.quorum import NoLeader


class Circling(LiveQuorum):
    """Of a leader that sends some batches, then a diverging epoch, again and again."""

    steps = 0

    def _step(self, _goal: int | None) -> int | None:
        self.steps += 1
        assert self.steps < 1000, "the update does not end"
        self.position = Position(5, 1) if self.position.end_offset == 0 else Position(0, 0)
        return 10


def test_an_update_ends_in_an_error_if_the_leader_sends_it_in_a_circle() -> None:
    quorum = Circling([("127.0.0.1", 1)], "test", 0.3)

    with pytest.raises(NoLeader, match="responses without progress to offset 10"):
        quorum.update()
