"""The output of `kafka-configs --describe`."""

from __future__ import annotations

import sys

from records.errors import Error
from records.java.java_values import java_text
from records.resource_types import ResourceType
from tools.client.exceptions import KafkaError, execution_exception
from tools.command_line.java_texts import Uncaught
from tools.command_line.standard_streams import one_line
from tools.kafka.configs import config_list_calls as lists
from tools.kafka.configs.config_arguments import (
    BROKER_LOGGERS,
    BROKERS,
    CLIENT_METRICS,
    CLIENTS,
    GROUPS,
    ILLEGAL_ARGUMENT,
    IPS,
    TOPICS,
    USERS,
)
from tools.kafka.configs.config_calls import ConfigResource, describe_configs, is_timeout, wait_timeout
from tools.kafka.configs.config_quota_calls import CLIENT_ID, IP, USER, Component, describe_quotas, shown_values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tools.client.admin import Admin
    from tools.kafka.configs.config_arguments import Entities
    from tools.kafka.configs.config_calls import ConfigEntry, Described
    from tools.kafka.configs.config_quota_calls import Quotas

RESOURCES = {
    TOPICS: ResourceType.TOPIC, BROKERS: ResourceType.BROKER, BROKER_LOGGERS: ResourceType.BROKER_LOGGER,
    CLIENT_METRICS: ResourceType.CLIENT_METRICS, GROUPS: ResourceType.GROUP,
}  # fmt: skip
QUOTA_TYPES = {USERS: USER, CLIENTS: CLIENT_ID, IPS: IP}
# How a quota's entity is named, in this order.
ENTITY_NAMES = {USER: "user-principal", CLIENT_ID: "client-id", IP: "ip"}
MECHANISM_NAMES = {0: "UNKNOWN", 1: "SCRAM-SHA-256", 2: "SCRAM-SHA-512"}
# The sources of values, by their numbers in responses, with Java's names.
SOURCES = {
    1: "DYNAMIC_TOPIC_CONFIG", 2: "DYNAMIC_BROKER_CONFIG", 3: "DYNAMIC_DEFAULT_BROKER_CONFIG",
    4: "STATIC_BROKER_CONFIG", 5: "DEFAULT_CONFIG", 6: "DYNAMIC_BROKER_LOGGER_CONFIG",
    7: "DYNAMIC_CLIENT_METRICS_CONFIG", 8: "DYNAMIC_GROUP_CONFIG",
}  # fmt: skip
# Where the values stand that are shown without --all.
DYNAMIC = {TOPICS: 1, BROKERS: 2, BROKER_LOGGERS: 6, CLIENT_METRICS: 7, GROUPS: 8}
DYNAMIC_DEFAULT = 3
SECONDS = 30.0


def describe(admin: Admin, entities: Entities, *, everything: bool) -> None:
    """Print the configs of entities. everything: also those that are not dynamic. Raises Uncaught."""
    kind = entities.types[0]
    if kind in RESOURCES:
        _describe_resources(admin, kind, entities.names[0] if entities.names else None, everything=everything)
        return
    _print_quotas(all_quotas(admin, entities))
    if kind != IPS and CLIENTS not in entities.types and "" not in entities.names:
        _print_credentials(lists.described_credentials(admin, entities.names))


def _describe_resources(admin: Admin, kind: str, name: str | None, *, everything: bool) -> None:
    """name: empty for the default of all brokers, None for all entities. Raises Uncaught."""
    if name is not None and not everything and not _exists(admin, kind, name):
        sys.stdout.write(f"The {kind[:-1]} '{name}' doesn't exist and doesn't have dynamic config.\n")
        return
    names = _names(admin, kind) if name is None else [name]
    resources = [_resource(kind, each) for each in names]
    described: Described = {}
    for each, resource in zip(names, resources, strict=True):
        if each:
            sys.stdout.write(f"{'All' if everything else 'Dynamic'} configs for {kind[:-1]} {one_line(each)} are:\n")
        else:
            sys.stdout.write(f"Default configs for {kind} in the cluster are:\n")
        if resource not in described:
            described |= _descriptions(admin, [other for other in resources if other.node == resource.node])
        for entry in _shown_entries(kind, resource, described[resource], everything=everything):
            synonyms = ", ".join(
                f"{SOURCES.get(synonym.source, 'UNKNOWN')}:{one_line(synonym.name)}={_value_text(synonym.value)}"
                for synonym in entry.synonyms
            )
            sensitive = "true" if entry.is_sensitive else "false"
            sys.stdout.write(
                f"  {one_line(entry.name)}={_value_text(entry.value)} sensitive={sensitive} synonyms={{{synonyms}}}\n"
            )


def _value_text(value: str | None) -> str:
    return "null" if value is None else one_line(value)


def _exists(admin: Admin, kind: str, name: str) -> bool:
    """Whether an entity of this type and name is there. Raises Uncaught where it cannot be asked for."""
    if kind == TOPICS:
        _check_topic(name)
        return name in lists.topic_names(admin)
    if kind in (BROKERS, BROKER_LOGGERS):
        return name in map(str, lists.node_ids(admin)) or not name
    if kind == CLIENT_METRICS:
        return name in lists.resource_names(admin, ResourceType.CLIENT_METRICS)
    groups, with_configs = lists.group_ids(admin), _group_configs(admin)
    return with_configs is None or name in with_configs or name in groups


