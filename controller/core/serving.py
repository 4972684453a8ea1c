"""A request from its arrival to its response: what all APIs share, around the handler of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.core import authorization
from controller.core.apis import APIS, Kind
from controller.core.log_writer import write
from controller.core.long_steps import BROKER_HEARTBEAT, Abandoned, Overtaken
from controller.core.snapshot_schedule import Appended
from controller.interface.effects import Append, Requeue, ServeLater, UpgradeKraftVersion
from controller.interface.inputs import Requested, Written
from controller.interface.refusals import error_response, not_controller
from controller.interface.results import ALL_PENDING, Result
from controller.interface.slices import EVERYTHING
from controller.rules.mutation_quotas import refund
from records.errors import ApiError, Error

if TYPE_CHECKING:
    from controller.core.apis import Api
    from controller.core.controller import Controller
    from controller.interface.inputs import Disconnected, RequestContext


# The control records that raise kraft.version from 0: KRaftVersionRecord and VotersRecord.
KRAFT_VERSION_RECORDS = 2
# The long requests that may be parked: each is in memory decoded.
PARKED_LONG_MAX = 4


def on_requested(controller: Controller, event: Requested) -> None:
    """A request for one of the controller's own APIs."""
    metrics = controller.metrics
    metrics.operations_started += 1
    metrics.queue_ms.add(controller.env.now_ms - event.context.arrived_ms)
    if event.context.is_long:
        serve_in_slices(controller, event.context, event.request)
    else:
        serve(controller, event.context, event.request)


def serve_in_slices(controller: Controller, context: RequestContext, request: Any) -> None:
    """Serve a long request. Where its step is abandoned, it is served again when its turn comes."""
    controller.long.begin(context)
    try:
        serve(controller, context, request)
    except Abandoned:
        # Nothing was appended, so it may be served again, by whatever this node is now.
        refund(context)
        serve_again(controller, context, request)
    finally:
        held = controller.long.end()
        if held:
            controller.effects.append(Requeue(held))


def refuse_or_repeat(controller: Controller, context: RequestContext, request: Any) -> None:
    """Answer NOT_CONTROLLER, as to a request whose outcome is unknown here, or serve the request again if a standby has
    another answer.
    """
    if is_for_standby(controller, context, request):
        serve_again(controller, context, request)
    else:
        refuse_here(controller, context, request)


def refuse_here(controller: Controller, context: RequestContext, request: Any) -> None:
    error = not_controller(-1)
    controller.answer(context, error_response(request, error, context.version, controller.env.slices.spread))


def is_for_standby(controller: Controller, context: RequestContext, request: Any) -> bool:
    """Whether `serve` has another answer than NOT_CONTROLLER: from the committed state, or why it cannot decide."""
    try:
        return is_for_any(controller, APIS[context.api_key], context, request)
    except ApiError:
        # The authorizer failed; `serve` answers with its error.
        return True


def serve(controller: Controller, context: RequestContext, request: Any) -> None:
    """Check role and deadline, which all APIs share, and decide on the request."""
    api = APIS[context.api_key]
    assert api.handler is not None, f"{type(request).__name__} is not for the controller"
    context.request = request
    if controller.must_park(api):
        if context.is_long and sum(each.is_long for each, _ in controller.parked) >= PARKED_LONG_MAX:
            refuse_here(controller, context, request)
        else:
            controller.parked.append((context, request))
        return
    denied = None if controller.env.access is None else authorization.refusal(controller, api, context, request)
    if denied is not None:
        controller.answer(context, denied)
        return
    if api.allowed is not None:
        try:
            api.allowed(context, controller.env)
        except ApiError as error:
            controller.answer(context, error_response(request, error, context.version, controller.env.slices.spread))
            return
    try:
        check_role(controller, api, context, request)
        check_deadline(controller, api, context, request)
    except ApiError as failed:
        # A request that leaves nothing to do is answered by any controller, and however late it is.
        answer = idle_answer(controller, api, context, request)
        if answer is None:
            refused = authorization.or_not_controller(controller, api, failed)
            answer = error_response(request, refused, context.version, controller.env.slices.spread)
        controller.answer(context, answer)
        return
    try:
        decide(controller, api, context, request)
    except Overtaken:
        # Nothing was appended, and from here on nobody writes.
        refund(context)
        controller.long.begin_again()
        decide(controller, api, context, request)


def decide(controller: Controller, api: Api, context: RequestContext, request: Any) -> None:
    """Call the handler, and write what it returns."""
    state, env = controller.state, controller.env
    assert api.handler is not None
    if api.reads:
        env.slices.hold(lambda: {getattr(state, name).log: EVERYTHING for name in api.reads})
    try:
        result = api.handler(state, context, request, env)
    except ApiError as error:
        result = refusal(controller, context, request, error)
    if context.api_key == BROKER_HEARTBEAT and result.records and controller.long.holds_writes:
        controller.long.held.append(Requested(context, request))
        return
    carry_out(controller, api, context, request, result)


def serve_again(controller: Controller, context: RequestContext, request: Any) -> None:
    """Serve a request that waited: at once, or a long one when its turn comes."""
    if context.is_long:
        controller.effects.append(ServeLater(context, request))
    else:
        serve(controller, context, request)


