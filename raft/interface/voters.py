"""Voter sets, the endpoints of voters, and the history of voter sets and kraft.version in the log (KIP-853)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from raft.interface.config import Endpoint, ReplicaKey, Voter
from records.batch import CorruptBatch, records_of
from records.control import KRaftVersionRecord, VotersRecord
from records.control_batch import KRAFT_VERSION, KRAFT_VOTERS, control_type, decode_control
from records.wire import STRING_MAX, DecodeError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from records.batch import Batch

T = TypeVar("T")

KRAFT_VERSION_MAX = 1


class VoterSet:
    """The voters, ascending by id, one for each id. Taken as immutable."""

    __slots__ = ("_by_id", "ids")

    def __init__(self, voters: Iterable[Voter] = ()) -> None:
        """Order the voters by key. Raises ValueError where an id comes twice."""
        ordered = sorted(voters, key=lambda voter: voter.key)
        self._by_id = {voter.key.id: voter for voter in ordered}
        self.ids = tuple(self._by_id)
        if len(self.ids) != len(ordered):
            raise ValueError(f"a voter id comes twice among {[voter.key.id for voter in ordered]}")

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[Voter]:
        return iter(self._by_id.values())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, VoterSet) and self._by_id == other._by_id

    def __hash__(self) -> int:
        return hash(self.ids)

    def __repr__(self) -> str:
        return f"VoterSet({', '.join(str(voter.key) for voter in self)})"

    @property
    def majority(self) -> int:
        """The number of voters that are a majority."""
        return len(self.ids) // 2 + 1

    def get(self, voter_id: int) -> Voter | None:
        """The entry of an id, with any directory id; None where there is none."""
        return self._by_id.get(voter_id)

    def holds(self, key: ReplicaKey) -> bool:
        """Whether this replica is a voter: an entry without a directory id matches every directory (KIP-853)."""
        voter = self._by_id.get(key.id)
        return voter is not None and voter.key.matches(key)

    def endpoints(self, voter_id: int) -> tuple[Endpoint, ...]:
        """The endpoints of a voter; empty where the id is not in the set."""
        voter = self._by_id.get(voter_id)
        return () if voter is None else voter.endpoints

    def supports(self, kraft_version: int) -> bool:
        """Whether all voters support a level of kraft.version."""
        return all(voter.kraft_versions[0] <= kraft_version <= voter.kraft_versions[1] for voter in self)

    def has_current(self, voter: Voter) -> bool:
        """Whether the entry of this voter is up to date."""
        entry = self._by_id.get(voter.key.id)
        return entry is not None and (entry.key, sorted(entry.endpoints), entry.kraft_versions) == (
            voter.key, sorted(voter.endpoints), voter.kraft_versions,
        )  # fmt: skip

    def with_voter(self, voter: Voter) -> VoterSet:
        """The set with one more voter. Raises ValueError where its id is in the set, with any directory id."""
        return VoterSet([*self, voter])

    def without(self, key: ReplicaKey) -> VoterSet | None:
        """The set without the voter with exactly this key; None where it is not in the set, or is the last voter."""
        voter = self._by_id.get(key.id)
        if voter is None or voter.key != key or len(self.ids) == 1:
            return None
        return VoterSet(other for other in self if other is not voter)

    def replace(self, voter: Voter) -> VoterSet:
        """The set with this entry in place of the one with the same id."""
        assert voter.key.id in self._by_id, f"{voter.key} is not among {self}"
        return VoterSet([*(other for other in self if other.key.id != voter.key.id), voter])


def endpoint_of(endpoints: Iterable[Endpoint], listener: str) -> Endpoint | None:
    """The endpoint of a listener; None where there is none. Names are compared without case."""
    name = listener.upper()
    for endpoint in endpoints:
        if endpoint.listener == name:
            return endpoint
    return None


def read_endpoints(items: Iterable[object]) -> tuple[Endpoint, ...]:
    """The endpoints in a message, from `name`, `host` and `port` of each item; a later item with the same name wins."""
    endpoints = {}
    for item in items:
        name = item.name.upper()  # type: ignore[attr-defined]
        endpoints[name] = Endpoint(name, item.host, item.port)  # type: ignore[attr-defined]
    return tuple(endpoints.values())


def fit(endpoints: Iterable[Endpoint]) -> bool:
    """Whether a record can have these names: in upper case a name may have more bytes than in the message."""
    return all(len(each.listener.encode()) <= STRING_MAX for each in endpoints)


def write_endpoints(item: Callable[..., T], endpoints: Iterable[Endpoint]) -> tuple[T, ...]:
    """The endpoints for a message, as `read_endpoints` reads them. item: the class of its items."""
    return tuple(item(name=each.listener, host=each.host, port=each.port) for each in endpoints)


def read_voters(record: VotersRecord) -> VoterSet:
    """The voter set of a KRAFT_VOTERS record. Raises ValueError where an id comes twice."""
    return VoterSet(
        Voter(
            ReplicaKey(voter.voter_id, voter.voter_directory_id),
            read_endpoints(voter.endpoints),
            (voter.kraft_version_feature.min_supported_version, voter.kraft_version_feature.max_supported_version),
        )
        for voter in record.voters
    )


def read_kraft_version(record: KRaftVersionRecord) -> int:
    """The level of a KRAFT_VERSION record. Raises ValueError where it is above KRAFT_VERSION_MAX."""
    if not 0 <= record.kraft_version <= KRAFT_VERSION_MAX:
        raise ValueError(f"kraft.version {record.kraft_version}, where 0 to {KRAFT_VERSION_MAX} are known")
    return record.kraft_version


def voters_record(voters: VoterSet) -> VotersRecord:
    """The KRAFT_VOTERS record of a set."""
    return VotersRecord(
        version=0,
        voters=tuple(
            VotersRecord.Voter(
                voter_id=voter.key.id,
                voter_directory_id=voter.key.directory_id,
                endpoints=write_endpoints(VotersRecord.Voter.Endpoint, voter.endpoints),
                kraft_version_feature=VotersRecord.Voter.KRaftVersionFeature(
                    min_supported_version=voter.kraft_versions[0], max_supported_version=voter.kraft_versions[1]
                ),
            )
            for voter in voters
        ),
    )


def control_values(data: bytes, batch: Batch) -> list[tuple[int, VoterSet | int]]:
    """The voter sets and kraft.versions in a control batch: (offset, value) of each such record, in order.

    Records of other types, known or not, are skipped. Raises CorruptBatch where the batch, or a record that is not
    skipped, cannot be decoded.
    """
    values: list[tuple[int, VoterSet | int]] = []
    for record in records_of(data, batch):
        try:
            if control_type(record.key) not in {KRAFT_VERSION, KRAFT_VOTERS}:
                continue
            _, message = decode_control(record.key, record.value)
            is_version = isinstance(message, KRaftVersionRecord)
            values.append((record.offset, read_kraft_version(message) if is_version else read_voters(message)))
        except (DecodeError, ValueError) as error:
            raise CorruptBatch(batch.base_offset, batch.position, f"control record {record.offset}: {error}") from None
    return values


class History(Generic[T]):
    """Values with the offset from which each is valid, ascending. Offset -1 is that of the 0-0 snapshot."""

    __slots__ = ("entries",)

    def __init__(self, entries: Iterable[tuple[int, T]] = ()) -> None:
        self.entries: list[tuple[int, T]] = []
        for offset, value in entries:
            self.add(offset, value)

    def add(self, offset: int, value: T) -> None:
        assert not self.entries or offset > self.entries[-1][0], f"{offset} is not above {self.entries[-1][0]}"
        self.entries.append((offset, value))

    def last(self) -> tuple[int, T] | None:
        """The newest value with its offset; None where there is none."""
        return self.entries[-1] if self.entries else None

    def at(self, offset: int) -> T | None:
        """The value at an offset: the newest at or before it; None where there is none."""
        return next((value for start, value in reversed(self.entries) if start <= offset), None)

    def truncate(self, end_offset: int) -> None:
        """Forget the values at and above `end_offset`."""
        while self.entries and self.entries[-1][0] >= end_offset:
            self.entries.pop()

    def forget_before(self, end_offset: int) -> None:
        """Forget the values that a later value below `end_offset` replaces.

        The value at `end_offset` itself may yet be truncated: then the one before it is valid again.
        """
        while len(self.entries) > 1 and self.entries[1][0] < end_offset:
            del self.entries[0]

    def restart(self, offset: int, value: T | None) -> None:
        """Forget all values, and keep the one of a snapshot whose last record is at `offset`."""
        self.entries = [] if value is None else [(offset, value)]
