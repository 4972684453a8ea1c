"""Values in the texts of errors, as Kafka prints them: keys of replicas, and endpoints (`toString` of its classes)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from records.java.java_order import DEFAULT_CAPACITY, bucket_order, uuid_hash_code
from records.uuids import ZERO_UUID, uuid_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from raft.interface.config import Endpoint, ReplicaKey


def key_text(key: ReplicaKey) -> str:
    """The key of a replica."""
    directory = "<undefined>" if key.directory_id == ZERO_UUID else uuid_text(key.directory_id)
    return f"ReplicaKey(id={key.id}, directoryId={directory})"


def keys_text(keys: Iterable[ReplicaKey]) -> str:
    """A `HashSet` of keys, in its order. keys: ascending by id."""
    return f"[{', '.join(key_text(key) for key in hash_order(list(keys)))}]"


def hash_order(keys: list[ReplicaKey]) -> list[ReplicaKey]:
    """The keys in the order of a `HashSet`: by bucket; those of one bucket in the order in which they were put in."""
    # The hash code of no directory id, an empty Optional, is 0; so is that of the zero id.
    codes = [(31 * (31 + key.id) + uuid_hash_code(key.directory_id)) & 0xFFFFFFFF for key in keys]
    return bucket_order(keys, codes, DEFAULT_CAPACITY)


def endpoints_text(endpoints: Iterable[Endpoint]) -> str:
    """The endpoints of a voter."""
    pairs = (f"ListenerName({name})={host}/<unresolved>:{port}" for name, host, port in endpoints)
    return f"Endpoints(endpoints={{{', '.join(pairs)}}})"
