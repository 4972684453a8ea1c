"""What becomes of many partitions when a broker comes, goes or has lost data, by whole columns (KIP-631, KIP-966).

The rules are those of `controller.partition_change`, which has them for one partition; here they stand for partitions
that are as nearly all are: not in reassignment, nothing in their ELR, recovered. For the others that module is asked,
once for each sort of partition. Both ways give the same records.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from controller.bulk_changes import FIELDS, NO_CHANGE, Group, PartitionChanges, grouped
from controller.columns import LOST, NOBODY, UNASSIGNED
from controller.leadership import Leadership
from controller.partition import NO_LEADER, RECOVERING
from controller.partition_change import Wish
from controller.record_versions import NO_EPOCH_BUMP_ON_ISR_SHRINK
from controller.topic_rules import topic_rules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from controller.columns import Columns, Int32s
    from controller.env import Env
    from controller.partitions import Rows
    from controller.state import State
    from records.metadata.topics import PartitionChangeRecord

    Bools = NDArray[np.bool_]

# Broker ids up to here are looked up in an array, larger ones by search.
_DENSE_MAX = 1 << 16


def leader_and_isr_changes(
    state: State,
    env: Env,
    rows: Rows,
    *,
    removed: int | None = None,
    added: int | None = None,
    lost_data: int | None = None,
) -> PartitionChanges:
    """What becomes of the partitions in these rows, each given once, ascending.

    removed: a broker that leaves their ISRs and may not lead. added: one that counts as active from now on. lost_data:
    one that was shut down uncleanly, and so leaves ISRs and ELRs.
    """
    gone = tuple(broker_id for broker_id in (removed, lost_data) if broker_id is not None)
    if not len(rows):
        return PartitionChanges([])
    min_isr, unclean = topic_rules(state, env, rows)
    leadership = Leadership(state, env, also=added, without=gone)
    common = _Common(state.partitions.columns, rows)
    groups = []
    chosen = np.flatnonzero(common.applies)
    if len(chosen):
        common.keep(chosen)
        common.shrink(gone, NOBODY if removed is None else removed)
        common.elect(_acceptable(state, common, added, gone), unclean[chosen])
        groups = common.changes(state, min_isr[chosen])
    others = np.flatnonzero(~common.applies)
    if len(others):
        groups += grouped(_one_by_one(leadership, rows[others], min_isr[others], gone, lost_data))
    return PartitionChanges(groups)


class _Common:
    """Partitions of the common sort, and what is decided on them, as columns.

    applies: which of the rows given are of that sort; all other columns are of those alone, once `keep` was called.
    """

    def __init__(self, columns: Columns, rows: Rows) -> None:
        self.rows = rows
        self.replicas = _used([column[rows] for column in columns.replicas])
        self.isr = _used([column[rows] for column in columns.isr])
        self.directories = [column[rows] for column in columns.directories[: len(self.replicas)]]
        self.leader = columns.leader[rows]
        self.applies = (columns.flags[rows] == 0) & self._is_sound()

    def _is_sound(self) -> Bools:
        """Replicas once each, the ISR and the leader among them: so it is, unless the log was not written by Kafka."""
        sound: Bools = self.leader == NO_LEADER
        for replica in self.replicas:
            sound |= self.leader == replica
        for number, member in enumerate(self.isr):
            known = member == NOBODY
            for replica in self.replicas:
                known |= member == replica
            sound &= known
            for other in self.isr[:number]:
                sound &= (member != other) | (member == NOBODY)
        for number, replica in enumerate(self.replicas):
            for other in self.replicas[:number]:
                sound &= (replica != other) | (replica == NOBODY)
        return sound

    def keep(self, chosen: NDArray[np.intp]) -> None:
        """Go on with some of the rows."""
        if len(chosen) == len(self.rows):
            return
        self.rows = self.rows[chosen]
        self.leader = self.leader[chosen]
        self.replicas = [column[chosen] for column in self.replicas]
        self.isr = [column[chosen] for column in self.isr]
        self.directories = [column[chosen] for column in self.directories]

    def shrink(self, gone: tuple[int, ...], eligible: int) -> None:
        """Take brokers out of the ISR. eligible: the one that stays eligible to lead."""
        self.eligible = eligible
        self.target = self.isr
        self.shrunk = np.zeros(len(self.rows), np.bool_)
        self.stays_eligible = self.shrunk
        for broker_id in gone:
            self.target, hit = _without(self.target, broker_id)
            self.shrunk = self.shrunk | hit
            if broker_id == eligible:
                self.stays_eligible = hit
        self.target_size = _sizes(self.target)

    def elect(self, acceptable: list[Bools], allows_unclean: Bools) -> None:
        """Who leads: the leader of now if it can, else the first replica that can, else (unclean) any that lives.

        With an empty ISR nobody is valid: the one that was taken out of it may be eligible, but is gone.
        """
        valid = [
            accepted & _contains(self.target, replica)
            for accepted, replica in zip(acceptable, self.replicas, strict=True)
        ]
        elected = _first(self.replicas, valid)
        for replica, is_valid in zip(self.replicas, valid, strict=True):
            elected = np.where(is_valid & (replica == self.leader), replica, elected)
        uncleanly = (elected == NO_LEADER) & allows_unclean
        if uncleanly.any():
            elected = np.where(uncleanly, _first(self.replicas, acceptable), elected)
        self.elected = elected
        self.changes_leader = elected != self.leader
        self.uncleanly = uncleanly & (elected != NO_LEADER) & self.changes_leader

    def changes(self, state: State, min_isr: Int32s) -> list[Group]:
        """The records' fields, in groups of one shape."""
        elr_enabled = state.elr_enabled
        names_leader = self.changes_leader
        leader = np.where(self.changes_leader, self.elected, self.leader)
        isr_size = self.target_size
        isr = self.target
        writes_isr = self.shrunk if elr_enabled else self.shrunk & (isr_size > 0)
        if self.uncleanly.any():
            writes_isr = writes_isr | self.uncleanly
            isr = [np.where(self.uncleanly, self.elected, isr[0]), *isr[1:]]
            isr_size = np.where(self.uncleanly, 1, isr_size)
        if state.metadata_version < NO_EPOCH_BUMP_ON_ISR_SHRINK:
            names_leader = names_leader | (writes_isr & self.shrunk)
        writes_elr = self.stays_eligible & (self.target_size < min_isr) & ~self.uncleanly & elr_enabled
        writes_last_leader = names_leader & (leader == NO_LEADER) & elr_enabled
        shape = np.where(writes_isr, isr_size + 1, 0) << 4
        shape |= names_leader | (self.uncleanly << 1) | (writes_elr << 2) | (writes_last_leader << 3)
        return [
            self._group(code, np.flatnonzero(shape == code), leader, isr)
            for code in np.flatnonzero(np.bincount(shape)).tolist()
            if code
        ]

    def _group(self, shape: int, chosen: NDArray[np.intp], leader: Int32s, isr: list[Int32s]) -> Group:
        fields: dict[str, NDArray[Any]] = {}
        if shape & 1:
            fields["leader"] = leader[chosen]
        if shape & 2:
            fields["leader_recovery_state"] = np.full(len(chosen), RECOVERING, np.int8)
        if shape >> 4:
            fields["isr"] = _matrix(isr[: (shape >> 4) - 1], chosen)
        if shape & 4:
            fields["eligible_leader_replicas"] = np.full((len(chosen), 1), self.eligible, np.int32)
        if shape & 8:
            fields["last_known_elr"] = self.leader[chosen].reshape(-1, 1)
        return Group(self.rows[chosen], fields)


