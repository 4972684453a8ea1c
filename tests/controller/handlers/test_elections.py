"""ElectLeaders, balancing and unclean elections: ReplicationControlManagerTest's and QuorumControllerTest's cases."""

import pytest

from controller.handlers import elections
from records.errors import Error, error_text
from records.messages.reassignments import ElectLeadersRequest
from tests.controller.rig import Rig, set_config

PREFERRED, UNCLEAN = 0, 1


def elect(rig, kind, *named, **fields):
    """Request an election, of all partitions if none is named. Returns topic -> partition -> (error, text)."""
    cls = ElectLeadersRequest.TopicPartitions
    topics = tuple(cls(topic=topic, partitions=partitions) for topic, partitions in named) or None
    response = rig.ask(ElectLeadersRequest(election_type=kind, topic_partitions=topics, **fields))
    assert response.error_code == 0, response
    return {
        topic.topic: {p.partition_id: (p.error_code, p.error_message) for p in topic.partition_result}
        for topic in response.replica_election_results
    }


OK = (0, None)
NOT_NEEDED = (Error.ELECTION_NOT_NEEDED, error_text(Error.ELECTION_NOT_NEEDED))


def test_a_preferred_election_elects_the_preferred_leaders():
    rig = Rig().lead().brokers(1, 2, 3)
    rig.create("foo", (1, 2, 3), (2, 3, 1), (3, 1, 2))
    rig.fence(1, 2)
    rig.unfence(1)
    for partition_id in range(3):
        rig.alter("foo", (3, 1), partition_id=partition_id)

    found = elect(rig, PREFERRED, ("foo", (0, 1, 2, 3)), ("bar", (0,)))

    not_available = (Error.PREFERRED_LEADER_NOT_AVAILABLE, error_text(Error.PREFERRED_LEADER_NOT_AVAILABLE))
    assert found == {
        "foo": {
            0: OK,
            1: not_available,
            2: NOT_NEEDED,
            3: (Error.UNKNOWN_TOPIC_OR_PARTITION, "No such partition as foo-3"),
        },
        "bar": {0: (Error.UNKNOWN_TOPIC_OR_PARTITION, "No such topic as bar")},
    }
    assert [rig.partition("foo", n).leader for n in range(3)] == [1, 3, 3]


def test_an_election_for_all_partitions_omits_those_that_need_none():
    rig = Rig().lead().brokers(1, 2)
    rig.create("foo", (1, 2), (2, 1))
    rig.create("bar", (2, 1))
    rig.fence(1)
    rig.unfence(1)
    rig.alter("foo", (2, 1))

    assert elect(rig, PREFERRED) == {"foo": {0: OK}, "bar": {}}


def test_a_preferred_election_is_never_unclean():
    rig = Rig().lead().brokers(1, 2, 3)
    rig.create("foo", (1, 2, 3), unclean_leader_election_enable="false")
    rig.fence(2, 3, 1)
    rig.unfence(2)
    before = rig.end_offset

    found = elect(rig, PREFERRED, ("foo", (0,)))

    assert found["foo"][0][0] == Error.PREFERRED_LEADER_NOT_AVAILABLE
    assert (rig.partition("foo").leader, rig.end_offset) == (-1, before)


def test_a_requested_unclean_election_ignores_the_topics_config():
    rig = Rig().lead().brokers(1, 2, 3)
    rig.create("foo", (1, 2, 3), (2, 3, 1), (2, 1, 3))
    rig.fence(2, 3, 1)
    rig.unfence(3)

    found = elect(rig, UNCLEAN, ("foo", (0, 1, 5)), ("nope", (0,)))

    assert found == {
        "foo": {0: OK, 1: OK, 5: (Error.UNKNOWN_TOPIC_OR_PARTITION, "No such partition as foo-5")},
        "nope": {0: (Error.UNKNOWN_TOPIC_OR_PARTITION, "No such topic as nope")},
    }
    partition = rig.partition("foo")
    assert (partition.leader, partition.isr, partition.recovery_state) == (3, (3,), 1)
    assert elect(rig, UNCLEAN, ("foo", (0,))) == {"foo": {0: NOT_NEEDED}}
    assert rig.partition("foo", 2).leader == -1
    assert elect(rig, UNCLEAN) == {"foo": {2: OK}}


def test_no_leader_is_elected_while_all_replicas_are_fenced():
    rig = Rig().lead().brokers(1, 2)
    rig.create("foo", (1, 2))
    rig.fence(1, 2)

    error = Error.ELIGIBLE_LEADERS_NOT_AVAILABLE
    assert elect(rig, UNCLEAN, ("foo", (0,))) == {"foo": {0: (error, error_text(error))}}


@pytest.mark.parametrize("named", [[(0, 0)], [(0,), (0,)]])
def test_a_partition_named_twice_has_one_election(named):
    rig = Rig().lead().brokers(1, 2)
    rig.create("foo", (1, 2))
    rig.fence(1)
    rig.unfence(1)
    rig.alter("foo", (2, 1))
    before = rig.end_offset

    topics = tuple(ElectLeadersRequest.TopicPartitions(topic="foo", partitions=partitions) for partitions in named)
    response = rig.ask(ElectLeadersRequest(topic_partitions=topics))

    results = [result for topic in response.replica_election_results for result in topic.partition_result]
    assert ([p.error_code for p in results], rig.end_offset) == ([0, Error.ELECTION_NOT_NEEDED], before + 1)


