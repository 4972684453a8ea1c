"""BrokerHeartbeat, BrokerRegistration, UnregisterBroker, AllocateProducerIds, DescribeCluster and UpdateFeatures:
independent rules, as far as the log shows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from records.errors import Error
from records.metadata.brokers import BrokerRegistrationChangeRecord, RegisterBrokerRecord, UnregisterBrokerRecord
from records.metadata.configs import FeatureLevelRecord
from records.metadata.producer_ids import ProducerIdsRecord
from simulations.cluster.metadata.member_rules import (
    CONTROLLERS_SINCE,
    CORDONED_SINCE,
    DIRECTORIES_SINCE,
    ELR,
    KRAFT_VERSION,
    METADATA_VERSION,
    PRODUCER_IDS,
    directories_of_others,
    forbids_level,
    supports,
)  # fmt: skip
from simulations.cluster.rules.departures import stays
from simulations.cluster.rules.partitions import is_stale

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from simulations.cluster.metadata.image import Broker
    from simulations.cluster.rules.case import Case

    Read = Callable[[Any], None]

CONTROLLERS = 2
RESERVED_MAX = 99
SHUTDOWN_SINCE = 7
UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE = 1, 2, 3
FEATURES = ("transaction.version", "group.version", ELR, "share.version", "streams.version")
# Of ApiVersions: the first version with the client's software name, and the first whose clients accept level 0.
NAMED_SINCE, LEVEL_ZERO_SINCE = 3, 4
# The states of a broker after a heartbeat.
FENCED, UNFENCED, LEAVING, GONE = "fenced", "unfenced", "in controlled shutdown", "free to stop"
# What stands for the security protocols.
PROTOCOLS = range(4)
# CREATE, ALTER, DESCRIBE, CLUSTER_ACTION, DESCRIBE_CONFIGS, ALTER_CONFIGS and IDEMPOTENT_WRITE, a bit each (KIP-430).
ALL_OPERATIONS = 0b1111110100000


def of(case: Case, kind: type) -> list[Any]:
    """The written records of a kind."""
    return [record for record in case.records if type(record) is kind]


def heartbeat(case: Case) -> Read:
    """A heartbeat: the broker is fenced or not as the log says after it, and failed directories are removed."""
    request, image = case.request, case.image
    broker = image.brokers.get(request.broker_id)
    if broker is None or is_stale(case):
        return lambda response: case.expect("it", response.error_code, {Error.STALE_BROKER_EPOCH})
    own = [each for each in of(case, BrokerRegistrationChangeRecord) if each.broker_id == request.broker_id]
    after = image.with_own_brokers()
    for record in own:
        after.apply(record)
    became = after.brokers[request.broker_id]
    states = [each for each in next_states(case, broker) if (each in (FENCED, GONE)) == became.fenced]
    if not states:
        raise case.fail(f"after it {became} is fenced: {became.fenced}, of {next_states(case, broker)}")
    is_leaving = broker.leaving or LEAVING in states
    case.same("whether it is in controlled shutdown", became.leaving, is_leaving)
    if case.level >= DIRECTORIES_SINCE:
        failed = set(map(bytes, request.offline_log_dirs or ()))
        if not became.fenced or not broker.fenced:
            case.same("which directories are online", set(became.directories), set(broker.directories) - failed)
    if case.level >= CORDONED_SINCE and request.cordoned_log_dirs is not None:
        given = set(map(bytes, request.cordoned_log_dirs))
        case.same("which directories are cordoned", set(became.cordoned), given)
    is_fenced = became.fenced

    def read(response: Any) -> None:
        case.expect("it", response.error_code, ())
        if response.error_code != Error.NONE:
            return
        case.same("isFenced", bool(response.is_fenced), is_fenced)
        case.same("shouldShutDown", bool(response.should_shut_down), GONE in states)
        has_read = request.current_metadata_offset >= broker.offset
        if not has_read or request.current_metadata_offset >= case.begin:
            case.same("isCaughtUp", bool(response.is_caught_up), has_read)

    return read


def next_states(case: Case, broker: Broker) -> set[str]:
    """The states in which a heartbeat may leave a broker (KIP-631, KIP-841)."""
    request = case.request
    if broker.fenced:
        if request.want_shut_down:
            return {GONE}
        if request.want_fence or request.current_metadata_offset < broker.offset:
            return {FENCED}
        # A controller that has loaded a snapshot does not know where in it the registration was.
        return {UNFENCED} if request.current_metadata_offset >= case.begin else {FENCED, UNFENCED}
    if request.broker_id in case.departures.since:
        if stays(case.image, request.broker_id) or not case.departures.have_read(case.image, request.broker_id):
            return {LEAVING}
        # Where the partitions are many, a last step may be left that changes none.
        return {GONE} if len(case.image.partitions) <= case.departures.at_once else {LEAVING, GONE}
    if request.want_fence:
        return {GONE if request.want_shut_down else FENCED}
    if request.want_shut_down:
        return {LEAVING if case.departures.has_to_leave(case.image, request.broker_id) else GONE}
    return {UNFENCED}


def check_registration(case: Case) -> Read:
    request = case.request
    wrong = next((errors for errors in _wrong_registration(case) if errors), set())
    written = [each for each in of(case, RegisterBrokerRecord) if each.broker_id == request.broker_id]
    if written:
        case.same("the acceptance of the registration", not wrong, True)
        _is_registered(case, written[0])
    allowed = wrong if not written else set()
    if not written and not wrong:
        allowed = {Error.POLICY_VIOLATION} if case.may_be_too_much(0) else set()

    def read(response: Any) -> None:
        case.expect("it", response.error_code, allowed)
        if response.error_code == Error.NONE:
            case.same("the epoch", response.broker_epoch, written[0].broker_epoch if written else None)

    return read


def _wrong_registration(case: Case) -> Iterator[set[int]]:
    """The errors of each of Kafka's checks, in its order: the first that fails gives the answer."""
    request, image = case.request, case.image
    known = image.brokers.get(request.broker_id)
    yield {Error.INCONSISTENT_CLUSTER_ID} if request.cluster_id != case.cluster_id else set()
    is_another = known is not None and known.incarnation != bytes(request.incarnation_id)
    yield {Error.DUPLICATE_BROKER_REGISTRATION} if is_another and request.broker_id in case.heard else set()
    yield {Error.BROKER_ID_NOT_REGISTERED} if request.is_migrating_zk_broker else set()
    directories = [bytes(each) for each in request.log_dirs]
    taken = directories_of_others(image, request.broker_id)
    is_reserved = any(int.from_bytes(each, "big") <= RESERVED_MAX for each in directories)
    are_wrong = case.level >= DIRECTORIES_SINCE and (
        not directories or is_reserved or len(set(directories)) < len(directories) or bool(taken & set(directories))
    )
    yield {Error.INVALID_REGISTRATION} if are_wrong else set()
    levels = {each.name: (each.min_supported_version, each.max_supported_version) for each in request.features}
    finalized = {**image.features, KRAFT_VERSION: case.kraft_version}
    errors = {Error.UNSUPPORTED_VERSION for name, level in finalized.items() if not supports(levels, name, level)}
    yield errors | ({Error.INVALID_REGISTRATION} if METADATA_VERSION not in levels else set())
    yield {Error.INVALID_REGISTRATION} if request.broker_id < 0 else set()
    names = [each.name for each in request.listeners]
    if "" in names or len(set(names)) < len(names) or {e.security_protocol for e in request.listeners} - {*PROTOCOLS}:
        yield {Error.INVALID_REGISTRATION}


