"""The periodic work of a controller: work that is done too late, too early or never is detected."""

from types import SimpleNamespace
from typing import Any

from controller.interface import effects, inputs
from controller.interface.inputs import RequestContext
from raft.interface.config import SnapshotId
from raft.interface.inputs import Source
from records.batch import build_batch
from records.frame import encode_record
from records.messages.brokers import BrokerHeartbeatRequest
from records.messages.controllers import ControllerRegistrationResponse
from records.metadata.brokers import BrokerRegistrationChangeRecord
from records.metadata.security import UserScramCredentialRecord
from records.schema import replace
from simulations.cluster.metadata.image import Image, Partition
from simulations.cluster.periodic_work import LOOKS_MAX, STOP_BYTES, PeriodicWork

FAILED = effects.Noted("controller_registration_failed", {})
TAKEN = ControllerRegistrationResponse(throttle_time_ms=0, error_code=0, error_message=None)


class World:
    """A controller at one moment, active or not. known: the incarnation in its state."""

    def __init__(self, *, is_active: bool = True, known: bytes | None = b"own", **properties: str) -> None:
        self.image = Image()
        log_rules: Any = SimpleNamespace(image=self.image, elections={"unclean": [], "elr": []})
        names = {"size": "metadata.log.max.record.bytes.between.snapshots"}
        self.periodic_work = PeriodicWork(
            log_rules, {names[name]: value for name, value in properties.items()}, session_ms=1000
        )
        controllers = {} if known is None else {1: SimpleNamespace(incarnation_id=known)}
        self.broker = SimpleNamespace(broker_id=101, epoch=5, fenced=False)
        self.state = SimpleNamespace(
            brokers={101: self.broker}, controllers=controllers, metadata_version=20, stable_end_offset=0,
            partitions=SimpleNamespace(count=9),
        )  # fmt: skip
        self.env = SimpleNamespace(now_ms=0, epoch=3, partitions_at_once=10)
        self.controller: Any = SimpleNamespace(
            is_active=is_active, state=self.state, env=self.env, registration=SimpleNamespace(incarnation_id=b"own")
        )
        self.process: Any = SimpleNamespace(node=SimpleNamespace(id=1), life=1, controller=self.controller)

    def steps(self, event: Any, *done: Any, at_ms: int = 0) -> str:
        self.env.now_ms = max(self.env.now_ms, at_ms)
        self.periodic_work.on_stepped(self.process, event, done)
        return self.periodic_work.refused

    def commits(self, offset: int, *done: Any) -> str:
        self.state.stable_end_offset = offset
        return self.steps(inputs.HighWatermark(offset), *done)


def appended(offset: int, size: int) -> effects.Append:
    """A batch of one record, of this size."""
    blank = UserScramCredentialRecord(name="u", mechanism=1, salt=b"", stored_key=b"", server_key=b"", iterations=1)
    records = (replace(blank, salt=bytes(size - rest)) for rest in range(70, 100))
    return next(made for record in records if len((made := written(offset, record)).data) == size)


def written(offset: int, record: Any) -> effects.Append:
    data = build_batch([encode_record(record, 0)], base_offset=offset - 1, leader_epoch=3, timestamp_ms=0)
    return effects.Append(3, offset - 1, offset - 1, data)


def beat(at_ms: int) -> inputs.Requested:
    request = BrokerHeartbeatRequest(
        broker_id=101, broker_epoch=5, current_metadata_offset=0, want_fence=False, want_shut_down=False
    )
    return inputs.Requested(RequestContext(Source(1, 1), 63, 0, "CONTROLLER", arrived_ms=at_ms), request)


def snapshot(offset: int) -> effects.TakeSnapshot:
    return effects.TakeSnapshot(SnapshotId(offset, 3), 0, None)


def test_a_snapshot_is_due_after_the_configured_bytes() -> None:
    world = World(size="200")
    world.steps(inputs.Ticked(), appended(1, 160), appended(2, 160))

    refused = world.commits(1), world.commits(2, snapshot(2))

    assert refused == ("", "")


def test_a_snapshot_that_is_due_and_not_taken_is_detected() -> None:
    world = World(size="200")
    world.steps(inputs.Ticked(), appended(1, 200))

    assert "takes [] 200 bytes" in world.commits(1)


def test_a_snapshot_that_is_taken_too_early_is_detected() -> None:
    world = World(size="200")
    world.steps(inputs.Ticked(), appended(1, 199))

    assert "199 bytes" in world.commits(1, snapshot(1))


def test_a_node_that_stops_takes_a_snapshot_from_1_mib_on() -> None:
    for size, taken, refused in (
        (STOP_BYTES, [snapshot(1)], ""),
        (STOP_BYTES, [], f"takes [] {STOP_BYTES} bytes"),
        (STOP_BYTES - 1, [], ""),
        (STOP_BYTES - 1, [snapshot(1)], f"{STOP_BYTES - 1} bytes"),
    ):
        world = World()
        world.steps(inputs.Ticked(), appended(1, size))
        world.commits(1)

        said = world.steps(inputs.Stopping(), *taken)

        assert said == refused or (refused and refused in said)


