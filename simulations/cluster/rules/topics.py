"""CreateTopics, CreatePartitions and DeleteTopics: independent rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.rules.hash_order import first_partition
from records.errors import Error
from records.java.java_order import hash_order
from records.metadata.configs import ConfigRecord
from records.metadata.topics import ClearElrRecord, PartitionRecord, RemoveTopicRecord, TopicRecord
from records.metadata_log import METADATA_TOPIC
from simulations.cluster.metadata.member_rules import MIN_ISR, is_active, takes_replicas
from simulations.cluster.rules.case import Case, find_repeated, first_directory, is_topic_name
from simulations.nodes.config_values import TOPIC, is_taken

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Lists = Sequence[Sequence[int]]

PARTITIONS_MAX = 10_000
# Of configs that no topic here is given of its own, what Kafka takes.
DEFAULTS = {
    "segment.index.bytes": "10485760", "file.delete.delay.ms": "60000", "compression.lz4.level": "9",
    "remote.storage.enable": "false", "index.interval.bytes": "4096", "flush.messages": "9223372036854775807",
}  # fmt: skip
CONFIGS = 37
OF_TOPIC, BY_DEFAULT = 1, 5


def check_creation(case: Case) -> Callable[[Any], None]:
    request = case.request
    twice = find_repeated([topic.name for topic in request.topics])
    wanted = [topic for topic in request.topics if topic.name not in twice and topic.name != METADATA_TOPIC]
    total = sum(_partitions_of(case, topic) for topic in wanted)
    allowed: dict[str, set[int]] = {name: {Error.INVALID_REQUEST} for name in (*twice, METADATA_TOPIC)}
    for topic in wanted:
        allowed[topic.name] = _wrong(case, topic)
    is_too_much = total > PARTITIONS_MAX
    written = list(case.request_records)
    if is_too_much or request.validate_only:
        case.same("the records", written, [])
    else:
        cut_short = not written and case.may_be_too_much(total)
        for topic in wanted:
            if Error.NONE in allowed[topic.name]:
                is_made = bool(written) and getattr(written[0], "name", None) == topic.name
                allowed[topic.name] = set() if is_made else {Error.INVALID_REPLICATION_FACTOR}
            if not allowed[topic.name] and not cut_short:
                _take_topic(case, topic, written)

    def read(response: Any) -> None:
        for result in response.topics:
            codes = {Error.POLICY_VIOLATION} if is_too_much else allowed[result.name]
            if not codes and not case.request_records and not request.validate_only and case.may_be_too_much(total):
                codes = {Error.POLICY_VIOLATION}
            case.expect(f"topic {result.name}", result.error_code, codes)
            if result.error_code == Error.NONE:
                topic = next(each for each in wanted if each.name == result.name)
                _check_created(case, topic, result)

    return read


def _partitions_of(case: Case, topic: Any) -> int:
    if topic.assignments:
        return len(topic.assignments)
    return case.number("num.partitions", 1) if topic.num_partitions == -1 else max(0, topic.num_partitions)


def _replicas_of(case: Case, wanted: int) -> int:
    """The number of replicas of each partition; -1 means the controllers' default."""
    return case.number("default.replication.factor", 1) if wanted == -1 else wanted


def _wrong(case: Case, topic: Any) -> set[int]:
    """The errors of a topic on its own; the response may have any of them."""
    image, name = case.image, topic.name
    errors: set[int] = set()
    if name in image.names:
        errors.add(Error.TOPIC_ALREADY_EXISTS)
    elif any(other.replace(".", "_") == name.replace(".", "_") for other in image.names) or not is_topic_name(name):
        errors.add(Error.INVALID_TOPIC_EXCEPTION)
    if errors:
        return errors  # nothing else is looked at
    for config in topic.configs:
        if config.value is None or is_taken(TOPIC, config.name, config.value) is False:
            errors.add(Error.INVALID_CONFIG)
    return errors or (_wrong_lists(case, topic) if topic.assignments else _wrong_counts(case, topic))


def _wrong_lists(case: Case, topic: Any) -> set[int]:
    if topic.replication_factor != -1 or topic.num_partitions != -1:
        return {Error.INVALID_REQUEST}
    indexes = sorted(each.partition_index for each in topic.assignments)
    lists = [each.broker_ids for each in topic.assignments]
    is_well = indexes == list(range(len(indexes))) and are_possible(case, lists)
    return set() if is_well else {Error.INVALID_REPLICA_ASSIGNMENT}


