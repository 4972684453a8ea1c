from __future__ import annotations

from typing import Any

from raft.interface.effects import LeadershipConfirmed, Reply, ReplyRecords
from raft.interface.inputs import ConfirmLeadership, Disconnected, Requested, Resign, Source
from tests.raft.building import (
    Bench,
    active,
    dynamic_voters,
    fetch_request,
    follower,
    key,
    leader,
    static_voters,
    vote_request,
)
from tests.raft.changing import adding, ask, leading, leave_offsets, remove


def fetch(bench: Bench, replica: int, connection: int | None = None, **options: Any) -> list[Any]:
    """A voter's next Fetch, on its connection."""
    end, epoch = bench.replica.log.end, bench.replica.epoch
    connection = replica if connection is None else connection
    request = fetch_request(epoch, replica, end, epoch, high_watermark=bench.replica.high_watermark or -1, **options)
    return bench.tell(Requested(Source(connection, 0), request, 18, "CONTROLLER"))


def confirmed(effects: list[Any]) -> list[int]:
    return [each.number for each in effects if isinstance(each, LeadershipConfirmed)]


def answered(effects: list[Any]) -> list[int]:
    return [each.source.connection for each in effects if isinstance(each, Reply)]


def test_leadership_is_confirmed_by_the_next_fetch_of_a_parked_voter() -> None:
    bench = active(epoch=2)

    asked = bench.tell(ConfirmLeadership(70))
    effects = fetch(bench, 3)

    assert (answered(asked), confirmed(asked)) == ([2, 3], [])
    assert effects[0] == LeadershipConfirmed(70, 2)


def test_a_fetch_in_flight_at_the_request_confirms_nothing() -> None:
    bench = active(epoch=2)
    for replica in (2, 3):
        bench.tell(Disconnected(replica))
    fetch(bench, 2)
    fetch(bench, 3)
    bench.role.state.parked.clear()  # both are answered by now, and their next ones are on the way

    asked = bench.tell(ConfirmLeadership(70))
    under_way = fetch(bench, 3)
    after = fetch(bench, 3)

    assert (answered(asked), confirmed(asked), confirmed(under_way), answered(under_way)) == ([], [], [], [3])
    assert confirmed(after) == [70]


def test_a_fetch_on_a_new_connection_confirms_nothing() -> None:
    bench = active(epoch=2)
    bench.tell(ConfirmLeadership(70))

    other = fetch(bench, 3, connection=33)
    after = fetch(bench, 3, connection=33)

    assert (confirmed(other), confirmed(after)) == ([], [70])


def test_an_observer_confirms_nothing() -> None:
    bench = active(epoch=2)
    fetch(bench, 100)

    asked = bench.tell(ConfirmLeadership(70))

    assert 100 not in answered(asked)
    assert confirmed(fetch(bench, 100)) == []


def test_a_voter_with_another_directory_confirms_nothing() -> None:
    bench = active(epoch=2, voters=dynamic_voters(1, 2, 3))
    other_directory = {"connection": 50, "directory_id": b"x" * 16}
    fetch(bench, 3, **other_directory)
    bench.tell(ConfirmLeadership(70))

    assert confirmed(fetch(bench, 3, **other_directory)) == []


def test_confirmations_requested_during_a_round_share_the_next() -> None:
    bench = active(epoch=2)
    bench.tell(ConfirmLeadership(70))
    bench.tell(ConfirmLeadership(71))
    first = fetch(bench, 3)

    second = fetch(bench, 3)

    assert (confirmed(first), answered(first), confirmed(second)) == ([70], [3], [71])


def test_five_voters_need_two_others() -> None:
    bench = active(epoch=2, voters=static_voters(1, 2, 3, 4, 5))
    bench.tell(ConfirmLeadership(70))

    one = fetch(bench, 3)
    same = fetch(bench, 3)
    two = fetch(bench, 4)

    assert [confirmed(effects) for effects in (one, same, two)] == [[], [], [70]]


def test_a_sole_voter_confirms_itself_at_once() -> None:
    bench = Bench(voters=static_voters(1))

    assert bench.tell(ConfirmLeadership(70)) == [LeadershipConfirmed(70, 1)]


def test_a_replica_that_is_not_the_leader_confirms_nothing() -> None:
    assert follower().tell(ConfirmLeadership(70)) == []


def test_confirmations_pending_when_leadership_ends_never_come() -> None:
    bench = active(epoch=2)
    bench.tell(ConfirmLeadership(70))

    bench.tell(Resign(2))

    assert confirmed(fetch(bench, 2) + fetch(bench, 3)) == []


def test_a_fetch_of_another_epoch_confirms_nothing() -> None:
    bench = active(epoch=2)
    bench.tell(ConfirmLeadership(70))
    source = Source(3, 0)

    old = bench.tell(Requested(source, fetch_request(1, 3, 1, 1), 18, "CONTROLLER"))
    later = bench.tell(Requested(source, fetch_request(3, 3, 1, 2), 18, "CONTROLLER"))

    assert confirmed(old + later) == []


def test_an_answer_with_records_starts_a_round_too() -> None:
    bench = leader(epoch=2)
    bench.tell(ConfirmLeadership(70))
    behind = Requested(Source(3, 0), fetch_request(2, 3, 0, 0), 18, "CONTROLLER")

    records = bench.tell(behind)

    assert [type(each) for each in records] == [ReplyRecords]
    assert confirmed(fetch(bench, 3)) == [70]


def test_a_voter_that_does_not_wait_for_answers_confirms_nothing() -> None:
    bench = active(epoch=2)
    fetch(bench, 3)
    bench.tell(ConfirmLeadership(70))

    assert confirmed(fetch(bench, 3)) == []


def test_a_deposed_leader_is_never_confirmed() -> None:
    """Node 3 voted in epoch 3 after its last Fetch: it fetches from node 1 no more, and node 2 alone is no majority
    of five."""
    bench = active(epoch=2, voters=static_voters(1, 2, 3, 4, 5))
    bench.tell(ConfirmLeadership(70))
    kept = fetch(bench, 2)

    deposed = bench.tell(Requested(Source(9, 0), vote_request(3, 3, last_offset=9, last_epoch=2), 2, "CONTROLLER"))

    assert confirmed(kept + deposed) == []


def test_when_two_voters_become_one_an_open_confirmation_is_given() -> None:
    bench = leading(1, 2)
    asked = bench.tell(ConfirmLeadership(70))
    ask(bench, remove(key(2)))

    appended = leave_offsets(bench)

    assert (confirmed(asked), confirmed(appended)) == ([], [70])


def test_a_voter_that_is_added_is_asked_for_an_open_confirmation() -> None:
    bench = leading(1, 2)
    bench.tell(ConfirmLeadership(70))

    appended = adding(bench, 3)
    fetched = [confirmed(fetch(bench, voter)) for voter in (3, 2)]

    assert (confirmed(appended), fetched) == ([], [[], [70]])
