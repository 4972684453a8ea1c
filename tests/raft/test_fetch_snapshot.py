from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from raft.interface.config import SnapshotId
from raft.interface.effects import (
    DeleteSnapshot,
    DropSnapshotPart,
    FreezeSnapshot,
    HighWatermark,
    LoadSnapshot,
    Reply,
    ReplySnapshot,
    ResetLog,
    SaveEpochs,
    WriteSnapshotPart,
)
from raft.interface.inputs import Answered, Failed, Flushed, PartWritten, Requested, SnapshotStored, Source
from raft.interface.limits import NEVER
from raft.state.roles import Follower, Prospective, Unattached
from records.errors import Error
from records.messages.fetch import FetchRequest
from records.messages.fetch_snapshot import FetchSnapshotRequest, FetchSnapshotResponse
from tests.raft.building import (
    Bench,
    active,
    begin_request,
    dynamic_voters,
    fetch_request,
    fetch_response,
    fetch_snapshot_request,
    fetch_snapshot_response,
    follower,
    leader,
    log,
    snapshot,
    static_voters,
    voted,
)

WANTED = SnapshotId(15, 2)


# The leader


def serving(**config: Any) -> Bench:
    """A leader of epoch 5 with a snapshot of 100 bytes."""
    snapshots = (snapshot(10, 2), snapshot(*WANTED))
    return leader(epoch=5, recovered=log(20, (2, 10), start=10, snapshots=snapshots), **config)


def asked(bench: Bench, request: FetchSnapshotRequest, version: int = 1) -> Any:
    return bench.tell(Requested(Source(5, 0), request, version, "CONTROLLER"))[0]


@pytest.mark.parametrize(("position", "max_bytes", "length"), [(0, 1000, 100), (0, 30, 30), (90, 30, 10), (99, 1, 1)])
def test_a_part_of_a_snapshot_is_served(position: int, max_bytes: int, length: int) -> None:
    answer = asked(serving(), fetch_snapshot_request(5, 3, WANTED, position, max_bytes=max_bytes))

    response = fetch_snapshot_response(5, 1, WANTED, size=100, position=position, node=1)
    assert answer == ReplySnapshot(Source(5, 0), response, WANTED, position, length)


def test_no_part_is_larger_than_this_nodes_own_limit() -> None:
    answer = asked(serving(fetch_snapshot_bytes_max=7), fetch_snapshot_request(5, 3, WANTED, 90, max_bytes=1000))

    assert (answer.position, answer.length) == (90, 7)


def test_before_version_1_no_addresses_are_sent() -> None:
    answer = asked(serving(), fetch_snapshot_request(5, 3, WANTED, 0), version=0)

    assert answer.response == fetch_snapshot_response(5, 1, WANTED, size=100)


@pytest.mark.parametrize("missing", [SnapshotId(15, 3), SnapshotId(16, 2), SnapshotId(0, 0)])
def test_a_fetch_of_a_missing_snapshot_is_refused(missing: SnapshotId) -> None:
    answer = asked(serving(), fetch_snapshot_request(5, 3, missing, 0))

    assert answer == Reply(Source(5, 0), fetch_snapshot_response(5, 1, error=Error.SNAPSHOT_NOT_FOUND, node=1))


def test_the_snapshot_of_the_formatter_is_served_to_no_replica() -> None:
    bench = leader(epoch=5, recovered=log(0, snapshots=(snapshot(0, 0),)))

    answer = asked(bench, fetch_snapshot_request(5, 3, SnapshotId(0, 0), 0))

    assert answer.response == fetch_snapshot_response(5, 1, error=Error.SNAPSHOT_NOT_FOUND, node=1)


@pytest.mark.parametrize("position", [-1, 100, 1 << 40])
def test_a_position_outside_is_refused(position: int) -> None:
    answer = asked(serving(), fetch_snapshot_request(5, 3, WANTED, position))

    assert answer.response == fetch_snapshot_response(5, 1, error=Error.POSITION_OUT_OF_RANGE, node=1)


