from __future__ import annotations

from raft.interface.effects import HighWatermark, LeaderChanged
from raft.interface.voters import voters_record
from raft.state.voter_change import VoterChange
from records.batch import build_control_batch
from records.control_batch import encode_control
from records.errors import Error
from records.messages.fetch import FetchRequest
from tests.raft.building import dynamic_voters, fetch_response, follower, key, vote_request
from tests.raft.changing import adding, answers, ask, catch_up, leading, leave_offsets, remove, with_voters


def test_a_record_that_is_truncated_makes_the_set_before_count_again() -> None:
    data = build_control_batch(
        [encode_control(voters_record(dynamic_voters(1, 2)))], base_offset=0, leader_epoch=1, timestamp_ms=0
    )
    bench = follower(1, 2, recovered=with_voters(1, 2, 3))
    bench.answer(bench.last_send(FetchRequest), fetch_response(1, 2, records=data))
    appended = bench.replica.voters

    bench.answer(bench.last_send(FetchRequest), fetch_response(1, 2, diverging=(0, 0)))

    assert (appended, bench.replica.voters) == (dynamic_voters(1, 2), dynamic_voters(1, 2, 3))


def test_a_deposed_leader_leaves_the_outcome_to_the_next_one() -> None:
    bench = leading(1, 2, 3)
    ask(bench, remove(key(3)))
    leave_offsets(bench)

    bench.ask(vote_request(7, 2, last_epoch=6, last_offset=9))

    last = [each for each in bench.seen if type(each).__name__ == "Reply"]
    assert Error.NOT_LEADER_OR_FOLLOWER in [getattr(each.response, "error_code", 0) for each in last]
    assert bench.replica.voters == dynamic_voters(1, 2), "until the next leader has it truncated"


def test_the_high_watermark_does_not_fall_when_a_lagging_voter_is_added() -> None:
    bench = leading(1, 2)
    adding(bench, 3)

    assert bench.replica.high_watermark == 3
    assert [each.offset for each in bench.seen if isinstance(each, HighWatermark)] == [3]


def test_a_change_is_complete_at_the_high_watermark_above_its_record() -> None:
    bench = leading(1, 2, 3)
    ask(bench, remove(key(3)))
    appended = leave_offsets(bench)

    assert answers(appended) == []
    assert len(answers(catch_up(bench, 2))) == 1


def test_a_change_that_is_complete_leaves_room_for_the_next() -> None:
    bench = leading(1, 2, 3)
    ask(bench, remove(key(3)))
    leave_offsets(bench)
    catch_up(bench, 2)

    ask(bench, remove(key(2)))
    leave_offsets(bench)

    assert bench.replica.voters == dynamic_voters(1)


def test_a_removed_leader_reports_its_leadership_as_over() -> None:
    bench = leading(1, 2, 3)
    ask(bench, remove(key(1)))
    leave_offsets(bench)
    catch_up(bench, 2)

    effects = catch_up(bench, 3)

    assert [each for each in effects if isinstance(each, LeaderChanged)] == [LeaderChanged(2, None)]


def test_a_change_waits_for_versions_until_its_set_is_known() -> None:
    bench = leading(1, 2, 3)
    ask(bench, remove(key(3)))
    change = bench.role.state.change

    assert isinstance(change, VoterChange)
    assert (change.waits_for_versions, change.reserves, change.offset) == (False, True, -1)
