from __future__ import annotations

import pytest

from raft.interface.config import ReplicaKey
from raft.interface.effects import Reply, ReplyRecords, ReserveOffsets
from raft.interface.inputs import OffsetsReserved, Propose
from raft.state.java_texts import key_text
from raft.state.roles import Candidate, Leader, Prospective, Resigned
from records.errors import Error
from records.messages.elections import EndQuorumEpochRequest, VoteRequest
from tests.raft.building import Bench, active, batch, dynamic_voters, follower, key, leader, vote_response
from tests.raft.changing import answers, ask, catch_up, leading, leave_offsets, remove, removed, with_voters


def test_a_voter_is_removed_when_a_majority_of_the_others_holds_the_new_set() -> None:
    bench = leading(1, 2, 3)

    effects = ask(bench, remove(key(3)))
    appended = leave_offsets(bench)
    committed = catch_up(bench, 2)

    assert [each for each in effects if isinstance(each, ReserveOffsets)] == [ReserveOffsets(2, 1)]
    assert (answers(appended), answers(committed)) == ([], [removed(0)])
    assert bench.replica.voters == dynamic_voters(1, 2)
    assert key(3) in bench.role.state.observers


def test_a_voter_that_is_removed_counts_no_more() -> None:
    bench = leading(1, 2, 3)
    ask(bench, remove(key(3)))
    leave_offsets(bench)

    assert answers(catch_up(bench, 3)) == []
    assert bench.replica.high_watermark == 3


def test_the_last_other_voter_can_be_removed() -> None:
    bench = leading(1, 2)
    ask(bench, remove(key(2)))

    assert answers(leave_offsets(bench)) == [removed(0)]
    assert bench.replica.voters == dynamic_voters(1)


# A leader that removes itself


def test_a_leader_that_is_removed_leads_until_the_others_hold_the_new_set() -> None:
    bench = leading(1, 2, 3)
    ask(bench, remove(key(1)))
    leave_offsets(bench)

    assert isinstance(bench.role, Leader)
    assert not bench.replica.is_voter
    catch_up(bench, 2)
    assert bench.replica.high_watermark == 3, "its own log counts no more: one of two is no majority"
    assert isinstance(bench.role, Leader)


def test_a_leader_hands_over_when_its_removal_is_committed() -> None:
    bench = leading(1, 2, 3)
    ask(bench, remove(key(1)))
    leave_offsets(bench)
    catch_up(bench, 2)

    effects = catch_up(bench, 3)

    assert answers(effects) == [removed(0)]
    assert isinstance(bench.role, Resigned)
    assert [each.peer for each in bench.sends(effects, EndQuorumEpochRequest)] == [2, 3]


def test_a_leader_does_not_hand_over_when_what_is_before_its_removal_is_committed() -> None:
    bench = leading(1, 2, 3)
    bench.tell(Propose(2, 3, 3, batch(3, 2)))
    ask(bench, remove(key(1)))
    leave_offsets(bench)

    effects = [effect for voter in (2, 3) for effect in catch_up(bench, voter, missing=1)]

    assert bench.replica.high_watermark == 4
    assert isinstance(bench.role, Leader)
    assert answers(effects) == []


def test_a_removed_leader_does_not_stand_again() -> None:
    bench = leading(1, 2, 3)
    ask(bench, remove(key(1)))
    leave_offsets(bench)
    catch_up(bench, 2)
    catch_up(bench, 3)

    bench.wait(10_000)

    assert type(bench.role).__name__ == "Unattached"


def test_a_removed_leader_that_nobody_fetches_from_resigns() -> None:
    bench = leading(1, 2)
    ask(bench, remove(key(1)))
    leave_offsets(bench)

    bench.wait(3000)

    assert isinstance(bench.role, Resigned)


def test_a_leader_whose_removal_is_not_committed_stands_again_and_then_resigns() -> None:
    bench = leading(1, 2)
    ask(bench, remove(key(1)))
    leave_offsets(bench)
    bench.wait(3000)
    bench.wait(3000)
    assert isinstance(bench.role, Prospective)
    epoch = bench.role.epoch

    bench.answer(bench.last_send(VoteRequest), vote_response(epoch, granted=True))
    assert isinstance(bench.role, Candidate)
    assert bench.role.tally.granting == (), "its own vote counts no more"
    bench.answer(bench.last_send(VoteRequest), vote_response(epoch + 1, granted=True))
    assert isinstance(bench.role, Leader)
    assert list(bench.role.state.observers) == [key(1)], "DescribeQuorum has it among the observers"
    catch_up(bench, 2)

    assert isinstance(bench.role, Resigned)