@pytest.mark.parametrize(("epoch", "error"), [(4, Error.FENCED_LEADER_EPOCH), (6, Error.UNKNOWN_LEADER_EPOCH)])
def test_another_epoch_is_refused(epoch: int, error: Error) -> None:
    answer = asked(serving(), fetch_snapshot_request(epoch, 3, WANTED, 0))

    assert answer.response == fetch_snapshot_response(5, 1, error=error, node=1)


def test_a_replica_that_is_not_the_leader_names_the_leader() -> None:
    answer = asked(follower(leader=2, epoch=5), fetch_snapshot_request(5, 3, WANTED, 0))

    assert answer.response == fetch_snapshot_response(5, 2, error=Error.NOT_LEADER_OR_FOLLOWER, node=2)


def test_another_cluster_is_refused() -> None:
    answer = asked(serving(), fetch_snapshot_request(5, 3, WANTED, 0, cluster_id="other"))

    assert answer.response == FetchSnapshotResponse(throttle_time_ms=0, error_code=104, topics=())


@pytest.mark.parametrize("partitions", [None, 0, 2])
def test_a_request_without_exactly_one_partition_is_refused(partitions: int | None) -> None:
    """A Java leader before 4.3 dies of an empty list."""
    topic = fetch_snapshot_request(5, 3, WANTED, 0).topics[0]
    topics = () if partitions is None else (type(topic)(name=topic.name, partitions=topic.partitions * partitions),)

    answer = asked(serving(), FetchSnapshotRequest(topics=topics))

    assert answer.response == FetchSnapshotResponse(throttle_time_ms=0, error_code=Error.INVALID_REQUEST, topics=())


def test_another_topic_is_unknown() -> None:
    answer = asked(serving(), fetch_snapshot_request(5, 3, WANTED, 0, topic="other"))

    topic = answer.response.topics[0]
    assert (topic.name, topic.partitions[0].error_code) == ("other", Error.UNKNOWN_TOPIC_OR_PARTITION)
    assert topic.partitions[0].current_leader.leader_epoch == 0


def test_a_replica_with_our_own_id_is_not_served() -> None:
    answer = asked(serving(), fetch_snapshot_request(5, 1, WANTED, 0))

    assert answer.response == fetch_snapshot_response(5, 1, error=Error.UNKNOWN_SERVER_ERROR, node=1)


def test_a_voter_that_fetches_a_snapshot_counts_for_the_quorum_timeout() -> None:
    bench = serving()

    for _ in range(5):
        bench.wait(1000)
        asked(bench, fetch_snapshot_request(5, 3, WANTED, 0))

    assert type(bench.role).__name__ == "Leader"


def test_an_observer_that_fetches_a_snapshot_does_not_count() -> None:
    bench = serving()

    for _ in range(3):
        bench.wait(1000)
        asked(bench, fetch_snapshot_request(5, 100, WANTED, 0))

    assert type(bench.role).__name__ == "Resigned"


def test_fetching_a_snapshot_does_not_change_the_progress_of_the_replica() -> None:
    bench = active(epoch=5)
    before = bench.role.state.voters[3].fetched_ms
    bench.wait(10)

    asked(bench, fetch_snapshot_request(5, 3, WANTED, 0))

    assert bench.role.state.voters[3].fetched_ms == before


# The follower


def downloading(recovered: Any = None, **options: Any) -> Bench:
    """A follower of epoch 5 that got the snapshot's id."""
    bench = follower(leader=2, epoch=5, recovered=recovered, **options)
    answer(bench, fetch_response(5, 2, snapshot_id=WANTED))
    return bench


def answer(bench: Bench, response: Any) -> list[Any]:
    """The last request is answered; the disk does nothing yet."""
    send = bench.last_send()
    return bench.step(Answered(send.peer, send.number, response))


def part(position: int, data: bytes, size: int = 6) -> FetchSnapshotResponse:
    return fetch_snapshot_response(5, 2, WANTED, size=size, position=position, data=data)


def test_a_follower_that_receives_a_snapshot_id_fetches_the_snapshot() -> None:
    bench = downloading()

    assert bench.last_send().request == fetch_snapshot_request(5, 1, WANTED, 0)