def are_possible(case: Case, lists: Sequence[Sequence[int]]) -> bool:
    """Whether new partitions may have these replicas: of one length, on registered brokers, one of them active."""
    brokers = case.image.brokers
    return len({len(each) for each in lists}) == 1 and all(
        is_target(case, each) and any(is_active(brokers[broker_id]) for broker_id in each) for each in lists
    )


def is_target(case: Case, replicas: Sequence[int]) -> bool:
    """Whether a partition may have these replicas: none is on a broker whose directories are all cordoned."""
    brokers = case.image.brokers
    is_once = bool(replicas) and len(set(replicas)) == len(replicas)
    return is_once and all(each in brokers and takes_replicas(brokers[each]) for each in replicas)


def _wrong_counts(case: Case, topic: Any) -> set[int]:
    count, size = topic.num_partitions, topic.replication_factor
    if size == 0 or size < -1:
        return {Error.INVALID_REPLICATION_FACTOR}
    if count == 0 or count < -1:
        return {Error.INVALID_PARTITIONS}
    return can_place(case, _replicas_of(case, size))


def usable_brokers(case: Case) -> set[int]:
    """The brokers that placement may choose."""
    brokers = case.image.brokers.items()
    return {each for each, broker in brokers if each not in case.departures.since and takes_replicas(broker)}


def can_place(case: Case, size: int) -> set[int]:
    """The possible errors of a request for this many replicas; empty if it must succeed.

    A broker that is unfenced after a controlled shutdown is usable and in no ISR: if it may be alone in a partition,
    placement decides whether the request is refused.
    """
    usable = usable_brokers(case)
    brokers = case.image.brokers
    if size > len(usable) or all(brokers[each].fenced for each in usable):
        return {Error.INVALID_REPLICATION_FACTOR}
    inactive = [each for each in usable if not is_active(brokers[each])]
    may_be_alone = len(inactive) >= size and any(not brokers[each].fenced for each in inactive)
    return {Error.NONE, Error.INVALID_REPLICATION_FACTOR} if may_be_alone else set()


def _take_topic(case: Case, topic: Any, written: list[Any]) -> None:
    """Remove the records of a topic from the list; they must be there, and be correct."""
    record = written.pop(0) if written else None
    if type(record) is not TopicRecord or record.name != topic.name:
        raise case.fail(f"{record} is written instead of the creation of topic {topic.name}")
    topic_id = bytes(record.topic_id)
    named = {config.name: config for config in topic.configs}
    for config in (named[name] for name in hash_order(named)):
        wanted = ConfigRecord(
            resource_type=TOPIC, resource_name=topic.name, name=config.name, value=_last(topic, config)
        )
        case.same("a config", written.pop(0) if written else None, wanted)
    if case.keeps_elr and any(config.name == MIN_ISR for config in topic.configs):
        case.same("a new ELR", written.pop(0) if written else None, ClearElrRecord(topic_name=topic.name))
    by_hand = {each.partition_index: tuple(each.broker_ids) for each in topic.assignments}
    count = _partitions_of(case, topic)
    records, written[:] = written[:count], written[count:]
    size = _replicas_of(case, topic.replication_factor)
    lists = [by_hand[index] for index in range(count)] if by_hand else None
    are_new_partitions(case, topic_id, range(count), records, lists, size)


def _last(topic: Any, config: Any) -> str:
    """The value of a config; of a key that is named twice the last one counts."""
    return str([each.value for each in topic.configs if each.name == config.name][-1])


