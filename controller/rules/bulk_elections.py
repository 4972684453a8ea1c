"""Changes of many partitions when a broker is fenced, unfenced or has lost data (KIP-631, KIP-966).

Most partitions are changed by whole columns (`controller.rules.bulk_rules`). For the others, such as those in
reassignment, `controller.rules.partition_change` is called once for each group of equal partitions. Both ways give
the same records.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from controller.rules.bulk_rules import BulkRules, regular
from controller.rules.partition_change import Election, PartitionTarget
from controller.rules.partition_elections import PartitionElections
from controller.rules.topic_rules import topic_rules
from controller.state.partitions.bulk_changes import FIELDS, NO_CHANGE, PartitionChanges, group_changes
from controller.state.partitions.columns import LOST, NOBODY, UNASSIGNED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from controller.interface.env import Env
    from controller.interface.results import Item
    from controller.state.partitions.columns import Int32s
    from controller.state.partitions.partitions import Rows
    from controller.state.state import State
    from records.metadata.topics import PartitionChangeRecord

    Bools = NDArray[np.bool_]

# Broker ids up to this are looked up in an array, larger ones by search.
_DENSE_MAX = 1 << 16


def leader_and_isr_changes(
    state: State,
    env: Env,
    rows: Rows,
    *,
    removed: int | None = None,
    added: int | None = None,
    lost_data: int | None = None,
    election: Election | None = None,
) -> PartitionChanges:
    """The changes of the partitions in these rows, which are distinct and ascending.

    removed: a broker that leaves their ISRs and may not lead. added: a broker that counts as active from now on.
    lost_data: a broker that was shut down uncleanly and therefore leaves ISRs and ELRs. election: the kind of election;
    None for what the topic allows.
    """
    gone = tuple(broker_id for broker_id in (removed, lost_data) if broker_id is not None)
    if not len(rows):
        return PartitionChanges([])
    min_isr, unclean = topic_rules(state, env, rows)
    if election is not None:
        unclean = np.full(len(rows), election == Election.UNCLEAN)
    columns = state.partitions.columns
    is_regular = regular(columns, rows, state.metadata_version)
    chosen = np.flatnonzero(is_regular)
    groups = []
    if len(chosen):
        rules = BulkRules(columns, rows[chosen], state.metadata_version, state.is_elr_enabled)
        rules.shrink(gone, NOBODY if lost_data is None else lost_data, min_isr[chosen])
        acceptable = _acceptable(state, rules, added, gone)
        rules.elect(acceptable, unclean[chosen], preferred=election == Election.PREFERRED)
        groups = rules.changes()
    others = np.flatnonzero(~is_regular)
    if len(others):
        elections = PartitionElections(state, env, also=added, without=gone)
        target = PartitionTarget(unclean_shutdown=() if lost_data is None else (lost_data,))
        groups += group_changes(_one_by_one(elections, rows[others], min_isr[others], target, election))
    return PartitionChanges(groups)


def leader_and_isr_records(state: State, env: Env, rows: Rows, **why: int) -> list[Item]:
    """The changes as the items of a result: none where nothing changes. why: as for `leader_and_isr_changes`."""
    changes = leader_and_isr_changes(state, env, rows, **why)  # type: ignore[arg-type]
    return [changes] if len(changes) else []


def _acceptable(state: State, rules: BulkRules, added: int | None, gone: tuple[int, ...]) -> list[Bools]:
    """For each position, whether the replica may lead: its broker is active and its directory online."""
    brokers = state.brokers.values()
    is_active = members(
        broker.broker_id
        for broker in brokers
        if broker.broker_id not in gone and (broker.is_active or broker.broker_id == added)
    )
    # A broker that registered without directories counts as having all of them online.
    has_none = members(broker.broker_id for broker in brokers if not broker.directories)
    numbers = state.partitions.columns.directory_ids.numbers
    owner = np.full(len(numbers), NOBODY, np.int32)
    for directory, broker_id in state.directory_owners.items():
        if directory in numbers:
            owner[numbers[directory]] = broker_id
    acceptable = []
    for replica, number in zip(rules.replicas, rules.directories, strict=True):
        is_online = (owner[number] == replica) | has_none(replica)
        # An unassigned directory counts as online, a lost one as offline, whatever the registration has.
        is_online = (number <= UNASSIGNED) | (is_online & (number != LOST))
        acceptable.append(is_active(replica) & is_online)
    return acceptable


def members(ids: Iterable[int]) -> Callable[[Int32s], Bools]:
    """A test of which values of a column are among these ids."""
    known = sorted(id_ for id_ in ids if id_ >= 0)
    if not known or known[-1] > _DENSE_MAX:
        array = np.array(known, np.int32)
        return lambda column: np.isin(column, array)
    # One place more than there are ids: for all larger ids and, as index -1, for NOBODY.
    dense = np.zeros(known[-1] + 2, np.bool_)
    dense[known] = True
    return lambda column: dense[np.minimum(column, len(dense) - 1)]


def _one_by_one(
    elections: PartitionElections, rows: Rows, min_isr: Int32s, target: PartitionTarget, election: Election | None
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Row and fields of the changes of other partitions. Partitions that differ only in epochs change equally."""
    partitions = elections.state.partitions
    known: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row, minimum in zip(rows.tolist(), min_isr.tolist(), strict=True):
        topic = partitions.topic_at(row)
        partition = partitions.get(row)
        sought = elections.election(topic) if election is None else election
        sort = (partition[:3], partition[5:], minimum, sought)
        fields = known.get(sort)
        if fields is None:
            isr = [replica for replica in partition.isr if replica not in elections.without]
            target = replace(target, election=sought, isr=isr)
            change = elections.change(topic, partitions.partition_id_at(row), target)
            fields = known[sort] = {} if change is None else fields_of(change[0])
        if fields:
            yield row, fields


def fields_of(change: PartitionChangeRecord) -> dict[str, Any]:
    """The fields of a change, without topic and partition id."""
    return {name: getattr(change, name) for name in FIELDS if getattr(change, name) != NO_CHANGE.get(name)}
