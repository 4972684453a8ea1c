"""A planted violation of each property of periodic work is detected."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from raft.interface.effects import Append, Send
from raft.interface.inputs import Answered, Failed, Ticked
from raft.state.peers import Peers
from records.batch import build_control_batch
from records.control import LeaderChangeMessage
from records.control_batch import encode_control
from records.errors import Error
from records.messages.elections import BeginQuorumEpochRequest
from records.messages.fetch import FetchResponse
from simulations.properties.periodic_work import IDLE_MAX
from simulations.world.violation import Violation
from tests.simulations.building import followers, leader, lived

if TYPE_CHECKING:
    from simulations.world.process import Process


def sent(process: Process, peer: int) -> Send:
    """The request whose answer a node waits for."""
    found = process.watch
    effects: list[Send] = []
    kept = found.performs

    def look(at: Process, effect: object) -> None:
        if at is process and isinstance(effect, Send) and effect.peer == peer:
            effects.append(effect)
        kept(at, effect)

    found.performs = look  # type: ignore[method-assign]
    while not effects:
        process.world.run(process.world.now + 1000)
    found.performs = kept  # type: ignore[method-assign]
    return effects[-1]


def test_a_request_repeated_without_a_pause_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    run = lived()
    follower = followers(run)[0]
    request = sent(follower, leader(run).node.id)
    monkeypatch.setattr(Peers, "back_off", lambda *_: None)

    with pytest.raises(Violation, match="L14"):
        follower.handle(Failed(request.peer, request.number, Error.BROKER_NOT_AVAILABLE))


def test_a_request_repeated_at_once_after_a_refusal_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    run = lived()
    follower = followers(run)[0]
    request = sent(follower, leader(run).node.id)
    monkeypatch.setattr(Peers, "back_off", lambda *_: None)
    refused = FetchResponse(error_code=Error.UNKNOWN_SERVER_ERROR, session_id=0, responses=())

    with pytest.raises(Violation, match="L14"):
        follower.handle(Answered(request.peer, request.number, refused))


def test_a_voter_that_is_notified_of_the_leader_again_and_again_is_a_violation() -> None:
    run = lived()
    found = leader(run)
    request = BeginQuorumEpochRequest(cluster_id=None, voter_id=1, topics=(), leader_endpoints=())
    begin = Send(99, 1 << 20, found.replica.role.endpoints[0], request)

    run.watch.performs(found, begin)
    run.watch.performs(found, begin)

    with pytest.raises(Violation, match="L14"):
        run.watch.performs(found, begin)


def test_a_first_record_without_the_granting_voters_is_detected() -> None:
    run = lived()
    found = leader(run)
    end, epoch = found.replica.log.end, found.replica.epoch
    voters = tuple(LeaderChangeMessage.Voter(voter_id=voter_id) for voter_id in (1, 2, 3))
    said = LeaderChangeMessage(version=0, leader_id=found.node.id, voters=voters, granting_voters=voters[:1])
    data = build_control_batch([encode_control(said)], base_offset=end, leader_epoch=epoch, timestamp_ms=0)

    with pytest.raises(Violation, match="S27"):
        run.watch._on_performs[Append][-2](found, Append(0, end, end + 1, epoch, data))


def wake(process: Process, times: int) -> None:
    """Wake a node this often, without work."""
    for _ in range(times):
        process.watch.on_stepped(process, "input:Ticked", Ticked(), [])


def test_a_node_that_wakes_for_nothing_is_detected() -> None:
    run = lived()

    with pytest.raises(Violation, match="L14"):
        wake(followers(run)[0], IDLE_MAX + 1)
