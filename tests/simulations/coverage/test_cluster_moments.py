"""The moments of controllers are recognised."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from controller.interface import effects, inputs
from controller.interface.inputs import RequestContext
from raft.interface import effects as do
from raft.interface.config import SnapshotId
from raft.interface.inputs import Source
from records.batch import build_batch
from records.frame import encode_record
from records.messages.brokers import BrokerHeartbeatRequest, UnregisterBrokerRequest
from records.metadata.brokers import UnregisterBrokerRecord
from records.metadata.topics import PartitionChangeRecord, PartitionRecord, RemoveTopicRecord
from simulations.cluster.level import play
from simulations.cluster.targeted_plans import of
from simulations.coverage.cluster_moments import (
    ELIGIBLE_LEAVES,
    GOES,
    GROWS,
    MOVE_ENDS,
    OVERTAKEN,
    WAITS,
    ClusterMoments,
)
from simulations.coverage.seen import OF_CONTROLLERS
from tests.simulations.cluster.test_rules import TOPIC, image, partition

BEAT = BrokerHeartbeatRequest(
    broker_id=102, broker_epoch=102, current_metadata_offset=50, want_fence=False, want_shut_down=False,
    offline_log_dirs=(b"d" * 16,),
)  # fmt: skip
GROWN = PartitionRecord(
    partition_id=1, topic_id=TOPIC, replicas=(101,), isr=(101,), removing_replicas=(), adding_replicas=(), leader=101,
    leader_epoch=0, partition_epoch=0,
)  # fmt: skip


def process(*, is_active: bool = True, now_ms: int = 0) -> Any:
    controller = SimpleNamespace(is_active=is_active, env=SimpleNamespace(now_ms=now_ms))
    return SimpleNamespace(node=SimpleNamespace(id=1), life=1, controller=controller)


def written(offset: int, *records: Any) -> effects.Append:
    data = build_batch([encode_record(each, 0) for each in records], base_offset=offset, leader_epoch=1, timestamp_ms=0)
    return effects.Append(1, offset, offset + len(records) - 1, data)


def requested(request: Any, arrived_ms: int = 0) -> inputs.Requested:
    return inputs.Requested(RequestContext(Source(1, 1), 63, 0, "CONTROLLER", arrived_ms=arrived_ms), request)


def test_what_is_not_committed_when_a_snapshot_is_taken_is_counted() -> None:
    moments = ClusterMoments(image(partition()))
    snapshot = effects.TakeSnapshot(SnapshotId(7, 1), 0, None)
    moments.on_stepped(process(), inputs.Ticked(), [written(6, GROWN)])
    moments.on_stepped(process(), inputs.Ticked(), [snapshot])

    committed = dict(moments.counts)
    moments.on_stepped(process(), inputs.Ticked(), [written(7, GROWN), written(8, RemoveTopicRecord(topic_id=TOPIC))])
    moments.on_stepped(process(), inputs.Ticked(), [snapshot])

    assert (committed.get(GROWS, 0), committed.get(GOES, 0)) == (0, 0)
    assert (moments.counts[GROWS], moments.counts[GOES]) == (1, 1)


def test_moves_and_members_that_end_by_a_request_are_counted() -> None:
    found = image(partition(elr=(103,)))
    moments = ClusterMoments(found)
    ends = PartitionChangeRecord(partition_id=0, topic_id=TOPIC, replicas=(101, 103), adding_replicas=())
    gone = UnregisterBrokerRecord(broker_id=103, broker_epoch=103)

    moments.on_stepped(process(), requested(BEAT), [written(6, ends)])
    moments.on_stepped(process(now_ms=9), requested(UnregisterBrokerRequest(broker_id=103), 5), [written(7, gone)])

    assert moments.counts == {MOVE_ENDS: 1, ELIGIBLE_LEAVES: 1, WAITS: 1}


def test_leadership_that_ends_before_a_claim_was_carried_out_is_counted() -> None:
    moments = ClusterMoments(image(partition()))
    own, other = do.LeaderChanged(5, 1, 40), do.LeaderChanged(6, 2, 0)

    moments.on_raft_stepped(process(), [own])
    moments.on_stepped(process(), inputs.LeaderChanged(5, 1, 40), [])
    moments.on_raft_stepped(process(), [other])
    carried_out = moments.counts[OVERTAKEN]
    moments.on_raft_stepped(process(), [own])
    moments.on_raft_stepped(process(), [other])

    assert (carried_out, moments.counts[OVERTAKEN]) == (0, 1)


@pytest.mark.parametrize(
    ("name", "seed", "moments"),
    [
        ("eligible", 35, [ELIGIBLE_LEAVES]),
        ("eligible", 85, [ELIGIBLE_LEAVES, MOVE_ENDS]),
        ("preferred", 50, [OVERTAKEN]),
    ],
)
def test_the_plans_for_controllers_reach_their_moments(name: str, seed: int, moments: list[str]) -> None:
    outcome, _ = play(of(name, seed), counts=True)

    assert outcome.is_well
    assert [each for each in moments if not outcome.seen[f"{OF_CONTROLLERS}: {each}"]] == []
