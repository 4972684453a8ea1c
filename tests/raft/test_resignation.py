"""A leader that resigns sends EndQuorumEpoch, before it answers the Fetches that it has parked."""

from __future__ import annotations

from raft.interface.effects import Reply, Send
from raft.interface.inputs import Resign
from records.messages.elections import EndQuorumEpochRequest
from records.messages.fetch import FetchResponse
from tests.raft.building import active, fetch_request


def test_it_leaves_before_the_answers_to_parked_fetches() -> None:
    bench = active(epoch=4)
    bench.ask(fetch_request(4, 3, bench.replica.log.end, 4))

    effects = bench.tell(Resign(4))

    first, second, *answers = [each for each in effects if isinstance(each, (Send, Reply))]
    assert isinstance(first, Send)
    assert isinstance(second, Send)
    assert {type(each.request) for each in (first, second)} == {EndQuorumEpochRequest}
    assert {type(each.response) for each in answers if isinstance(each, Reply)} == {FetchResponse}
