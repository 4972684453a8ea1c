"""The response of each API to a request that failed as a whole (`getErrorResponse` in Kafka): one form for each shape.

A message beside the code is that of Kafka's `ApiError.fromThrowable`: null where it equals the text of the code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.interface.results import raised_text
from records.errors import ApiError, Error, error_text
from records.registry import response_class
from records.schema import default_of, replace, schema_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from controller.interface.inputs import RequestContext

    Spread = Callable[[Iterable[Any]], Iterable[Any]]
    Refuse = Callable[[Any, Any, ApiError, Spread], Any]

FETCH, CREATE_DELEGATION_TOKEN, ELECT_LEADERS = 1, 38, 43
# The first version of Fetch whose error responses name no partitions, and of CreateDelegationToken with the requester.
FETCH_WITHOUT_PARTITIONS, TOKEN_WITH_REQUESTER = 13, 3


def error_response(request: Any, error: ApiError, version: int, spread: Spread = lambda entries: entries) -> Any:
    """The response to a request, decoded at `version`, that failed as a whole. spread: `Slices.spread` of the node."""
    api_key = schema_of(type(request)).api_key
    assert api_key is not None
    response = _FORMS.get(api_key, _code_and_text)(request, response_class(api_key), error, spread)
    # An ElectLeaders of version 0 has no code for the whole; its partitions say it.
    if api_key == ELECT_LEADERS and version == 0:
        return replace(response, error_code=Error.NONE)
    if api_key == FETCH and version >= FETCH_WITHOUT_PARTITIONS:
        return replace(response, responses=())
    if api_key == CREATE_DELEGATION_TOKEN and version < TOKEN_WITH_REQUESTER:
        return replace(response, token_requester_principal_type="", token_requester_principal_name="")
    return response


def alternatives(response: Any, context: RequestContext | None) -> Iterator[Any]:
    """The response, and the one to send in its place if it cannot be encoded: a text has more than 32,767 bytes.

    context: of the request; None where the response has no alternative.
    """
    yield response
    if context is not None:
        yield unencodable_answer(context)


def unencodable_answer(context: RequestContext) -> Any:
    """The response that is sent where a handler's own cannot be encoded."""
    return error_response(context.request, ApiError(Error.UNKNOWN_SERVER_ERROR), context.version)


def not_controller(leader_id: int) -> ApiError:
    """What a standby answers where only the active controller can serve. leader_id: of that one, -1 where unknown."""
    is_known = leader_id >= 0
    text = (
        f"The active controller appears to be node {leader_id}." if is_known else "No controller appears to be active."
    )
    return ApiError(Error.NOT_CONTROLLER, text)


def _code(_: Any, response: Any, error: ApiError, _spread: Spread) -> Any:
    return replace(default_of(response), error_code=error.code)


def _code_and_text(_: Any, response: Any, error: ApiError, _spread: Spread) -> Any:
    return replace(default_of(response), error_code=error.code, error_message=raised_text(error))


def _code_and_whole_text(_: Any, response: Any, error: ApiError, _spread: Spread) -> Any:
    return replace(default_of(response), error_code=error.code, error_message=error.text)


def _code_and_stock_text(_: Any, response: Any, error: ApiError, _spread: Spread) -> Any:
    return replace(default_of(response), error_code=error.code, error_message=error_text(error.code))


def _created_topics(request: Any, response: Any, error: ApiError, spread: Spread) -> Any:
    item = response.CreatableTopicResult
    text = raised_text(error)
    return replace(
        default_of(response),
        topics=tuple(
            item(name=topic.name, error_code=error.code, error_message=text) for topic in spread(request.topics)
        ),
    )


def _deleted_topics(request: Any, response: Any, error: ApiError, spread: Spread) -> Any:
    # Kafka gives no message here, in no version.
    item = response.DeletableTopicResult
    named = tuple(item(name=name, error_code=error.code) for name in spread(request.topic_names))
    listed = tuple(item(name=t.name, topic_id=t.topic_id, error_code=error.code) for t in spread(request.topics))
    return replace(default_of(response), responses=named + listed)


def _created_partitions(request: Any, response: Any, error: ApiError, spread: Spread) -> Any:
    item = response.CreatePartitionsTopicResult
    text = raised_text(error)
    results = tuple(
        item(name=topic.name, error_code=error.code, error_message=text) for topic in spread(request.topics)
    )
    return replace(default_of(response), results=results)


def _elected_leaders(request: Any, response: Any, error: ApiError, spread: Spread) -> Any:
    topic_item = response.ReplicaElectionResult
    text = raised_text(error)
    results = tuple(
        topic_item(
            topic=topic.topic,
            partition_result=tuple(
                topic_item.PartitionResult(partition_id=id_, error_code=error.code, error_message=text)
                for id_ in spread(topic.partitions)
            ),
        )
        for topic in spread(request.topic_partitions or ())
    )
    return replace(default_of(response), error_code=error.code, replica_election_results=results)


def _altered_reassignments(request: Any, response: Any, error: ApiError, spread: Spread) -> Any:
    topic_item = response.ReassignableTopicResponse
    text = raised_text(error)
    responses = tuple(
        topic_item(
            name=topic.name,
            partitions=tuple(
                topic_item.ReassignablePartitionResponse(
                    partition_index=partition.partition_index, error_code=error.code, error_message=text
                )
                for partition in spread(topic.partitions)
            ),
        )
        for topic in spread(request.topics)
    )
    return replace(default_of(response), error_code=error.code, error_message=text, responses=responses)