def serve_parked(controller: Controller) -> None:
    """Serve the parked requests, or park them again."""
    parked, controller.parked = controller.parked, []
    for context, request in parked:
        serve_again(controller, context, request)


def idle_answer(controller: Controller, api: Api, context: RequestContext, request: Any) -> Any:
    """The answer to a request that leaves nothing to do; None to any other."""
    if api.idle is None:
        return None
    try:
        return api.idle(controller.state, context, request, controller.env)
    except ApiError as failed:
        error = authorization.or_not_controller(controller, api, failed)
        return error_response(request, error, context.version, controller.env.slices.spread)


def check_role(controller: Controller, api: Api, context: RequestContext, request: Any) -> None:
    """Raises ApiError(NOT_CONTROLLER) where only the active controller can serve, and this is a standby."""
    if controller.is_active:
        if api.arrived is not None:
            api.arrived(controller.state, request, controller.env)
    elif not is_for_any(controller, api, context, request):
        raise not_controller(controller.env.leader_id)


def is_for_any(controller: Controller, api: Api, context: RequestContext, request: Any) -> bool:
    """Whether any controller may answer, not the active one alone."""
    if api.kind in (Kind.READ, Kind.LOCAL):
        return True
    return api.is_local is not None and api.is_local(controller.state, context, request, controller.env)


def check_deadline(controller: Controller, api: Api, context: RequestContext, request: Any) -> None:
    """Raises ApiError(REQUEST_TIMED_OUT) for a request that waited too long before it was begun."""
    if api.deadline is None:
        return
    if controller.env.now_ms < context.arrived_ms + api.deadline(request, controller.env):
        return
    controller.metrics.operations_timed_out += 1
    if api.late is not None:
        controller.metrics.timed_out_broker_heartbeats += 1
        api.late(controller.state, request, controller.env)
    raise ApiError(Error.REQUEST_TIMED_OUT)


def refusal(controller: Controller, context: RequestContext, request: Any, error: ApiError) -> Result:
    """The response to a request that failed as a whole. It waits for the commit of what the error rests on, as any
    response.
    """
    return Result(error_response(request, error, context.version, controller.env.slices.spread), rests_on=ALL_PENDING)


def carry_out(controller: Controller, api: Api, context: RequestContext, request: Any, result: Result) -> None:
    """Write the records of a result, and send its response as soon as it may leave."""
    try:
        first_offset = write_result(controller, result)
    except ApiError as error:
        result = refusal(controller, context, request, error)
        first_offset = write_result(controller, result)
    last_offset = controller.env.next_offset - 1
    waiting = controller.waiting
    if result.records:
        context.written = Written(controller.env.epoch, first_offset, last_offset)
        waiting.add(context, request, result.response, last_offset, confirm=False)
    elif not controller.is_active or api.kind is Kind.LOCAL:
        controller.answer(context, result.response)
    else:
        waiting.add(context, request, result.response, min(result.rests_on, last_offset), confirm=result.confirm)


def write_result(controller: Controller, result: Result) -> int:
    """Replay and append the records of a result, and apply its effects; returns the offset of its first record, that of
    the next one where it has none.

    Raises ApiError(POLICY_VIOLATION), with nothing done, where the records are too many.
    """
    state, env = controller.state, controller.env
    upgrade = None
    if result.kraft_version is not None:
        assert result.records, "the response to an upgrade waits for a record"
        base_offset = leave_offsets(controller, KRAFT_VERSION_RECORDS)
        upgrade = UpgradeKraftVersion(env.epoch, base_offset, result.kraft_version)
    first_offset = env.next_offset
    if result.records:
        assert controller.is_active, "a standby writes nothing"
        controller.long.check_writes()
        batches = write(state, env, result.records, atomic=result.atomic)
        # No pause from here on: a long step leaves all its effects together.
        first_offset = batches[0].base_offset
        if upgrade is not None:
            first_offset = upgrade.base_offset
            controller.effects.append(upgrade)
        for batch in batches:
            controller.effects.append(Append(env.epoch, batch.base_offset, batch.last_offset, batch.data))
            appended = Appended(batch.last_offset + 1, env.epoch, env.wall_ms, len(batch.data))
            controller.snapshots.on_appended(appended)
        controller.metrics.last_applied_timestamp_ms = env.wall_ms
        if env.sessions is not None:
            env.sessions.follow(state, result.records)
    controller.effects.extend(result.effects)
    if result.applied is not None:
        result.applied(env.next_offset - 1)
    return first_offset


def leave_offsets(controller: Controller, count: int) -> int:
    """Leave offsets to a control batch, which changes nothing in the state; returns the first of them."""
    state, env = controller.state, controller.env
    assert controller.is_active, "only the active controller gives out offsets"
    base_offset = env.next_offset
    env.next_offset = state.end_offset = base_offset + count
    controller.snapshots.on_appended(Appended(env.next_offset, env.epoch, env.wall_ms, 0))
    return base_offset


def on_disconnected(controller: Controller, event: Disconnected) -> None:
    """Drop the answers that wait for these connections; what was appended stays, and the answers to it."""
    closed = event.connections
    controller.waiting.drop(closed)
    controller.parked = [waiter for waiter in controller.parked if waiter[0].source.connection not in closed]
