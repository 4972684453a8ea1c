"""Brokers that exist only as registrations and heartbeats, with topics: data for the status page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from records.messages.brokers import BrokerRegistrationRequest
from records.messages.topics import CreateTopicsRequest
from records.schema import replace
from simulations.chaos.brokers import heartbeat as alive
from simulations.chaos.brokers import registration
from tests.benchmarks.client import FEATURES

if TYPE_CHECKING:
    from tests.deploy.watched import Watched


def register(quorum: Watched, leader: int, broker_id: int, rack: str) -> int:
    """Register a broker; its epoch."""
    listener = BrokerRegistrationRequest.Listener(
        name="PLAINTEXT", host=f"broker-{broker_id}.example", port=9092, security_protocol=0
    )
    request = replace(registration(broker_id, FEATURES), listeners=(listener,), rack=rack)
    answer = quorum.ask(leader, request)
    assert answer.error_code == 0, answer
    return int(answer.broker_epoch)


def heartbeat(quorum: Watched, leader: int, broker_id: int, epoch: int, *, fence: bool = False) -> None:
    """Send a heartbeat of a broker that has caught up; fence: whether it asks to be fenced."""
    request = replace(alive(broker_id, epoch), want_fence=fence)
    answer = quorum.ask(leader, request)
    assert answer.error_code == 0, answer


def create(quorum: Watched, leader: int, name: str, assignments: dict[int, tuple[int, ...]]) -> None:
    """Create a topic with these replicas of each partition."""
    topic = CreateTopicsRequest.CreatableTopic(
        name=name,
        num_partitions=-1,
        replication_factor=-1,
        assignments=tuple(
            CreateTopicsRequest.CreatableTopic.CreatableReplicaAssignment(partition_index=number, broker_ids=replicas)
            for number, replicas in assignments.items()
        ),
        configs=(),
    )
    answer = quorum.ask(leader, CreateTopicsRequest(topics=(topic,), timeout_ms=5000, validate_only=False))
    assert answer.topics[0].error_code == 0, answer


def populate(quorum: Watched, leader: int) -> None:
    """Three brokers, two topics; broker 103 is fenced: one partition is offline, others are under-replicated."""
    epochs = {broker_id: register(quorum, leader, broker_id, f"rack-{broker_id % 2}") for broker_id in (101, 102, 103)}
    for broker_id, epoch in epochs.items():
        heartbeat(quorum, leader, broker_id, epoch)
    create(quorum, leader, "orders", {0: (101, 102), 1: (102, 103), 2: (103, 101)})
    create(quorum, leader, "archive", {0: (103,), 1: (102,)})
    heartbeat(quorum, leader, 103, epochs[103], fence=True)
