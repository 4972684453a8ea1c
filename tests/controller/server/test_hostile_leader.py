"""A leader that attacks: a follower refuses what it sends, keeps its size, says so, and goes on."""

from __future__ import annotations

import asyncio
import gzip
import json
import struct
from typing import TYPE_CHECKING, Any

import pytest
import uvloop

from raft.network.server import Server
from records.batch import build_batch, seal
from records.messages.elections import BeginQuorumEpochRequest, VoteResponse
from records.messages.fetch import FetchRequest, FetchResponse
from records.messages.fetch_snapshot import FetchSnapshotRequest, FetchSnapshotResponse
from records.messages.versions import ApiVersionsRequest
from records.uuids import METADATA_TOPIC_ID
from tests.controller.server.processes import CLUSTER_ID, free_port, resident_kib, running
from tests.raft.network.peers import VERSIONS, Bare, api_versions, request_frame, until, versions_answer

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    from raft.network.requests import Incoming

EPOCH = 100
INT64 = (1 << 63) - 1
BOMB_BYTES = 1 << 30
Data = FetchResponse.FetchableTopicResponse.PartitionData
LEADER = Data.LeaderIdAndEpoch(leader_id=2, leader_epoch=EPOCH)
Part = FetchSnapshotResponse.TopicSnapshot.PartitionSnapshot


def data(records: bytes = b"", high_watermark: int = 0, **fields: Any) -> Data:
    return Data(
        partition_index=0, error_code=0, high_watermark=high_watermark, records=records,
        **{"diverging_epoch": Data.EpochEndOffset(), "current_leader": LEADER,
           "snapshot_id": Data.SnapshotId(), **fields},
    )  # fmt: skip


def offer(end_offset: int = 1000, epoch: int = EPOCH) -> Data:
    return data(snapshot_id=Data.SnapshotId(end_offset=end_offset, epoch=epoch))


def altered(batch: bytes, at: int, form: str, value: int) -> bytes:
    """A batch with a field of its header changed; its CRC is that of before."""
    changed = bytearray(batch)
    struct.pack_into(form, changed, at, value)
    return bytes(changed)


def bomb(base_offset: int, *, is_control: bool) -> bytes:
    """A batch of one record that is 1 GiB when it is decompressed, and 1 MiB on the wire."""
    inner = gzip.compress(bytes(64 << 20), 1) * (BOMB_BYTES >> 26)
    return seal(inner, 1, base_offset, EPOCH, 0, attributes=1 | (32 if is_control else 0))


BOMB = bomb(0, is_control=True)
BATCH = build_batch([b"x"], base_offset=0, leader_epoch=EPOCH, timestamp_ms=0)
FETCHED: dict[str, Callable[[FetchRequest], Data]] = {
    "noise": lambda _: data(bytes(range(256)) * 100),
    "a batch of a negative length": lambda _: data(altered(BATCH, 8, ">i", -1)),
    "a batch longer than memory": lambda _: data(altered(BATCH, 8, ">i", 0x7FFFFFFF) + bytes(1 << 20)),
    "another CRC": lambda _: data(altered(BATCH, 17, ">I", 7)),
    "a gap": lambda _: data(build_batch([b"x"], base_offset=1 << 40, leader_epoch=EPOCH, timestamp_ms=0)),
    "a negative offset": lambda _: data(altered(BATCH, 0, ">q", -5)),
    "a later epoch": lambda _: data(build_batch([b"x"], base_offset=0, leader_epoch=EPOCH + 1, timestamp_ms=0)),
    "a negative count": lambda _: data(altered(BATCH, 57, ">i", -1)),
    "a bomb of control records": lambda asked: data(bomb(end_of(asked), is_control=True)),
    "a bomb of committed records": lambda asked: data(bomb(end_of(asked), is_control=False), 1),
    "a divergence before the beginning": lambda _: data(diverging_epoch=Data.EpochEndOffset(epoch=3, end_offset=-9)),
    "a snapshot of the end of time": lambda _: offer(INT64),
    "a snapshot of a later epoch": lambda _: offer(1000, EPOCH + 5),
}