def are_new_partitions(
    case: Case,
    topic_id: bytes,
    indexes: range,
    records: Sequence[Any],
    lists: Sequence[Sequence[int]] | None,
    size: int,
) -> None:
    """Check new partitions. Raises Violation unless these records make them. lists: of replicas, None where they are
    placed.
    """
    made = [
        (type(each), getattr(each, "partition_id", None), bytes(getattr(each, "topic_id", b""))) for each in records
    ]
    case.same("the partitions", made, [(PartitionRecord, index, topic_id) for index in indexes])
    image = case.image
    for place, record in enumerate(records):
        replicas = tuple(record.replicas)
        if lists is not None:
            case.same(f"the list of partition {record.partition_id}", replicas, tuple(lists[place]))
        elif len(set(replicas)) != size or not all(each in image.brokers for each in replicas):
            raise case.fail(f"partition {record.partition_id} is placed on {replicas}")
        isr = tuple(each for each in replicas if is_active(image.brokers.get(each)))
        case.same(f"partition {record.partition_id}", (tuple(record.isr), record.leader), (isr, isr[0] if isr else -1))
        plain = (
            record.leader_epoch, record.partition_epoch, record.leader_recovery_state, *record.adding_replicas,
            *record.removing_replicas, *(record.eligible_leader_replicas or ()), *(record.last_known_elr or ()),
        )  # fmt: skip
        case.same(f"the epochs of partition {record.partition_id}", plain, (0, 0, 0))
        if record.directories:
            wanted = [first_directory(image, each) for each in replicas]
            case.same(f"directories of partition {record.partition_id}", list(map(bytes, record.directories)), wanted)
    if lists is None:
        _is_even(case, [tuple(record.replicas) for record in records])


def _is_even(case: Case, placed: Sequence[Sequence[int]]) -> None:
    """Leaders and replicas rotate (KIP-36): after each round all usable brokers have had the same number."""
    usable = usable_brokers(case)
    unfenced = {each for each in usable if not case.image.brokers[each].fenced}
    wrong = [each for each in placed if not set(each) <= usable or each[0] not in unfenced]
    if wrong:
        raise case.fail(f"replicas are placed on {wrong}; possible are {usable}, with a leader of {unfenced}")
    racks = {case.image.brokers[each].rack for each in usable}
    for replicas in placed:
        of = [case.image.brokers[each].rack for each in replicas]
        fenced = set(replicas) - unfenced
        if len(racks) == 1 and fenced and not unfenced <= set(replicas):
            raise case.fail(f"{replicas} are placed on the fenced brokers {fenced}, but {unfenced} are unfenced")
        if unfenced == usable and len(set(of)) != min(len(racks), len(replicas)):
            raise case.fail(f"{replicas} are on the racks {of} of {racks}")
    if len(racks) > 1 or unfenced != usable:
        return
    for first in range(0, len(placed) - len(usable) + 1, len(usable)):
        placed_round = placed[first : first + len(usable)]
        for column in zip(*placed_round, strict=True):
            if set(column) != usable:
                raise case.fail(f"the round-robin placement {placed_round} does not use each of {usable}")


def _check_created(case: Case, topic: Any, result: Any) -> None:
    """The id, the sizes and the configs in the response (KIP-525)."""
    made = [each for each in case.request_records if type(each) is TopicRecord and each.name == topic.name]
    if made:
        case.same(f"the id of {topic.name}", bytes(result.topic_id), bytes(made[0].topic_id))
    size = len(topic.assignments[0].broker_ids) if topic.assignments else _replicas_of(case, topic.replication_factor)
    sizes = (result.num_partitions, result.replication_factor)
    case.same(f"the size of {topic.name}", sizes, (_partitions_of(case, topic), size))
    own = {config.name: _last(topic, config) for config in topic.configs}
    configs = {config.name: config for config in result.configs or ()}
    case.same(f"the number of configs of {topic.name}", len(configs), CONFIGS)
    case.same("their order", list(configs), sorted(configs))
    for name, config in configs.items():
        what = f"{name} of {topic.name}"
        flags = (config.read_only, config.is_sensitive, (config.config_source == OF_TOPIC))
        case.same(what, flags, (False, False, name in own))
        if name in own:
            case.same(what, config.value, own[name])
        elif name in DEFAULTS:
            case.same(what, (config.value, config.config_source), (DEFAULTS[name], BY_DEFAULT))