def test_the_next_part_is_fetched_when_the_one_before_is_written() -> None:
    bench = downloading(fetch_snapshot_bytes_max=3)

    written = answer(bench, part(0, b"abc"))
    effects = bench.step(PartWritten(1))

    assert written == [WriteSnapshotPart(1, WANTED, 0, b"abc")]
    assert [send.request for send in bench.sends(effects)] == [fetch_snapshot_request(5, 1, WANTED, 3, max_bytes=3)]


def test_the_last_part_completes_the_snapshot() -> None:
    bench = downloading()
    answer(bench, part(0, b"abc"))
    bench.step(PartWritten(1))

    written = answer(bench, part(3, b"def"))
    effects = bench.step(PartWritten(2))

    assert written == [WriteSnapshotPart(2, WANTED, 3, b"def")]
    assert effects == [FreezeSnapshot(2, WANTED)]


def stored(bench: Bench, **options: Any) -> list[Any]:
    answer(bench, part(0, b"abcdef"))
    bench.step(PartWritten(1))
    return bench.step(SnapshotStored(1, 6, 77, **options))


def test_log_and_state_machine_start_from_a_complete_snapshot() -> None:
    bench = downloading(recovered=log(3, (1, 0)))

    effects = stored(bench)
    flushed = bench.step(Flushed(1))

    assert effects == [ResetLog(1, WANTED), SaveEpochs(()), LoadSnapshot(WANTED)]
    assert (bench.replica.log.start, bench.replica.log.end, bench.replica.high_watermark) == (15, 15, 15)
    assert bench.sends(flushed)[0].request == fetch_request(5, 1, 15, 2, high_watermark=15)


def test_nothing_is_fetched_while_a_snapshot_is_checked() -> None:
    bench = downloading()
    answer(bench, part(0, b"abcdef"))
    bench.step(PartWritten(1))

    assert bench.sends(bench.wait(1000)) == []


def test_the_voters_of_the_snapshot_are_in_force() -> None:
    bench = downloading()

    stored(bench, voters=dynamic_voters(1, 2, 3, 4), kraft_version=1)

    assert (bench.replica.voters, bench.replica.kraft_version) == (dynamic_voters(1, 2, 3, 4), 1)
    assert bench.replica.control_state_at(15) == (1, dynamic_voters(1, 2, 3, 4))


def test_older_snapshots_are_deleted() -> None:
    bench = downloading(recovered=log(7, (1, 0), snapshots=(snapshot(0, 0), snapshot(5, 1))))

    effects = stored(bench)

    assert [each for each in effects if isinstance(each, DeleteSnapshot)] == [
        DeleteSnapshot(SnapshotId(0, 0)),
        DeleteSnapshot(SnapshotId(5, 1)),
    ]
    assert [each.id for each in bench.replica.log.snapshots] == [WANTED]


def test_records_after_the_snapshot_are_applied_once() -> None:
    bench = downloading()
    stored(bench)
    bench.settle()

    from tests.raft.building import batch

    effects = answer(bench, fetch_response(5, 2, records=batch(15, 2), high_watermark=16))

    assert HighWatermark(16) in effects


def test_an_invalid_snapshot_is_fetched_again_later() -> None:
    bench = downloading(voters=static_voters(1, 2))

    effects = stored(bench, refused=True)

    assert effects == []
    assert bench.sends(bench.wait(1999)) == []
    assert "snapshot_corrupt" in bench.notes


@pytest.mark.parametrize(
    "snapshot_id",
    [
        SnapshotId(15, -1),
        SnapshotId(-1, 2),
        SnapshotId(3, 1),
        SnapshotId(9, 1),
        SnapshotId(15, 6),
        SnapshotId((1 << 63) - 1, 2),
    ],
    ids=["no epoch", "no offset", "older", "what we have", "of an epoch to come", "endless"],
)
def test_an_invalid_snapshot_id_is_refused(snapshot_id: SnapshotId) -> None:
    bench = follower(leader=2, epoch=5, recovered=log(9, (1, 0)))

    answer(bench, fetch_response(5, 2, snapshot_id=snapshot_id))

    assert bench.role.state.download is None
    assert bench.notes == ["snapshot_offer_refused"]
    assert not bench.role.state.has_fetched