def _group_configs(admin: Admin) -> list[str] | None:
    """The groups that have configs; None where brokers do not say. Raises Uncaught."""
    try:
        return lists.resource_names(admin, ResourceType.GROUP)
    except Uncaught as error:
        cause = error.cause
        code = cause.code if isinstance(cause, KafkaError) else None
        if code in (Error.UNSUPPORTED_VERSION, Error.CLUSTER_AUTHORIZATION_FAILED):
            return None
        raise (cause if isinstance(cause, Uncaught) else error) from None


def _names(admin: Admin, kind: str) -> list[str]:
    """All entities of a type. Raises Uncaught."""
    if kind == TOPICS:
        return lists.topic_names(admin)
    if kind in (BROKERS, BROKER_LOGGERS):
        return [*map(str, lists.node_ids(admin)), ""]
    if kind == CLIENT_METRICS:
        return lists.resource_names(admin, ResourceType.CLIENT_METRICS)
    return list(dict.fromkeys((*lists.group_ids(admin), *(_group_configs(admin) or ()))))


def _check_topic(name: str) -> None:
    """Check the name of a topic. Raises Uncaught for one that no topic can have."""
    from controller.config.resources import check_topic_name
    from records.errors import ApiError

    try:
        check_topic_name(name)
    except ApiError as error:
        raise KafkaError(Error.INVALID_TOPIC_EXCEPTION, error.text) from None


def logger_names(admin: Admin, node: str) -> list[str]:
    """The loggers of a node. Raises Uncaught."""
    resource = _resource(BROKER_LOGGERS, node)
    entries = _descriptions(admin, [resource], with_synonyms=False)[resource]
    return [entry.name for entry in _shown_entries(BROKER_LOGGERS, resource, entries, everything=False)]


def _resource(kind: str, name: str) -> ConfigResource:
    """The resource of an entity. Raises Uncaught for a name that no topic can have."""
    if kind == TOPICS and name:
        _check_topic(name)
    return ConfigResource(RESOURCES[kind], name)


def _descriptions(admin: Admin, resources: Sequence[ConfigResource], *, with_synonyms: bool = True) -> Described:
    """The configs of each resource, or why it is refused. Raises Uncaught where a node does not answer."""
    limit = SECONDS if admin.settings.api_timeout > SECONDS else None
    try:
        return describe_configs(admin, resources, with_synonyms=with_synonyms, seconds=limit)
    except Uncaught as error:
        raise (wait_timeout() if limit is not None and is_timeout(error) else execution_exception(error)) from None


def _shown_entries(
    kind: str, resource: ConfigResource, entries: tuple[ConfigEntry, ...] | Uncaught, *, everything: bool
) -> list[ConfigEntry]:
    """In the order of their names. Raises Uncaught for a resource that is refused."""
    if isinstance(entries, Uncaught):
        raise execution_exception(entries)
    source = DYNAMIC_DEFAULT if kind == BROKERS and not resource.name else DYNAMIC[kind]
    return sorted((entry for entry in entries if everything or entry.source == source), key=lambda entry: entry.name)


def all_quotas(admin: Admin, entities: Entities) -> list[Quotas]:
    """The quotas of exactly these types of entities. Raises Uncaught."""
    if len(entities.names) > len(entities.types):
        raise Uncaught(ILLEGAL_ARGUMENT, "More entity names specified than entity types")
    names: list[str | None] = [*entities.names]
    names += [None] * (len(entities.types) - len(names))
    components = [Component(QUOTA_TYPES[kind], name) for kind, name in zip(entities.types, names, strict=True)]
    return describe_quotas(admin, components)


def _print_quotas(listed: Sequence[Quotas]) -> None:
    for quotas in listed:
        entity = ", ".join(
            f"the default {text}" if quotas.entity[kind] is None else f"{text} '{one_line(quotas.entity[kind])}'"
            for kind, text in ENTITY_NAMES.items()
            if kind in quotas.entity
        )
        values = ", ".join(f"{one_line(key)}={java_text(float(value))}" for key, value in shown_values(quotas.values))
        sys.stdout.write(f"Quota configs for {entity} are {values}\n")


def _print_credentials(listed: Sequence[lists.Credentials]) -> None:
    for credentials in listed:
        if credentials.error is not None:
            name = credentials.error.java_class.rpartition(".")[2]
            text = (
                f"Error retrieving SCRAM credential configs for user-principal '{one_line(credentials.user)}': {name}"
            )
            sys.stdout.write(f"{text}: {credentials.error.message}\n")
            continue
        infos = ", ".join(
            f"{MECHANISM_NAMES.get(mechanism, 'UNKNOWN')}=iterations={iterations}"
            for mechanism, iterations in credentials.infos
        )
        sys.stdout.write(f"SCRAM credential configs for user-principal '{one_line(credentials.user)}' are {infos}\n")
