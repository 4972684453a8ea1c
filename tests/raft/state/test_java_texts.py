from __future__ import annotations

from raft.interface.config import Endpoint, ReplicaKey
from raft.state.java_texts import endpoints_text, hash_order, key_text, keys_text
from tests.raft.building import key


def test_a_key_is_printed_as_kafka_prints_it() -> None:
    assert key_text(key(1)) == "ReplicaKey(id=1, directoryId=AQEBAQEBAQEBAQEBAQEBAQ)"
    assert key_text(ReplicaKey(2)) == "ReplicaKey(id=2, directoryId=<undefined>)"


def test_endpoints_are_printed_as_kafka_prints_them() -> None:
    text = endpoints_text([Endpoint("CONTROLLER", "c1", 9093)])

    assert text == "Endpoints(endpoints={ListenerName(CONTROLLER)=c1/<unresolved>:9093})"


def test_keys_are_in_the_order_of_a_hash_set() -> None:
    keys = [ReplicaKey(each) for each in (16, 1, 17)]

    assert hash_order(keys) == [ReplicaKey(1), ReplicaKey(17), ReplicaKey(16)]
    assert keys_text(keys[1:]) == f"[{key_text(ReplicaKey(1))}, {key_text(ReplicaKey(17))}]"


def test_a_hash_set_grows_above_three_quarters() -> None:
    ids = [each.id for each in hash_order([ReplicaKey(each) for each in range(13)])]

    assert ids == [1, 0, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2]
