"""Calls about configs: describe, alter, list the resources that have some (KIP-133, KIP-226, KIP-339, KIP-1142)."""

from __future__ import annotations

from typing import NamedTuple

from records.errors import Error
from records.messages.configs import DescribeConfigsRequest
from records.resource_types import ResourceType
from tools.client.admin import ANY_OR_ACTIVE, Call
from tools.client.exceptions import PACKAGE, KafkaError, execution_exception, no_result
from tools.command_line.java_texts import Uncaught

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from tools.client.admin import Admin


class ConfigResource(NamedTuple):
    """name: of a BROKER or a BROKER_LOGGER, the id of a node; empty for the default of all brokers."""

    type: ResourceType
    name: str

    @property
    def node(self) -> int | None:
        """The node that alone knows this resource; None where any does."""
        if self.type is ResourceType.BROKER_LOGGER or (self.type is ResourceType.BROKER and self.name):
            return int(self.name)
        return None


class ConfigSynonym(NamedTuple):
    """One of the places that a value may come from. source: as in `ConfigEntry`."""

    source: int
    name: str
    value: str | None


class ConfigEntry(NamedTuple):
    """value: None where there is none, or where it is sensitive. source: 1 topic, … as in DescribeConfigs."""

    name: str
    value: str | None
    source: int
    is_sensitive: bool
    synonyms: tuple[ConfigSynonym, ...]


# A controller of ours answers no request whose response would have more than 100,000 entries.
RESOURCES_MAX = 1000

Described = dict[ConfigResource, "tuple[ConfigEntry, ...] | Uncaught"]


def describe_configs(
    admin: Admin, resources: Sequence[ConfigResource], *, with_synonyms: bool = False, seconds: float | None = None
) -> Described:
    """The configs of each resource, or why they cannot be described. seconds: how long to wait. Raises Uncaught."""
    by_node: dict[int | None, list[ConfigResource]] = {}
    for resource in resources:
        by_node.setdefault(resource.node, []).append(resource)
    described: Described = {}
    for node, listed in by_node.items():
        for begin in range(0, len(listed), RESOURCES_MAX):
            part = listed[begin : begin + RESOURCES_MAX]
            described |= _describe(admin, node, part, with_synonyms=with_synonyms, seconds=seconds)
    return described


def _describe(
    admin: Admin, node: int | None, resources: Sequence[ConfigResource], *, with_synonyms: bool, seconds: float | None
) -> Described:
    kind = DescribeConfigsRequest.DescribeConfigsResource
    listed = tuple(
        kind(resource_type=resource.type, resource_name=resource.name, configuration_keys=None)
        for resource in resources
    )
    wanted: dict[tuple[int, str], ConfigResource] = {(resource.type, resource.name): resource for resource in resources}
    request = DescribeConfigsRequest(resources=listed, include_synonyms=with_synonyms)

    def outcome(response: Any) -> Described:
        by_resource: Described = {}
        for result in response.results:
            resource = wanted.get((result.resource_type, result.resource_name))
            if resource is not None:
                by_resource[resource] = (
                    KafkaError(result.error_code, result.error_message)
                    if result.error_code
                    else tuple(map(_entry, result.configs))
                )
        for resource in resources:
            if resource not in by_resource:
                text = f"The node response did not contain a result for config resource {resource.name}"
                by_resource[resource] = no_result(text)
        return by_resource

    where = ANY_OR_ACTIVE if node is None else node
    described: Described = admin.call(Call("describeConfigs", lambda _: request, outcome, where), seconds)
    return described


def _entry(config: Any) -> ConfigEntry:
    synonyms = tuple(ConfigSynonym(synonym.source, synonym.name, synonym.value) for synonym in config.synonyms)
    return ConfigEntry(config.name, config.value, config.config_source, config.is_sensitive, synonyms)


def of_brokers(admin: Admin) -> None:
    """Check that the call goes to brokers. Raises Uncaught where the client has controllers' addresses: stock's client
    sends this call to brokers alone.
    """
    if admin.settings.at_controllers:
        text = "This Admin API is not yet supported when communicating directly with the controller quorum."
        raise execution_exception(KafkaError(Error.UNSUPPORTED_ENDPOINT_TYPE, text))


def wait_for(admin: Admin, call: Call, seconds: float) -> Any:
    """The outcome of a call, for which stock's tool waits so long. Raises Uncaught, wrapped as by a Java future."""
    limit = seconds if seconds < admin.settings.api_timeout else None
    try:
        return admin.result(call, limit)
    except Uncaught as error:
        raise (wait_timeout() if limit is not None and is_timeout(error.cause) else error) from None


def is_timeout(error: object) -> bool:
    """Whether a call was not answered in time."""
    return isinstance(error, Uncaught) and error.java_class == f"{PACKAGE}.TimeoutException"


def wait_timeout() -> Uncaught:
    """The exception of Java's own: the tool, and not its client, stopped to wait."""
    return Uncaught("java.util.concurrent.TimeoutException")
