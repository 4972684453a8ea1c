"""Whatever peers send, a replica does not crash, loop, or lose saved state."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from raft.interface.config import Endpoint, ReplicaKey, SnapshotId
from raft.interface.inputs import (
    Answered,
    Disconnected,
    Failed,
    PartWritten,
    Refused,
    Requested,
    SnapshotStored,
    Source,
    Ticked,
)
from raft.state.roles import Follower, Leader
from raft.step import RESPONSES
from records.codec import encode
from records.errors import Error
from records.messages.elections import (
    BeginQuorumEpochResponse,
    EndQuorumEpochResponse,
    VoteResponse,
)
from records.messages.fetch import FetchRequest, FetchResponse
from records.messages.fetch_snapshot import FetchSnapshotRequest, FetchSnapshotResponse
from records.messages.quorum import DescribeQuorumRequest
from tests.raft.building import (
    Bench,
    active,
    batch,
    begin_request,
    begin_response,
    candidate,
    describe_request,
    directory,
    end_request,
    end_response,
    fetch_request,
    fetch_response,
    fetch_snapshot_request,
    fetch_snapshot_response,
    follower,
    is_reply,
    latest,
    log,
    prospective,
    snapshot,
    unattached,
    vote_request,
    vote_response,
)

INT32 = (1 << 31) - 1
INT64 = (1 << 63) - 1
EPOCHS = [-1, 0, 1, 2, 3, 4, 5, INT32, -INT32 - 1]
OFFSETS = [-1, 0, 1, 2, 5, 7, 8, 9, 20, 21, 1 << 40, INT64, -INT64 - 1]
IDS = [-1, 0, 1, 2, 3, 4, 100, INT32]
ERRORS = [*Error, 9999]
LOG = log(20, (1, 0), (3, 8), snapshots=(snapshot(0, 0), snapshot(5, 1), snapshot(10, 3)))


class Peer:
    """Sends any message that the schemas allow, with numbers near the relevant ones."""

    def __init__(self, rng: Random, bench: Bench) -> None:
        self.rng = rng
        self.bench = bench

    def epoch(self) -> int:
        near = self.bench.replica.epoch + self.rng.choice([-1, 0, 0, 0, 0, 0, 0, 0, 1])
        return self.rng.choice(EPOCHS) if self.rng.random() < 0.1 else near

    def offset(self) -> int:
        ends = self.bench.replica.log
        return self.rng.choice([ends.end, ends.end, ends.committed, ends.end - 1, self.rng.choice(OFFSETS)])

    def id(self) -> int:
        return self.rng.choice(IDS) if self.rng.random() < 0.2 else self.rng.choice([1, 2, 3])

    def leader(self) -> int:
        known = self.bench.role.leader_id
        return self.id() if known is None or self.rng.random() < 0.1 else known

    def key(self) -> ReplicaKey:
        return ReplicaKey(self.id(), self.rng.choice([bytes(16), directory(1), directory(9)]))

    def snapshot(self) -> SnapshotId:
        role = self.bench.role
        if isinstance(role, Follower) and role.state.download is not None and self.rng.random() < 0.8:
            return SnapshotId(*role.state.download.id)
        return SnapshotId(min(self.offset() + self.rng.choice([0, 5]), INT64), max(self.epoch() - 1, -1))

    def endpoints(self) -> tuple[Endpoint, ...]:
        names = self.rng.sample(["CONTROLLER", "OTHER", "", "controller"], self.rng.randint(0, 3))
        return tuple(Endpoint(name, self.rng.choice(["", "h"]), self.rng.choice([0, 1, 65535])) for name in names)

    def records(self) -> bytes:
        end, epoch = self.bench.replica.log.end, self.bench.replica.log.last_epoch
        good = batch(max(end, 0), max(epoch, 0), self.rng.randint(1, 3))
        spoiled = bytearray(good)
        spoiled[self.rng.randrange(len(good))] ^= 1 << self.rng.randrange(8)
        return self.rng.choice(
            [b"", good, bytes(spoiled), good[: self.rng.randrange(len(good))], self.rng.randbytes(99)]
        )

    def request(self) -> Any:
        cluster_id = self.rng.choice([None, None, None, None, "other"])
        wait = self.rng.choice([0, 500, -1, INT32])
        return self.rng.choice([
            lambda: vote_request(
                self.epoch(), 0, candidate_key=self.key(), last_offset=self.offset(),
                last_epoch=self.bench.replica.log.last_epoch,
                pre_vote=self.rng.random() < 0.5, voter=self.key(), cluster_id=cluster_id,
            ),
            lambda: begin_request(self.epoch(), self.id(), voter=self.key(), endpoints=self.endpoints()),
            lambda: end_request(self.epoch(), self.id(), tuple(self.key() for _ in range(self.rng.randint(0, 4)))),
            lambda: fetch_request(
                self.epoch(), self.id(), self.offset(), self.epoch(), max_wait_ms=wait, high_watermark=self.offset(),
                directory_id=self.key().directory_id, max_bytes=self.rng.choice([-1, 0, 100, INT32]),
            ),
            lambda: fetch_snapshot_request(self.epoch(), self.id(), self.snapshot(), self.offset(), max_bytes=wait),
            lambda: describe_request(self.rng.choice(["__cluster_metadata", "x"]), self.rng.choice([0, 1])),
            lambda: FetchRequest(max_wait_ms=0, min_bytes=0, topics=()),
            lambda: FetchSnapshotRequest(topics=()),
            lambda: DescribeQuorumRequest(topics=()),
        ])()  # fmt: skip

    def response(self) -> Any:
        error = self.rng.choice(ERRORS) if self.rng.random() < 0.15 else 0
        node = self.rng.choice([None, 2, 3])
        granted = self.rng.random() < 0.5
        return self.rng.choice([
            lambda: vote_response(self.epoch(), granted=granted, leader=self.leader(), error=error, node=node),
            lambda: begin_response(self.epoch(), leader=self.leader(), error=error, node=node),
            lambda: end_response(self.epoch(), leader=self.leader(), error=error, node=node),
            lambda: fetch_response(
                self.epoch(), self.leader(), records=self.records(), high_watermark=self.offset(), error=error,
                node=node,
                diverging=self.rng.choice([None, None, None, (self.epoch(), self.offset())]),
                snapshot_id=self.rng.choice([None, None, self.snapshot()]),
            ),
            lambda: fetch_snapshot_response(
                self.epoch(), self.leader(), self.snapshot(), size=self.rng.choice([3, 3, 6, 6, 0, INT64]),
                position=self.rng.choice([0, 0, 0, 3, 3, INT64]), data=self.rng.randbytes(3), error=error, node=node,
            ),
            lambda: VoteResponse(error_code=error, topics=()),
            lambda: BeginQuorumEpochResponse(error_code=error, topics=()),
            lambda: EndQuorumEpochResponse(error_code=error, topics=()),
            lambda: FetchResponse(error_code=error, responses=()),
            lambda: FetchSnapshotResponse(throttle_time_ms=0, error_code=error, topics=()),
        ])()  # fmt: skip

    def event(self) -> Any:
        sends = self.bench.sends()
        if sends and self.rng.random() < 0.5:
            send = sends[-1]
            answer = self.response()
            for _ in range(60):  # mostly, an answer of the right kind
                if type(answer) is RESPONSES[type(send.request)][0]:
                    break
                answer = self.response()
            return Answered(send.peer, send.number, answer)
        request = self.request()
        number = self.rng.randint(1, 3)
        return self.rng.choice([
            Requested(Source(self.rng.randint(1, 4), 0), request, self.rng.randint(0, latest(request)), "CONTROLLER"),
            Requested(Source(self.rng.randint(1, 4), 0), request, latest(request), "X"),
            Requested(Source(self.rng.randint(1, 4), 0), request, latest(request), ""),
            Disconnected(self.rng.randint(1, 4)),
            Failed(self.rng.choice(IDS), number, self.rng.choice(list(Error))),
            Refused(self.rng.choice(IDS)),
            PartWritten(self.bench.replica.parts),
            SnapshotStored(self.bench.replica.parts, 3, refused=self.rng.random() < 0.3),
            Ticked(),
        ])  # fmt: skip


ROLES = {
    "unattached": lambda: unattached(epoch=4, recovered=LOG),
    "prospective": lambda: prospective(epoch=4, recovered=LOG),
    "candidate": lambda: candidate(epoch=5, recovered=LOG),
    "follower": lambda: follower(leader=2, epoch=4, recovered=LOG),
    "leader": lambda: active(epoch=5, recovered=LOG),
    "observer": lambda: unattached(9, epoch=4, recovered=LOG),
}


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("role", ROLES)
def test_no_message_of_a_peer_crashes_a_replica(role: str, seed: int) -> None:
    bench = ROLES[role]()
    peer = Peer(Random(f"{role}:{seed}"), bench)
    replica = bench.replica
    for _ in range(150):
        before = (
            replica.epoch,
            replica.role.leader_id,
            replica.role.voted,
            replica.log.committed,
            replica.notified_offset,
        )

        effects = bench.tell(peer.event())
        bench.now += peer.rng.choice([0, 0, 0, 1, 10, 30, 300])

        for effect in effects:
            message = effect.request if hasattr(effect, "endpoint") else getattr(effect, "response", None)
            if message is not None:
                encode(message, latest(message))  # what it says can be said
        epoch, leader_id, voted, committed, notified = before
        assert replica.epoch >= epoch
        assert replica.log.committed >= committed
        assert replica.notified_offset >= notified
        if replica.epoch == epoch and leader_id is not None:
            assert replica.role.leader_id == leader_id
        if replica.epoch == epoch and voted is not None and not isinstance(replica.role, Leader):
            assert replica.role.voted == voted
        assert replica.log.start <= replica.log.committed <= replica.log.end
        del bench.seen[:-60]


def test_each_request_is_answered_once() -> None:
    rng = Random(5)
    bench = active(epoch=5, recovered=LOG)
    peer = Peer(rng, bench)
    for number in range(300):
        request = peer.request()
        source = Source(1000 + number, number)
        effects = bench.tell(Requested(source, request, latest(request), "CONTROLLER"))
        effects += bench.tell(Disconnected(source.connection))

        answers = [each for each in effects if is_reply(each) and each.source == source]
        waits = isinstance(request, FetchRequest) and not answers

        assert len(answers) == 1 or waits
    assert not isinstance(bench.role, Follower) or bench.role.endpoints
