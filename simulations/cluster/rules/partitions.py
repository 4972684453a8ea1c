"""AlterPartition, AssignReplicasToDirs, AlterPartitionReassignments, ListPartitionReassignments and ElectLeaders:
independent rules. What the records change beside the request is checked by `elections`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from records.errors import Error
from records.metadata.topics import PartitionChangeRecord
from simulations.cluster.metadata.image import NOBODY, UNCHANGED, Partition
from simulations.cluster.metadata.member_rules import DIRECTORIES_SINCE, is_active
from simulations.cluster.rules.elections import can_lead
from simulations.cluster.rules.topics import is_target

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from simulations.cluster.rules.case import Case

    Read = Callable[[Any], None]
    Key = tuple[bytes, int]

EPOCHS_SINCE = 3
PREFERRED, UNCLEAN = 0, 1
MISSING = Error.UNKNOWN_TOPIC_OR_PARTITION


def changes_of(case: Case) -> dict[Key, list[PartitionChangeRecord]]:
    """The written changes, by partition, in order."""
    changes: dict[Key, list[PartitionChangeRecord]] = {}
    for record in case.records:
        if type(record) is PartitionChangeRecord:
            changes.setdefault((bytes(record.topic_id), record.partition_id), []).append(record)
    return changes


def is_stale(case: Case) -> bool:
    """Whether the sender is not registered with that broker epoch."""
    broker = case.image.brokers.get(case.request.broker_id)
    return broker is None or broker.epoch != case.request.broker_epoch


def check_alter(case: Case) -> Read:
    if not case.request.topics:
        return lambda response: case.same("the answer", (response.error_code, tuple(response.topics)), (0, ()))
    if is_stale(case):
        return lambda response: case.expect("it", response.error_code, {Error.STALE_BROKER_EPOCH})
    wanted: dict[Key, tuple[set[int], Partition | None]] = {}
    were: dict[Key, tuple[int, ...]] = {}
    counts: dict[Key, int] = {}
    for topic in case.request.topics:
        for asked in topic.partitions:
            key = bytes(topic.topic_id), asked.partition_index
            counts[key] = counts.get(key, 0) + 1
            partition = case.image.partitions.get(key)
            if key[0] not in case.image.topics:
                wanted[key] = {Error.UNKNOWN_TOPIC_ID}, None
            elif partition is None:
                wanted[key] = {MISSING}, None
            else:
                wanted[key] = find_refusals(case, partition, asked), _with_isr(partition, asked, case.version)
                were[key] = partition.isr
    written = changes_of(case)

    def read(response: Any) -> None:
        case.expect("it", response.error_code, ())
        for topic in response.topics:
            for result in topic.partitions:
                key = bytes(topic.topic_id), result.partition_index
                codes, after = wanted[key]
                if counts[key] > 1:
                    continue
                if codes:
                    case.expect(key, result.error_code, codes)
                elif result.error_code == Error.NONE and after is not None:
                    _check_state(case, key, were[key], after, written.get(key, []), result)
                elif after is not None:
                    case.expect(key, result.error_code, {Error.NEW_LEADER_ELECTED})
                    leaders = {record.leader for record in written.get(key, [])}
                    case.same("another leader", bool(leaders - {-2, case.request.broker_id}), True)

    return read


def _members(asked: Any, version: int) -> list[tuple[int, int]]:
    if version >= EPOCHS_SINCE:
        return [(each.broker_id, each.broker_epoch) for each in asked.new_isr_with_epochs]
    return [(each, -1) for each in asked.new_isr]


def find_refusals(case: Case, partition: Partition, asked: Any) -> set[int]:
    """The first of Kafka's checks that fails (KIP-497, KIP-903)."""
    members = _members(asked, case.version)
    isr = [each for each, _ in members]
    state = asked.leader_recovery_state
    brokers = case.image.brokers
    reasons = (
        (asked.leader_epoch > partition.leader_epoch or asked.partition_epoch > partition.epoch, Error.NOT_CONTROLLER),
        (asked.leader_epoch < partition.leader_epoch, Error.FENCED_LEADER_EPOCH),
        (case.request.broker_id != partition.leader, Error.INVALID_REQUEST),
        (asked.partition_epoch < partition.epoch, Error.INVALID_UPDATE_VERSION),
        (len(set(isr)) < len(isr) or not set(isr) <= set(partition.replicas), Error.INVALID_REQUEST),
        (partition.leader not in isr or state not in (0, 1) or (state == 1 and len(isr) > 1), Error.INVALID_REQUEST),
        (state == 1 and not partition.recovering, Error.INVALID_REQUEST),
        (
            any(not is_active(brokers.get(each)) or epoch not in (-1, brokers[each].epoch) for each, epoch in members),
            Error.INELIGIBLE_REPLICA,
        ),
    )
    return next(({error} for is_so, error in reasons if is_so), set())


