"""DeleteTopics (KIP-4, KIP-516, KIP-525)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.interface.results import Result, at_once, check_record_count
from controller.interface.slices import EVERYTHING
from controller.rules.mutation_quotas import charge, quotas_change
from controller.rules.permissions import allows, permission_on
from controller.state.partitions.reads import partitions_of
from controller.state.tables.acl import CLUSTER_NAME, AclOperation, AclResourceType
from records.errors import ApiError, Error, error_text
from records.java.java_order import uuid_order
from records.messages.topics import DeleteTopicsResponse
from records.metadata.topics import RemoveTopicRecord
from records.uuids import ZERO_UUID

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from controller.interface.env import Env
    from controller.interface.inputs import RequestContext
    from controller.state.state import State
    from records.messages.topics import DeleteTopicsRequest

TopicResult = DeleteTopicsResponse.DeletableTopicResult

# From this version on there is an error code for clusters that do not allow the deletion of topics.
DISABLED_VERSION = 3


def check_allowed(context: RequestContext, env: Env) -> None:
    """Raises ApiError where the configuration forbids the deletion of topics: INVALID_REQUEST before version 3."""
    if env.settings.delete_topic_enable:
        return
    if context.version < DISABLED_VERSION:
        raise ApiError(Error.INVALID_REQUEST, "This version does not support topic deletion.")
    raise ApiError(Error.TOPIC_DELETION_DISABLED)


def idle(state: State, context: RequestContext, request: DeleteTopicsRequest, env: Env) -> DeleteTopicsResponse | None:
    """The response if the request names no valid topic; None for other requests."""
    Rights(state, context, env)  # raises where the authorizer fails, as in stock
    names, ids, _, refused = split_request(request, env)
    return None if names or ids else DeleteTopicsResponse(throttle_time_ms=0, responses=tuple(refused))


def split_request(
    request: DeleteTopicsRequest, env: Env
) -> tuple[list[str], list[bytes], set[bytes], list[TopicResult]]:
    """The names and the ids that are given once, the ids given more often, and the results for invalid entries."""
    names: dict[str, int] = {}
    ids: dict[bytes, int] = {}
    refused = []
    for name in env.slices.spread(request.topic_names):
        names[name] = names.get(name, 0) + 1
    for topic in env.slices.spread(request.topics):
        if topic.name is None and topic.topic_id == ZERO_UUID:
            refused.append(invalid(None, ZERO_UUID, "Neither topic name nor id were specified."))
        elif topic.name is not None and topic.topic_id != ZERO_UUID:
            text = "You may not specify both topic name and topic id."
            refused.append(invalid(topic.name, topic.topic_id, text))
        elif topic.name is not None:
            names[topic.name] = names.get(topic.name, 0) + 1
        else:
            ids[topic.topic_id] = ids.get(topic.topic_id, 0) + 1
    for name, count in env.slices.spread(names.items()):
        if count > 1:
            refused.append(invalid(name, ZERO_UUID, "Duplicate topic name."))
    for id_, count in env.slices.spread(ids.items()):
        if count > 1:
            refused.append(invalid(None, id_, "Duplicate topic id."))
    repeated = {id_ for id_, count in ids.items() if count > 1}
    return [n for n, count in names.items() if count == 1], [i for i in ids if i not in repeated], repeated, refused


def invalid(name: str | None, topic_id: bytes, text: str) -> TopicResult:
    return TopicResult(name=name, topic_id=topic_id, error_code=Error.INVALID_REQUEST, error_message=text)


def unknown(name: str | None, topic_id: bytes, error: Error) -> TopicResult:
    return TopicResult(name=name, topic_id=topic_id, error_code=error, error_message=error_text(error))


class Rights:
    """What the sender of one request may do to topics. With DELETE on the cluster it may delete every topic.

    describes: whether it may describe a topic of a name, where it may not delete every one.
    """

    def __init__(self, state: State, context: RequestContext, env: Env) -> None:
        self._asked = state, context, env
        self.describes: Callable[[str], bool] = lambda name: allows(
            *self._asked, AclOperation.DESCRIBE, AclResourceType.TOPIC, name
        )
        cluster = AclResourceType.CLUSTER
        self._all = allows(state, context, env, AclOperation.DELETE, cluster, CLUSTER_NAME, log_denied=False)

    def may_describe(self, name: str) -> bool:
        return self._all or self.describes(name)

    def look_at(self, names: Collection[str]) -> None:
        """Prepare the decisions on these names."""
        if not self._all:
            self.describes = permission_on(*self._asked, AclOperation.DESCRIBE, AclResourceType.TOPIC, names)

    def may_delete(self, name: str) -> bool:
        return self._all or allows(*self._asked, AclOperation.DELETE, AclResourceType.TOPIC, name)


def delete_topics(state: State, context: RequestContext, request: DeleteTopicsRequest, env: Env) -> Result:
    """DeleteTopics: by name or by id; all deletions are one batch."""
    # First, as in stock: where the authorizer fails, so does the whole request.
    rights = Rights(state, context, env)
    names, ids, repeated, results = split_request(request, env)
    if not names and not ids:
        return at_once(DeleteTopicsResponse(throttle_time_ms=0, responses=tuple(results)))
    rights.look_at(names)
    visible = []
    for name in env.slices.spread(names):
        if rights.may_describe(name):
            visible.append(name)
        else:
            # The response does not show whether there is such a topic.
            results.append(unknown(name, ZERO_UUID, Error.TOPIC_AUTHORIZATION_FAILED))
    if not visible and not ids:
        return at_once(DeleteTopicsResponse(throttle_time_ms=0, responses=shuffle(results, env)))
    env.slices.hold(lambda: {
        state.topic_ids.log: set(visible),
        state.topics.log: set(ids),
        state.quotas.log: EVERYTHING,
        **partitions_of(state, {*visible, *ids}),
    })  # fmt: skip
    changes = [state.topic_ids.change_offset(name) for name in env.slices.spread(visible)]
    by_id: dict[bytes, str] = {}
    for topic_id in ids:
        env.slices.pause()
        changes.append(state.topics.change_offset(topic_id))
        if topic_id not in state.topics:
            results.append(unknown(None, topic_id, Error.UNKNOWN_TOPIC_ID))
            continue
        name = state.topics[topic_id].name
        if rights.may_delete(name):
            by_id[topic_id] = name
        else:
            # Only senders that may describe the topic get its name.
            shown = name if rights.may_describe(name) else None
            results.append(unknown(shown, topic_id, Error.TOPIC_AUTHORIZATION_FAILED))
    for name in visible:
        env.slices.pause()
        topic_id = state.topic_ids.get(name, ZERO_UUID)
        if topic_id == ZERO_UUID:
            results.append(unknown(name, ZERO_UUID, Error.UNKNOWN_TOPIC_OR_PARTITION))
        elif not rights.may_delete(name):
            results.append(unknown(name, ZERO_UUID, Error.TOPIC_AUTHORIZATION_FAILED))
        elif topic_id in by_id or topic_id in repeated:
            # An id that the request has twice, once as an id and once by its name, or twice as an id: nothing goes.
            by_id.pop(topic_id, None)
            repeated.add(topic_id)
            text = "The provided topic name maps to an ID that was already supplied."
            results.append(invalid(name, topic_id, text))
        else:
            by_id[topic_id] = name
    records: list[tuple[Any, int]] = []
    for topic_id in uuid_order(by_id):
        env.slices.pause()
        try:
            charge(state, context, env, state.topics[topic_id].partition_count())
        except ApiError as error:
            results.append(TopicResult(name=by_id[topic_id], topic_id=topic_id, error_code=error.code))
            continue
        records.append((RemoveTopicRecord(topic_id=topic_id), 0))
        results.append(TopicResult(name=by_id[topic_id], topic_id=topic_id, error_code=Error.NONE))
        check_record_count(len(records))
    changes.append(quotas_change(state, context))
    response = DeleteTopicsResponse(throttle_time_ms=0, responses=shuffle(results, env))
    return Result(response, records, max(changes))


def shuffle(results: list[TopicResult], env: Env) -> tuple[TopicResult, ...]:
    """The results; with an authorizer in random order, which does not show whether a topic is absent or hidden."""
    if env.access is not None:
        for last in env.slices.spread(range(len(results) - 1, 0, -1)):
            other = int(env.random.random() * (last + 1))
            results[last], results[other] = results[other], results[last]
    return tuple(results)
