"""Changes of ISRs, ELRs and leaders of many partitions at once, by whole columns (KIP-631, KIP-966).

The rules are those of `controller.rules.partition_change`, which states them for one partition, with the reasons. This
module applies them to partitions that are not in reassignment; the two give the same records. A list of brokers is a
list of columns, one per position, with NOBODY behind its end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from controller.state.partitions.bulk_changes import Group
from controller.state.partitions.columns import NOBODY
from controller.state.partitions.partition import NO_LEADER, RECOVERED, RECOVERING
from controller.state.partitions.uncommon_fields import COMMON, HAS_ELR, IS_WIDE, REASSIGNING
from records.features.record_versions import ELR_RECORDS, NO_EPOCH_BUMP_ON_ISR_SHRINK

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from controller.state.partitions.columns import Columns, Int32s
    from controller.state.partitions.partitions import Rows
    from controller.state.partitions.uncommon_fields import UncommonFields

    Bools = NDArray[np.bool_]
    Lists = list[Int32s]

# The greatest size of a Java HashSet with 16 buckets.
_MEMBERS_MAX = 12


def regular(columns: Columns, rows: Rows, metadata_version: int) -> Bools:
    """Which of the rows these rules cover."""
    replicas, isr = _used_columns(columns.replicas, rows), _used_columns(columns.isr, rows)
    leader = columns.leader[rows]
    # Replicas must be distinct and contain the ISR and the leader, which any log written by Kafka guarantees.
    is_regular: Bools = (leader == NO_LEADER) | _contains(replicas, leader)
    for number, member in enumerate(isr):
        is_regular &= (member == NOBODY) | (_contains(replicas, member) & ~_contains(isr[:number], member))
    for number, replica in enumerate(replicas):
        is_regular &= (replica == NOBODY) | ~_contains(replicas[:number], replica)
    uncommon = columns.uncommon[rows]
    if uncommon.any():
        numbers, place = np.unique(uncommon, return_inverse=True)
        values = [columns.uncommon_values.values[number] for number in numbers.tolist()]
        has_rules = [_has_rules(value, len(isr), metadata_version) for value in values]
        is_regular &= np.array(has_rules)[place]
    return is_regular


def _has_rules(value: UncommonFields, isr_size: int, metadata_version: int) -> bool:
    kinds = value.kinds
    if kinds & (REASSIGNING | IS_WIDE) or (kinds & HAS_ELR and metadata_version < ELR_RECORDS):
        return False
    elr = value.elr
    is_sound = len(set(elr)) == len(elr) and min((*elr, *value.last_known_elr), default=0) >= 0
    return is_sound and len(elr) + isr_size <= _MEMBERS_MAX


class BulkRules:
    """The changes of some partitions, computed in three steps: `shrink`, `elect`, `changes`.

    isr, elr: the present lists; target_isr, target_elr: the new ones.
    """

    def __init__(self, columns: Columns, rows: Rows, metadata_version: int, elr_enabled: bool) -> None:
        self.rows = rows
        self.metadata_version = metadata_version
        self.elr_enabled = elr_enabled
        self.replicas = _used_columns(columns.replicas, rows)
        self.isr = _used_columns(columns.isr, rows)
        self.directories = [column[rows] for column in columns.directories[: len(self.replicas)]]
        self.leader = columns.leader[rows]
        self._take_rare(columns, columns.uncommon[rows])

    def _take_rare(self, columns: Columns, uncommon: Int32s) -> None:
        numbers, place = np.unique(uncommon, return_inverse=True) if uncommon.any() else (np.array([COMMON]), None)
        values = [columns.uncommon_values.values[number] for number in numbers.tolist()]

        def column(by_value: list[int]) -> Int32s:
            array = np.array(by_value, np.int32)
            return np.broadcast_to(array, uncommon.shape) if place is None else array[place]

        width = max(len(value.elr) for value in values)
        self.elr = [
            column([value.elr[position] if position < len(value.elr) else NOBODY for value in values])
            for position in range(width)
        ]
        self.last_known = column([value.last_known_elr[0] if value.last_known_elr else NOBODY for value in values])
        self.last_known_count = column([len(value.last_known_elr) for value in values])
        self.is_recovered = column([value.recovery_state for value in values]) == RECOVERED

    def shrink(self, gone: tuple[int, ...], lost_data: int, min_isr: Int32s) -> None:
        """Remove brokers from the ISR, and determine the ELR.

        lost_data: a broker that is not eligible, or NOBODY. min_isr: the effective one of each row's topic.
        """
        self.target_isr = self.isr
        for broker_id in gone:
            self.target_isr = _without(self.target_isr, broker_id)
        self.target_elr = self.elr
        if not self.elr_enabled:
            return
        is_below = _sizes(self.target_isr) < min_isr
        if not is_below.any():
            self.target_elr = []
            return
        candidates = self._candidates(lost_data)
        self.target_elr = _compact([np.where(is_below, column, NOBODY) for column in candidates])

    def _candidates(self, lost_data: int) -> Lists:
        """The former members of ELR and ISR that are not in the new ISR, in the order in which Kafka writes them."""
        candidates = [*self.elr, *(np.where(_contains(self.elr, member), NOBODY, member) for member in self.isr)]
        kept = [
            np.where(_contains(self.target_isr, member) | (member == lost_data), NOBODY, member)
            for member in candidates
        ]
        if (_sizes(kept) <= 1).all():
            # The usual case, brokers leave the ISR one at a time: there is nothing to sort.
            return [np.maximum.reduce(kept)]
        matrix = np.stack(kept, axis=1)
        # The order of Java's HashSet: by bucket, then by insertion.
        bucket = (matrix ^ (matrix >> 16)) & 15
        order = np.argsort(np.where(matrix == NOBODY, 16, bucket), axis=1, kind="stable")
        return list(np.take_along_axis(matrix, order, axis=1).T)

    def elect(self, acceptable: list[Bools], allows_unclean: Bools, *, preferred: bool = False) -> None:
        """Elect leaders: the current one if it is valid, else the first valid replica; then the last known leader, or,
        where unclean elections are allowed, any live replica.

        acceptable: for each position, whether the replica may lead. preferred: try the first replica before the
        current leader.
        """
        is_empty = _sizes(self.target_isr) == 0
        valid = [
            accepted & (_contains(self.target_isr, replica) | (is_empty & _contains(self.target_elr, replica)))
            for accepted, replica in zip(acceptable, self.replicas, strict=True)
        ]
        elected = _first(self.replicas, valid)
        for replica, is_valid in zip(self.replicas, valid, strict=True):
            elected = np.where(is_valid & (replica == self.leader), replica, elected)
        if preferred:
            elected = np.where(valid[0], self.replicas[0], elected)
        is_open = elected == NO_LEADER
        if self.elr_enabled and (self.last_known_count == 1).any():
            may_return = (
                is_open & is_empty & (_sizes(self.target_elr, len(is_open)) == 0) & (self.last_known_count == 1)
            )
            returns = [
                accepted & (replica == self.last_known)
                for accepted, replica in zip(acceptable, self.replicas, strict=True)
            ]
            elected = np.where(may_return, _first(self.replicas, returns), elected)
        still_open = (elected == NO_LEADER) & allows_unclean
        if still_open.any():
            elected = np.where(still_open, _first(self.replicas, acceptable), elected)
        self.elected = elected
        self.changes_leader = elected != self.leader
        self.is_unclean = is_open & (elected != NO_LEADER) & self.changes_leader
        self._settle_lists()

    def _settle_lists(self) -> None:
        """Determine the new ISR and ELR once the leader is known."""
        alone = self.is_unclean
        if self.target_elr:
            from_elr = self.changes_leader & _contains(self.target_elr, self.elected)
            alone = alone | from_elr
            is_none = self.is_unclean if self.elr_enabled else np.ones_like(alone)
            self.target_elr = _compact(
                [
                    np.where(is_none | (from_elr & (column == self.elected)), NOBODY, column)
                    for column in self.target_elr
                ]
            )
        if alone.any():
            first, *others = self.target_isr
            self.target_isr = [
                np.where(alone, self.elected, first),
                *(np.where(alone, NOBODY, column) for column in others),
            ]

    def changes(self) -> list[Group]:
        """The contents of the records, in groups with the same fields."""
        count = len(self.rows)
        isr_size = _sizes(self.target_isr)
        elr_size = _sizes(self.target_elr, count)
        writes_isr = _differ(self.target_isr, self.isr)
        if not self.elr_enabled:
            # Without ELR the last member stays in the ISR even when it is fenced: only it has every record.
            writes_isr &= isr_size > 0
        writes_isr |= self.is_unclean
        names_leader = self.changes_leader
        if self.metadata_version < NO_EPOCH_BUMP_ON_ISR_SHRINK:
            names_leader = names_leader | (writes_isr & _lacks(self.target_isr, self.isr))
        leader = np.where(self.changes_leader, self.elected, self.leader)
        recovers = self.is_unclean & self.is_recovered
        writes_elr = _differ(self.target_elr, self.elr, count)
        keeps_last = names_leader & (leader == NO_LEADER) & (self.last_known_count == 0) & self.elr_enabled
        forgets_last = names_leader & (leader != NO_LEADER) & (self.last_known_count > 0) & self.elr_enabled
        shape = names_leader | (recovers << 1) | (keeps_last << 2) | (forgets_last << 3)
        shape |= np.where(writes_elr, elr_size + 1, 0) << 4
        shape |= np.where(writes_isr, isr_size + 1, 0) << 8
        shapes = np.flatnonzero(np.bincount(shape)).tolist()
        return [self._group(code, np.flatnonzero(shape == code), leader) for code in shapes if code]

    def _group(self, shape: int, chosen: NDArray[np.intp], leader: Int32s) -> Group:
        fields: dict[str, NDArray[Any]] = {}
        if shape & 1:
            fields["leader"] = leader[chosen]
        if shape & 2:
            fields["leader_recovery_state"] = np.full(len(chosen), RECOVERING, np.int8)
        if shape & 4:
            fields["last_known_elr"] = self.leader[chosen].reshape(-1, 1)
        if shape & 8:
            fields["last_known_elr"] = np.empty((len(chosen), 0), np.int32)
        if shape >> 4 & 15:
            fields["eligible_leader_replicas"] = _matrix(self.target_elr[: (shape >> 4 & 15) - 1], chosen)
        if shape >> 8:
            fields["isr"] = _matrix(self.target_isr[: (shape >> 8) - 1], chosen)
        return Group(self.rows[chosen], fields)


def _used_columns(columns: Lists, rows: Rows) -> Lists:
    """The columns that any of these rows uses, at least one."""
    used = [column[rows] for column in columns]
    while len(used) > 1 and (used[-1] == NOBODY).all():
        used.pop()
    return used


def _sizes(columns: Lists, count: int = 0) -> Int32s:
    """The length of each list. count: the number of lists, needed if there are no columns."""
    size: Int32s = np.zeros(len(columns[0]) if columns else count, np.int32)
    for column in columns:
        size += column != NOBODY
    return size


def _contains(columns: Lists, member: Int32s) -> Bools:
    """Whether a member other than NOBODY is in the list of its row."""
    is_member: Bools = np.zeros(len(member), np.bool_)
    for column in columns:
        is_member |= column == member
    is_member &= member != NOBODY
    return is_member


def _lacks(columns: Lists, others: Lists) -> Bools:
    """Whether a list lacks some of the others."""
    lacks: Bools = np.zeros(len(others[0]), np.bool_)
    for other in others:
        lacks |= (other != NOBODY) & ~_contains(columns, other)
    return lacks


def _differ(columns: Lists, others: Lists, count: int = 0) -> Bools:
    """Whether two lists differ, also in order. count: the number of lists, needed if there are no columns."""
    differs: Bools = np.zeros(len(columns[0]) if columns else len(others[0]) if others else count, np.bool_)
    for position in range(max(len(columns), len(others))):
        one = columns[position] if position < len(columns) else NOBODY
        other = others[position] if position < len(others) else NOBODY
        differs |= one != other
    return differs


def _first(columns: Lists, chosen: list[Bools]) -> Int32s:
    """The value at the first chosen position; NOBODY if none is chosen."""
    first = np.full(len(columns[0]), NOBODY, np.int32)
    for column, is_chosen in zip(reversed(columns), reversed(chosen), strict=True):
        first = np.where(is_chosen, column, first)
    return first


def _without(columns: Lists, member: int) -> Lists:
    """The lists without a member, which occurs in each at most once; order is kept."""
    hit = np.zeros(len(columns[0]), np.bool_)
    kept = []
    for position, column in enumerate(columns):
        hit = hit | (column == member)
        following = columns[position + 1] if position + 1 < len(columns) else np.int32(NOBODY)
        kept.append(np.where(hit, following, column))
    return kept


def _compact(columns: Lists) -> Lists:
    """The lists without gaps; order is kept."""
    if len(columns) <= 1:
        return columns
    matrix = np.stack(columns, axis=1)
    if not ((matrix[:, :-1] == NOBODY) & (matrix[:, 1:] != NOBODY)).any():
        return columns
    order = np.argsort(matrix == NOBODY, axis=1, kind="stable")
    return list(np.take_along_axis(matrix, order, axis=1).T)


def _matrix(columns: Lists, chosen: NDArray[np.intp]) -> Int32s:
    matrix = np.empty((len(chosen), len(columns)), np.int32)
    for position, column in enumerate(columns):
        matrix[:, position] = column[chosen]
    return matrix
