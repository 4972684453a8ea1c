from __future__ import annotations

from random import Random
from typing import Any

import pytest

from raft.interface.config import Endpoint, RaftConfig, Voter
from raft.interface.effects import (
    Append,
    LeaderChanged,
    ProposalRefused,
    ReplyRecords,
    SaveElection,
    SaveEpochs,
    VotersChanged,
)
from raft.interface.inputs import Answered, Flushed, Propose, Requested, Resign, Saved, ShutDown, Source, WallClock
from raft.interface.recovered import Recovered
from raft.interface.voters import VoterSet
from raft.state.replica import Replica
from raft.step import start, step
from records.batch import batches
from records.control import KRaftVersionRecord, LeaderChangeMessage
from records.control_batch import control_records_of
from tests.raft.building import (
    Bench,
    active,
    batch,
    begin_request,
    candidate,
    dynamic_voters,
    endpoint,
    follower,
    key,
    leader,
    log,
    static_voters,
    unattached,
    vote_request,
    vote_response,
)


def proposal(bench: Bench, base: int | None = None, count: int = 1, epoch: int | None = None) -> Propose:
    base = bench.role.state.proposals.next_offset if base is None else base
    epoch = bench.role.epoch if epoch is None else epoch
    return Propose(epoch, base, base + count - 1, batch(base, epoch, count))


def appends(effects: list[Any]) -> list[Append]:
    return [each for each in effects if isinstance(each, Append)]


# Proposals


def test_a_batch_is_appended_at_once() -> None:
    bench = active(epoch=2)

    effects = bench.step(proposal(bench, count=3))

    assert effects[0] == Append(2, 1, 4, 2, batch(1, 2, 3))
    assert bench.replica.log.end == 4


def test_followers_read_a_batch_beside_the_leaders_flush() -> None:
    bench = active(epoch=2)

    effects = bench.step(proposal(bench))

    assert [type(each) for each in effects] == [Append, ReplyRecords, ReplyRecords]


def test_batches_follow_one_another() -> None:
    bench = active(epoch=2)

    first = bench.step(proposal(bench, base=1, count=2))
    second = bench.step(proposal(bench, base=3))

    assert [(each.number, each.base_offset, each.end_offset) for each in appends(first + second)] == [
        (2, 1, 3),
        (3, 3, 4),
    ]


@pytest.mark.parametrize(("base", "epoch"), [(0, 2), (2, 2), (1, 1), (1, 3)])
def test_a_batch_that_is_not_the_next_is_refused(base: int, epoch: int) -> None:
    bench = active(epoch=2)

    assert bench.step(proposal(bench, base=base, epoch=epoch)) == [ProposalRefused(epoch, base)]
    assert bench.replica.log.end == 1


@pytest.mark.parametrize("make", [unattached, candidate, follower])
def test_a_replica_that_is_not_the_leader_appends_nothing(make: Any) -> None:
    bench = make(epoch=2)

    assert bench.step(Propose(2, 0, 0, batch(0, 2))) == [ProposalRefused(2, 0)]


def test_a_former_leader_appends_nothing() -> None:
    bench = active(epoch=2)
    bench.tell(Resign(2))

    assert bench.step(Propose(2, 1, 1, batch(1, 2))) == [ProposalRefused(2, 1)]


def test_a_leader_that_shuts_down_appends_nothing() -> None:
    bench = active(epoch=2)
    late = proposal(bench)
    bench.step(ShutDown())

    assert bench.step(late)[0] == ProposalRefused(2, 1)


def test_a_batch_above_8_mib_fails_an_assertion() -> None:
    bench = active(epoch=2)
    large = Propose(2, 1, 1, b"x" * (8 * 1024 * 1024 + 1))

    with pytest.raises(AssertionError):
        bench.step(large)


# The linger


def test_with_a_linger_batches_wait_for_each_other() -> None:
    bench = active(epoch=2, append_linger_ms=25)

    at_once = bench.step(proposal(bench)) + bench.step(proposal(bench))
    early = bench.wait(24)
    late = bench.wait(1)

    assert appends(at_once + early) == []
    assert [(each.base_offset, each.end_offset) for each in appends(late)] == [(1, 2), (2, 3)]


def test_the_linger_counts_from_the_first_batch_that_waits() -> None:
    bench = active(epoch=2, append_linger_ms=25)
    bench.step(proposal(bench))
    bench.wait(20)
    bench.step(proposal(bench))

    assert len(appends(bench.wait(5))) == 2


def test_the_control_batch_of_an_epoch_does_not_linger() -> None:
    bench = leader(epoch=2, append_linger_ms=25)

    assert bench.replica.log.durable_end == 1


def test_8_mib_of_batches_do_not_linger() -> None:
    bench = active(epoch=2, append_linger_ms=25)
    half = batch(1, 2, size=5 << 20)
    other = batch(2, 2, size=4 << 20)

    first = bench.step(Propose(2, 1, 1, half))
    second = bench.step(Propose(2, 2, 2, other))

    assert (len(appends(first)), len(appends(second))) == (0, 2)


