"""Voter sets by the contents of logs (KIP-853): each prefix of a log has the set of its newest VotersRecord.

Read from the bytes of the batches, and not from what a replica says of its voters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from records.batch import batches, is_intact, read_header
from records.control_batch import KRAFT_VERSION, KRAFT_VOTERS, control_records_of
from records.uuids import ZERO_UUID
from simulations.world.chains import EMPTY

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simulations.world.chains import Chains

_ATTRIBUTES_AT = 22
_CONTROL = 0x20

Key = tuple[int, bytes]


class Voters(NamedTuple):
    """A voter set. keys: (id, directory id) ascending, the directory id all zeros with static voters; hosts: the
    address of each, in the same order; offset: of its record, -1 for the set that nodes are formatted with.
    """

    keys: tuple[Key, ...] = ()
    hosts: tuple[str, ...] = ()
    offset: int = -1

    def __str__(self) -> str:
        rows = (
            f"{key[0]}{'@' + key[1].hex()[:4] if any(key[1]) else ''} at {host}"
            for key, host in zip(self.keys, self.hosts, strict=True)
        )
        return f"({', '.join(rows)}; offset {self.offset})"

    @property
    def ids(self) -> tuple[int, ...]:
        return tuple(key[0] for key in self.keys)

    @property
    def majority(self) -> int:
        return len(self.keys) // 2 + 1

    @property
    def is_dynamic(self) -> bool:
        """Whether kraft.version is 1: then voters have directory ids."""
        return bool(self.keys) and self.keys[0][1] != ZERO_UUID

    def host_of(self, key: Key) -> str:
        """The address of a voter; "" where it is none."""
        return self.hosts[self.keys.index(key)] if key in self.keys else ""

    def key_of(self, key: Key) -> Key:
        """The key by which a replica is one of them; its own key where it is none."""
        static = (key[0], ZERO_UUID)
        return static if key not in self.keys and static in self.keys else key

    def holds(self, key: Key) -> bool:
        """Whether a replica with this id and directory is one of them."""
        return key in self.keys or (key[0], ZERO_UUID) in self.keys


NO_VOTERS = Voters()


class VoterSets:
    """The voter set and the level of kraft.version of each prefix. first, level: of the empty log, as formatted. all:
    the sets of all logs, in the order in which they were read.
    """

    def __init__(self, chains: Chains, first: Voters, level: int) -> None:
        self._chains = chains
        self.first = first
        self.all: list[Voters] = [first]
        self._found: dict[int, tuple[tuple[Voters, ...], int]] = {EMPTY: ((first,), level)}

    def at(self, number: int) -> Voters:
        """The set in force behind a prefix: of its newest record, committed or not."""
        return self._of(number)[0][-1]

    def all_at(self, number: int) -> tuple[Voters, ...]:
        """All sets of a prefix, from that of the formatter on."""
        return self._of(number)[0]

    def level(self, number: int) -> int:
        """The level of kraft.version behind a prefix."""
        return self._of(number)[1]

    def _of(self, number: int) -> tuple[tuple[Voters, ...], int]:
        known = self._found.get(number)
        if known is not None:
            return known
        unread = []
        while number not in self._found and number >= 0:
            unread.append(number)
            number = self._chains.batches[number][0]
        sets, level = self._found.get(number, ((self.first,), 0))
        for later in reversed(unread):
            batch = self._chains.batches[later][1]
            if is_control(batch) and is_whole(batch):
                voters, level = read_control(batch, sets[-1], level)
                if voters is not sets[-1]:
                    self.all.append(voters)
                    sets = (*sets, voters)
            self._found[later] = (sets, level)
        return sets, level


def is_control(batch: bytes | memoryview) -> bool:
    """Whether a batch has control records."""
    return bool(batch[_ATTRIBUTES_AT] & _CONTROL)


def is_whole(data: bytes | memoryview) -> bool:
    """Whether a batch is as it was written. One on a disk may be torn; a node that starts there deletes it."""
    batch = read_header(data)
    return batch is not None and is_intact(data, batch)


def read_control(data: bytes, voters: Voters, level: int = 0) -> tuple[Voters, int]:
    """The voter set and the level of kraft.version behind a control batch. voters, level: those before it."""
    batch = next(batches(data))
    for offset, kind, message in control_records_of(data, batch):
        if kind == KRAFT_VOTERS:
            rows = sorted((each.voter_id, each.voter_directory_id, each.endpoints[0].host) for each in message.voters)
            keys = tuple(row[:2] for row in rows)
            voters = Voters(keys, tuple(row[2] for row in rows), offset)
        elif kind == KRAFT_VERSION:
            level = message.kraft_version
    return voters, level


def share_majorities(one: Voters, other: Voters) -> bool:
    """Whether each majority of one set shares a voter with each majority of the other."""
    shared = sum(1 for key in one.keys if other.holds(key) or (key[1] == ZERO_UUID and key[0] in other.ids))
    union = len(one.keys) + len(other.keys) - shared
    return one.majority + other.majority > union


def with_room(sets: Iterable[Voters], lost: set[Key]) -> bool:
    """Whether a majority of each of these sets is left without the voters that are lost."""
    return all(sum(1 for key in each.keys if key not in lost) >= each.majority for each in sets if each.keys)
