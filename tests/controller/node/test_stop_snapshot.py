"""A node that is stopped writes a snapshot first where a restart would have much to replay."""

from __future__ import annotations

import asyncio
import io
import json
from random import Random
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from controller.core import snapshot_schedule
from controller.node import snapshot_task, stop_snapshot
from controller.node.logging.logs import Log
from controller.server.start import build
from raft.interface.config import Endpoint, ReplicaKey
from raft.interface.inputs import Source
from raft.network.requests import Incoming
from raft.storage.errors import DiskFailed
from raft.storage.flusher import AtOnce
from records.messages.brokers import BrokerHeartbeatRequest
from records.schema import default_of, replace, schema_of
from tests.benchmarks.client import create_topics
from tests.controller.rig import CLUSTER, levels, registration
from tests.controller.server.processes import write_properties
from tests.raft.storage.disk import Disk
from tools.config_file import read_config

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

# As many as one request may have; the records of both topics together have more than 1 MiB.
PARTITIONS = 9_900
TOPICS = 2


class Seat:
    """A running quorum of one on a disk in memory, which is itself in place of the listeners."""

    def __init__(self, root: Path, disk: Disk) -> None:
        self.ended = asyncio.Event()
        self.said = io.StringIO()
        self.answers: dict[int, Any] = {}
        self.disk = disk
        loop = asyncio.get_running_loop()
        log = Log("json", "INFO", self.said)
        identity: Any = SimpleNamespace(directory="data", cluster_id=CLUSTER, key=ReplicaKey(1, b"d" * 16))
        self.node = build(
            read_config(write_properties(root, 1)), identity, loop=loop, log=log, on_end=self.ended.set,
            wall_ms=lambda: 1_700_000_000_000, files=disk, executor=AtOnce(), rng=Random(1),
            endpoints=(Endpoint("CONTROLLER", "127.0.0.1", 1),), server=self,  # type: ignore[arg-type]
        )  # fmt: skip
        self.node.controller.bootstrap = levels()
        self.node.start()

    def reply(self, source: Source, response: Any) -> None:
        self.answers[source.correlation] = response

    def encoder(self, _source: Source) -> Callable[[Any], Any]:
        return lambda response: response

    def send(self, source: Source, response: Any) -> None:
        self.reply(source, response)

    def disconnect(self, _source: Source, reason: str) -> None:
        raise AssertionError(reason)

    def close(self) -> None:
        """Nothing is open."""

    async def ask(self, request: Any) -> Any:
        schema = schema_of(type(request))
        assert schema.api_key is not None
        assert schema.served is not None
        number = len(self.answers) + 1
        source, peer = Source(1, number), "127.0.0.1:9"
        incoming = Incoming(
            source, schema.api_key, schema.served[1], number, "test", request, b"", 0, "CONTROLLER", peer
        )
        self.node.on_request(incoming)
        await self.until(lambda: number in self.answers)
        return self.answers[number]

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(20):
            while not holds():
                await asyncio.sleep(0.001)

    async def lead(self, topics: int) -> None:
        """Become the active controller, and create topics."""
        await self.until(lambda: self.node.controller.is_active)
        broker = await self.ask(registration(1))
        beat = replace(default_of(BrokerHeartbeatRequest), broker_id=1, broker_epoch=broker.broker_epoch)
        await self.ask(replace(beat, current_metadata_offset=1 << 40))
        for number in range(topics):
            await self.create(f"topic-{number}", PARTITIONS)

    async def create(self, name: str, partitions: int) -> None:
        answer = await self.ask(create_topics([name], partitions))
        assert answer.topics[0].error_code == 0, answer

    async def end(self) -> None:
        async with asyncio.timeout(20):
            await self.ended.wait()

    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.said.getvalue().splitlines()]

    def stop_events(self) -> list[str]:
        """The names of the events from the stop on that tell its course."""
        names = [event["event"] for event in self.events()]
        shown = ("node_stopping", "snapshot_written", "snapshot_given_up", "controller_renounced", "node_failed")
        return [name for name in names[names.index("node_stopping") :] if name in shown]

    def snapshots(self) -> list[str]:
        return sorted(path for path in self.disk.files if ".checkpoint" in path or path.endswith(".part"))


def play(root: Path, scene: Callable[[Seat], Awaitable[None]], topics: int = TOPICS) -> Seat:
    """Have a node with these topics; the scene stops it."""

    async def whole() -> Seat:
        seat = Seat(root, Disk())
        await seat.lead(topics)
        assert seat.snapshots() == []
        await scene(seat)
        await seat.end()
        return seat

    return asyncio.run(whole())


