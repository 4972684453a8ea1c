"""A confused peer refuses, and names wrong topics; it never grants or confirms anything false."""

from __future__ import annotations

from random import Random

from records.messages.elections import VoteResponse
from simulations.faults.confusion import confuse
from simulations.raft.swarm import draw
from tests.simulations.building import lived

Topic = VoteResponse.TopicData


def test_a_confused_answer_never_grants_a_vote() -> None:
    part = Topic.PartitionData(partition_index=0, error_code=0, leader_id=-1, leader_epoch=3, vote_granted=False)
    response = VoteResponse(error_code=0, topics=(Topic(topic_name="__cluster_metadata", partitions=(part,)),))
    rng = Random(1)

    answers = [confuse(rng, response) for _ in range(300)]

    parts = [each.topics[0].partitions[0] for each in answers if each.topics]
    assert not any(each.vote_granted for each in parts)
    assert {each.leader_epoch for each in parts} == {3}
    assert len({str(each) for each in answers}) > 10


def test_a_quorum_with_a_confused_peer_makes_progress() -> None:
    seed = next(seed for seed in range(1, 99) if any(each.kind == "odd_answers" for each in draw(seed).faults))
    fault = next(each for each in draw(seed).faults if each.kind == "odd_answers")
    fault.at_ms, fault.on, fault.args = 50, "", {"whom": 0, "of_100": 40, "for_ms": 400}

    run = lived(2000, faults=[fault])

    assert run.fired == {"odd_answers": 1}
    assert run.ledger.history.end > 20
