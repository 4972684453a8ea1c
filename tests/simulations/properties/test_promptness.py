"""A planted violation of each property of promptness is detected."""

from __future__ import annotations

import pytest

from raft.interface.effects import Send
from raft.interface.inputs import Answered
from raft.state.roles import Resigned, Unattached
from records.errors import Error
from records.messages.fetch import FetchResponse
from records.uuids import METADATA_TOPIC_ID
from simulations.world.machine import endpoint
from simulations.world.violation import Violation
from simulations.world.world import MS
from tests.simulations.building import followers, leader, live, lived

Answer = FetchResponse.FetchableTopicResponse
Data = Answer.PartitionData


def test_a_leader_that_resigns_without_notifying_its_peers_is_a_violation(monkeypatch: pytest.MonkeyPatch) -> None:
    run = lived()
    found = leader(run)
    was = found.replica.role
    resigned = Resigned(was.epoch, found.node.id, was.endpoints, 1 << 60, (), [each.node.id for each in followers(run)])
    run.clients.stop()
    monkeypatch.setattr("raft.poll.send_end_requests", lambda *_: None)
    found.replica.become(resigned)

    run.watch.on_stepped(found, "input:Ticked", None, found.replica.take_effects())

    with pytest.raises(Violation, match="L15"):
        run.world.run(run.world.now + 40 * MS)


def test_a_node_that_an_answer_informs_of_the_leader_and_does_not_know_it_is_a_violation() -> None:
    run = lived()
    follower = followers(run)[0]
    epoch = follower.replica.epoch
    follower.replica.role = Unattached(epoch, None, None, 1 << 60)
    node = FetchResponse.NodeEndpoint(node_id=leader(run).node.id, host=endpoint(1).host, port=9093)
    data = Data(
        partition_index=0, error_code=Error.NOT_LEADER_OR_FOLLOWER, high_watermark=-1, log_start_offset=0,
        current_leader=Data.LeaderIdAndEpoch(leader_id=leader(run).node.id, leader_epoch=epoch), records=b"",
    )  # fmt: skip
    response = FetchResponse(
        error_code=0, responses=(Answer(topic_id=METADATA_TOPIC_ID, partitions=(data,)),), node_endpoints=(node,)
    )
    run.watch.performs(follower, Send(7, 99, endpoint(7), response))

    with pytest.raises(Violation, match="S24"):
        run.watch.on_stepped(follower, "input:Answered", Answered(7, 99, response), [])


def test_a_quorum_without_faults_is_prompt() -> None:
    run = lived()
    leader(run).node.kill()

    live(run, 3000)

    assert leader(run).replica.epoch > 1