def hold(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """No snapshot goes on until the function that is returned is called."""
    before = snapshot_task.STEPS_PER_ITERATION
    monkeypatch.setattr(snapshot_task, "STEPS_PER_ITERATION", 0)
    return lambda: monkeypatch.setattr(snapshot_task, "STEPS_PER_ITERATION", before)


def test_a_node_with_much_to_replay_writes_a_snapshot_and_serves_until_it_is_on_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = hold(monkeypatch)

    async def scene(seat: Seat) -> None:
        end_offset = seat.node.controller.state.stable_end_offset
        left: list[bool] = []
        seat.node.shut_down(lambda: left.append(seat.node.is_ending))
        assert left == [False], "there is nothing to wait for before the snapshot"
        await seat.create("late", 1)
        assert seat.node.controller.is_active
        release()
        await seat.end()
        assert seat.snapshots() == [f"data/__cluster_metadata-0/{end_offset:020d}-{1:010d}.checkpoint"]

    seat = play(tmp_path, scene)

    assert seat.stop_events() == ["node_stopping", "snapshot_written", "controller_renounced"]
    assert seat.node.failure is None


def test_the_next_start_loads_the_snapshot_in_place_of_the_records(tmp_path: Path) -> None:
    async def whole() -> None:
        seat = Seat(tmp_path, Disk())
        await seat.lead(TOPICS)
        before = seat.node.controller.state.contents()
        seat.node.shut_down()
        await seat.end()

        again = Seat(tmp_path, seat.disk)
        await again.until(lambda: again.node.controller.is_active)
        assert again.node.controller.metrics.snapshots_loaded == 1
        assert again.node.controller.state.contents()["topics"] == before["topics"]
        assert again.node.controller.snapshots.bytes < 10_000
        again.node.end_now()

    asyncio.run(whole())


def test_a_node_with_little_to_replay_ends_at_once_without_a_snapshot(tmp_path: Path) -> None:
    async def scene(seat: Seat) -> None:
        assert 0 < seat.node.controller.snapshots.bytes < snapshot_schedule.STOP_BYTES_MIN
        seat.node.shut_down()
        assert seat.node.is_ending

    seat = play(tmp_path, scene, topics=1)

    assert seat.stop_events() == ["node_stopping", "controller_renounced"]
    assert seat.snapshots() == []


def test_a_node_whose_last_snapshot_is_large_ends_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The state is too large to be written in the time."""

    async def whole() -> None:
        seat = Seat(tmp_path, Disk())
        await seat.lead(TOPICS)
        seat.node.shut_down()
        await seat.end()
        size = seat.node.replica.log.latest_snapshot.size  # type: ignore[union-attr]
        monkeypatch.setattr(stop_snapshot, "SNAPSHOT_BYTES_MAX", size - 1)

        again = Seat(tmp_path, seat.disk)
        await again.lead(0)
        for number in range(TOPICS):
            await again.create(f"further-{number}", PARTITIONS)
        before = again.snapshots()
        again.node.shut_down()
        assert again.node.is_ending
        await again.end()
        assert again.snapshots() == before

    asyncio.run(whole())


def test_a_second_signal_ends_the_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hold(monkeypatch)

    async def scene(seat: Seat) -> None:
        seat.node.shut_down()
        await asyncio.sleep(0.01)
        assert not seat.node.is_ending
        seat.node.shut_down()
        assert seat.node.is_ending
        seat.node.shut_down()

    seat = play(tmp_path, scene)

    assert seat.stop_events() == ["node_stopping", "node_stopping", "snapshot_given_up", "controller_renounced"]
    assert seat.snapshots() == []


def test_a_snapshot_that_takes_too_long_is_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hold(monkeypatch)
    monkeypatch.setattr(stop_snapshot, "STOP_SNAPSHOT_S_MAX", 0.05)

    async def scene(seat: Seat) -> None:
        seat.node.shut_down()
        assert not seat.node.is_ending

    seat = play(tmp_path, scene)

    assert seat.stop_events() == ["node_stopping", "snapshot_given_up", "controller_renounced"]
    given_up = next(event for event in seat.events() if event["event"] == "snapshot_given_up")
    assert given_up["reason"] == "the node stops, and it was not written within 0.05 s"
    assert seat.snapshots() == []
    assert seat.node.failure is None


def test_a_snapshot_that_is_being_written_already_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = hold(monkeypatch)

    async def scene(seat: Seat) -> None:
        seat.node.controller.env.settings.metadata_log_max_record_bytes_between_snapshots = 1
        await seat.create("one", 1)
        assert seat.node.snapshot.is_under_way
        seat.node.shut_down()
        assert not seat.node.is_ending
        release()

    seat = play(tmp_path, scene, topics=0)

    assert seat.stop_events() == ["node_stopping", "snapshot_written", "controller_renounced"]
    assert len(seat.snapshots()) == 1


@pytest.mark.parametrize("how", ["fail", "end_now"])
def test_a_node_that_ends_during_the_wait_does_nothing_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    hold(monkeypatch)
    monkeypatch.setattr(stop_snapshot, "STOP_SNAPSHOT_S_MAX", 0.05)

    async def scene(seat: Seat) -> None:
        seat.node.shut_down()
        await asyncio.sleep(0.01)
        if how == "fail":
            seat.node.fail(DiskFailed("a test", OSError(5, "Input/output error")))
        else:
            seat.node.end_now()
        monkeypatch.setattr(seat.node, "_step_controller", unexpected)
        monkeypatch.setattr(seat.node, "_step_raft", unexpected)
        await seat.end()
        await asyncio.sleep(0.1)

    def unexpected(event: Any) -> None:
        raise AssertionError(event)

    seat = play(tmp_path, scene)

    assert seat.stop_events() == ["node_stopping", *(["node_failed"] if how == "fail" else [])]
    assert seat.snapshots() == []
    assert seat.node.controller.is_active
    assert (seat.node.failure is None) == (how == "end_now")
