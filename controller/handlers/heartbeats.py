"""Heartbeats of brokers: fencing, unfencing, controlled shutdown, expiry of sessions (KIP-631, KIP-841, KIP-858).

A broker is FENCED, UNFENCED or in CONTROLLED_SHUTDOWN; each heartbeat may change this state. SHUTDOWN_NOW in a response
allows the broker to stop.
"""

from __future__ import annotations

from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Any

from controller.interface.effects import Noted
from controller.interface.refusals import error_response
from controller.interface.results import NOTHING_PENDING, Result
from controller.interface.sessions import NO_OFFSET
from controller.rules.bulk_elections import leader_and_isr_changes, leader_and_isr_records
from controller.state.partitions.sets import without
from controller.state.tables.brokers import ENTER_CONTROLLED_SHUTDOWN, FENCE, UNFENCE
from records.errors import ApiError, Error
from records.features.record_versions import CORDONED_DIRECTORIES, DIRECTORY_ASSIGNMENT
from records.messages.brokers import BrokerHeartbeatResponse
from records.metadata.brokers import BrokerRegistrationChangeRecord

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from controller.interface.env import Env
    from controller.interface.inputs import RequestContext
    from controller.interface.results import Item
    from controller.interface.sessions import Session, Sessions
    from controller.state.partitions.partitions import Rows
    from controller.state.state import State
    from controller.state.tables.brokers import Broker
    from records.messages.brokers import BrokerHeartbeatRequest


class BrokerState(Enum):
    """The state of a broker."""

    FENCED = "fenced"
    UNFENCED = "unfenced"
    CONTROLLED_SHUTDOWN = "controlled shutdown"
    SHUTDOWN_NOW = "shutdown now"

    @property
    def is_fenced(self) -> bool:
        return self in (BrokerState.FENCED, BrokerState.SHUTDOWN_NOW)


FENCED, UNFENCED = BrokerState.FENCED, BrokerState.UNFENCED
CONTROLLED_SHUTDOWN, SHUTDOWN_NOW = BrokerState.CONTROLLED_SHUTDOWN, BrokerState.SHUTDOWN_NOW


def current_state(session: Session) -> BrokerState:
    if session.is_shutting_down:
        return CONTROLLED_SHUTDOWN
    return FENCED if session.fenced else UNFENCED


def next_state(
    session: Session,
    request: BrokerHeartbeatRequest,
    *,
    registration_offset: int,
    leads: Callable[[], bool],
    lowest_active_offset: Callable[[], int],
) -> BrokerState:
    """The state of the broker after a heartbeat.

    registration_offset: of its RegisterBrokerRecord, which it must have replayed before it is unfenced. leads: whether
    it still leads a partition, or has ISRs to leave in steps. lowest_active_offset: the offset that all active brokers
    have replayed.
    """
    now = current_state(session)
    if now == FENCED:
        if request.want_shut_down:
            return SHUTDOWN_NOW
        if not request.want_fence and request.current_metadata_offset >= registration_offset:
            return UNFENCED
        return FENCED
    if now == UNFENCED:
        if request.want_fence:
            return SHUTDOWN_NOW if request.want_shut_down else FENCED
        if request.want_shut_down:
            return CONTROLLED_SHUTDOWN if leads() else SHUTDOWN_NOW
        return UNFENCED
    # In controlled shutdown the requested state is ignored. The broker may stop once it leads no partition and every
    # active broker has replayed that: until then one of them may still direct a follower or a client to it.
    if leads() or session.shutdown_offset > lowest_active_offset():
        return CONTROLLED_SHUTDOWN
    return SHUTDOWN_NOW