def test_a_snapshot_of_a_quorum_that_has_lost_data_does_not_replace_committed_records() -> None:
    """Voters 2 and 3 of three lost their disks, were formatted, and have come to a higher epoch and a snapshot."""
    bench = follower(leader=2, epoch=7, recovered=replace(log(9, (1, 0)), committed=8))

    answer(bench, fetch_response(7, 2, snapshot_id=SnapshotId(5, 6)))

    assert bench.role.state.download is None
    assert bench.notes == ["truncation_refused"]
    assert not bench.role.state.has_fetched


def test_a_snapshot_that_has_all_committed_records_is_fetched() -> None:
    bench = follower(leader=2, epoch=7, recovered=replace(log(9, (1, 0)), committed=8))

    answer(bench, fetch_response(7, 2, snapshot_id=SnapshotId(10, 6)))

    assert bench.notes == ["snapshot_fetching"]


def test_a_download_of_a_deleted_snapshot_is_given_up() -> None:
    bench = downloading()

    effects = answer(bench, fetch_snapshot_response(5, 2, error=Error.SNAPSHOT_NOT_FOUND))

    assert effects[0] == DropSnapshotPart(WANTED)
    assert isinstance(bench.last_send().request, FetchRequest)


def test_the_error_of_a_java_leader_without_the_snapshot_is_understood() -> None:
    """Its answer to a snapshot that it lacks cannot be written, so it answers an error of the whole request."""
    bench = downloading(voters=static_voters(1, 2))
    refusal = FetchSnapshotResponse(throttle_time_ms=0, error_code=Error.UNKNOWN_SERVER_ERROR, topics=())

    effects = answer(bench, refusal)
    later = bench.wait(20)

    assert effects == [DropSnapshotPart(WANTED)]
    assert isinstance(bench.sends(later)[0].request, FetchRequest)


def test_after_another_error_the_download_continues_after_a_backoff() -> None:
    bench = downloading(voters=static_voters(1, 2))

    effects = answer(bench, fetch_snapshot_response(5, 2, error=Error.POSITION_OUT_OF_RANGE))

    assert effects == []
    assert isinstance(bench.sends(bench.wait(20))[0].request, FetchSnapshotRequest)


def test_after_a_lost_connection_the_download_continues_after_a_backoff() -> None:
    bench = downloading(voters=static_voters(1, 2))
    send = bench.last_send()

    bench.step(Failed(send.peer, send.number, Error.BROKER_NOT_AVAILABLE))
    effects = bench.wait(20)

    assert bench.sends(effects)[0].request == fetch_snapshot_request(5, 1, WANTED, 0)


@pytest.mark.parametrize(
    "bad",
    [
        fetch_snapshot_response(5, 2, SnapshotId(15, 3), size=6, position=3, data=b"x"),
        fetch_snapshot_response(5, 2, SnapshotId(16, 2), size=6, position=3, data=b"x"),
        part(2, b"x"),
        part(4, b"x"),
        part(3, b""),
        part(3, b"defg"),
        part(3, b"x", size=7),
        part(3, b"x", size=-1),
    ],
    ids=["epoch", "offset", "before", "after", "empty", "too much", "other size", "negative size"],
)
def test_an_unexpected_part_is_refused_and_the_download_restarts(bad: FetchSnapshotResponse) -> None:
    """A Java node dies of most of these."""
    bench = downloading(voters=static_voters(1, 2))
    answer(bench, part(0, b"abc"))
    bench.step(PartWritten(1))

    effects = answer(bench, bad)

    assert effects == [DropSnapshotPart(WANTED)]
    assert "snapshot_part_refused" in bench.notes
    assert isinstance(bench.sends(bench.wait(20))[0].request, FetchRequest)


def test_a_part_without_a_request_is_noted() -> None:
    bench = downloading()
    send = bench.last_send()
    bench.role.state.download = None

    bench.step(Answered(send.peer, send.number, part(0, b"abc")))

    assert "snapshot_part_unasked" in bench.notes


