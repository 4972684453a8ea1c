"""The search for the leader: which nodes are asked, what is learned from them, and what is said if none leads."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from records.errors import Error
from records.messages.cluster import DescribeClusterResponse
from records.messages.quorum import DescribeQuorumResponse
from tests.tools.client.test_admin import DESCRIBE_CLUSTER, cluster, nodes
from tools.client.quorum import Controllers, NoLeader, Refused, look, look_in_parallel

if TYPE_CHECKING:
    from tests.tools.client.test_admin import Node

DESCRIBE_QUORUM = 55


def quorum(code: int = 0, epoch: int = 7) -> DescribeQuorumResponse:
    partition = DescribeQuorumResponse.TopicData.PartitionData(
        partition_index=0, error_code=code, leader_id=2, leader_epoch=epoch, high_watermark=40, current_voters=(),
        observers=(),
    )  # fmt: skip
    topic = DescribeQuorumResponse.TopicData(topic_name="__cluster_metadata", partitions=(partition,))
    return DescribeQuorumResponse(error_code=0, topics=(topic,))


def denied() -> DescribeQuorumResponse:
    return DescribeQuorumResponse(error_code=Error.CLUSTER_AUTHORIZATION_FAILED, topics=())


def answer(node: Node, response: Any, *ports: int, active: int = 2) -> None:
    """What a node answers: it names the controllers at these ports."""
    node.versions[DESCRIBE_CLUSTER] = 2
    node.answers[DESCRIBE_CLUSTER] = partial(cluster, active, *ports)
    node.answers[DESCRIBE_QUORUM] = lambda: response


def at(*found: Node) -> list[tuple[str, int]]:
    return [("127.0.0.1", node.port) for node in found]


def test_the_active_controller_that_a_follower_names_is_asked_next_and_first_at_the_next_search() -> None:
    with nodes({}, {}, {}) as (one, two, three):
        ports = [node.port for node in (one, two, three)]
        answer(one, quorum(Error.NOT_LEADER_OR_FOLLOWER), *ports)
        answer(two, quorum(), *ports)

        controllers = Controllers(at(one), "test")
        connection, view = controllers.connect()
        connection.socket.close()

        assert (view.epoch, view.high_watermark, view.cluster_id, view.address) == (7, 40, "c", at(two)[0])
        assert (controllers.addresses, controllers.said) == (at(two, one, three), {})
        assert three.asked == []


def test_a_search_without_a_leader_has_the_answer_of_each_node() -> None:
    with nodes({}, {}) as (one, two):
        answer(one, quorum(Error.NOT_LEADER_OR_FOLLOWER))
        answer(two, DescribeQuorumResponse(error_code=0, topics=()))
        said = [
            f"127.0.0.1:{one.port}: NOT_LEADER_OR_FOLLOWER, not the leader",
            f"127.0.0.1:{two.port}: an answer without the metadata partition",
        ]

        with pytest.raises(NoLeader) as error:
            look(at(one, two), "test")
        with pytest.raises(NoLeader) as parallel:
            look_in_parallel(at(two, one), "test", 3.0)

    assert [type(each.value) for each in (error, parallel)] == [NoLeader, NoLeader]
    assert (str(error.value), str(parallel.value)) == ("; ".join(said), "; ".join(sorted(said)))


def test_a_node_that_refuses_the_client_does_not_hide_the_leader() -> None:
    with nodes({}, {}) as (one, two):
        answer(one, denied())
        answer(two, quorum())

        assert look(at(one, two), "test").address == at(two)[0]
        answer(two, quorum(Error.NOT_LEADER_OR_FOLLOWER))
        with pytest.raises(Refused, match=f"127.0.0.1:{one.port}: CLUSTER_AUTHORIZATION_FAILED; 127.0.0.1"):
            look(at(one, two), "test")


def test_only_the_named_cluster_is_accepted() -> None:
    with nodes({}) as (one,):
        answer(one, quorum())

        with pytest.raises(NoLeader, match="its cluster id is c, not d"):
            Controllers(at(one), "test", cluster_id="d").connect()


def test_a_broker_has_no_log_to_read_and_a_principal_needs_two_rights_for_it() -> None:
    broker = DescribeClusterResponse(
        throttle_time_ms=0, error_code=Error.MISMATCHED_ENDPOINT_TYPE, endpoint_type=2, cluster_id="", brokers=()
    )
    with nodes({}, {}) as (one, two):
        answer(one, quorum())
        one.answers[DESCRIBE_CLUSTER] = lambda: broker
        answer(two, denied())

        assert look(at(one), "test").epoch == 7
        with pytest.raises(Refused) as error:
            Controllers(at(one, two), "test", for_log=True).connect()

    assert str(error.value) == (
        f"127.0.0.1:{one.port}: it is a broker, not a controller; 127.0.0.1:{two.port}: DescribeQuorum: "
        "CLUSTER_AUTHORIZATION_FAILED: its principal needs ClusterAction and Describe on Cluster"
    )
