"""A planted violation of each property of elections is detected."""

from __future__ import annotations

from dataclasses import replace

import pytest

from raft.interface.config import ReplicaKey
from raft.interface.effects import SaveElection
from raft.interface.inputs import Requested, Source
from records.messages.elections import VoteRequest
from simulations.world.violation import Violation
from simulations.world.voter_sets import Voters
from tests.simulations.building import connection_to, followers, frame, leader, lived


def vote_request(epoch: int, candidate: int, *, pre_vote: bool = False) -> VoteRequest:
    topic = VoteRequest.TopicData
    asked = topic.PartitionData(
        partition_index=0, replica_epoch=epoch, replica_id=candidate, last_offset_epoch=0, last_offset=0,
        pre_vote=pre_vote,
    )  # fmt: skip
    return VoteRequest(topics=(topic(topic_name="__cluster_metadata", partitions=(asked,)),))


def test_a_second_leader_of_an_epoch_is_detected() -> None:
    run = lived()
    follower = followers(run)[0]
    saved = SaveElection(99, follower.replica.epoch, follower.node.id, None, 0, ())

    with pytest.raises(Violation, match="S01"):
        run.watch.performs(follower, saved)


def test_a_leader_without_the_votes_of_a_majority_is_detected() -> None:
    run = lived()
    follower = followers(run)[0]
    follower.replica.role = replace(leader(run).replica.role, epoch=7, leader_id=follower.node.id)

    with pytest.raises(Violation, match=r"S01: node . leads epoch 7, but only"):
        run.watch.on_stepped(follower, "input:Answered", None, [])


def test_a_vote_that_is_not_on_disk_is_detected() -> None:
    run = lived()
    voter, candidate = followers(run)[0], leader(run)
    epoch = voter.replica.epoch + 1
    run.ledger.durable(voter.node).election  # noqa: B018 - it is read once before, as in any run
    granted = frame("VoteAnswer", 0, epoch - 1, -1, 1, stamp=(epoch, candidate.node.id, epoch, 10_000, 0))

    with pytest.raises(Violation, match="S02"):
        run.watch.leaves(connection_to(run, voter), granted, True)


def test_a_second_vote_in_an_epoch_is_detected() -> None:
    run = lived()
    voter = followers(run)[0]
    epoch = voter.replica.epoch
    run.watch.elections.votes[voter.node.id, 0, epoch] = 77
    granted = frame("VoteAnswer", 0, epoch, -1, 1, stamp=(epoch, leader(run).node.id, epoch, 10_000, 0))

    with pytest.raises(Violation, match=r"S02: node . votes for 77 and for"):
        run.watch.leaves(connection_to(run, voter), granted, True)


def test_an_epoch_sent_before_it_is_on_disk_is_a_violation() -> None:
    run = lived()
    connection = run.network.open_connections()[0]
    sent = frame("Fetch", leader(run).replica.epoch + 1, 0, 0, 0)

    with pytest.raises(Violation, match="S03"):
        run.watch.leaves(connection, sent, False)


def test_a_vote_for_a_log_that_is_behind_is_detected() -> None:
    run = lived()
    voter = followers(run)[0]
    connection = connection_to(run, voter)
    epoch = voter.replica.epoch + 1
    run.watch.on_asked(
        voter, frame("Vote", epoch, 9, 0, 0, 0), Requested(Source(connection.id, 1), vote_request(epoch, 9), 2)
    )
    granted = frame("VoteAnswer", 0, epoch - 1, -1, 1, stamp=(epoch, leader(run).node.id, 0, 0, 0))

    with pytest.raises(Violation, match="S13"):
        run.watch.leaves(connection, granted, True)


def test_a_pre_vote_that_changes_the_vote_is_detected() -> None:
    run = lived()
    voter = followers(run)[0]
    epoch = voter.replica.epoch
    asked = frame("Vote", epoch, 1, epoch, 10_000, 1)
    request = vote_request(epoch, candidate=1, pre_vote=True)
    requested = Requested(Source(connection_to(run, voter).id, 1), request, 2)
    run.watch.on_asked(voter, asked, requested)
    voter.replica.role = replace(voter.replica.role, voted=ReplicaKey(2))

    with pytest.raises(Violation, match="S21"):
        run.watch.took_request(voter, asked, requested)


def test_a_counted_vote_of_an_emptied_disk_is_detected() -> None:
    run = lived()
    voter = followers(run)[0]
    epoch = voter.replica.epoch
    run.ledger.voter_sets.all[:] = [Voters(((voter.node.id, b"\7" * 16),), ("node-1",))]
    granted = frame("VoteAnswer", 0, epoch, -1, 1, stamp=(epoch, leader(run).node.id, epoch, 10_000, 0))

    with pytest.raises(Violation, match="S20"):
        run.watch.leaves(connection_to(run, voter), granted, True)


def test_a_node_that_is_informed_of_its_leader_and_does_not_know_it_is_a_violation() -> None:
    run = lived()
    voter = followers(run)[0]
    sent = frame("Begin", voter.replica.epoch, 77)

    with pytest.raises(Violation, match="S24"):
        run.watch.took_request(voter, sent, Requested(Source(1, 1), None, 1))
