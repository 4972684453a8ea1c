"""The deliberate differences: those of docs/differences.md, each with a file in `deliberate/`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from records.messages.brokers import BrokerRegistrationRequest
from records.messages.configs import AlterConfigsRequest, DescribeConfigsRequest, IncrementalAlterConfigsRequest
from records.messages.fetch_snapshot import FetchSnapshotRequest
from records.messages.scram import DescribeUserScramCredentialsRequest
from records.messages.tokens import CreateDelegationTokenRequest
from records.printing.json_form import to_json
from tests.oracle.exceptions import PARTITION_APIS, partitions_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.oracle.wire.answers import Asked
    from tests.oracle.wire.pair import Found

UNKNOWN_SERVER_ERROR = -1
BROKER_LOGGER = 8
# The bytes of a string on the wire; what an error message says beside the value that it repeats.
TEXT_BYTES_MAX = 32767
MESSAGE_CHARACTERS = 500
CONFIG_RESOURCES = (2, 4, 8, 16, 32)
# The types of resources that show values of the node: topics, nodes, groups.
INHERITING = {2, 4, 32}


def name_of(found: Found) -> str | None:
    """The name of this difference if it is known; else None."""
    return next((name for name, holds in KNOWN.items() if holds(found)), None)


def stock_ended(found: Found) -> bool:
    """Stock's process has ended."""
    return found.stock_has_ended


def stock_gave_up(found: Found) -> bool:
    """Stock's controller hit an unexpected exception, answered UNKNOWN_SERVER_ERROR, and resigned."""
    return found.stock_gave_up


def stock_answers_unknown(found: Found) -> bool:
    """Stock answers UNKNOWN_SERVER_ERROR, without a text, for one partition whose change raises an exception."""
    answered = {"partitions[].errorCode": UNKNOWN_SERVER_ERROR, "partitions[].errorMessage": None}
    ends = (end for end in answered if found.difference.where.endswith(end))
    return any(found.difference.stock == answered[end] for end in ends)


def snapshot_error(found: Found) -> bool:
    """Any error in a FetchSnapshot: stock cannot serialize the answer, and sends UNKNOWN_SERVER_ERROR."""
    return isinstance(found.message, FetchSnapshotRequest) and found.stock_code == UNKNOWN_SERVER_ERROR


def half_an_owner(found: Found) -> bool:
    """CreateDelegationToken with only the type or only the name of an owner."""
    request = found.message
    if not isinstance(request, CreateDelegationTokenRequest) or found.stock_code != UNKNOWN_SERVER_ERROR:
        return False
    return (request.owner_principal_type is None) != (request.owner_principal_name is None)


def negative_broker(found: Found) -> bool:
    """The registration of a broker with a negative id, which stock accepts."""
    request = found.message
    return isinstance(request, BrokerRegistrationRequest) and request.broker_id < 0 and found.stock_code == 0


def is_named_twice(found: Found) -> bool:
    """The answer for a partition that a request names twice: stock computes both changes from one base."""
    if found.difference.where == "log end":
        return found.names_partition_twice
    named = [] if found.inner is None else places_in(found.inner)
    trees = found.difference.within
    topics = [tree.get("topic") or tree.get("name") or tree.get("topicId") for tree in trees]
    indexes = [tree.get("partitionId", tree.get("partitionIndex")) for tree in trees]
    places = [(topic, index) for topic in topics for index in indexes if topic and index is not None]
    return bool(places) and all(named.count(place) > 1 for place in places)


def places_in(request: Asked) -> list[tuple[str, int]]:
    """The partitions that a request changes, with repetitions; the inner one of an envelope."""
    if request.api_key not in PARTITION_APIS or request.message is None:
        return []
    return partitions_of(to_json(request.message, request.version))


def names_partition_twice(request: Asked) -> bool:
    """Whether the states may differ after a request although the answers are equal."""
    places = places_in(request)
    return len(set(places)) < len(places)


def is_silent(found: Found) -> bool:
    """Stock cannot serialize the refusal of one of these requests, and does not answer."""
    if found.difference.where != "end" or not str(found.difference.stock).startswith("silent"):
        return False
    request = found.message
    if isinstance(request, AlterConfigsRequest):
        named = [(resource.resource_type, resource.resource_name) for resource in request.resources]
        is_doubled = len(set(named)) < len(named) and has_long_value(request)
        return is_doubled or any(resource.resource_type not in CONFIG_RESOURCES for resource in request.resources)
    return isinstance(request, DescribeUserScramCredentialsRequest) and request.users is None


def applied_before(found: Found) -> bool:
    """A config of the node, or one that a topic or group inherits, while a node cannot apply its dynamic values."""
    return found.cannot_apply and ".configs" in found.difference.where and bool(result_types(found) & INHERITING)


def describes_loggers(found: Found) -> bool:
    """Loggers in DescribeConfigs, and the refusal of unknown ones: each node has its own."""
    if result_types(found) != {BROKER_LOGGER}:
        return False
    if isinstance(found.message, DescribeConfigsRequest):
        return ".results[].configs" in found.difference.where
    return isinstance(found.message, IncrementalAlterConfigsRequest) and ".responses[].error" in found.difference.where


def is_too_long(found: Found) -> bool:
    """An alteration with a value so long that stock cannot serialize the error message that repeats it."""
    request = found.message
    if not isinstance(request, AlterConfigsRequest | IncrementalAlterConfigsRequest):
        return False
    answered = {".errorCode": UNKNOWN_SERVER_ERROR, ".errorMessage": None}
    name = "." + found.difference.where.rpartition(".")[2]
    is_refused = name in answered and found.difference.stock == answered[name]
    return is_refused and has_long_value(request)


def has_long_value(request: AlterConfigsRequest | IncrementalAlterConfigsRequest) -> bool:
    """Whether an error message that repeats a value may be too long for a string on the wire."""
    values = [config.value or "" for resource in request.resources for config in resource.configs]
    return len(max(values, key=len, default="")) > TEXT_BYTES_MAX - MESSAGE_CHARACTERS


def is_stale_index(found: Found) -> bool:
    """Stock's log is longer by changes of partitions that its index of ELRs names wrongly."""
    difference = found.difference
    return difference.where == "log end" and 0 < difference.stock - difference.ours <= found.stale_changes


def is_request_quota(found: Found) -> bool:
    """Stock throttles by the quota `request_percentage`, which ours leaves to brokers."""
    difference = found.difference
    is_throttled = difference.where == "answer.throttleTimeMs" and difference.ours == 0 < difference.stock
    return found.has_request_quota and is_throttled


def result_types(found: Found) -> set[int]:
    """The type of the resource whose result differs; empty where it is no result of a resource."""
    return {tree["resourceType"] for tree in found.difference.within if "resourceType" in tree}


KNOWN: dict[str, Callable[[Found], Any]] = {
    "stock-ended": stock_ended,
    "stock-fails": stock_gave_up,
    "fetch-snapshot-error": snapshot_error,
    "stock-answers-unknown": stock_answers_unknown,
    "half-an-owner": half_an_owner,
    "negative-broker": negative_broker,
    "partition-twice": is_named_twice,
    "stock-is-silent": is_silent,
    "applied-before": applied_before,
    "loggers": describes_loggers,
    "message-too-long": is_too_long,
    "stale-elr-index": is_stale_index,
    "request-quota": is_request_quota,
}
