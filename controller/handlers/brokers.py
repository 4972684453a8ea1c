"""Registration of brokers: BrokerRegistration and UnregisterBroker (KIP-631, KIP-858, KIP-966)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.handlers.registrations import endpoints, features
from controller.interface.results import Result
from controller.rules.bulk_elections import leader_and_isr_records
from controller.state.partitions.sets import union
from records.errors import ApiError, Error
from records.features.levels import KRAFT_VERSION, METADATA_VERSION
from records.features.record_versions import DIRECTORY_ASSIGNMENT, register_broker_version
from records.messages.brokers import BrokerRegistrationResponse, UnregisterBrokerResponse
from records.metadata.brokers import RegisterBrokerRecord, UnregisterBrokerRecord
from records.uuids import is_reserved, uuid_text

if TYPE_CHECKING:
    from controller.interface.env import Env
    from controller.interface.inputs import RequestContext
    from controller.interface.results import Item
    from controller.state.state import State
    from controller.state.tables.brokers import Broker
    from records.messages.brokers import BrokerRegistrationRequest, UnregisterBrokerRequest

# From this version on the request has the epoch that the broker had at its last clean shutdown.
CLEAN_SHUTDOWN_VERSION = 3
# What Kafka compares the previous epoch with where the broker is not registered; brokers that know none send -1.
NO_FORMER_EPOCH = -2


def register_broker(state: State, context: RequestContext, request: BrokerRegistrationRequest, env: Env) -> Result:
    """BrokerRegistration: a broker starts, or repeats its registration (KIP-631).

    A new incarnation gets the next record's offset as its epoch and is fenced. It leaves the ISRs of the former
    incarnation and, after an unclean shutdown, the ELRs too.
    """
    existing = state.brokers.get(request.broker_id)
    check_registration(state, request, env, existing)
    if existing is not None and existing.incarnation_id == request.incarnation_id:
        epoch, fenced, in_controlled_shutdown = existing.epoch, existing.fenced, existing.in_controlled_shutdown
        records: list[Item] = []
    else:
        epoch, fenced, in_controlled_shutdown = env.next_offset, True, False
        former_epoch = NO_FORMER_EPOCH if existing is None else existing.epoch
        is_clean = context.version >= CLEAN_SHUTDOWN_VERSION and former_epoch == request.previous_broker_epoch
        records = shut_down(state, env, request.broker_id, is_clean=is_clean)
    has_directories = state.metadata_version >= DIRECTORY_ASSIGNMENT
    record = RegisterBrokerRecord(
        broker_id=request.broker_id,
        incarnation_id=request.incarnation_id,
        broker_epoch=epoch,
        end_points=endpoints(RegisterBrokerRecord.BrokerEndpoint, request.listeners),
        features=features(RegisterBrokerRecord.BrokerFeature, request.features),
        rack=request.rack,
        fenced=fenced,
        in_controlled_shutdown=in_controlled_shutdown,
        log_dirs=request.log_dirs if has_directories else (),
    )
    # The registration comes last: a node that replays it has already replayed the changes for the former incarnation.
    records.append((record, register_broker_version(state.metadata_version)))
    response = BrokerRegistrationResponse(throttle_time_ms=0, error_code=Error.NONE, broker_epoch=epoch)
    return Result(response, records, atomic=False)


def check_registration(state: State, request: BrokerRegistrationRequest, env: Env, existing: Broker | None) -> None:
    """Raises ApiError for the first violation; checks and codes are in Kafka's order."""
    assert env.sessions is not None
    if request.cluster_id != env.cluster_id:
        raise ApiError(
            Error.INCONSISTENT_CLUSTER_ID,
            f"Expected cluster ID {env.cluster_id}, but got cluster ID {request.cluster_id}",
        )
    # Any live session counts: a fenced broker that still sends heartbeats keeps its id too.
    if (
        existing is not None
        and existing.incarnation_id != request.incarnation_id
        and env.sessions.is_valid(request.broker_id, existing.epoch, env.now_ms)
    ):
        raise ApiError(
            Error.DUPLICATE_BROKER_REGISTRATION,
            "Another broker is registered with that broker id. If the broker was recently restarted this should "
            "self-resolve once the heartbeat manager expires the broker's session.",
        )
    if request.is_migrating_zk_broker:
        raise ApiError(Error.BROKER_ID_NOT_REGISTERED, "Controller does not support registering ZK brokers.")
    if state.metadata_version >= DIRECTORY_ASSIGNMENT:
        check_directories(state, request)
    check_features(state, request, env)
    # What stock does not check comes after all that it does.
    if request.broker_id < 0:
        raise ApiError(Error.INVALID_REGISTRATION, f"Broker id {request.broker_id} is negative.")