def test_an_unknown_kind_of_election_is_refused_as_a_whole():
    rig = Rig().lead()
    topics = (ElectLeadersRequest.TopicPartitions(topic="foo", partitions=(0, 1)),)

    response = rig.ask(ElectLeadersRequest(election_type=5, topic_partitions=topics))

    assert response.error_code == Error.INVALID_REQUEST
    assert [(p.error_code, p.error_message) for p in response.replica_election_results[0].partition_result] == [
        (Error.INVALID_REQUEST, "Unknown election type 5")
    ] * 2


def test_an_empty_request_is_answered_by_a_standby():
    assert Rig().ask(ElectLeadersRequest(topic_partitions=())).error_code == 0


def test_leaders_are_balanced_periodically():
    rig = Rig(metadata_max_idle_interval_ms=0, leader_imbalance_check_interval_seconds=5).lead().brokers(1, 2)
    rig.create("foo", (1, 2), (1, 2))
    rig.fence(1)
    rig.unfence(1)
    rig.alter("foo", (2, 1))
    assert rig.state.partitions.counts().imbalanced == 2

    rig.tick(4000)
    assert rig.partition("foo").leader == 2
    rig.tick(1000)

    assert [rig.partition("foo", n).leader for n in (0, 1)] == [1, 2]
    assert rig.state.partitions.counts().imbalanced == 1


def test_leaders_are_not_balanced_if_that_is_disabled():
    rig = Rig(
        metadata_max_idle_interval_ms=0,
        leader_imbalance_check_interval_seconds=1,
        auto_leader_rebalance_enable=False,
    )
    rig.lead().brokers(1, 2)
    rig.create("foo", (1, 2))
    rig.fence(1)
    rig.unfence(1)
    rig.alter("foo", (2, 1))

    rig.tick(8000)

    assert rig.partition("foo").leader == 2


def test_balancing_of_many_partitions_continues_soon():
    rig = Rig(metadata_max_idle_interval_ms=0, leader_imbalance_check_interval_seconds=5).lead().brokers(1, 2)
    rig.create("foo", *[(1, 2)] * 1500)
    rig.fence(1)
    rig.unfence(1)
    for partition_id in range(1500):
        rig.alter("foo", (2, 1), partition_id=partition_id)
    rig.heartbeat(1)
    rig.heartbeat(2)

    rig.tick(5000)
    assert rig.state.partitions.counts().imbalanced == 500
    rig.tick(10)
    assert rig.state.partitions.counts().imbalanced == 0


def test_a_run_elects_no_more_leaders_than_its_limit_where_some_partitions_cannot_be_balanced(monkeypatch):
    monkeypatch.setattr(elections, "ELECTIONS_MAX", 4)
    rig = Rig(metadata_max_idle_interval_ms=0, leader_imbalance_check_interval_seconds=5).lead().brokers(1, 2, 3)
    rig.create("foo", *[(3, 2)] * 2, *[(1, 2)] * 8)
    rig.fence(1, 3)
    rig.unfence(1)
    for partition_id in range(2, 10):
        rig.alter("foo", (2, 1), partition_id=partition_id)
    rig.heartbeat(1)
    rig.heartbeat(2)

    rig.tick(5000)
    assert rig.state.partitions.counts().imbalanced == 2 + 8 - 4
    rig.tick(10)
    assert rig.state.partitions.counts().imbalanced == 2


@pytest.mark.parametrize(("of_all_nodes", "of_this_node", "leader"), [("true", "false", -1), ("false", "true", 2)])
def test_a_config_of_this_node_comes_before_that_of_all_nodes(of_all_nodes, of_this_node, leader):
    rig = Rig().lead().brokers(1, 2)
    rig.create("foo", (1, 2))
    set_config(rig, 4, "", "unclean.leader.election.enable", of_all_nodes)
    set_config(rig, 4, "3000", "unclean.leader.election.enable", of_this_node)

    rig.fence(2, 1)
    rig.unfence(2)

    assert rig.partition("foo").leader == leader


@pytest.mark.parametrize("where", ["topic", "cluster", "node", "static"])
def test_leaderless_partitions_get_an_unclean_leader_if_that_is_allowed(where):
    rig = Rig(
        metadata_max_idle_interval_ms=0,
        unclean_leader_election_interval_ms=5000,
        unclean_leader_election_enable=where == "static",
    )
    rig.lead().brokers(1, 2)
    rig.create("foo", (1, 2))
    rig.create("bar", (1, 2), unclean_leader_election_enable="false")
    if where != "static":
        rig.fence(2, 1)
        rig.unfence(2)
        assert rig.partition("foo").leader == -1
    resource = {"topic": (2, "foo"), "cluster": (4, ""), "node": (4, "3000")}.get(where)
    if resource:
        set_config(rig, *resource, "unclean.leader.election.enable", "true")
    else:
        rig.fence(2, 1)
        rig.unfence(2)

    rig.tick(5000)

    assert [rig.partition(topic).leader for topic in ("foo", "bar")] == [2, -1]
    assert rig.partition("foo").recovery_state == 1
