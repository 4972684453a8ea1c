"""The operations of `controller_api` as requests of Kafka's protocol, and responses as answers of the model.

A controller that loses its leadership answers NOT_CONTROLLER also to requests whose records it has written and whose
outcome it does not know; so that answer, like none at all, leaves the outcome open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from records.errors import Error
from records.messages.brokers import UnregisterBrokerRequest
from records.messages.configs import AlterConfigsRequest, DescribeConfigsRequest, IncrementalAlterConfigsRequest
from records.messages.features import UpdateFeaturesRequest
from records.messages.producer_ids import AllocateProducerIdsRequest
from records.messages.topics import CreatePartitionsRequest, CreateTopicsRequest, DeleteTopicsRequest
from records.schema import replace
from simulations.histories.operations import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Callable

TIMEOUT_MS = 30_000
TOPIC, BROKER = 2, 4  # types of config resources
SET, DELETE = 0, 1
OF_TOPIC, OF_BROKER, OF_ALL_BROKERS = 1, 2, 3  # sources of config values
UPGRADE, SAFE_DOWNGRADE = 1, 2

# After these errors it is unknown whether the request was carried out.
OPEN = {Error.NOT_CONTROLLER, Error.REQUEST_TIMED_OUT}


def request_of(asked: Any, timeout_ms: int = TIMEOUT_MS, keys: tuple[str, ...] | None = None) -> Any:
    """The request of an operation. keys: of the configs to read, None for all."""
    request = REQUESTS[asked[0]](asked)
    if isinstance(request, DescribeConfigsRequest):
        return replace(request, resources=tuple(replace(each, configuration_keys=keys) for each in request.resources))
    return replace(request, timeout_ms=timeout_ms) if hasattr(request, "timeout_ms") else request


def answer_of(asked: Any, answer: Any) -> Any:
    """The answer in the form of the model; UNKNOWN if the operation may or may not have happened."""
    if asked[0] == "validate":
        answer = answer_of(asked[1], answer)
        return "ok" if isinstance(answer, tuple) else answer
    return ANSWERS[asked[0]](answer)


def _create(asked: Any) -> CreateTopicsRequest:
    return CreateTopicsRequest(topics=(topic_to_create(asked, replicas=1),), timeout_ms=TIMEOUT_MS)


def topic_to_create(asked: Any, replicas: int) -> Any:
    """One topic of a CreateTopics request, which may make several."""
    _, name, partitions, configs = asked
    wanted = CreateTopicsRequest.CreatableTopic
    return wanted(
        name=name,
        num_partitions=partitions,
        replication_factor=replicas,
        assignments=(),
        configs=tuple(wanted.CreatableTopicConfig(name=key, value=value) for key, value in configs),
    )


def _creation_answer(answer: Any) -> Any:
    return answer_of_created(answer.topics[0])


def answer_of_created(topic: Any) -> Any:
    """The answer for one topic of CreateTopics."""
    return _result_of(topic.error_code, ("ok", topic.topic_id), {Error.TOPIC_ALREADY_EXISTS: "exists"})


def _delete(asked: Any) -> DeleteTopicsRequest:
    _, name, topic_id = asked
    by_name = topic_id is None
    topic = DeleteTopicsRequest.DeleteTopicState(
        name=name if by_name else None, topic_id=bytes(16) if by_name else topic_id
    )
    return DeleteTopicsRequest(topics=(topic,), timeout_ms=TIMEOUT_MS)


def _deletion_answer(answer: Any) -> Any:
    missing: dict[int, str] = {Error.UNKNOWN_TOPIC_OR_PARTITION: "missing", Error.UNKNOWN_TOPIC_ID: "missing"}
    return _result_of(answer.responses[0].error_code, "ok", missing)


def _grow(asked: Any) -> CreatePartitionsRequest:
    _, name, count = asked
    topic = CreatePartitionsRequest.CreatePartitionsTopic(name=name, count=count, assignments=None)
    return CreatePartitionsRequest(topics=(topic,), timeout_ms=TIMEOUT_MS, validate_only=False)


def _growth_answer(answer: Any) -> Any:
    others: dict[int, str] = {Error.UNKNOWN_TOPIC_OR_PARTITION: "missing", Error.INVALID_PARTITIONS: "too few"}
    return _result_of(answer.results[0].error_code, "ok", others)


def _configure(resource_type: int) -> Callable[[Any], IncrementalAlterConfigsRequest]:
    wanted = IncrementalAlterConfigsRequest.AlterConfigsResource

    def request(asked: Any) -> IncrementalAlterConfigsRequest:
        _, name, changes = asked
        configs = tuple(
            wanted.AlterableConfig(name=key, config_operation=DELETE if value is None else SET, value=value)
            for key, value in changes
        )
        resource = wanted(resource_type=resource_type, resource_name=str(name), configs=configs)
        return IncrementalAlterConfigsRequest(resources=(resource,), validate_only=False)

    return request


def _replace(asked: Any) -> AlterConfigsRequest:
    _, name, configs = asked
    wanted = AlterConfigsRequest.AlterConfigsResource
    values = tuple(wanted.AlterableConfig(name=key, value=value) for key, value in configs)
    resource = wanted(resource_type=TOPIC, resource_name=name, configs=values)
    return AlterConfigsRequest(resources=(resource,), validate_only=False)


def _config_answer(answer: Any) -> Any:
    return _result_of(answer.responses[0].error_code, "ok", {Error.UNKNOWN_TOPIC_OR_PARTITION: "missing"})


def _read(resource_type: int) -> Callable[[Any], DescribeConfigsRequest]:
    def request(asked: Any) -> DescribeConfigsRequest:
        wanted = DescribeConfigsRequest.DescribeConfigsResource
        resource = wanted(resource_type=resource_type, resource_name=str(asked[1]), configuration_keys=None)
        return DescribeConfigsRequest(resources=(resource,))

    return request


def _read_answer(*sources: int) -> Callable[[Any], Any]:
    def answer(answer: Any) -> Any:
        result = answer.results[0]
        values = tuple(sorted((each.name, each.value) for each in result.configs if each.config_source in sources))
        return _result_of(result.error_code, values, {Error.UNKNOWN_TOPIC_OR_PARTITION: "missing"})

    return answer


def _set_feature(asked: Any) -> UpdateFeaturesRequest:
    _, name, level, way = asked
    update = UpdateFeaturesRequest.FeatureUpdateKey(
        feature=name, max_version_level=level, upgrade_type=UPGRADE if way == "up" else SAFE_DOWNGRADE
    )
    return UpdateFeaturesRequest(feature_updates=(update,))


def _feature_answer(answer: Any) -> Any:
    """Two refusals contain the present level, only in their texts."""
    if answer.error_code == Error.INVALID_UPDATE_VERSION:
        text = answer.error_message or ""
        if "Can't downgrade the version of this feature without" in text:
            return "was higher"
        if "Can't downgrade to a newer version" in text:
            return "was lower"
    return _result_of(answer.error_code, "ok", {})


def _unregistration_answer(answer: Any) -> Any:
    return _result_of(answer.error_code, "ok", {Error.BROKER_ID_NOT_REGISTERED: "missing"})


def _allocation_answer(answer: Any) -> Any:
    return _result_of(answer.error_code, answer.producer_id_start, {})


def _result_of(code: int, good: Any, others: dict[int, str]) -> Any:
    if code == Error.NONE:
        return good
    if code in OPEN:
        return UNKNOWN
    return others.get(code, "refused")


REQUESTS: dict[str, Callable[[Any], Any]] = {
    "create": _create,
    "delete": _delete,
    "grow": _grow,
    "configure": _configure(TOPIC),
    "read": _read(TOPIC),
    "replace": _replace,
    "validate": lambda asked: replace(REQUESTS[asked[1][0]](asked[1]), validate_only=True),
    "configure broker": _configure(BROKER),
    "read broker": _read(BROKER),
    "set feature": _set_feature,
    "unregister": lambda asked: UnregisterBrokerRequest(broker_id=asked[1]),
    # As a broker of this id and epoch: the sender is not part of the operation.
    "allocate": lambda asked: AllocateProducerIdsRequest(broker_id=asked[1], broker_epoch=asked[2]),
}

ANSWERS: dict[str, Callable[[Any], Any]] = {
    "create": _creation_answer,
    "delete": _deletion_answer,
    "grow": _growth_answer,
    "configure": _config_answer,
    "read": _read_answer(OF_TOPIC),
    "configure broker": _config_answer,
    "replace": _config_answer,
    "read broker": _read_answer(OF_BROKER, OF_ALL_BROKERS),
    "set feature": _feature_answer,
    "unregister": _unregistration_answer,
    "allocate": _allocation_answer,
}