def end_of(asked: FetchRequest) -> int:
    return int(asked.topics[0].partitions[0].fetch_offset)


class HostileLeader:
    """Voter 2, which says that it leads, and answers Fetch and FetchSnapshot as it is told."""

    def __init__(self) -> None:
        self.fetched: Callable[[FetchRequest], Data] = lambda _: data()
        self.part: Callable[[int], tuple[bytes, int]] = lambda _position: (b"", 0)
        self.frame: bytes | None = None  # in place of each answer to Fetch
        self.asked = self.parts = 0
        self.server = Server(
            asyncio.get_running_loop(), VERSIONS, on_request=self.on_request,
            on_disconnected=lambda _number: None, note=lambda _name, _fields: None,
        )  # fmt: skip

    async def end(self) -> None:
        """Leave no connection open: not one that was just accepted, nor one whose peer reads nothing more."""
        self.server.close()
        await asyncio.sleep(0.1)
        for connection in list(self.server.connections.values()):
            connection.abort()
        await until(lambda: not self.server.connections)
        await asyncio.sleep(0.01)

    def on_request(self, incoming: Incoming) -> None:
        if self.frame is not None and isinstance(incoming.message, FetchRequest):
            self.asked += 1
            self.server.connections[incoming.source.connection]._transport.write(self.frame)
        else:
            self.server.reply(incoming.source, self.answer(incoming.message))

    def answer(self, request: Any) -> Any:
        if isinstance(request, ApiVersionsRequest):
            return versions_answer(VERSIONS)
        if isinstance(request, FetchRequest):
            self.asked += 1
            topic = FetchResponse.FetchableTopicResponse(
                topic_id=METADATA_TOPIC_ID, partitions=(self.fetched(request),)
            )
            return FetchResponse(responses=(topic,))
        if isinstance(request, FetchSnapshotRequest):
            self.parts += 1
            asked = request.topics[0].partitions[0]
            records, size = self.part(asked.position)
            wanted = Part.SnapshotId(end_offset=asked.snapshot_id.end_offset, epoch=asked.snapshot_id.epoch)
            part = Part(
                index=0, error_code=0, snapshot_id=wanted, size=size, position=asked.position,
                unaligned_records=records, current_leader=Part.LeaderIdAndEpoch(leader_id=2, leader_epoch=EPOCH),
            )  # fmt: skip
            topics = (FetchSnapshotResponse.TopicSnapshot(name="__cluster_metadata", partitions=(part,)),)
            return FetchSnapshotResponse(throttle_time_ms=0, error_code=0, topics=topics)
        return VoteResponse(error_code=41, topics=())

    async def lead(self, node: int, port: int) -> None:
        """Tell the node that voter 2 has won the election."""
        partition = BeginQuorumEpochRequest.TopicData.PartitionData(partition_index=0, leader_id=2, leader_epoch=EPOCH)
        topic = BeginQuorumEpochRequest.TopicData(topic_name="__cluster_metadata", partitions=(partition,))
        endpoint = BeginQuorumEpochRequest.LeaderEndpoint(name="CONTROLLER", host="127.0.0.1", port=port)
        request = BeginQuorumEpochRequest(
            cluster_id=CLUSTER_ID, voter_id=1, topics=(topic,), leader_endpoints=(endpoint,)
        )
        client = await Bare.to(node)
        await client.write(request_frame(request, 1))
        await client.frame()
        client.close()


class Follower:
    """The node that is attacked."""

    def __init__(self, root: Path, port: int, process: subprocess.Popen[bytes]) -> None:
        self.root, self.port, self.process = root, port, process

    def events(self) -> list[str]:
        lines = (self.root / "node.log").read_text().splitlines()
        return [json.loads(line).get("event", "") for line in lines if line.startswith("{")]

    def refusals(self) -> list[str]:
        return [event for event in self.events() if event.endswith("_refused")]

    def disk_bytes(self) -> int:
        return sum(path.stat().st_size for path in (self.root / "data").rglob("*") if path.is_file())

    async def answers(self) -> bool:
        client = await Bare.to(self.port)
        await client.write(api_versions())
        frame = await client.frame()
        client.close()
        return len(frame) > 100