def heartbeat(state: State, context: RequestContext, request: BrokerHeartbeatRequest, env: Env) -> Result:
    """BrokerHeartbeat: renews the session, requests a state, and reports offline directories."""
    sessions = env.sessions
    assert sessions is not None
    try:
        broker = require_broker(state, request.broker_id, request.broker_epoch)
    except ApiError as error:
        refusal = error_response(request, error, context.version)
        return Result(refusal, rests_on=rests_on(state, request.broker_id), confirm=False)
    session = sessions.get(broker.broker_id)
    assert session is not None, f"registered broker {broker.broker_id} has no session"
    registration_offset = state.registration_offsets[broker.broker_id]
    before = current_state(session)
    after = next_state(
        session,
        request,
        registration_offset=registration_offset,
        leads=lambda: must_leave(state, env, session),
        lowest_active_offset=sessions.lowest_active_offset,
    )
    records: list[Item] = []
    effects = []
    next_row = None
    has_directories = state.metadata_version >= DIRECTORY_ASSIGNMENT
    gone = [directory for directory in broker.directories if has_directories and directory in request.offline_log_dirs]
    if after != before:
        entered, next_row = enter_state(state, env, broker, after, gone)
        records += entered
        fields = {"broker_id": broker.broker_id, "epoch": broker.epoch, "state": after.value, "was": before.value}
        effects.append(Noted("broker_state_changed", fields))
    if gone:
        left_below = 0 if after in (before, UNFENCED) else next_row
        records += directories_offline(state, env, broker, gone, left_below)
    if state.metadata_version >= CORDONED_DIRECTORIES and request.cordoned_log_dirs is not None:
        records += cordon_directories(broker, request.cordoned_log_dirs)

    # A changed registration makes the metadata offset unknown until the next heartbeat (`Sessions.register`).
    registers = any(isinstance(item, tuple) and isinstance(item[0], BrokerRegistrationChangeRecord) for item in records)
    metadata_offset = NO_OFFSET if registers else request.current_metadata_offset

    def on_applied(offset: int) -> None:
        sessions.touch(broker.broker_id, fenced=after.is_fenced, metadata_offset=metadata_offset)
        if after == CONTROLLED_SHUTDOWN:
            sessions.start_shutdown(broker.broker_id, offset, next_row)

    response = BrokerHeartbeatResponse(
        throttle_time_ms=0,
        error_code=Error.NONE,
        is_caught_up=request.current_metadata_offset >= registration_offset,
        is_fenced=after.is_fenced,
        should_shut_down=after == SHUTDOWN_NOW,
    )
    return Result(
        response,
        records,
        rests_on(state, broker.broker_id),
        confirm=False,
        atomic=False,
        applied=on_applied,
        effects=effects,
    )


def rests_on(state: State, broker_id: int) -> int:
    """The offset that a response without changes depends on: that of the broker's own registration."""
    return max(
        state.brokers.change_offset(broker_id), state.registration_offsets.change_offset(broker_id), NOTHING_PENDING
    )


def require_broker(state: State, broker_id: int, broker_epoch: int) -> Broker:
    """The registered broker of this epoch.

    Raises ApiError(STALE_BROKER_EPOCH) if there is none, or its epoch is another.
    """
    broker = state.brokers.get(broker_id)
    if broker is None:
        raise ApiError(Error.STALE_BROKER_EPOCH, f"No broker registration found for broker id {broker_id}")
    if broker.epoch != broker_epoch:
        raise ApiError(
            Error.STALE_BROKER_EPOCH, f"Expected broker epoch {broker.epoch}, but got broker epoch {broker_epoch}"
        )
    return broker


def enter_state(
    state: State, env: Env, broker: Broker, entered_state: BrokerState, gone: Iterable[bytes] = ()
) -> tuple[list[Item], int | None]:
    """The records that change a broker's state, and the row from which on `leave_isrs` goes on; None where it need not.

    gone: its directories that are newly offline.
    """
    if entered_state == CONTROLLED_SHUTDOWN:
        return in_controlled_shutdown(state, env, broker)
    if entered_state == UNFENCED:
        return unfence(state, env, broker, gone), None
    return fence(state, env, broker), None