def _with_isr(partition: Partition, asked: Any, version: int) -> Partition:
    after = Partition(*(getattr(partition, name) for name in Partition.__slots__))
    after.isr = tuple(each for each, _ in _members(asked, version))
    after.recovering = asked.leader_recovery_state > 0
    return after


def _check_state(
    case: Case,
    key: Key,
    was: tuple[int, ...],
    after: Partition,
    written: Sequence[PartitionChangeRecord],
    result: Any,
) -> None:
    """The ISR is as requested, but for replicas removed by the end of a reassignment; epochs are those after."""
    isr, epochs = was, [after.leader_epoch, after.epoch]
    for record in written:
        isr = isr if record.isr is None else tuple(record.isr)
        epochs = [epochs[0] + (record.leader != -2), epochs[1] + 1]
    if not set(isr) <= set(after.isr) or (not after.adding and not after.removing and isr != after.isr):
        raise case.fail(f"the ISR of {key} becomes {isr}, but {after.isr} was requested")
    seen = (
        result.leader_id,
        result.leader_epoch,
        result.partition_epoch,
        tuple(result.isr),
        result.leader_recovery_state > 0,
    )
    case.same(key, seen, (after.leader, *epochs, isr, after.recovering))


def check_assignment(case: Case) -> Read:
    if case.level < DIRECTORIES_SINCE:
        return lambda response: case.expect("it", response.error_code, {Error.UNSUPPORTED_VERSION})
    if is_stale(case):
        return lambda response: case.expect("it", response.error_code, {Error.STALE_BROKER_EPOCH})
    image, broker_id = case.image, case.request.broker_id
    wanted: dict[tuple[bytes, bytes, int], set[int]] = {}
    last: dict[Key, bytes] = {}
    for directory in case.request.directories:
        for topic in directory.topics:
            for asked in topic.partitions:
                key = bytes(topic.topic_id), asked.partition_index
                partition = image.partitions.get(key)
                codes: set[int] = set()
                if key[0] not in image.topics:
                    codes = {Error.UNKNOWN_TOPIC_ID}
                elif partition is None:
                    codes = {MISSING}
                elif broker_id not in partition.replicas:
                    codes = {Error.NOT_LEADER_OR_FOLLOWER}
                else:
                    last[key] = bytes(directory.id)
                wanted[bytes(directory.id), *key] = codes
    for key, chosen in last.items():
        partition = image.partitions[key]
        moves = [record for record in changes_of(case).get(key, []) if record.directories is not None]
        if moves:
            replicas = partition.replicas if moves[-1].replicas is None else tuple(moves[-1].replicas)
            if broker_id in replicas:
                directories = tuple(map(bytes, moves[-1].directories or ()))
                case.same(f"the directory of {key}", directories[replicas.index(broker_id)], chosen)
        elif len(partition.directories) == len(partition.replicas):
            case.same(f"the unchanged directory of {key}", partition.directory_of(broker_id), chosen)
        if not image.brokers[broker_id].serves(chosen):
            _has_left(case, key, broker_id)

    def read(response: Any) -> None:
        answered = {
            (bytes(directory.id), bytes(topic.topic_id), each.partition_index): each.error_code
            for directory in response.directories
            for topic in directory.topics
            for each in topic.partitions
        }
        case.same("the set of partitions", set(answered), set(wanted))
        for key, code in answered.items():
            if wanted[key] or code != Error.NONE:
                case.same(key, {code}, wanted[key])

    return read


