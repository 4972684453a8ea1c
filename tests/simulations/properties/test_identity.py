"""A planted violation of identity is detected."""

from __future__ import annotations

import pytest

from simulations.world.violation import Violation
from tests.simulations.building import connection_to, followers, frame, lived


def test_a_vote_granted_for_another_voters_request_is_detected() -> None:
    run = lived()
    voter = followers(run)[0]
    granted = frame("VoteAnswer", 0, voter.replica.epoch, -1, 1, stray="voter")

    with pytest.raises(Violation, match="S20"):
        run.watch.leaves(connection_to(run, voter), granted, True)
