from __future__ import annotations

from raft.interface.config import ReplicaKey
from tests.raft.building import key


def test_a_key_without_directory_id_means_any_replica_of_that_id() -> None:
    recorded = ReplicaKey(1)

    assert recorded.matches(key(1))
    assert recorded.matches(ReplicaKey(1))
    assert not recorded.matches(key(2))


def test_a_key_with_directory_id_means_that_replica_alone() -> None:
    recorded = key(1)

    assert recorded.matches(key(1))
    assert not recorded.matches(ReplicaKey(1))
    assert not recorded.matches(ReplicaKey(1, b"x" * 16))


def test_a_key_prints_as_kafka_prints_ids() -> None:
    assert str(ReplicaKey(7)) == "7"
    assert str(ReplicaKey(7, bytes(15) + b"\1")) == "7@AAAAAAAAAAAAAAAAAAAAAQ"
