from __future__ import annotations

import pytest

from raft.interface.config import Endpoint, ReplicaKey, Voter
from raft.interface.voters import (
    History,
    VoterSet,
    control_values,
    endpoint_of,
    read_endpoints,
    read_voters,
    voters_record,
)
from records.batch import CorruptBatch, batches, build_control_batch
from records.codec import decode, encode
from records.control import KRaftVersionRecord, LeaderChangeMessage, VotersRecord
from records.control_batch import control_key, encode_control
from records.messages.elections import BeginQuorumEpochRequest
from tests.raft.building import directory, dynamic_voters, endpoint, key, static_voters

LISTENER = BeginQuorumEpochRequest.LeaderEndpoint


def test_voters_are_ascending_by_id() -> None:
    voters = static_voters(3, 1, 2)

    assert voters.ids == (1, 2, 3)
    assert [voter.key.id for voter in voters] == [1, 2, 3]
    assert len(voters) == 3


def test_an_id_occurs_once_in_a_voter_set() -> None:
    with pytest.raises(ValueError, match="twice"):
        static_voters(1, 2, 2)


@pytest.mark.parametrize(("count", "majority"), [(1, 1), (2, 2), (3, 2), (4, 3), (5, 3)])
def test_a_majority_is_more_than_half(count: int, majority: int) -> None:
    assert static_voters(*range(count)).majority == majority


def test_a_static_voter_is_any_directory_of_its_id() -> None:
    voters = static_voters(1, 2)

    assert voters.holds(key(1))
    assert voters.holds(ReplicaKey(1))
    assert not voters.holds(key(3))


def test_a_dynamic_voter_is_one_directory() -> None:
    voters = dynamic_voters(1, 2)

    assert voters.holds(key(1))
    assert not voters.holds(ReplicaKey(1, directory(9)))
    assert not voters.holds(ReplicaKey(1))


def test_an_entry_is_current_if_it_equals_the_voters_own() -> None:
    other = Endpoint("EXTERNAL", "host-1", 1)
    own = Voter(key(1), (endpoint(1), other), (0, 1))
    voters = VoterSet([own])

    assert voters.has_current(Voter(key(1), (other, endpoint(1)), (0, 1)))
    assert not voters.has_current(Voter(key(1), (endpoint(1),), (0, 1)))
    assert not voters.has_current(Voter(key(1), (endpoint(1), other), (0, 2)))
    assert not voters.has_current(Voter(key(2), (endpoint(2),), (0, 1)))


def test_an_entry_is_replaced_by_id() -> None:
    moved = Voter(key(2), (Endpoint("CONTROLLER", "elsewhere", 1),), (0, 1))

    updated = dynamic_voters(1, 2, 3).replace(moved)

    assert updated == VoterSet([*dynamic_voters(1, 3), moved])


def test_listeners_differ_in_nothing_but_case() -> None:
    assert endpoint_of([endpoint(1)], "Controller") == endpoint(1)
    assert endpoint_of([endpoint(1)], "EXTERNAL") is None


def test_of_two_endpoints_of_one_listener_the_later_counts() -> None:
    items = [
        LISTENER(name="a", host="x", port=1),
        LISTENER(name="B", host="y", port=2),
        LISTENER(name="A", host="z", port=3),
    ]

    assert read_endpoints(items) == (Endpoint("A", "z", 3), Endpoint("B", "y", 2))


def test_a_voter_set_is_read_from_its_record_as_written() -> None:
    voters = dynamic_voters(1, 2, 3)

    record = decode(VotersRecord, 0, encode(voters_record(voters), 0))

    assert read_voters(record) == voters


def control_batch(*records: tuple[bytes, bytes]) -> bytes:
    return build_control_batch(list(records), base_offset=5, leader_epoch=2, timestamp_ms=0)


def values(data: bytes) -> list[tuple[int, VoterSet | int]]:
    return control_values(data, next(batches(data)))


def test_control_values_have_the_offsets_of_their_records() -> None:
    change = LeaderChangeMessage(version=0, leader_id=1, voters=(), granting_voters=())
    data = control_batch(
        encode_control(change),
        encode_control(KRaftVersionRecord(version=0, kraft_version=1)),
        encode_control(voters_record(dynamic_voters(1, 2))),
    )

    assert values(data) == [(6, 1), (7, dynamic_voters(1, 2))]


def test_control_records_of_a_later_release_are_skipped() -> None:
    assert values(control_batch((control_key(77), b"\0\0what"))) == []


@pytest.mark.parametrize(
    "record",
    [
        (b"", b"x"),
        (b"\0\0", b"x"),
        (control_key(5), b""),
        (control_key(5), b"\0"),
        (control_key(6), b"\0\0\xff\xff\xff"),
    ],
    ids=["no key", "short key", "no value", "short value", "not a voter set"],
)
def test_a_control_record_that_cannot_be_read_makes_its_batch_corrupt(record: tuple[bytes, bytes]) -> None:
    with pytest.raises(CorruptBatch):
        values(control_batch(record))


@pytest.mark.parametrize("level", [-1, 2])
def test_an_unknown_kraft_version_is_refused(level: int) -> None:
    with pytest.raises(CorruptBatch, match="are known"):
        values(control_batch(encode_control(KRaftVersionRecord(version=0, kraft_version=level))))


def test_a_voter_set_with_an_id_twice_makes_its_batch_corrupt() -> None:
    record = voters_record(dynamic_voters(1))
    twice = VotersRecord(version=0, voters=record.voters * 2)

    with pytest.raises(CorruptBatch):
        values(control_batch(encode_control(twice)))


# Histories


def test_a_value_holds_from_its_offset_on() -> None:
    history = History([(-1, "a"), (5, "b"), (9, "c")])

    assert [history.at(offset) for offset in (-2, -1, 4, 5, 8, 9, 99)] == [None, "a", "a", "b", "b", "c", "c"]
    assert history.last() == (9, "c")


def test_an_empty_history_has_nothing() -> None:
    history: History[str] = History()

    assert history.last() is None
    assert history.at(5) is None


def test_offsets_of_a_history_rise() -> None:
    history = History([(5, "a")])

    with pytest.raises(AssertionError):
        history.add(5, "b")


def test_values_above_a_truncation_are_forgotten() -> None:
    history = History([(-1, "a"), (5, "b"), (9, "c")])

    history.truncate(5)

    assert history.entries == [(-1, "a")]


def test_values_replaced_before_a_snapshot_are_forgotten() -> None:
    history = History([(-1, "a"), (5, "b"), (9, "c")])

    history.forget_before(8)
    at_8 = list(history.entries)
    history.forget_before(9)
    at_9 = list(history.entries)
    history.forget_before(10)

    assert (at_8, at_9, history.entries) == ([(5, "b"), (9, "c")], [(5, "b"), (9, "c")], [(9, "c")])


def test_the_value_that_a_snapshot_ends_with_is_kept_when_the_next_is_truncated() -> None:
    history = History([(-1, "a"), (9, "b")])

    history.forget_before(9)
    history.truncate(9)

    assert history.last() == (-1, "a")


def test_a_history_restarts_from_the_value_of_a_snapshot() -> None:
    history = History([(-1, "a"), (5, "b")])

    history.restart(19, "d")
    with_value = list(history.entries)
    history.restart(29, None)

    assert (with_value, history.entries) == ([(19, "d")], [])