def _acceptable(state: State, common: _Common, added: int | None, gone: tuple[int, ...]) -> list[Bools]:
    """For each position, whether the replica may lead: its broker is active, and its directory there online."""
    brokers = state.brokers.values()
    is_active = members(
        broker.broker_id
        for broker in brokers
        if broker.broker_id not in gone and (broker.is_active or broker.broker_id == added)
    )
    # A broker that registered before there were directories says of none whether it is online.
    has_none = members(broker.broker_id for broker in brokers if not broker.directories)
    numbers = state.partitions.columns.directory_ids.numbers
    owner = np.full(len(numbers), NOBODY, np.int32)
    for directory, broker_id in state.directory_owners.items():
        if directory in numbers:
            owner[numbers[directory]] = broker_id
    found = []
    for replica, number in zip(common.replicas, common.directories, strict=True):
        is_online = (owner[number] == replica) | has_none(replica)
        # What is not assigned yet counts as online, what is lost does not, whatever a registration says.
        is_online = (number <= UNASSIGNED) | (is_online & (number != LOST))
        found.append(is_active(replica) & is_online)
    return found


def members(ids: Iterable[int]) -> Callable[[Int32s], Bools]:
    """A test of which values of a column are among these ids."""
    known = sorted(id_ for id_ in ids if id_ >= 0)
    if not known or known[-1] > _DENSE_MAX:
        array = np.array(known, np.int32)
        return lambda column: np.isin(column, array)
    # One place more than there are ids, for all larger ones and, as index -1, for NOBODY.
    dense = np.zeros(known[-1] + 2, np.bool_)
    dense[known] = True
    return lambda column: dense[np.minimum(column, len(dense) - 1)]