def _listed_reassignments(request: Any, response: Any, error: ApiError, spread: Spread) -> Any:
    topic_item = response.OngoingTopicReassignment
    partition_item = topic_item.OngoingPartitionReassignment
    topics = tuple(
        topic_item(
            name=topic.name,
            partitions=tuple(
                partition_item(partition_index=index, replicas=(), adding_replicas=(), removing_replicas=())
                for index in spread(topic.partition_indexes)
            ),
        )
        for topic in spread(request.topics or ())
    )
    return replace(default_of(response), error_code=error.code, error_message=raised_text(error), topics=topics)


def _altered_configs(request: Any, response: Any, error: ApiError, spread: Spread) -> Any:
    item = response.AlterConfigsResourceResponse
    text = raised_text(error)
    responses = tuple(
        item(
            error_code=error.code,
            error_message=text,
            resource_type=resource.resource_type,
            resource_name=resource.resource_name,
        )
        for resource in spread(request.resources)
    )
    return replace(default_of(response), responses=responses)


def _described_configs(request: Any, response: Any, error: ApiError, spread: Spread) -> Any:
    item = response.DescribeConfigsResult
    text = error_text(error.code)
    results = tuple(
        item(
            error_code=error.code,
            error_message=text,
            resource_type=resource.resource_type,
            resource_name=resource.resource_name,
            configs=(),
        )
        for resource in spread(request.resources)
    )
    return replace(default_of(response), results=results)


def _fetch_refusal(request: Any, response: Any, error: ApiError, spread: Spread) -> Any:
    topic_item = response.FetchableTopicResponse
    topics = tuple(
        topic_item(
            topic=topic.topic,
            topic_id=topic.topic_id,
            partitions=tuple(
                replace(
                    default_of(topic_item.PartitionData),
                    partition_index=partition.partition,
                    error_code=error.code,
                    high_watermark=-1,
                    records=b"",
                )
                for partition in spread(topic.partitions)
            ),
        )
        for topic in spread(request.topics)
    )
    return replace(default_of(response), error_code=error.code, session_id=request.session_id, responses=topics)


def _created_acls(request: Any, response: Any, error: ApiError, _spread: Spread) -> Any:
    result = response.AclCreationResult(error_code=error.code, error_message=raised_text(error))
    return replace(default_of(response), results=(result,) * len(request.creations))


def _deleted_acls(request: Any, response: Any, error: ApiError, _spread: Spread) -> Any:
    item = response.DeleteAclsFilterResult
    result = item(error_code=error.code, error_message=raised_text(error), matching_acls=())
    return replace(default_of(response), filter_results=(result,) * len(request.filters))


def _created_token(_: Any, response: Any, error: ApiError, _spread: Spread) -> Any:
    return replace(
        default_of(response),
        error_code=error.code,
        principal_type="User",
        principal_name="ANONYMOUS",
        token_requester_principal_type="User",  # noqa: S106 no password
        token_requester_principal_name="ANONYMOUS",  # noqa: S106 no password
        issue_timestamp_ms=-1,
        expiry_timestamp_ms=-1,
        max_timestamp_ms=-1,
    )


def _altered_quotas(request: Any, response: Any, error: ApiError, spread: Spread) -> Any:
    item = response.EntryData
    entries = tuple(
        item(
            error_code=error.code,
            error_message=error_text(error.code),
            entity=tuple(
                item.EntityData(entity_type=part.entity_type, entity_name=part.entity_name) for part in entry.entity
            ),
        )
        for entry in spread(request.entries)
    )
    return replace(default_of(response), entries=entries)


def _described_credentials(request: Any, response: Any, error: ApiError, _spread: Spread) -> Any:
    item = response.DescribeUserScramCredentialsResult
    text = raised_text(error)
    result = item(user="", error_code=error.code, error_message=text, credential_infos=())
    results = (result,) * len(request.users or ())
    return replace(default_of(response), error_code=error.code, error_message=text, results=results)


def _altered_credentials(request: Any, response: Any, error: ApiError, spread: Spread) -> Any:
    item = response.AlterUserScramCredentialsResult
    text = raised_text(error)
    users = sorted({entry.name for entry in (*request.deletions, *request.upsertions)})
    results = tuple(item(user=user, error_code=error.code, error_message=text) for user in spread(users))
    return replace(default_of(response), results=results)


_FORMS: dict[int, Refuse] = {
    1: _fetch_refusal,
    17: _code,  # SaslHandshake
    18: _code,  # ApiVersions
    19: _created_topics,
    20: _deleted_topics,
    29: _code_and_text,  # DescribeAcls
    30: _created_acls,
    31: _deleted_acls,
    32: _described_configs,
    33: _altered_configs,
    37: _created_partitions,
    38: _created_token,
    39: _code,  # RenewDelegationToken
    40: _code,  # ExpireDelegationToken
    41: _code,  # DescribeDelegationToken
    43: _elected_leaders,
    44: _altered_configs,
    45: _altered_reassignments,
    46: _listed_reassignments,
    49: _altered_quotas,
    50: _described_credentials,
    51: _altered_credentials,
    52: _code,  # Vote
    53: _code,  # BeginQuorumEpoch
    54: _code,  # EndQuorumEpoch
    55: _code_and_stock_text,  # DescribeQuorum
    56: _code,  # AlterPartition
    57: _code_and_text,  # UpdateFeatures
    58: _code,  # Envelope
    59: _code,  # FetchSnapshot
    60: _code_and_text,  # DescribeCluster
    62: _code,  # BrokerRegistration
    63: _code,  # BrokerHeartbeat
    64: _code_and_whole_text,  # UnregisterBroker
    67: _code,  # AllocateProducerIds
    70: _code_and_stock_text,  # ControllerRegistration
    73: _code,  # AssignReplicasToDirs
    80: _code_and_stock_text,  # AddRaftVoter
    81: _code_and_stock_text,  # RemoveRaftVoter
    82: _code,  # UpdateRaftVoter
    94: _code_and_whole_text,  # UnregisterController
}
