"""Changes of configurations: IncrementalAlterConfigs and AlterConfigs (KIP-133, KIP-339)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.config.resources import resource_type
from controller.handlers.config_changes import check_changes, clear_elr_records, incremental, replacement
from controller.handlers.logger_levels import level_changes
from controller.interface.results import NOTHING_PENDING, Result, check_record_count, raised_text
from controller.interface.slices import EVERYTHING
from controller.rules.permissions import allows, permission_on
from controller.state.tables.acl import CLUSTER_NAME, AclOperation, AclResourceType
from records.errors import ApiError, Error, error_text
from records.messages.configs import (
    AlterConfigsResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from records.resource_types import ResourceType

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from controller.handlers.config_changes import Records
    from controller.interface.effects import Effect
    from controller.interface.env import Env
    from controller.interface.inputs import RequestContext
    from controller.interface.slices import Reads
    from controller.state.state import State
    from records.messages.configs import AlterConfigsRequest

# Other types are refused.
_ALTERED = (ResourceType.TOPIC, ResourceType.BROKER, ResourceType.CLIENT_METRICS, ResourceType.GROUP)


# What an alteration needs to be allowed, by type of resource, and the error where it is not.
_NEEDS = {
    ResourceType.TOPIC: (AclResourceType.TOPIC, Error.TOPIC_AUTHORIZATION_FAILED),
    ResourceType.GROUP: (AclResourceType.GROUP, Error.GROUP_AUTHORIZATION_FAILED),
    ResourceType.BROKER: (AclResourceType.CLUSTER, Error.CLUSTER_AUTHORIZATION_FAILED),
    ResourceType.CLIENT_METRICS: (AclResourceType.CLUSTER, Error.CLUSTER_AUTHORIZATION_FAILED),
}
# Kafka builds these errors from the code alone, so their message is the text of the code.
_TEXT_OF_CODE = {Error.TOPIC_AUTHORIZATION_FAILED, Error.GROUP_AUTHORIZATION_FAILED, Error.CLUSTER_AUTHORIZATION_FAILED}


def is_local(
    state: State, context: RequestContext, request: IncrementalAlterConfigsRequest | AlterConfigsRequest, env: Env
) -> bool:
    """Whether this node can serve the request: all its resources are loggers of this node, or are refused."""
    wanted, _ = split_resources(state, context, request, env)
    return not wanted


def incremental_alter_configs(
    state: State, context: RequestContext, request: IncrementalAlterConfigsRequest, env: Env
) -> Result:
    """IncrementalAlterConfigs: each resource is changed or refused on its own; all changes are one batch.

    Levels of this node's loggers are not stored; they are changed at once.
    """
    wanted, refused = split_resources(state, context, request, env)

    def changes(kind: ResourceType, resource: Any) -> Records:
        operations = {config.name: (config.config_operation, config.value) for config in resource.configs}
        records = incremental(state, kind, resource.resource_name, operations)
        check_changes(state, env, kind, resource.resource_name, records, forwarded=context.forwarded)
        return records

    item = IncrementalAlterConfigsResponse.AlterConfigsResourceResponse
    records, altered = _alter(state, env, wanted, changes)
    effects, levelled = _set_log_levels(state, context, request, env)
    answers = [*refused, *altered, *levelled]
    response = IncrementalAlterConfigsResponse(throttle_time_ms=0, responses=_responses(item, answers, env))
    return _result(state, env, request, response, records, wanted, effects)


def alter_configs(state: State, context: RequestContext, request: AlterConfigsRequest, env: Env) -> Result:
    """AlterConfigs: the configuration of each resource is replaced, or the resource refused; one batch."""
    wanted, refused = split_resources(state, context, request, env)

    def changes(kind: ResourceType, resource: Any) -> Records:
        values = {config.name: config.value for config in resource.configs}
        named, left_out = replacement(state, kind, resource.resource_name, values)
        check_changes(state, env, kind, resource.resource_name, named, implied=left_out, forwarded=context.forwarded)
        return [*named, *left_out]

    item = AlterConfigsResponse.AlterConfigsResourceResponse
    records, altered = _alter(state, env, wanted, changes)
    response = AlterConfigsResponse(throttle_time_ms=0, responses=_responses(item, [*refused, *altered], env))
    return _result(state, env, request, response, records, wanted, ())


def split_resources(
    state: State, context: RequestContext, request: Any, env: Env
) -> tuple[list[tuple[ResourceType, Any]], list[tuple[Any, ApiError]]]:
    """Split the resources into those for the active controller, and those that are refused without it, because the
    request alone shows that they are wrong, or its sender may not alter them.
    """
    is_incremental = isinstance(request, IncrementalAlterConfigsRequest)
    counts: dict[tuple[int, str], int] = {}
    for resource in env.slices.spread(request.resources):
        key = resource.resource_type, resource.resource_name
        counts[key] = counts.get(key, 0) + 1
    named: dict[AclResourceType, set[str]] = {type_: set() for type_, _ in _NEEDS.values()}
    for number, name in env.slices.spread(counts):
        if number in _NEEDS:
            type_, _ = _NEEDS[ResourceType(number)]
            named[type_].add(CLUSTER_NAME if type_ is AclResourceType.CLUSTER else name)
    may_alter = {
        type_: permission_on(state, context, env, AclOperation.ALTER_CONFIGS, type_, names)
        for type_, names in named.items()
    }
    wanted: list[tuple[ResourceType, Any]] = []
    refused: list[tuple[Any, ApiError]] = []
    unexpected: list[tuple[Any, ApiError]] = []
    for resource in env.slices.spread(request.resources):
        kind = resource_type(resource.resource_type)
        key = resource.resource_type, resource.resource_name
        if kind is ResourceType.BROKER_LOGGER and is_incremental:
            continue
        if kind is ResourceType.UNKNOWN:
            text = f"Unknown resource type {resource.resource_type}."
            refused.append((resource, ApiError(Error.UNSUPPORTED_VERSION, text)))
        elif counts[key] > 1:
            # Answered once, however often it is named.
            counts[key] = 0
            refused.append((resource, ApiError(Error.INVALID_REQUEST, "Duplicate resource.")))
        elif counts[key] == 1 and kind not in _ALTERED:
            text = f"Unexpected resource type {kind.name}."
            unexpected.append((resource, ApiError(Error.INVALID_REQUEST, text)))
        elif counts[key] == 1:
            type_, denied = _NEEDS[kind]
            name = CLUSTER_NAME if type_ is AclResourceType.CLUSTER else resource.resource_name
            if may_alter[type_](name):
                wanted.append((kind, resource))
            else:
                unexpected.append((resource, ApiError(denied)))
    return wanted, refused + unexpected


def _alter(
    state: State, env: Env, wanted: Sequence[tuple[ResourceType, Any]], changes: Callable[[ResourceType, Any], Records]
) -> tuple[Records, list[tuple[Any, ApiError | None]]]:
    records: Records = []
    answers: list[tuple[Any, ApiError | None]] = []
    # Checked before the work is done: each changed resource needs at least one record.
    check_record_count(len(wanted))
    if wanted:
        env.slices.hold(lambda: _read(state, env, wanted))
    for kind, resource in wanted:
        env.slices.pause()
        try:
            records += changes(kind, resource)
            answers.append((resource, None))
        except ApiError as error:
            answers.append((resource, error))
        check_record_count(len(records))
    return [*records, *clear_elr_records(state, records)], answers


def _read(state: State, env: Env, wanted: Sequence[tuple[ResourceType, Any]]) -> Reads:
    """What the changes of these resources depend on: their configs, and whether they exist."""
    resources = {(kind, resource.resource_name) for kind, resource in wanted}
    reads: Reads = {
        state.configs.log: resources,
        state.topic_ids.log: {name for kind, name in resources if kind is ResourceType.TOPIC},
    }
    if any(kind is ResourceType.BROKER for kind, _ in env.slices.spread(wanted)):
        reads[state.brokers.log] = reads[state.controllers.log] = EVERYTHING
    return reads


def _set_log_levels(
    state: State, context: RequestContext, request: Any, env: Env
) -> tuple[list[Effect], list[tuple[Any, ApiError | None]]]:
    effects: list[Effect] = []
    answers: list[tuple[Any, ApiError | None]] = []
    for resource in env.slices.spread(request.resources):
        if resource_type(resource.resource_type) is not ResourceType.BROKER_LOGGER:
            continue
        env.slices.pause()
        try:
            if not allows(state, context, env, AclOperation.CLUSTER_ACTION, AclResourceType.CLUSTER, CLUSTER_NAME):
                raise ApiError(Error.CLUSTER_AUTHORIZATION_FAILED)
            changes = level_changes(env, resource)
            effects += () if request.validate_only else changes
            answers.append((resource, None))
        except ApiError as error:
            answers.append((resource, error))
    return effects, answers


def _responses(item: Any, answers: Sequence[tuple[Any, ApiError | None]], env: Env) -> tuple[Any, ...]:
    responses = []
    for resource, error in env.slices.spread(answers):
        responses.append(
            item(
                error_code=Error.NONE if error is None else error.code,
                error_message=None if error is None else _text(resource, error),
                resource_type=resource.resource_type,
                resource_name=resource.resource_name,
            )
        )
    return tuple(responses)


def _text(resource: Any, error: ApiError) -> str | None:
    if error.code in _TEXT_OF_CODE or resource_type(resource.resource_type) is ResourceType.BROKER_LOGGER:
        return raised_text(error) or error_text(error.code)
    return raised_text(error)


def _result(
    state: State,
    env: Env,
    request: Any,
    response: Any,
    records: Records,
    wanted: Sequence[tuple[ResourceType, Any]],
    effects: Sequence[Effect],
) -> Result:
    check_record_count(len(records))
    written = [] if request.validate_only else records
    return Result(response, written, _rests_on(state, env, wanted), confirm=bool(wanted), effects=effects)


def _rests_on(state: State, env: Env, wanted: Sequence[tuple[ResourceType, Any]]) -> int:
    """The offset of the last change that refusals, and an answer without changes, depend on."""
    changes = [NOTHING_PENDING]
    for kind, resource in env.slices.spread(wanted):
        changes.append(state.configs.change_offset((kind, resource.resource_name)))
        changes.append(state.features.last_change())
        if kind is ResourceType.TOPIC:
            changes.append(state.topic_ids.change_offset(resource.resource_name))
        elif kind is ResourceType.BROKER:
            changes += (state.brokers.last_change(), state.controllers.last_change())
    return max(changes)
