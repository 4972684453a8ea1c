"""What a request asked for, resource by resource, with the outcome of each, for the audit log.

A table: API key -> function of request and response. No function copies a secret: of configs there are the keys and
never the values, of SCRAM credentials the user and the mechanism, of delegation tokens the id, and of no response its
message, since messages quote values.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from controller.state.tables.acl import AclOperation, AclResourceType, PatternType, Permission
from records.uuids import ZERO_UUID, uuid_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    # The fields of a resource, and its error code: 0 for none, also where only the whole request has a code.
    Resource = tuple[dict[str, Any], int]

_CONFIG_TYPES = {2: "topic", 4: "broker", 8: "broker-logger", 16: "client-metrics", 32: "group"}
_CONFIG_OPERATIONS = {0: "set", 1: "delete", 2: "append", 3: "subtract"}
_MECHANISMS = {1: "SCRAM-SHA-256", 2: "SCRAM-SHA-512"}


def resources_of(api_key: int, request: Any, response: Any) -> Iterator[Resource]:
    """The resources that a request names, in the order of the response where that has them, else of the request.

    response: None where there is none.
    """
    function = _RESOURCES.get(api_key)
    return iter(()) if function is None else function(request, response)


def _results(response: Any, name: str) -> Any:
    return getattr(response, name, None) or ()


def _created_topics(request: Any, response: Any) -> Iterator[Resource]:
    asked = {topic.name: topic for topic in request.topics}
    for result in _results(response, "topics"):
        fields: dict[str, Any] = {"type": "topic", "name": result.name}
        if result.topic_id != ZERO_UUID:
            fields["id"] = uuid_text(result.topic_id)
        topic = asked.get(result.name)
        if topic is not None:
            fields["partitions"] = len(topic.assignments) or topic.num_partitions
            if topic.configs:
                fields["configs"] = [each.name for each in topic.configs]
        yield fields, result.error_code


def _deleted_topics(_request: Any, response: Any) -> Iterator[Resource]:
    for result in _results(response, "responses"):
        fields: dict[str, Any] = {"type": "topic", "name": result.name}
        if result.topic_id != ZERO_UUID:
            fields["id"] = uuid_text(result.topic_id)
        yield fields, result.error_code


def _created_partitions(request: Any, response: Any) -> Iterator[Resource]:
    asked = {topic.name: topic for topic in request.topics}
    for result in _results(response, "results"):
        fields: dict[str, Any] = {"type": "topic", "name": result.name}
        if result.name in asked:
            fields["partitions"] = asked[result.name].count
        yield fields, result.error_code


def _elected_leaders(request: Any, response: Any) -> Iterator[Resource]:
    how = {0: "preferred", 1: "unclean"}.get(request.election_type, str(request.election_type))
    for topic in _results(response, "replica_election_results"):
        for result in topic.partition_result:
            name = f"{topic.topic}-{result.partition_id}"
            yield {"type": "partition", "name": name, "election": how}, result.error_code


def _altered_reassignments(request: Any, response: Any) -> Iterator[Resource]:
    targets = {
        (topic.name, each.partition_index): each.replicas for topic in request.topics for each in topic.partitions
    }
    for topic in _results(response, "responses"):
        for result in topic.partitions:
            replicas = targets.get((topic.name, result.partition_index))
            fields = {
                "type": "partition", "name": f"{topic.name}-{result.partition_index}",
                "replicas": None if replicas is None else list(replicas),
            }  # fmt: skip
            yield fields, result.error_code


def _listed_reassignments(request: Any, _response: Any) -> Iterator[Resource]:
    for topic in request.topics or ():
        yield {"type": "topic", "name": topic.name}, 0


def _altered_configs(request: Any, response: Any) -> Iterator[Resource]:
    asked = {(each.resource_type, each.resource_name): each.configs for each in request.resources}
    for result in _results(response, "responses"):
        kind, name = result.resource_type, result.resource_name
        configs = [
            f"{_CONFIG_OPERATIONS.get(getattr(each, 'config_operation', 0), 'unknown')} {each.name}"
            for each in asked.get((kind, name), ())
        ]
        fields = {"type": f"{_CONFIG_TYPES.get(kind, kind)}-config", "name": name or "default", "configs": configs}
        yield fields, result.error_code


def _described_configs(_request: Any, response: Any) -> Iterator[Resource]:
    for result in _results(response, "results"):
        kind = _CONFIG_TYPES.get(result.resource_type, result.resource_type)
        yield {"type": f"{kind}-config", "name": result.resource_name or "default"}, result.error_code


def _name_of_code(codes: Any, code: int) -> str:
    return str(codes(code).name) if code in codes.__members__.values() else str(code)


def _acl(acl: Any, pattern_type: int) -> dict[str, Any]:
    return {
        "type": "acl",
        "name": acl.resource_name,
        "resource_type": _name_of_code(AclResourceType, acl.resource_type),
        "pattern_type": _name_of_code(PatternType, pattern_type),
        "principal": acl.principal,
        "host": acl.host,
        "operation": _name_of_code(AclOperation, acl.operation),
        "permission": _name_of_code(Permission, acl.permission_type),
    }


def _acl_filter(asked: Any) -> dict[str, Any]:
    return {
        "type": "acl-filter",
        "name": asked.resource_name_filter,
        "resource_type": _name_of_code(AclResourceType, asked.resource_type_filter),
        "pattern_type": _name_of_code(PatternType, asked.pattern_type_filter),
        "principal": asked.principal_filter,
        "host": asked.host_filter,
        "operation": _name_of_code(AclOperation, asked.operation),
        "permission": _name_of_code(Permission, asked.permission_type),
    }


def _created_acls(request: Any, response: Any) -> Iterator[Resource]:
    for asked, result in zip_longest(request.creations, _results(response, "results")):
        if asked is not None:
            yield _acl(asked, asked.resource_pattern_type), 0 if result is None else result.error_code


def _deleted_acls(request: Any, response: Any) -> Iterator[Resource]:
    """Each filter, and behind it the ACLs that it matched."""
    for asked, result in zip_longest(request.filters, _results(response, "filter_results")):
        if asked is not None:
            yield _acl_filter(asked), 0 if result is None else result.error_code
        for matching in () if result is None else result.matching_acls:
            yield _acl(matching, matching.pattern_type), matching.error_code


def _described_acls(request: Any, _response: Any) -> Iterator[Resource]:
    yield _acl_filter(request), 0


def _altered_quotas(request: Any, response: Any) -> Iterator[Resource]:
    for asked, result in zip_longest(request.entries, _results(response, "entries")):
        if asked is None:
            continue
        parts = (f"{part.entity_type}={part.entity_name or 'default'}" for part in asked.entity)
        keys = [f"{'remove' if each.remove else 'set'} {each.key}" for each in asked.ops]
        yield {"type": "quota", "name": ",".join(parts), "keys": keys}, 0 if result is None else result.error_code


def _altered_credentials(request: Any, response: Any) -> Iterator[Resource]:
    codes = {result.user: result.error_code for result in _results(response, "results")}
    for operation, entries in (("delete", request.deletions), ("set", request.upsertions)):
        for each in entries:
            mechanism = _MECHANISMS.get(each.mechanism, str(each.mechanism))
            fields = {"type": "scram", "name": each.name, "mechanism": mechanism, "operation": operation}
            yield fields, codes.get(each.name, 0)


def _created_token(request: Any, response: Any) -> Iterator[Resource]:
    fields: dict[str, Any] = {"type": "token", "name": getattr(response, "token_id", None) or None}
    if request.owner_principal_name:
        fields["owner"] = f"{request.owner_principal_type}:{request.owner_principal_name}"
    fields["renewers"] = [f"{each.principal_type}:{each.principal_name}" for each in request.renewers]
    yield fields, 0


def _changed_token(_request: Any, _response: Any) -> Iterator[Resource]:
    """A request to renew or expire a token has its HMAC, and not its id."""
    yield {"type": "token", "name": None}, 0


def _updated_features(request: Any, response: Any) -> Iterator[Resource]:
    codes = {result.feature: result.error_code for result in _results(response, "results")}
    for each in request.feature_updates:
        yield {"type": "feature", "name": each.feature, "level": each.max_version_level}, codes.get(each.feature, 0)


def _broker(request: Any, _response: Any) -> Iterator[Resource]:
    yield {"type": "broker", "name": str(request.broker_id)}, 0


def _altered_partitions(request: Any, response: Any) -> Iterator[Resource]:
    yield from _broker(request, response)
    for topic in _results(response, "topics"):
        for each in topic.partitions:
            fields = {"type": "partition", "topic_id": uuid_text(topic.topic_id), "partition": each.partition_index}
            yield fields, each.error_code


def _assigned_replicas(request: Any, response: Any) -> Iterator[Resource]:
    yield from _broker(request, response)
    for directory in _results(response, "directories"):
        for topic in directory.topics:
            for each in topic.partitions:
                fields = {"type": "partition", "topic_id": uuid_text(topic.topic_id), "partition": each.partition_index}
                yield fields, each.error_code


def _controller(request: Any, _response: Any) -> Iterator[Resource]:
    yield {"type": "controller", "name": str(request.controller_id)}, 0


def _voter(request: Any, _response: Any) -> Iterator[Resource]:
    fields: dict[str, Any] = {
        "type": "voter",
        "name": str(request.voter_id),
        "directory_id": uuid_text(request.voter_directory_id),
    }
    if listeners := getattr(request, "listeners", None):
        fields["listeners"] = [f"{each.name}://{each.host}:{each.port}" for each in listeners]
    yield fields, 0


_RESOURCES: dict[int, Callable[[Any, Any], Iterator[Resource]]] = {
    19: _created_topics,
    20: _deleted_topics,
    29: _described_acls,
    30: _created_acls,
    31: _deleted_acls,
    32: _described_configs,
    33: _altered_configs,
    37: _created_partitions,
    38: _created_token,
    39: _changed_token,  # RenewDelegationToken
    40: _changed_token,  # ExpireDelegationToken
    43: _elected_leaders,
    44: _altered_configs,
    45: _altered_reassignments,
    46: _listed_reassignments,
    49: _altered_quotas,
    51: _altered_credentials,
    56: _altered_partitions,
    57: _updated_features,
    62: _broker,  # BrokerRegistration
    63: _broker,  # BrokerHeartbeat
    64: _broker,  # UnregisterBroker
    67: _broker,  # AllocateProducerIds
    70: _controller,  # ControllerRegistration
    73: _assigned_replicas,
    80: _voter,  # AddRaftVoter
    81: _voter,  # RemoveRaftVoter
    82: _voter,  # UpdateRaftVoter
    94: _controller,  # UnregisterController
}
