from __future__ import annotations

from raft.interface.inputs import Propose
from raft.interface.limits import NEVER
from raft.state.proposals import Proposals


def propose(base_offset: int, last_offset: int, size: int) -> Propose:
    return Propose(3, base_offset, last_offset, bytes(size))


def test_proposals_add_up_and_the_earliest_linger_counts() -> None:
    proposals = Proposals(10)

    proposals.add(propose(10, 12, 100), drain_ms=50)
    proposals.add(propose(13, 13, 20), drain_ms=60)

    assert (proposals.next_offset, proposals.size, proposals.drain_ms) == (14, 120, 50)


def test_a_drain_returns_all_proposals_in_order_and_keeps_the_next_offset() -> None:
    proposals = Proposals(10)
    first, second = propose(10, 12, 100), propose(13, 13, 20)
    proposals.add(first, drain_ms=50)
    proposals.add(second, drain_ms=60)

    drained = proposals.drain()

    assert drained == [first, second]
    assert (proposals.drain(), proposals.next_offset, proposals.size, proposals.drain_ms) == ([], 14, 0, NEVER)