def _is_registered(case: Case, record: Any) -> None:
    """The record has the fields of the request."""
    request = case.request
    known = case.image.brokers.get(request.broker_id)
    is_again = known is not None and known.incarnation == bytes(request.incarnation_id)
    state = (known.fenced, known.leaving) if is_again and known is not None else (True, False)
    case.same("in which state it is", (record.fenced, record.in_controlled_shutdown), state)
    case.same("its rack", record.rack, request.rack)
    wanted = tuple(map(bytes, request.log_dirs)) if case.level >= DIRECTORIES_SINCE else ()
    case.same("its directories", tuple(map(bytes, record.log_dirs)), wanted)
    listeners = [(each.name, each.host, each.port, each.security_protocol) for each in record.end_points]
    case.same("its listeners", listeners, [(e.name, e.host, e.port, e.security_protocol) for e in request.listeners])
    levels = {(each.name, each.min_supported_version, each.max_supported_version) for each in record.features}
    given = {(each.name, each.min_supported_version, each.max_supported_version) for each in request.features}
    case.same("the supported features", levels, given)


def check_unregistration(case: Case) -> Read:
    known = case.image.brokers.get(case.request.broker_id)
    written = [(each.broker_id, each.broker_epoch) for each in of(case, UnregisterBrokerRecord)]
    wanted = [] if known is None else [(case.request.broker_id, known.epoch)]
    if written or not case.may_be_too_much(0):
        case.same("the unregistered broker", written, wanted)
    codes = {Error.BROKER_ID_NOT_REGISTERED} if known is None else set()
    return lambda response: case.expect("it", response.error_code, codes)


