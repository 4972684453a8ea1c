from __future__ import annotations

import pytest

from raft import asked_voter
from raft.interface.inputs import Failed
from records.errors import Error
from records.messages.versions import ApiVersionsRequest
from tests.raft.building import Bench, endpoint, key
from tests.raft.changing import add, ask, leading, update, versions


def with_change(kind: str) -> Bench:
    bench = leading(1, 2, 3)
    bench.replica.config.asks_new_endpoints = True
    bench.replica.peers.reset()
    ask(bench, add(key(4)) if kind == "add" else update(key(2), endpoint(9)))
    return bench


@pytest.mark.parametrize(("kind", "other"), [("add", 2), ("update", 3)])
def test_an_answer_of_another_voter_leaves_the_change_as_it_is(kind: str, other: int) -> None:
    bench = with_change(kind)
    change = bench.role.state.change

    is_success = asked_voter.on_response(bench.replica, other, ApiVersionsRequest(), versions(), bench.now)

    assert is_success
    assert bench.role.state.change is change
    assert change.waits_for_versions


@pytest.mark.parametrize("kind", ["add", "update"])
def test_a_voter_that_does_not_answer_gets_no_request_for_a_moment(kind: str) -> None:
    bench = with_change(kind)
    sent = bench.last_send(ApiVersionsRequest)

    bench.tell(Failed(sent.peer, sent.number, Error.BROKER_NOT_AVAILABLE))

    assert bench.role.state.change is None
    assert bench.replica.peers.is_backing_off(sent.peer, bench.now)
