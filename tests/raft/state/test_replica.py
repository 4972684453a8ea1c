from __future__ import annotations

from raft.interface.config import SnapshotId
from raft.interface.effects import HighWatermark, LeaderChanged, LoadSnapshot, Reply, SaveElection, Send
from raft.interface.inputs import Requested, Resign, Saved, Source
from raft.interface.recovered import Recovered
from tests.raft.building import (
    Bench,
    active,
    begin_request,
    dynamic_voters,
    fetch_response,
    follower,
    key,
    leader,
    log,
    snapshot,
    static_voters,
    unattached,
    vote_request,
    vote_response,
    voted,
)


def leader_changes(bench: Bench) -> list[tuple[int, int | None, int]]:
    return [(each.epoch, each.leader_id, each.end_offset) for each in bench.seen if isinstance(each, LeaderChanged)]


def asks(number: int, epoch: int, candidate: int) -> Requested:
    return Requested(Source(number, 0), vote_request(epoch, candidate), 2, "CONTROLLER")


# What waits for a save


def test_no_effect_overtakes_a_save() -> None:
    bench = unattached(epoch=1)

    first = bench.step(asks(1, 2, 3))
    second = bench.step(asks(2, 2, 2))
    third = bench.step(asks(3, 5, 2))
    after_first = bench.step(Saved(2))
    after_second = bench.step(Saved(3))

    assert [type(each) for each in first + second + third] == [SaveElection, SaveElection]
    answers = [each for each in after_first + after_second if isinstance(each, Reply)]
    assert [each for each in after_first if isinstance(each, Reply)] == answers[:2]
    assert answers == [
        Reply(Source(1, 0), vote_response(2, granted=True)),
        Reply(Source(2, 0), vote_response(2)),
        Reply(Source(3, 0), vote_response(5, granted=True)),
    ]


def test_a_save_covers_those_before_it() -> None:
    bench = unattached(epoch=1)
    bench.step(asks(1, 2, 3))
    bench.step(asks(2, 3, 3))

    effects = bench.step(Saved(3))

    assert len([each for each in effects if isinstance(each, Reply)]) == 2
    assert bench.step(Saved(2)) == []


def test_of_the_roles_of_one_step_the_last_is_saved() -> None:
    """A voter that learns an epoch from a Vote request writes quorum-state once."""
    bench = Bench(voters=static_voters(1), settled=False)

    assert [each for each in bench.seen if isinstance(each, SaveElection)] == [SaveElection(1, 1, 1, None, 0, (1,))]


def test_saved_state_is_not_saved_again() -> None:
    bench = follower(leader=2, epoch=4)

    bench.wait(2000)
    for send in bench.sends()[-2:]:
        bench.answer(send, vote_response(4))

    assert type(bench.role).__name__ == "Follower"
    assert len([each for each in bench.seen if isinstance(each, SaveElection)]) == 1


def test_the_saved_version_follows_the_kraft_version_of_the_log() -> None:
    recovered = Recovered(voter_sets=((-1, dynamic_voters(1, 2)),), kraft_versions=((-1, 1),))
    bench = Bench(recovered=recovered)

    assert bench.first[0] == SaveElection(1, 0, None, None, 1, (1, 2))


# Changes of the leader, as the state machine sees them


def test_the_state_machine_is_notified_once_of_each_epoch_and_leader() -> None:
    bench = unattached(epoch=1)

    bench.ask(vote_request(2, 3))
    bench.ask(begin_request(2, 3))
    bench.ask(begin_request(2, 3))
    bench.ask(begin_request(3, 2))

    assert leader_changes(bench) == [(1, None, -1), (2, None, -1), (2, 3, -1), (3, 2, -1)]


def test_the_state_machine_is_not_notified_again_of_the_same_epoch() -> None:
    assert leader_changes(Bench()) == []


def test_the_state_machine_is_notified_of_leadership_when_the_whole_log_is_committed() -> None:
    bench = leader(epoch=5, recovered=log(7, (1, 0)))
    before = leader_changes(bench)

    from tests.raft.building import fetch_request

    bench.ask(fetch_request(5, 3, 7, 1))
    not_yet = leader_changes(bench)
    bench.ask(fetch_request(5, 3, 8, 5))

    assert before == not_yet == [(4, None, -1), (5, None, -1)]
    assert leader_changes(bench)[2:] == [(5, 1, 8)]
    notifications = [each for each in bench.seen if isinstance(each, (HighWatermark, LeaderChanged))]
    assert notifications[-2:] == [HighWatermark(8), LeaderChanged(5, 1, 8)]


def test_the_state_machine_is_notified_at_once_of_lost_leadership() -> None:
    """Kafka notifies it with the next epoch; until then its writes would be refused one by one."""
    bench = active(epoch=5)

    bench.tell(Resign(5))

    assert leader_changes(bench)[-2:] == [(5, 1, 1), (5, None, -1)]


def test_a_leadership_that_was_not_notified_needs_no_end() -> None:
    bench = leader(epoch=5)

    bench.tell(Resign(5))

    assert leader_changes(bench)[-1] == (5, None, -1)
    assert (5, 1, 1) not in leader_changes(bench)


def test_a_leader_that_restarts_is_not_notified_of_the_epoch_it_led() -> None:
    bench = Bench(election=voted(5, 1))

    assert leader_changes(bench) == []


# The log, as the state machine sees it