def attack(root: Path, talk: Callable[[HostileLeader, Follower], Any], **changes: str) -> None:
    node, hostile = free_port(), free_port()
    voters = f"1@127.0.0.1:{node},2@127.0.0.1:{hostile}"

    async def main(process: subprocess.Popen[bytes]) -> None:
        leader = HostileLeader()
        await leader.server.listen("CONTROLLER", "127.0.0.1", hostile)
        follower = Follower(root, node, process)
        try:
            await leader.lead(node, hostile)
            await asyncio.wait_for(talk(leader, follower), 60)
        finally:
            await leader.end()

    with running(root, node, controller_quorum_voters=voters, kraft_log_format="json", **changes) as process:
        # asyncio's own loop leaves a connection open that it accepts while the server is closed.
        uvloop.run(main(process))


@pytest.mark.parametrize("name", FETCHED)
def test_a_follower_refuses_what_is_no_continuation_of_its_log(tmp_path: Path, name: str) -> None:
    async def talk(leader: HostileLeader, follower: Follower) -> None:
        leader.fetched = FETCHED[name]
        await meet(leader, follower, lambda: leader.asked >= 8)

        assert len(follower.refusals()) == 1, follower.events()

    attack(tmp_path, talk)


def noise(size: int) -> bytes:
    return (bytes(range(256)) * (size // 256 + 1))[:size]


PARTS: dict[str, Callable[[int], tuple[bytes, int]]] = {
    "no end": lambda _position: (noise(1 << 20), 1 << 62),
    "a size that grows": lambda position: (noise(1 << 20), position + (2 << 20)),
    "a size below the part": lambda _position: (noise(1 << 20), 10),
    "a negative size": lambda _position: (noise(100), -1),
    "nothing": lambda _position: (b"", 1 << 20),
    "noise": lambda position: (noise(1 << 20)[position:], 1 << 20),
    "a bomb": lambda position: (BOMB[position : position + (1 << 20)], len(BOMB)),
}


@pytest.mark.parametrize("name", PARTS)
def test_a_follower_refuses_what_is_no_snapshot(tmp_path: Path, name: str) -> None:
    async def talk(leader: HostileLeader, follower: Follower) -> None:
        leader.fetched, leader.part = lambda _: offer(), PARTS[name]
        await meet(leader, follower, lambda: leader.parts >= 8)

        assert len(follower.refusals()) == 1, follower.events()

    # After a corrupt snapshot the next one is fetched when this time is over.
    attack(tmp_path, talk, controller_quorum_request_timeout_ms="500")


async def meet(leader: HostileLeader, follower: Follower, is_done: Callable[[], bool]) -> None:
    """Attack until it is done: the follower lives, answers others, and has its size of before."""
    memory_kib, disk = resident_kib(follower.process), follower.disk_bytes()
    while not is_done():
        assert follower.process.poll() is None, "the follower ended"
        await asyncio.sleep(0.05)

    assert await follower.answers()
    assert resident_kib(follower.process) < memory_kib + (100 << 10)
    assert follower.disk_bytes() < disk + (8 << 20)


@pytest.mark.parametrize(
    "frame",
    [
        (-1).to_bytes(4, "big", signed=True), b"\x7f\xff\xff\xff" + bytes(1000), (3).to_bytes(4, "big") + bytes(3),
        (100).to_bytes(4, "big") + bytes(100), (8 << 20).to_bytes(4, "big") + b"\xff" * (8 << 20),
        b"HTTP/1.1 200 OK\r\n\r\n",
    ],
    ids=["negative", "longer than memory", "too short", "another answer", "noise", "another protocol"],
)  # fmt: skip
def test_a_follower_leaves_a_connection_with_a_frame_that_it_did_not_ask_for(tmp_path: Path, frame: bytes) -> None:
    async def talk(leader: HostileLeader, follower: Follower) -> None:
        leader.frame = frame
        await meet(leader, follower, lambda: leader.asked >= 4)

        assert len(follower.events()) < 30, follower.events()

    attack(tmp_path, talk)