def _has_left(case: Case, key: Key, broker_id: int) -> None:
    """A replica in a directory that is offline leads nothing, and is in the ISR only as its last member (KIP-858)."""
    partition = case.image.partitions[key]
    leader, isr = partition.leader, partition.isr
    for record in changes_of(case).get(key, []):
        leader = leader if record.leader == UNCHANGED else record.leader
        isr = isr if record.isr is None else tuple(record.isr)
    if leader == broker_id or (broker_id in isr and len(isr) > 1):
        raise case.fail(f"{key} is led by {leader} with the ISR {isr}; the directory of {broker_id} is offline")


def check_reassignment(case: Case) -> Read:
    """Reassignments, and cancelled ones."""
    request, image = case.request, case.image
    written = changes_of(case)
    wanted: dict[tuple[str, int], set[int] | None] = {}
    for topic in request.topics:
        topic_id = image.names.get(topic.name, b"")
        for asked in topic.partitions:
            place = topic.name, asked.partition_index
            partition = image.partitions.get((topic_id, asked.partition_index))
            if place in wanted:
                wanted[place] = None  # twice: the second is checked against the result of the first
            elif partition is None:
                wanted[place] = {MISSING}
            elif asked.replicas is None:
                wanted[place] = _not_called_off(partition)
            else:
                wanted[place] = _not_moved(case, partition, asked.replicas)
                is_once = [each.partition_index for each in topic.partitions].count(asked.partition_index) == 1
                if not wanted[place] and is_once:
                    _sets_out(
                        case, partition, tuple(asked.replicas), written.get((topic_id, asked.partition_index), [])
                    )
    is_too_much = not case.request_records and case.may_be_too_much(len(wanted))

    def read(response: Any) -> None:
        if is_too_much and response.error_code == Error.POLICY_VIOLATION:
            return
        case.expect("it", response.error_code, ())
        # An empty request gets the default (KIP-860).
        may_change = bool(request.allow_replication_factor_change or not request.topics)
        case.same("allowReplicationFactorChange", bool(response.allow_replication_factor_change), may_change)
        for topic in response.responses:
            for result in topic.partitions:
                codes = wanted[topic.name, result.partition_index]
                if codes is not None and not response.error_code:
                    case.expect((topic.name, result.partition_index), result.error_code, codes)

    return read


def _not_called_off(partition: Partition) -> set[int]:
    if not partition.adding and not partition.removing:
        return {Error.NO_REASSIGNMENT_IN_PROGRESS}
    if set(partition.isr) <= set(partition.adding):
        return {Error.INVALID_REPLICA_ASSIGNMENT, Error.NONE}  # none that stays is in sync: where that is allowed
    return set()


def _not_moved(case: Case, partition: Partition, replicas: Sequence[int]) -> set[int]:
    if not is_target(case, replicas):
        return {Error.INVALID_REPLICA_ASSIGNMENT}
    now = {*partition.replicas, *partition.adding} - set(partition.removing)
    if len(now) != len(replicas) and not case.request.allow_replication_factor_change:
        return {Error.INVALID_REPLICATION_FACTOR}
    return set()


