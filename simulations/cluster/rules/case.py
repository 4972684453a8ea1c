"""One request for the rules: the state before, the request, the records written for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from records.errors import Error, error_name
from records.metadata.configs import ConfigRecord
from records.metadata.topics import (
    ClearElrRecord,
    PartitionChangeRecord,
    PartitionRecord,
    RemoveTopicRecord,
    TopicRecord,
)
from records.uuids import MIGRATING_DIRECTORY, UNASSIGNED_DIRECTORY
from simulations.cluster.metadata.answers import errors_of
from simulations.cluster.metadata.member_rules import DIRECTORIES_SINCE, ELR, METADATA_VERSION
from simulations.cluster.rules.departures import Departures
from simulations.world.violation import Violation

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from simulations.cluster.metadata.image import Image, Levels

TRANSACTIONS_SINCE = 13
RECORDS_MAX = 10_000
NAME_MAX = 249
# These errors are about the node, not about the request.
ELSEWHERE = {Error.NOT_CONTROLLER, Error.REQUEST_TIMED_OUT, Error.NOT_LEADER_OR_FOLLOWER}
# These errors show nothing of the state.
OF_REQUEST = {Error.INVALID_REQUEST, Error.POLICY_VIOLATION, Error.TOPIC_DELETION_DISABLED}
# Kinds of records that requests of admin clients write.
_OF_REQUESTS = (ConfigRecord, ClearElrRecord, PartitionChangeRecord, PartitionRecord, RemoveTopicRecord, TopicRecord)


@dataclass(slots=True)
class Case:
    """node_id: of the active controller. image: its state, uncommitted records included. version: of the request.
    records: those written in the step that handled it, in order. properties: of its configuration file. voters: their
    ids. kraft_version: of the quorum, which is in no metadata record. levels: those that the node itself supports.
    departures: of `departures.Departures`; the brokers in them get no new replicas. heard: the brokers that sent a
    heartbeat within the session timeout. begin: where the log ended when the
    controller became active.
    """

    node_id: int
    image: Image
    request: Any
    version: int
    records: list[Any]
    properties: Mapping[str, str]
    cluster_id: str
    voters: tuple[int, ...]
    kraft_version: int = 0
    levels: Levels = field(default_factory=dict)
    departures: Departures = field(default_factory=Departures)
    heard: Collection[int] = ()
    begin: int = 0

    def fail(self, text: str) -> Violation:
        kind = type(self.request).__name__
        return Violation("C21", f"node {self.node_id} takes {kind}: {text}; it was asked {self.request}")

    @property
    def level(self) -> int:
        """metadata.version."""
        return self.image.features.get(METADATA_VERSION, 0)

    @property
    def keeps_elr(self) -> bool:
        return self.image.features.get(ELR, 0) > 0

    def number(self, key: str, otherwise: int) -> int:
        return int(self.properties.get(key, otherwise))

    def flag(self, key: str, otherwise: str) -> bool:
        return self.properties.get(key, otherwise) == "true"

    @property
    def request_records(self) -> list[Any]:
        """The records that the request may have caused; others are of periodic work in the same step."""
        return [record for record in self.records if isinstance(record, _OF_REQUESTS)]

    def may_be_too_much(self, count: int) -> bool:
        """Whether a request with this many records may be refused as a whole."""
        is_cut = "internal.metadata.max.batch.size.in.bytes" in self.properties
        return count > RECORDS_MAX or (is_cut and self.level < TRANSACTIONS_SINCE)

    def expect(self, what: object, code: int, allowed: Iterable[int]) -> None:
        """Check an error code. Raises Violation if an item has another error than one of these; without errors given,
        if it failed.
        """
        codes = set(allowed) or {Error.NONE}
        if code not in codes and code not in ELSEWHERE:
            names = " or ".join(sorted(error_name(code) for code in codes))
            raise self.fail(f"{what} is answered by {error_name(code)}, not {names}")

    def same(self, what: object, actual: object, wanted: object) -> None:
        """Compare two values. Raises Violation if they differ."""
        if actual != wanted:
            raise self.fail(f"{what}: {actual}, expected {wanted}")


def is_elsewhere(response: Any) -> bool:
    """Whether a response contains an error that says that another node is active, or that the request took too long."""
    return not ELSEWHERE.isdisjoint(errors_of(response))


def is_without_data(response: Any) -> bool:
    """Whether a response shows no state: it is empty, or has only errors that the request alone causes."""
    if getattr(response, "error_code", Error.NONE) == Error.REQUEST_TIMED_OUT:
        return True  # an ElectLeaders repeats the code for each partition
    lists = [part for part in (getattr(response, name) for name in response.__slots__) if isinstance(part, tuple)]
    items = [each for part in lists for each in part]
    codes = [each.error_code for each in items if hasattr(each, "error_code")]
    if not items:
        codes = [getattr(response, "error_code", Error.NONE)]
        return set(codes) <= {Error.NONE, *OF_REQUEST}
    # A request that timed out before its step has that code for each item.
    return len(codes) == len(items) and (set(codes) <= OF_REQUEST or set(codes) == {Error.REQUEST_TIMED_OUT})


def first_directory(image: Image, broker_id: int) -> bytes:
    """The directory of a replica that is new to a broker."""
    if image.features.get(METADATA_VERSION, 0) < DIRECTORIES_SINCE:
        return MIGRATING_DIRECTORY
    broker = image.brokers.get(broker_id)
    if broker is None:
        return UNASSIGNED_DIRECTORY
    directories = broker.directories
    return directories[0] if len(directories) == 1 else UNASSIGNED_DIRECTORY if directories else MIGRATING_DIRECTORY


def is_topic_name(name: str) -> bool:
    """Whether this is a valid topic name."""
    letters = all(each.isascii() and (each.isalnum() or each in "._-") for each in name)
    return name not in ("", ".", "..") and len(name) <= NAME_MAX and letters


def find_repeated(names: Sequence[Any]) -> set[Any]:
    """The items that occur more than once."""
    return {name for name in names if names.count(name) > 1}