def test_a_node_that_catches_up_or_loads_takes_no_snapshot_at_its_stop() -> None:
    for events, taken in (
        ([], []),
        ([inputs.CaughtUp()], [snapshot(1)]),
        ([inputs.CaughtUp(), inputs.SnapshotOpened(SnapshotId(9, 3))], []),
    ):
        behind = World(is_active=False)
        data = build_batch([bytes(STOP_BYTES)], base_offset=0, leader_epoch=3, timestamp_ms=0)
        behind.state.stable_end_offset = 1
        behind.steps(inputs.Committed(data))
        for event in events:
            behind.steps(event)

        assert behind.steps(inputs.Stopping(), *taken) == ""


def test_records_lost_with_leadership_are_not_counted() -> None:
    world = World(size="200")
    world.steps(inputs.Ticked(), appended(1, 160))
    world.controller.is_active = False
    world.steps(inputs.LeaderChanged(4, 2))
    world.controller.is_active = True
    world.steps(inputs.LeaderChanged(5, 1, 7), appended(8, 160))

    assert world.commits(8) == ""


def test_a_broker_that_is_silent_for_longer_than_its_session_must_be_fenced() -> None:
    world = World()
    world.steps(beat(500), at_ms=500)

    early = [world.steps(inputs.Ticked(), at_ms=1500) for _ in range(LOOKS_MAX + 1)][-1]
    late = [world.steps(inputs.Ticked(), at_ms=1501) for _ in range(LOOKS_MAX + 1)][-1]

    assert early == ""
    assert "received no heartbeat of broker 101 for 1001 ms" in late


def test_a_broker_in_many_isrs_is_fenced_some_steps_later() -> None:
    world = World()
    world.env.partitions_at_once = 2  # of 9: four more steps
    world.steps(beat(500), at_ms=500)

    late = [world.steps(inputs.Ticked(), at_ms=1501) for _ in range(LOOKS_MAX + 5)]

    assert [bool(each) for each in late] == [False] * (LOOKS_MAX + 4) + [True]


def test_a_broker_is_fenced_no_sooner_than_its_session_ends() -> None:
    fence = written(1, BrokerRegistrationChangeRecord(broker_id=101, broker_epoch=5, fenced=1))

    def after(at_ms: int, event: Any = None) -> str:
        world = World()
        world.steps(beat(500), at_ms=500)
        return world.steps(event or inputs.Ticked(), fence, at_ms=at_ms)

    assert "fences broker 101 900 ms after its last heartbeat" in after(1400)
    assert [after(1501), after(1400, beat(1400))] == ["", ""]


def test_a_new_active_controller_gives_each_broker_a_whole_session() -> None:
    fence = written(1, BrokerRegistrationChangeRecord(broker_id=101, broker_epoch=5, fenced=1))
    world = World()
    world.steps(inputs.LeaderChanged(3, 1, 0), at_ms=5000)

    assert "fences broker 101 900 ms" in world.steps(inputs.Ticked(), fence, at_ms=5900)


def test_a_registration_that_failed_waits_twice_as_long_each_time() -> None:
    world = World(is_active=False, known=None)
    world.steps(inputs.LeaderChanged(3, 2), effects.SendToActive(1, None))
    world.steps(inputs.SendAnswered(1, None), FAILED)
    world.steps(inputs.Ticked(), effects.SendToActive(2, None), at_ms=98)
    world.steps(inputs.SendAnswered(2, None), FAILED)

    assert world.steps(inputs.Ticked(), at_ms=200) == ""
    assert "should wait until 294 ms" in world.steps(inputs.Ticked(), effects.SendToActive(3, None), at_ms=293)


def test_a_registration_is_sent_to_a_new_leader_at_once() -> None:
    world = World(is_active=False, known=None)
    world.steps(inputs.LeaderChanged(3, 2), effects.SendToActive(1, None))
    world.steps(inputs.SendAnswered(1, None), FAILED, at_ms=50)

    world.steps(inputs.LeaderChanged(4, 3), at_ms=60)

    assert "has not asked 3 by 60 ms" in world.steps(inputs.Ticked(), at_ms=70)


def test_an_accepted_registration_is_not_sent_again_before_its_record_can_arrive() -> None:
    world = World(is_active=False, known=None)
    world.steps(inputs.LeaderChanged(3, 2), effects.SendToActive(1, None))

    assert "should wait" in world.steps(inputs.SendAnswered(1, TAKEN), effects.SendToActive(2, None), at_ms=9)


def test_figures_that_are_not_of_what_there_is_are_detected() -> None:
    world = World()
    world.steps(inputs.Ticked())
    world.image.partitions[b"t" * 16, 0] = Partition((101,), (101,), 101, 0, 0, (), (), (), ())
    nothing = ()
    partitions = SimpleNamespace(
        counts=lambda: (1, 1, 0), reassigning=lambda: nothing, with_elr=lambda: nothing,
    )  # fmt: skip
    world.state.partitions, world.state.elections, world.state.end_offset = partitions, {}, 0
    world.state.contents = lambda: {"topics": {}}
    world.controller.waiting = []

    world.periodic_work.compare_metrics(world.process)

    assert world.periodic_work.refused == "node 1 counts, and there is: {'without a leader': (1, 0)}"