def test_the_state_machine_starts_from_the_newest_snapshot_of_the_log() -> None:
    bench = Bench(recovered=log(20, (1, 0), snapshots=(snapshot(0, 0), snapshot(7, 1), snapshot(15, 1))))

    assert [each for each in bench.first if isinstance(each, LoadSnapshot)] == [LoadSnapshot(SnapshotId(15, 1))]
    assert bench.replica.high_watermark is None


def test_the_formatters_snapshot_is_loaded_too() -> None:
    bench = Bench(recovered=log(0, snapshots=(snapshot(0, 0),)))

    assert LoadSnapshot(SnapshotId(0, 0)) in bench.first


def test_a_high_watermark_below_the_known_one_is_not_notified() -> None:
    bench = follower(leader=2, recovered=log(20, (1, 0), snapshots=(snapshot(15, 1),)))

    low = bench.answer(bench.last_send(), fetch_response(1, 2, high_watermark=12))
    high = bench.answer(bench.last_send(), fetch_response(1, 2, high_watermark=17))

    assert [each for each in low + high if isinstance(each, HighWatermark)] == [HighWatermark(17)]


def test_a_new_leader_has_no_high_watermark_before_it_commits_a_record_of_its_epoch() -> None:
    bench = follower(leader=2, epoch=4, recovered=log(7, (1, 0)))
    bench.answer(bench.last_send(), fetch_response(4, 2, high_watermark=7))
    bench.wait(2000)
    for granted in (4, 5):
        bench.answer(bench.sends()[-1], vote_response(granted, granted=True))

    assert type(bench.role).__name__ == "Leader"
    assert (bench.replica.high_watermark, bench.replica.notified_offset, bench.replica.log.committed) == (None, 7, 7)


# What else may be read


def test_a_snapshot_has_the_voters_as_of_its_end() -> None:
    recovered = log(20, (1, 0))
    recovered.voter_sets = ((3, dynamic_voters(1)), (9, dynamic_voters(1, 2)))
    recovered.kraft_versions = ((2, 1),)
    replica = Bench(recovered=recovered).replica

    assert [replica.control_state_at(end) for end in (2, 3, 4, 10, 20)] == [
        (0, None),
        (1, None),
        (1, dynamic_voters(1)),
        (1, dynamic_voters(1, 2)),
        (1, dynamic_voters(1, 2)),
    ]


def test_voters_of_the_log_replace_the_configured_ones() -> None:
    recovered = Recovered(voter_sets=((-1, dynamic_voters(1, 2)),), kraft_versions=((-1, 1),))
    replica = Bench(recovered=recovered).replica

    assert (replica.voters, replica.kraft_version, replica.is_voter) == (dynamic_voters(1, 2), 1, True)


def test_only_a_sole_voter_is_the_only_one() -> None:
    sets = {"itself": (1,), "two": (1, 2), "another": (2,)}

    found = {
        name: Bench(1, recovered=Recovered(voter_sets=((-1, dynamic_voters(*ids)),))).replica.is_only_voter
        for name, ids in sets.items()
    }

    assert found == {"itself": True, "two": False, "another": False}


def test_a_truncation_takes_back_the_voters_and_the_kraft_version_of_the_end_of_the_log() -> None:
    replica = Bench(1, recovered=log(20, (1, 0))).replica
    before = (replica.kraft_version, replica.is_only_voter)

    replica.take_control([(18, dynamic_voters(1)), (19, 1)])
    taken = (replica.kraft_version, replica.is_only_voter)
    replica.truncate(18)

    assert (taken, (replica.kraft_version, replica.is_only_voter)) == ((1, True), before)


def test_a_replica_stands_while_no_set_without_it_is_known_to_be_committed() -> None:
    sets = ((-1, dynamic_voters(1, 2, 3)), (5, dynamic_voters(2, 3)), (7, dynamic_voters(2, 3, 4)))

    found = {}
    for committed in (5, 6, 8):
        recovered = Recovered(None, 0, 9, ((1, 0),), voter_sets=sets, kraft_versions=((-1, 1),))
        replica = Bench(1, recovered=recovered).replica
        replica.log.commit(committed)
        found[committed] = (replica.is_voter, replica.may_stand)

    assert found == {5: (False, True), 6: (False, False), 8: (False, False)}


def test_a_replica_that_was_never_a_voter_does_not_stand() -> None:
    sets = ((-1, dynamic_voters(2, 3)), (5, dynamic_voters(2, 3, 4)))
    recovered = Recovered(None, 0, 9, ((1, 0),), voter_sets=sets, kraft_versions=((-1, 1),))

    assert not Bench(1, recovered=recovered).replica.may_stand


def test_a_replica_with_another_directory_id_is_not_a_voter() -> None:
    recovered = Recovered(voter_sets=((-1, dynamic_voters(2, 3)),), kraft_versions=((-1, 1),))

    assert not Bench(1, recovered=recovered).replica.is_voter


def test_election_timeouts_are_between_once_and_twice() -> None:
    bench = Bench()

    drawn = [bench.replica.election_timeout() for _ in range(200)]

    assert min(drawn) >= 1000
    assert max(drawn) < 2000
    assert len(set(drawn)) > 100


def test_requests_are_numbered_from_one_on() -> None:
    bench = follower(leader=2)

    assert [each.number for each in bench.seen if isinstance(each, Send)] == [1]
    assert key(1) == bench.replica.key