def fence(state: State, env: Env, broker: Broker) -> list[Item]:
    """Fence the broker: it loses its leaderships and leaves all ISRs; it stays a replica, and in the ELRs."""
    rows = state.partitions.in_isr(broker.broker_id)
    records = leader_and_isr_records(state, env, rows, removed=broker.broker_id)
    records.append((registration_change(broker, fenced=FENCE), 0))
    return records


def unfence(state: State, env: Env, broker: Broker, gone: Iterable[bytes] = ()) -> list[Item]:
    """Unfence the broker: it may lead, and becomes leader of leaderless partitions. Only leaders add it to ISRs.

    gone: its directories that are newly offline; `directories_offline` handles their replicas.
    """
    rows = state.partitions.leaderless()
    for directory in gone:
        rows = without(rows, state.partitions.in_directory(directory))
    return [
        (registration_change(broker, fenced=UNFENCE), 0),
        *leader_and_isr_records(state, env, rows, added=broker.broker_id),
    ]


def in_controlled_shutdown(state: State, env: Env, broker: Broker) -> tuple[list[Item], int | None]:
    """Start controlled shutdown: the broker's leaderships move away while it still serves (KIP-841).

    Returns the records of the first step, and the row of the next; None where it is the only one.
    """
    records: list[Item] = []
    if not broker.in_controlled_shutdown:
        records.append((registration_change(broker, in_controlled_shutdown=ENTER_CONTROLLED_SHUTDOWN), 1))
    changes, next_row = next_to_leave(state, env, broker.broker_id, 0)
    return records + changes, next_row


def leave_isrs(state: State, env: Env) -> Result | None:
    """The next step of a controlled shutdown of a broker in very many ISRs; None where no such step is left.

    No heartbeat is needed for it. Under another leader, the next heartbeat of the broker begins with what is left.
    """
    sessions = env.sessions
    assert sessions is not None
    if not sessions.leaving:
        return None
    broker_id, start = next(iter(sessions.leaving.items()))
    records, next_row = next_to_leave(state, env, broker_id, start)
    return Result(None, records, atomic=False, applied=lambda offset: sessions.leave(broker_id, offset, next_row))


def next_to_leave(state: State, env: Env, broker_id: int, start: int) -> tuple[list[Item], int | None]:
    """The records by which a broker leaves the next ISRs, of partitions from a row on, and the row of the next step."""
    rows = state.partitions.next_in_isr(broker_id, start, env.partitions_at_once + 1)
    next_row = int(rows[-1]) if len(rows) > env.partitions_at_once else None
    return leader_and_isr_records(state, env, rows[: env.partitions_at_once], removed=broker_id), next_row


def must_leave(state: State, env: Env, session: Session) -> bool:
    """Whether a broker that wants to shut down has to leave partitions before it may.

    One that leads none may stop, as in Kafka, and is fenced then; only where it is in more ISRs than one step changes,
    it leaves these in its controlled shutdown.
    """
    assert env.sessions is not None
    partitions, broker_id, at_once = state.partitions, session.broker_id, env.partitions_at_once
    if broker_id in env.sessions.leaving or len(partitions.rows_led_by(broker_id)):
        return True
    return not session.is_shutting_down and len(partitions.next_in_isr(broker_id, 0, at_once + 1)) > at_once


def directories_offline(
    state: State, env: Env, broker: Broker, gone: list[bytes], left_below: int | None
) -> list[Item]:
    """Replicas in newly offline directories leave their ISRs and lose leadership (KIP-858).

    left_below: the row below which the same batch already removes the broker from every ISR; None for all rows.
    """
    records: list[Item] = []
    has_left = state.partitions.in_isr(broker.broker_id, 0, left_below)
    for directory in gone:
        rows = without(state.partitions.in_directory(directory), has_left)
        records += leader_and_isr_records(state, env, rows, removed=broker.broker_id)
    # A broker without an online directory reports an empty list, which means "no change"; it is about to stop.
    left = tuple(directory for directory in broker.directories if directory not in gone)
    records.append((registration_change(broker, log_dirs=left), 2))
    return records