def check_growth(case: Case) -> Callable[[Any], None]:
    request, image = case.request, case.image
    twice = find_repeated([topic.name for topic in request.topics])
    allowed: dict[str, set[int]] = {}
    total = 0
    written = list(case.request_records)
    for topic in request.topics:
        allowed[topic.name] = {Error.INVALID_REQUEST} if topic.name in twice else _not_grown(case, topic)
        if not allowed[topic.name]:
            total += topic.count - image.counts[image.names[topic.name]]
    is_too_much = total > PARTITIONS_MAX
    is_cut = not written and total and not request.validate_only and case.may_be_too_much(total)
    if request.validate_only or is_too_much:
        case.same("the records", written, [])
    elif not is_cut:
        asked = {topic.name: topic for topic in request.topics}
        for topic in map(asked.__getitem__, hash_order(asked)):
            if Error.NONE in allowed[topic.name]:
                is_made = bool(written) and bytes(written[0].topic_id) == image.names[topic.name]
                allowed[topic.name] = set() if is_made else {Error.INVALID_REPLICATION_FACTOR}
            if not allowed[topic.name]:
                topic_id = image.names[topic.name]
                now = image.counts[topic_id]
                records, written[:] = written[: topic.count - now], written[topic.count - now :]
                lists = None if topic.assignments is None else [each.broker_ids for each in topic.assignments]
                size = factor_of(case, topic_id)
                are_new_partitions(case, topic_id, range(now, topic.count), records, lists, size)

    def read(response: Any) -> None:
        for result in response.results:
            codes = {Error.POLICY_VIOLATION} if is_too_much or is_cut else allowed[result.name]
            case.expect(f"topic {result.name}", result.error_code, codes)

    return read


def factor_of(case: Case, topic_id: bytes) -> int:
    """The number of replicas of new partitions of a topic."""
    first = first_partition(range(case.image.counts[topic_id]))
    return len(case.image.partitions[topic_id, 0 if first is None else first].replicas)


def _not_grown(case: Case, topic: Any) -> set[int]:
    """Why a topic cannot have this many partitions."""
    image = case.image
    topic_id = image.names.get(topic.name)
    if topic_id is None:
        return {Error.UNKNOWN_TOPIC_OR_PARTITION}
    more = topic.count - image.counts[topic_id]
    if more <= 0:
        return {Error.INVALID_PARTITIONS}
    if topic.assignments is not None and len(topic.assignments) != more:
        return {Error.INVALID_REPLICA_ASSIGNMENT}
    if more > PARTITIONS_MAX:
        return {Error.POLICY_VIOLATION}
    size = factor_of(case, topic_id)
    if topic.assignments is None:
        return can_place(case, size)
    lists = [each.broker_ids for each in topic.assignments]
    is_well = are_possible(case, lists) and len(lists[0]) == size
    return set() if is_well else {Error.INVALID_REPLICA_ASSIGNMENT}


def check_deletion(case: Case) -> Callable[[Any], None]:
    request, image = case.request, case.image
    if not case.flag("delete.topic.enable", "true"):
        case.same("the records", case.request_records, [])
        codes = {Error.TOPIC_DELETION_DISABLED, Error.INVALID_REQUEST}

        def check_refusal(response: Any) -> None:
            for result in response.responses:
                case.expect(f"topic {result.name}", result.error_code, codes)

        return check_refusal
    zero = bytes(16)
    names = [each.name for each in request.topics if each.name is not None and each.topic_id == zero]
    ids = [bytes(each.topic_id) for each in request.topics if each.name is None and each.topic_id != zero]
    by_id = {each for each in ids if ids.count(each) == 1}
    gone: set[bytes] = {each for each in by_id if each in image.topics}
    taken = gone | (set(ids) - by_id)
    wanted: list[tuple[str | None, bytes, int]] = [(None, each, Error.INVALID_REQUEST) for each in find_repeated(ids)]
    wanted += [(None, each, Error.UNKNOWN_TOPIC_ID) for each in by_id - gone]
    wanted += [
        (each.name, bytes(each.topic_id), Error.INVALID_REQUEST)
        for each in request.topics
        if (each.name is None) == (each.topic_id == zero)
    ]
    wanted += [(name, zero, Error.INVALID_REQUEST) for name in find_repeated(names)]
    for name in names:
        topic_id = image.names.get(name)
        if names.count(name) > 1:
            continue
        if topic_id is None:
            wanted.append((name, zero, Error.UNKNOWN_TOPIC_OR_PARTITION))
        elif topic_id in taken:
            gone.discard(topic_id)
            wanted.append((name, topic_id, Error.INVALID_REQUEST))
        else:
            gone.add(topic_id)
    wanted += [(image.topics[each], each, Error.NONE) for each in gone]
    removed = {bytes(each.topic_id) for each in case.request_records if type(each) is RemoveTopicRecord}
    case.same("the removed topics", removed, gone)

    def read(response: Any) -> None:
        answered = [(each.name, bytes(each.topic_id), each.error_code) for each in response.responses]
        case.same("the answer", sorted(answered, key=repr), sorted(wanted, key=repr))

    return read