def test_parked_fetches_are_answered_by_the_new_set_alone() -> None:
    bench = leading(1, 2, 3)
    catch_up(bench, 2)
    catch_up(bench, 2)

    effects = ask(bench, remove(key(3)))
    effects += leave_offsets(bench)

    assert {type(effect) for effect in effects if isinstance(effect, (Reply, ReplyRecords))} == {ReplyRecords}


# What is refused


def test_another_cluster_is_refused() -> None:
    bench = leading(1, 2, 3)

    answer = answers(ask(bench, remove(key(3), "other")))[0]

    assert answer.error_code == Error.INCONSISTENT_CLUSTER_ID


def test_only_the_leader_changes_voters() -> None:
    bench = follower(1, 2)

    assert answers(ask(bench, remove(key(3)))) == [removed(Error.NOT_LEADER_OR_FOLLOWER, "")]


@pytest.mark.parametrize("voter", [ReplicaKey(-1, bytes(15) + b"\1"), ReplicaKey(3)])
def test_a_voter_has_an_id_and_a_directory(voter: ReplicaKey) -> None:
    bench = leading(1, 2, 3)

    text = "Remove voter request didn't include a valid voter"
    assert answers(ask(bench, remove(voter))) == [removed(Error.INVALID_REQUEST, text)]


def test_a_leader_that_has_committed_nothing_changes_no_voters() -> None:
    bench = leader(1, recovered=with_voters(1, 2, 3))

    text = "Request timed out waiting for leader to establish HWM and fence previous voter changes"
    assert answers(ask(bench, remove(key(3)))) == [removed(Error.REQUEST_TIMED_OUT, text)]


def test_static_voters_cannot_be_changed() -> None:
    bench = active(1)

    text = "Cluster doesn't support removing voter because the kraft.version feature is 0"
    assert answers(ask(bench, remove(key(3)))) == [removed(Error.UNSUPPORTED_VERSION, text)]


def test_a_change_waits_for_the_one_before() -> None:
    bench = leading(1, 2, 3)
    ask(bench, remove(key(3)))

    early = answers(ask(bench, remove(key(2))))
    leave_offsets(bench)
    bench.role.state.change = None
    late = answers(ask(bench, remove(key(2))))

    assert early[0].error_message == ("Request timed out waiting for leader to handle previous voter change request")
    assert late[0].error_message == (
        "Request timed out waiting for voters to commit the latest voter change at Optional[3] with HWM 3"
    )


@pytest.mark.parametrize("voter", [key(4), ReplicaKey(2, bytes(15) + b"\1")])
def test_only_a_voter_can_be_removed(voter: ReplicaKey) -> None:
    bench = leading(1, 2, 3)

    answer = answers(ask(bench, remove(voter)))[0]

    assert answer.error_code == Error.VOTER_NOT_FOUND
    assert answer.error_message.startswith(f"Cannot remove voter {key_text(voter)} from the set of voters [ReplicaKey(")


def test_the_last_voter_cannot_be_removed() -> None:
    bench = Bench(1, recovered=with_voters(1))

    text = f"Cannot remove voter {key_text(key(1))} from the set of voters [{key_text(key(1))}]"
    assert answers(ask(bench, remove(key(1)))) == [removed(Error.VOTER_NOT_FOUND, text)]


def test_offsets_of_an_earlier_epoch_are_not_used() -> None:
    bench = leading(1, 2, 3)
    ask(bench, remove(key(3)))

    bench.tell(OffsetsReserved(1, 3))

    assert bench.replica.voters == dynamic_voters(1, 2, 3)


def test_offsets_that_are_not_the_next_ones_end_the_leadership_of_the_state_machine() -> None:
    bench = leading(1, 2, 3)
    ask(bench, remove(key(3)))

    effects = bench.tell(OffsetsReserved(2, 7))

    assert [type(each).__name__ for each in effects] == ["ProposalRefused"]
    assert bench.replica.voters == dynamic_voters(1, 2, 3)