def check_allocation(case: Case) -> Read:
    first = case.image.next_producer_id
    if is_stale(case):
        return lambda response: case.expect("it", response.error_code, {Error.STALE_BROKER_EPOCH})
    request = case.request
    written = [(each.broker_id, each.broker_epoch, each.next_producer_id) for each in of(case, ProducerIdsRecord)]
    case.same("the allocated producer ids", written, [(request.broker_id, request.broker_epoch, first + PRODUCER_IDS)])

    def read(response: Any) -> None:
        case.expect("it", response.error_code, ())
        if response.error_code == Error.NONE:
            case.same("the block", (response.producer_id_start, response.producer_id_len), (first, PRODUCER_IDS))

    return read


def check_cluster_description(case: Case) -> Read:
    request = case.request
    nodes = sorted(case.image.controllers)
    codes: set[int] = set()
    if case.level < CONTROLLERS_SINCE:
        codes = {Error.UNSUPPORTED_VERSION}
    elif request.endpoint_type != CONTROLLERS:
        codes = {Error.MISMATCHED_ENDPOINT_TYPE if request.endpoint_type == 1 else Error.UNSUPPORTED_ENDPOINT_TYPE}
        codes = {Error.INVALID_REQUEST} if case.version == 0 else codes
    operations = ALL_OPERATIONS if request.include_cluster_authorized_operations else -(1 << 31)

    def read(response: Any) -> None:
        case.expect("it", response.error_code, codes)
        if response.error_code == Error.NONE:
            case.same("the brokers", [each.broker_id for each in response.brokers], nodes)
            case.same("the hosts", [each.host for each in response.brokers], [f"node-{each}" for each in nodes])
            leader = case.node_id if case.node_id in nodes else -1
            answered = (response.controller_id, response.cluster_id, response.cluster_authorized_operations)
            case.same("the active controller", answered, (leader, case.cluster_id, operations))

    return read


def check_features(case: Case) -> Read:
    """All levels are changed as requested, or none; an unchanged level is written, too."""
    request = case.request
    asked = {each.feature: each for each in request.feature_updates}
    after = case.image.features | {name: each.max_version_level for name, each in asked.items()}
    wrong = [name for name, each in asked.items() if _is_wrong_level(case, each, after)]
    written = {each.name: each.feature_level for each in of(case, FeatureLevelRecord)}
    wanted = {name: each.max_version_level for name, each in asked.items() if name != KRAFT_VERSION}
    kept = {} if wrong or request.validate_only else wanted
    codes: set[int] = {Error.INVALID_UPDATE_VERSION} if wrong else set()
    update = asked.get(KRAFT_VERSION)
    if not wrong and update is not None and update.max_version_level > case.kraft_version:
        # Only the leader knows which levels the voters have reported to it in this epoch.
        codes = {Error.NONE, Error.INVALID_UPDATE_VERSION}
        kept = kept if written else {}
    case.same("the records", written, kept)
    return lambda response: case.expect("it", response.error_code, codes)


def _is_wrong_level(case: Case, update: Any, after: Mapping[str, int]) -> bool:
    """Whether a feature cannot get this level (KIP-584, KIP-778). after: all levels as requested."""
    name, level, kind = update.feature, update.max_version_level, update.upgrade_type
    if kind not in (UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE) or level < 0:
        return True
    if case.level >= CONTROLLERS_SINCE and not set(case.voters) <= {*case.image.controllers, case.node_id}:
        return True  # what that one supports is not known
    if not supports(case.levels, name, level) or forbids_level(case.image, name, level, after.get(METADATA_VERSION, 0)):
        return True
    if name == KRAFT_VERSION:
        return bool(level < case.kraft_version or (level != case.kraft_version and kind != UPGRADE))
    now = case.image.features.get(name, 0)
    if level != now and (level > now) != (kind == UPGRADE):
        return True
    return name not in (METADATA_VERSION, *FEATURES)


def versions(case: Case) -> Read:
    """The supported versions and features, for a client with a valid software name (KIP-511)."""
    request = case.request
    is_named = case.version >= NAMED_SINCE
    is_wrong = is_named and not all(map(_is_software, (request.client_software_name, request.client_software_version)))
    known = {METADATA_VERSION, KRAFT_VERSION, *FEATURES} if case.version >= LEVEL_ZERO_SINCE else {METADATA_VERSION}

    def read(response: Any) -> None:
        case.expect("it", response.error_code, {Error.INVALID_REQUEST} if is_wrong else ())
        case.same("the presence of API versions", bool(response.api_keys), not is_wrong)
        if not is_wrong:
            case.same("the features", {each.name for each in response.supported_features}, known)

    return read


def _is_software(text: str) -> bool:
    """Whether this is a valid software name or version."""
    plain = all(each.isascii() and (each.isalnum() or each in "-.") for each in text)
    return bool(text) and plain and text[0].isalnum() and text[-1].isalnum()
