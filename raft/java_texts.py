"""Values in the texts of errors, as Kafka prints them: keys of replicas, and endpoints (`toString` of its classes)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from records.uuids import ZERO_UUID, uuid_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from raft.config import Endpoint, ReplicaKey

_CAPACITY = 16


def key_text(key: ReplicaKey) -> str:
    """The key of a replica."""
    directory = "<undefined>" if key.directory_id == ZERO_UUID else uuid_text(key.directory_id)
    return f"ReplicaKey(id={key.id}, directoryId={directory})"


def keys_text(keys: Iterable[ReplicaKey]) -> str:
    """A `HashSet` of keys, in its order. keys: ascending by id."""
    return f"[{', '.join(key_text(key) for key in hash_order(list(keys)))}]"


def hash_order(keys: list[ReplicaKey]) -> list[ReplicaKey]:
    """The keys in the order of a `HashSet`: by bucket; those of one bucket in the order in which they were put in."""
    size = _CAPACITY
    while len(keys) > size * 3 // 4:
        size *= 2

    def bucket(key: ReplicaKey) -> int:
        code = (31 * (31 + key.id) + _uuid_hash(key.directory_id)) & 0xFFFFFFFF
        return (code ^ code >> 16) & (size - 1)

    return sorted(keys, key=bucket)


def _uuid_hash(value: bytes) -> int:
    """The hash code of an `Optional` of a `Uuid`, unsigned; 0 for the zero id, which is an empty one."""
    folded = int.from_bytes(value[:8]) ^ int.from_bytes(value[8:])
    return (folded >> 32 ^ folded) & 0xFFFFFFFF


def endpoints_text(endpoints: Iterable[Endpoint]) -> str:
    """The endpoints of a voter."""
    pairs = (f"ListenerName({name})={host}/<unresolved>:{port}" for name, host, port in endpoints)
    return f"Endpoints(endpoints={{{', '.join(pairs)}}})"
