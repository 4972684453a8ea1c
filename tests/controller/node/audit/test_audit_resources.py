"""What the audit log has of a request: names and outcomes, and never a secret."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import Any

from controller.core.apis import APIS, Kind
from controller.interface.refusals import error_response
from controller.node.audit.audit_resources import _RESOURCES, resources_of
from records.errors import ApiError, Error
from records.messages.acls import CreateAclsRequest, CreateAclsResponse
from records.messages.configs import IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse
from records.messages.elections import VoteRequest
from records.messages.reassignments import AlterPartitionReassignmentsRequest
from records.messages.scram import AlterUserScramCredentialsRequest
from records.messages.topics import DeleteTopicsRequest, DeleteTopicsResponse
from records.registry import response_class
from records.schema import default_of, is_struct, schema_of
from records.uuids import uuid_text


def filled(cls: type) -> Any:
    """A message with one element in each array, and in each text and blob the name of its field."""
    values: dict[str, Any] = {}
    for field in schema_of(cls).fields:
        if is_struct(field.element):
            element: Any = filled(field.element)
        elif field.element.name in {"string", "bytes"}:
            marker = f"<{field.name}>"
            element = marker if field.element.name == "string" else marker.encode()
        elif field.element.name == "uuid":
            element = field.name.encode().ljust(16)[:16]
        else:
            element = {"boolean": True}.get(field.element.name, 0)
        values[field.name] = (element,) if field.is_array else element
    return cls(**values)


# By API: the texts and blobs of its messages that the log has. New fields of Kafka are left out until they stand here.
SHOWN = {
    19: {"name"},
    20: {"name"},
    29: {"resource_name_filter", "principal_filter", "host_filter"},
    30: {"resource_name", "principal", "host"},
    31: {"resource_name_filter", "principal_filter", "host_filter", "resource_name", "principal", "host"},
    32: {"resource_name"},
    33: {"resource_name", "name"},
    37: {"name"},
    38: {"token_id", "owner_principal_type", "owner_principal_name", "principal_type", "principal_name"},
    39: set(),
    40: set(),
    43: {"topic"},
    44: {"resource_name", "name"},
    45: {"name"},
    46: {"name"},
    49: {"entity_type", "entity_name", "key"},
    51: {"name"},
    56: set(),
    57: {"feature"},
    62: set(),
    63: set(),
    64: set(),
    67: set(),
    70: set(),
    73: set(),
    80: {"name", "host"},
    81: set(),
    82: {"name", "host"},
    94: set(),
}  # fmt: skip


def test_of_all_texts_of_a_request_and_its_response_only_names_are_in_the_log() -> None:
    shown = {}
    for api_key in _RESOURCES:
        request = filled(APIS[api_key].request)
        response = filled(response_class(api_key))
        text = json.dumps([fields for fields, _ in resources_of(api_key, request, response)])
        names = {name for message in (request, response) for name in texts(type(message))}
        shown[api_key] = {
            name
            for name in names
            if f"<{name}>" in text
            or b64encode(f"<{name}>".encode()).decode() in text
            or repr(f"<{name}>".encode()) in text
        }

    assert shown == SHOWN


def texts(cls: type) -> set[str]:
    """The names of the texts and blobs of a message and of the structs in it."""
    found: set[str] = set()
    for field in schema_of(cls).fields:
        if is_struct(field.element):
            found |= texts(field.element)
        elif field.element.name in {"string", "bytes"}:
            found.add(field.name)
    return found


def test_each_api_that_changes_metadata_has_its_resources() -> None:
    writing = {api_key for api_key, api in APIS.items() if api.kind in (Kind.WRITE, Kind.READ)}

    assert writing - _RESOURCES.keys() == {60}  # DescribeCluster names nothing
    assert list(resources_of(schema_of(VoteRequest).api_key or 0, default_of(VoteRequest), None)) == []


def test_a_request_that_was_refused_as_a_whole_names_what_it_asked_for() -> None:
    error = ApiError(Error.REQUEST_TIMED_OUT)
    named = {}
    for api_key in _RESOURCES:
        request = filled(APIS[api_key].request)
        response = error_response(request, error, APIS[api_key].versions[1])
        found = list(resources_of(api_key, request, response))
        codes = {code for _, code in found} | {getattr(response, "error_code", 0)}
        named[api_key] = Error.REQUEST_TIMED_OUT in codes and bool(found)

    assert {api_key for api_key, is_named in named.items() if not is_named} == set()


def test_topics_that_are_deleted_by_id_have_name_and_id() -> None:
    topic_id = bytes(range(16))
    result = DeleteTopicsResponse.DeletableTopicResult
    response = DeleteTopicsResponse(
        responses=(
            result(name="orders", topic_id=topic_id, error_code=0),
            result(name=None, topic_id=topic_id, error_code=Error.UNKNOWN_TOPIC_ID),
        ),
        throttle_time_ms=0,
    )
    request = DeleteTopicsRequest(timeout_ms=1)

    assert list(resources_of(20, request, response)) == [
        ({"type": "topic", "name": "orders", "id": uuid_text(topic_id)}, 0),
        ({"type": "topic", "name": None, "id": uuid_text(topic_id)}, Error.UNKNOWN_TOPIC_ID),
    ]


def test_configs_have_operations_and_keys_and_no_values() -> None:
    resource = IncrementalAlterConfigsRequest.AlterConfigsResource
    config = resource.AlterableConfig
    changes = (
        config(name="ssl.keystore.password", config_operation=0, value="hunter2"),
        config(name="log.retention.ms", config_operation=1, value=None),
        config(name="what", config_operation=9, value="hunter3"),
    )
    request = IncrementalAlterConfigsRequest(
        resources=(resource(resource_type=4, resource_name="", configs=changes),), validate_only=False
    )
    result = IncrementalAlterConfigsResponse.AlterConfigsResourceResponse
    response = IncrementalAlterConfigsResponse(
        throttle_time_ms=0,
        responses=(result(error_code=40, error_message="Invalid value hunter2", resource_type=4, resource_name=""),),
    )

    assert list(resources_of(44, request, response)) == [
        (
            {
                "type": "broker-config", "name": "default",
                "configs": ["set ssl.keystore.password", "delete log.retention.ms", "unknown what"],
            },
            Error.INVALID_CONFIG,
        )
    ]  # fmt: skip


def test_scram_credentials_have_user_mechanism_and_operation() -> None:
    request = AlterUserScramCredentialsRequest(
        deletions=(AlterUserScramCredentialsRequest.ScramCredentialDeletion(name="ann", mechanism=1),),
        upsertions=(
            AlterUserScramCredentialsRequest.ScramCredentialUpsertion(
                name="bob", mechanism=2, iterations=4096, salt=b"salt", salted_password=b"password"
            ),
        ),
    )
    response = error_response(request, ApiError(Error.UNACCEPTABLE_CREDENTIAL), 0)

    assert list(resources_of(51, request, response)) == [
        ({"type": "scram", "name": "ann", "mechanism": "SCRAM-SHA-256", "operation": "delete"}, 93),
        ({"type": "scram", "name": "bob", "mechanism": "SCRAM-SHA-512", "operation": "set"}, 93),
    ]


def test_acls_have_all_their_fields_by_name() -> None:
    creation = CreateAclsRequest.AclCreation(
        resource_type=2, resource_name="orders", resource_pattern_type=4, principal="User:ann", host="*", operation=6,
        permission_type=99,
    )  # fmt: skip
    response = CreateAclsResponse(
        throttle_time_ms=0, results=(CreateAclsResponse.AclCreationResult(error_code=0, error_message=None),)
    )

    assert list(resources_of(30, CreateAclsRequest(creations=(creation,)), response)) == [
        (
            {
                "type": "acl", "name": "orders", "resource_type": "TOPIC", "pattern_type": "PREFIXED",
                "principal": "User:ann", "host": "*", "operation": "DELETE", "permission": "99",
            },
            0,
        )
    ]  # fmt: skip


def test_a_reassignment_has_its_target_and_a_cancelled_one_has_none() -> None:
    topic = AlterPartitionReassignmentsRequest.ReassignableTopic
    partition = topic.ReassignablePartition
    request = AlterPartitionReassignmentsRequest(
        topics=(
            topic(
                name="orders",
                partitions=(partition(partition_index=0, replicas=(1, 2)), partition(partition_index=1, replicas=None)),
            ),
        )
    )

    assert list(resources_of(45, request, error_response(request, ApiError(Error.NOT_CONTROLLER), 1))) == [
        ({"type": "partition", "name": "orders-0", "replicas": [1, 2]}, Error.NOT_CONTROLLER),
        ({"type": "partition", "name": "orders-1", "replicas": None}, Error.NOT_CONTROLLER),
    ]