def check_directories(state: State, request: BrokerRegistrationRequest) -> None:
    """Raises ApiError(INVALID_REGISTRATION) if the log directories cannot be this broker's."""
    if not request.log_dirs:
        raise ApiError(Error.INVALID_REGISTRATION, "No directories specified in request")
    if any(is_reserved(directory) for directory in request.log_dirs):
        raise ApiError(Error.INVALID_REGISTRATION, "Reserved directory ID in request")
    if len(set(request.log_dirs)) != len(request.log_dirs):
        raise ApiError(Error.INVALID_REGISTRATION, "Duplicate directory ID in request")
    for directory in request.log_dirs:
        owner = state.directory_owners.get(directory, request.broker_id)
        if owner != request.broker_id:
            raise ApiError(
                Error.INVALID_REGISTRATION,
                f"Broker {owner} is already registered with directory {uuid_text(directory)}",
            )


def check_features(state: State, request: BrokerRegistrationRequest, env: Env) -> None:
    """The broker must support each finalized level; a feature that it does not list counts as supported at 0."""
    finalized: dict[str, int] = {**state.features, KRAFT_VERSION: env.kraft_version}
    offered = {f.name: (f.min_supported_version, f.max_supported_version) for f in request.features}
    for feature in request.features:
        levels = (feature.min_supported_version, feature.max_supported_version)
        check_level(feature.name, finalized.get(feature.name, 0), levels)
    if METADATA_VERSION not in offered:
        raise ApiError(Error.INVALID_REGISTRATION, f"Request features do not contain '{METADATA_VERSION}'")
    for name, level in finalized.items():
        if name not in offered:
            check_level(name, level, (0, 0))


def check_level(name: str, level: int, offered: tuple[int, int]) -> None:
    low, high = offered
    if not low <= level <= high:
        raise ApiError(
            Error.UNSUPPORTED_VERSION,
            f"Unable to register because the broker does not support finalized version {level} of {name}. The broker "
            f"wants a version between {low} and {high}, inclusive.",
        )


def shut_down(state: State, env: Env, broker_id: int, *, is_clean: bool) -> list[Item]:
    """The changes of partitions when the former incarnation of a broker has ended."""
    partitions = state.partitions
    if not state.is_elr_enabled or is_clean:
        return leader_and_isr_records(state, env, partitions.in_isr(broker_id), removed=broker_id)
    rows = union(partitions.in_isr(broker_id), partitions.in_elr(broker_id))
    return leader_and_isr_records(state, env, rows, lost_data=broker_id)


def unregister_broker(state: State, _context: RequestContext, request: UnregisterBrokerRequest, env: Env) -> Result:
    """UnregisterBroker: the broker, fenced or not, leaves every ISR (KIP-631).

    As in stock it stays in an ELR, and enters one where it leaves an ISR below min.insync.replicas: it still has every
    committed record (KIP-966). It leaves them when it registers again, which counts as an unclean shutdown.
    """
    broker_id = request.broker_id
    broker = state.brokers.get(broker_id)
    if broker is None:
        raise ApiError(Error.BROKER_ID_NOT_REGISTERED, f"Broker ID {broker_id} is not currently registered")
    rows = union(state.partitions.in_isr(broker_id), state.partitions.in_elr(broker_id))
    records = leader_and_isr_records(state, env, rows, removed=broker_id)
    records.append((UnregisterBrokerRecord(broker_id=broker_id, broker_epoch=broker.epoch), 0))
    response = UnregisterBrokerResponse(throttle_time_ms=0, error_code=Error.NONE, error_message="")
    return Result(response, records, atomic=False)