def _one_by_one(
    leadership: Leadership, rows: Rows, min_isr: Int32s, gone: tuple[int, ...], lost_data: int | None
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Row and fields of the changes of rarer partitions. Those that are alike but for their epochs change alike."""
    partitions = leadership.state.partitions
    known: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row, minimum in zip(rows.tolist(), min_isr.tolist(), strict=True):
        topic = partitions.topic_at(row)
        partition = partitions.get(row)
        election = leadership.election(topic)
        sort = (partition[:3], partition[5:], minimum, election)
        fields = known.get(sort)
        if fields is None:
            wish = Wish(
                election=election,
                isr=[replica for replica in partition.isr if replica not in gone],
                unclean_shutdown=() if lost_data is None else (lost_data,),
            )
            change = leadership.change(topic, partitions.partition_id_at(row), wish)
            fields = known[sort] = {} if change is None else fields_of(change[0])
        if fields:
            yield row, fields


def fields_of(change: PartitionChangeRecord) -> dict[str, Any]:
    """What a change says, beside which partition it is of."""
    return {name: getattr(change, name) for name in FIELDS if getattr(change, name) != NO_CHANGE.get(name)}


def _used(columns: list[Int32s]) -> list[Int32s]:
    """The positions that any of these rows has."""
    count = len(columns)
    while count > 1 and (columns[count - 1] == NOBODY).all():
        count -= 1
    return columns[:count]


def _sizes(columns: list[Int32s]) -> Int32s:
    size: Int32s = (columns[0] != NOBODY).astype(np.int32)
    for column in columns[1:]:
        size += column != NOBODY
    return size


def _contains(columns: list[Int32s], member: Int32s) -> Bools:
    """Whether a member, which is somebody, is in the list of its row."""
    found: Bools = columns[0] == member
    for column in columns[1:]:
        found |= column == member
    found &= member != NOBODY
    return found


def _first(columns: list[Int32s], chosen: list[Bools]) -> Int32s:
    """The value at the first position that is chosen; NOBODY where none is."""
    found = np.full(len(columns[0]), NOBODY, np.int32)
    for column, is_chosen in zip(reversed(columns), reversed(chosen), strict=True):
        found = np.where(is_chosen, column, found)
    return found


def _without(columns: list[Int32s], member: int) -> tuple[list[Int32s], Bools]:
    """The lists without a member, in order, and where it was."""
    hit = np.zeros(len(columns[0]), np.bool_)
    kept = []
    for position, column in enumerate(columns):
        hit = hit | (column == member)
        following = columns[position + 1] if position + 1 < len(columns) else NOBODY
        kept.append(np.where(hit, following, column).astype(np.int32, copy=False))
    return kept, hit


def _matrix(columns: list[Int32s], chosen: NDArray[np.intp]) -> Int32s:
    matrix = np.empty((len(chosen), len(columns)), np.int32)
    for position, column in enumerate(columns):
        matrix[:, position] = column[chosen]
    return matrix