@pytest.mark.parametrize("topics", [0, 2])
def test_an_answer_for_another_topic_is_no_success(topics: int) -> None:
    bench = downloading()
    good = part(0, b"abc").topics
    response = FetchSnapshotResponse(throttle_time_ms=0, error_code=0, topics=good * topics)

    assert [type(each).__name__ for each in answer(bench, response)] == ["Send"]  # to another voter, for the leader
    assert bench.role.state.download.position == 0


def test_an_answer_of_an_older_epoch_is_ignored_with_a_backoff_from_its_sender() -> None:
    bench = downloading()
    leader = bench.role.leader_id

    effects = answer(bench, fetch_snapshot_response(4, 3, WANTED, size=6, data=b"abc"))
    other = bench.sends(effects)[0]
    later = bench.answer(other, fetch_response(5, leader, error=Error.NOT_LEADER_OR_FOLLOWER, node=leader))
    later += bench.wait(20)

    assert other.peer != leader
    assert bench.sends(later)[0].request == fetch_snapshot_request(5, 1, WANTED, 0)


@pytest.mark.parametrize("next_leader", [-1, 3])
def test_an_answer_of_a_later_epoch_ends_the_download(next_leader: int) -> None:
    bench = downloading()
    node = None if next_leader < 0 else next_leader

    answer(bench, fetch_snapshot_response(6, next_leader, error=Error.FENCED_LEADER_EPOCH, node=node))

    assert (type(bench.role), bench.role.epoch) == (Unattached if node is None else Follower, 6)
    assert DropSnapshotPart(WANTED) in bench.settle()


def test_another_leader_ends_the_download() -> None:
    bench = downloading()
    answer(bench, part(0, b"abc"))

    effects = bench.tell(Requested(Source(9, 0), begin_request(6, 3), 1, "CONTROLLER"))
    late = bench.step(PartWritten(1))

    assert DropSnapshotPart(WANTED) in effects
    assert late == []
    assert isinstance(bench.last_send().request, FetchRequest)


def test_a_part_restarts_the_fetch_timeout() -> None:
    bench = downloading()
    bench.wait(1500)

    answer(bench, part(0, b"abc"))

    assert bench.role.state.fetch_deadline_ms == bench.now + 2000


def test_a_download_that_completes_under_another_leader_is_used() -> None:
    bench = downloading()
    answer(bench, part(0, b"abcdef"))
    bench.step(PartWritten(1))
    bench.ask(begin_request(6, 3))

    effects = bench.step(SnapshotStored(1, 6))

    assert LoadSnapshot(WANTED) in effects
    assert bench.replica.log.end == 15


def test_a_download_that_completes_during_an_election_is_not_used() -> None:
    """Whoever asked for votes has said how long its log is."""
    bench = downloading()
    answer(bench, part(0, b"abcdef"))
    bench.step(PartWritten(1))
    bench.wait(2000)
    assert isinstance(bench.role, Prospective)

    effects = bench.step(SnapshotStored(1, 6))

    assert effects == [DeleteSnapshot(WANTED)]
    assert bench.replica.log.end == 0


def test_a_late_report_of_a_snapshot_is_ignored() -> None:
    bench = downloading()
    stored(bench)
    bench.settle()

    assert bench.step(SnapshotStored(1, 6)) == []


def test_a_replica_that_becomes_a_voter_by_a_snapshot_may_start_an_election() -> None:
    bench = Bench(9, election=voted(5, 2))
    assert not bench.replica.is_voter
    answer(bench, fetch_response(5, 2, snapshot_id=WANTED))
    answer(bench, part(0, b"abcdef"))
    bench.step(PartWritten(1))
    bench.ask(begin_request(6, 77))
    assert bench.role == Unattached(6, 77, None, NEVER)

    bench.tell(SnapshotStored(1, 6, voters=dynamic_voters(2, 3, 9), kraft_version=1))
    bench.wait(2000)

    assert isinstance(bench.role, Prospective)