def _sets_out(
    case: Case, partition: Partition, target: tuple[int, ...], written: Sequence[PartitionChangeRecord]
) -> None:
    """The replicas are the target, and those to be removed, until they may be (KIP-455)."""
    going = tuple(sorted(set(partition.replicas) - set(target)))
    coming = tuple(sorted(set(target) - set(partition.replicas)))
    replicas, adding, removing = partition.replicas, partition.adding, partition.removing
    for record in written[:1]:
        replicas = replicas if record.replicas is None else tuple(record.replicas)
        adding = adding if record.adding_replicas is None else tuple(record.adding_replicas)
        removing = removing if record.removing_replicas is None else tuple(record.removing_replicas)
    # Lists that would become empty are left as they are (as stock does).
    under_way = ((*target, *going), coming or partition.adding, going or partition.removing)
    if (replicas, adding, removing) == under_way:
        return
    stays = tuple(each for each in (*target, *going) if each not in under_way[2])
    case.same("the replicas after the reassignment", (replicas, adding, removing), (stays, (), ()))


def check_listing(case: Case) -> Read:
    image, request = case.image, case.request
    wanted: dict[tuple[str, int], tuple[Any, ...]] = {}
    places = (
        [(image.topics[key[0]], key[1]) for key in image.partitions]
        if request.topics is None
        else [(topic.name, index) for topic in request.topics for index in topic.partition_indexes]
    )
    for name, index in places:
        partition = image.partitions.get((image.names.get(name, b""), index))
        if partition is not None and (partition.adding or partition.removing):
            wanted[name, index] = (partition.replicas, partition.adding, partition.removing)

    def read(response: Any) -> None:
        answered = {
            (topic.name, each.partition_index): tuple(
                map(tuple, (each.replicas, each.adding_replicas, each.removing_replicas))
            )
            for topic in response.topics
            for each in topic.partitions
        }
        case.same("the error", response.error_code, Error.NONE)
        case.same("the reassignments", answered, wanted)

    return read


def check_election(case: Case) -> Read:
    request, image = case.request, case.image
    kind = request.election_type
    if request.topic_partitions == ():
        return lambda response: case.same("the answer", len(response.replica_election_results), 0)
    if kind not in (PREFERRED, UNCLEAN):
        return lambda response: case.expect("it", response.error_code, {Error.INVALID_REQUEST})
    written = changes_of(case)
    places = [(image.topics[key[0]], key[1]) for key in image.partitions]
    if request.topic_partitions is not None:
        places = [(topic.topic, index) for topic in request.topic_partitions for index in topic.partitions]
    wanted: dict[tuple[str, int], set[int]] = {}
    for place in places:
        key = image.names.get(place[0], b""), place[1]
        partition = image.partitions.get(key)
        if partition is None:
            wanted[place] = {MISSING}
            continue
        is_well = partition.leader == partition.replicas[0] if kind == PREFERRED else partition.leader != NOBODY
        if is_well:
            wanted[place] = {Error.ELECTION_NOT_NEEDED}
            continue
        codes: set[int] = {Error.NONE}
        if not written.get(key):
            codes = {
                Error.PREFERRED_LEADER_NOT_AVAILABLE if kind == PREFERRED else Error.ELIGIBLE_LEADERS_NOT_AVAILABLE
            }
            first = partition.replicas if kind == UNCLEAN else partition.replicas[:1]
            may = partition.replicas if kind == UNCLEAN else partition.isr or partition.elr
            can = [each for each in first if each in may and can_lead(image, partition, each)]
            if can:
                raise case.fail(f"{place} gets no leader, but {can} could lead it")
        wanted[place] = codes if places.count(place) == 1 else {*codes, Error.ELECTION_NOT_NEEDED}

    def read(response: Any) -> None:
        if response.error_code == Error.POLICY_VIOLATION and case.may_be_too_much(len(wanted)):
            return
        case.expect("it", response.error_code, ())
        answered = {
            (topic.topic, each.partition_id): each.error_code
            for topic in response.replica_election_results
            for each in topic.partition_result
        }
        for place, code in answered.items():
            case.expect(place, code, wanted[place])
        for place, codes in wanted.items():
            is_due = request.topic_partitions is not None or Error.ELECTION_NOT_NEEDED not in codes
            if place not in answered and is_due and not response.error_code:
                raise case.fail(f"the response lacks {place}")

    return read