def cordon_directories(broker: Broker, cordoned: tuple[bytes, ...]) -> list[Item]:
    """The record that sets the directories that take no new replicas, if they have changed (KIP-1066)."""
    if broker.cordoned is not None and set(cordoned) == set(broker.cordoned):
        return []
    return [(registration_change(broker, cordoned_log_dirs=cordoned), 3)]


def registration_change(broker: Broker, **changes: Any) -> BrokerRegistrationChangeRecord:
    return BrokerRegistrationChangeRecord(broker_id=broker.broker_id, broker_epoch=broker.epoch, **changes)


def fence_expired(state: State, env: Env) -> Result | None:
    """Fence one broker whose session has expired; None if there is none.

    One at a time, so that each sees the partitions as the one before changed them. One that is in very many ISRs leaves
    them some at a time, so that other requests are served in between, and is fenced with the last of them.
    """
    sessions = env.sessions
    assert sessions is not None
    while (expired := sessions.find_expired(env.now_ms)) is not None:
        broker_id, epoch = expired
        broker = state.brokers.get(broker_id)
        # The session of a former incarnation, or of an unregistered broker, ends without a record. A fenced broker that
        # sent heartbeats is fenced once more, as in Kafka.
        if broker is None or broker.epoch != epoch:
            sessions.forget_contact(broker_id, epoch)
            continue
        start = sessions.left_below(broker_id, epoch)
        rows = state.partitions.next_in_isr(broker_id, start, env.partitions_at_once + 1)
        if len(rows) > env.partitions_at_once:
            return take_some(state, env, broker, rows[:-1])
        effects = [Noted("broker_session_expired", {"broker_id": broker_id, "epoch": epoch})]
        forget = partial(_forget, sessions, broker_id, epoch)
        return Result(None, fence(state, env, broker), atomic=False, applied=forget, effects=effects)
    return None


def take_some(state: State, env: Env, broker: Broker, rows: Rows) -> Result:
    """Take these partitions from a broker before the step that fences it, but for those that would get no leader.

    Leadership may be lost, or a heartbeat come, before that step. Then the broker stays unfenced, and nothing would
    elect it again; where another leads, the leader adds it to the ISR again.
    """
    assert env.sessions is not None
    changes = leader_and_isr_changes(state, env, rows, removed=broker.broker_id).with_leader()
    leave = partial(_leave, env.sessions, broker.broker_id, broker.epoch, int(rows[-1]) + 1)
    return Result(None, [changes] if len(changes) else [], atomic=False, applied=leave)


def _leave(sessions: Sessions, broker_id: int, epoch: int, row: int, _offset: int) -> None:
    sessions.leave_below(broker_id, epoch, row)


def _forget(sessions: Sessions, broker_id: int, epoch: int, _offset: int) -> None:
    sessions.forget_contact(broker_id, epoch)


def record_contact(state: State, request: BrokerHeartbeatRequest, env: Env) -> None:
    """Renew the session when a heartbeat arrives, whatever its result will be; unregistered brokers have none."""
    broker = state.brokers.get(request.broker_id)
    if broker is not None and broker.epoch == request.broker_epoch and env.sessions is not None:
        env.sessions.record_contact(broker.broker_id, broker.epoch, env.now_ms)


def touch_late(state: State, request: BrokerHeartbeatRequest, env: Env) -> None:
    """Record the metadata offset of a heartbeat that timed out in the queue; it changes nothing else."""
    broker = state.brokers.get(request.broker_id)
    if broker is None or broker.epoch != request.broker_epoch or env.sessions is None:
        return
    env.sessions.touch(broker.broker_id, fenced=broker.fenced, metadata_offset=request.current_metadata_offset)