@pytest.mark.parametrize(
    "end", [Resign(2), Requested(Source(9, 0), begin_request(3, 3), 1), Requested(Source(9, 0), vote_request(3, 3), 2)]
)
def test_lingering_proposals_are_refused_when_leadership_ends(end: Any) -> None:
    bench = active(epoch=2, append_linger_ms=25)
    bench.step(proposal(bench))
    bench.step(proposal(bench))

    effects = bench.tell(end)

    assert [each for each in effects if isinstance(each, ProposalRefused)] == [
        ProposalRefused(2, 1),
        ProposalRefused(2, 2),
    ]
    assert bench.replica.log.end == 1


# The epoch's control batch


def control(append: Append) -> list[tuple[int, Any]]:
    """(offset, record) of the control batch that an Append holds."""
    (found,) = batches(append.data)
    return [(offset, message) for offset, _, message in control_records_of(append.data, found)]


def voters(*ids: int) -> tuple[LeaderChangeMessage.Voter, ...]:
    return tuple(LeaderChangeMessage.Voter(voter_id=each) for each in ids)


def test_an_epoch_begins_with_a_record_of_the_leader_and_the_granting_voters() -> None:
    bench = leader(epoch=5, recovered=log(7, (1, 0), (2, 5)))

    append = appends(bench.seen)[0]

    change = LeaderChangeMessage(version=0, leader_id=1, voters=voters(1, 2, 3), granting_voters=voters(1, 2))
    assert (append.base_offset, append.end_offset, append.epoch) == (7, 8, 5)
    assert control(append) == [(7, change)]
    assert SaveEpochs(((1, 0), (2, 5), (5, 7))) in bench.seen


def test_no_record_of_an_epoch_is_written_before_its_leadership_is_saved() -> None:
    """A leader that crashes in between would stand in its epoch again, and give its offsets to other records."""
    bench = candidate(epoch=5)
    sends = bench.sends()
    unsaved = bench.step(Answered(sends[-1].peer, sends[-1].number, vote_response(5, granted=True)))
    saved = bench.step(Saved(unsaved[0].number))

    assert unsaved == [SaveElection(3, 5, 1, None, 0, (1, 2, 3))]
    assert {type(each) for each in saved[:2]} == {SaveEpochs, Append}


def test_the_control_batch_has_the_time_of_the_wall_clock() -> None:
    bench = candidate(epoch=5, now_ms=1000)
    bench.tell(WallClock(1_700_000_000_000))

    bench.answer(bench.last_send(), vote_response(5, granted=True))

    (found,) = batches(appends(bench.seen)[0].data)
    assert found.base_timestamp == found.max_timestamp == 1_700_000_000_000 + bench.now


def test_a_sole_voter_knows_the_time_when_it_starts() -> None:
    replica = Replica(RaftConfig("id"), key(1), static_voters(1), Recovered(), Random(1))

    start(replica, 5, 1_700_000_000_000)
    effects = step(replica, Saved(1), 6)

    (found,) = batches(appends(effects)[0].data)
    assert found.base_timestamp == 1_700_000_000_005


def test_with_dynamic_voters_the_first_leader_copies_what_the_formatter_wrote() -> None:
    recovered = log(0)
    recovered.voter_sets = ((-1, dynamic_voters(1, 2, 3)),)
    recovered.kraft_versions = ((-1, 1),)
    bench = leader(epoch=5, voters=static_voters(), recovered=recovered)

    append = appends(bench.seen)[0]

    records = control(append)
    assert [type(message).__name__ for _, message in records] == [
        "LeaderChangeMessage",
        "KRaftVersionRecord",
        "VotersRecord",
    ]
    assert records[1] == (1, KRaftVersionRecord(version=0, kraft_version=1))
    assert bench.replica.voter_sets.last() == (
        2,
        VoterSet([Voter(key(1), (endpoint(1),), (0, 1)), *dynamic_voters(2, 3)]),
    )


def test_with_dynamic_voters_an_up_to_date_log_gets_no_voters_record() -> None:
    recovered = log(3, (1, 0))
    recovered.voter_sets = ((1, dynamic_voters(1, 2, 3)),)
    recovered.kraft_versions = ((0, 1),)
    bench = leader(epoch=5, voters=static_voters(), recovered=recovered)

    assert [type(message).__name__ for _, message in control(appends(bench.seen)[0])] == ["LeaderChangeMessage"]


def test_with_dynamic_voters_a_leader_writes_its_new_endpoint() -> None:
    moved = Endpoint("CONTROLLER", "elsewhere", 77)
    recovered = log(3, (1, 0))
    recovered.voter_sets = ((1, dynamic_voters(1, 2, 3)),)
    recovered.kraft_versions = ((0, 1),)
    bench = leader(epoch=5, voters=static_voters(), recovered=recovered, endpoints=(moved,))

    now = VoterSet([Voter(key(1), (moved,), (0, 1)), *dynamic_voters(2, 3)])
    assert bench.replica.voters == now
    assert VotersChanged(tuple(now)) in bench.seen
    assert bench.role.state.voters[1].endpoints == (moved,)


def test_a_leader_is_notified_when_its_epoch_has_a_committed_record() -> None:
    bench = Bench(voters=static_voters(1), settled=False)
    bench.step(Saved(1))
    before = [each for each in bench.seen if isinstance(each, LeaderChanged)]

    effects = bench.step(Flushed(1))

    assert before == []
    assert effects[-1] == LeaderChanged(1, 1, 1)
