"""DescribeConfigs, as a controller answers it (KIP-133, KIP-226, KIP-569).

A controller knows its own configuration and the cluster-wide defaults: a BROKER resource is its own id, or "".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.config.dynamic import DynamicConfig, described_synonyms, node_type
from controller.config.effective import ConfigSource
from controller.config.keys import group, own, server, topic
from controller.config.keys.dynamic import DYNAMIC
from controller.config.resources import DEFINITIONS, check_topic_name, group_defaults, resource_type
from controller.config.topic_values import topic_defaults
from controller.config.values.definition import Required, Type, value_text
from controller.interface.results import NOTHING_PENDING, Result, raised_text
from controller.rules.permissions import permission_on
from controller.state.tables.acl import CLUSTER_NAME, AclOperation, AclResourceType
from records.errors import ApiError, Error, error_text
from records.java.config_error import ConfigError
from records.java.java_values import parse_integer
from records.messages.configs import DescribeConfigsResponse
from records.resource_types import ResourceType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from controller.config.values.definition import Value
    from controller.interface.env import Env
    from controller.interface.inputs import RequestContext
    from controller.state.state import State
    from records.messages.configs import DescribeConfigsRequest

    # The type and the name of the resource on which a description needs DESCRIBE_CONFIGS, and the error without it.
    Need = tuple[AclResourceType, str, Error]

DescribedResource = DescribeConfigsResponse.DescribeConfigsResult
Entry = DescribedResource.DescribeConfigsResourceResult
Synonym = Entry.DescribeConfigsSynonym

# The greatest number of entries in one response: all keys of some 3,000 topics.
ENTRIES_MAX = 100_000

# What a description needs to be allowed, where it is not the cluster's, and the error where it is not.
_NEEDS = {
    ResourceType.TOPIC: (AclResourceType.TOPIC, Error.TOPIC_AUTHORIZATION_FAILED),
    ResourceType.GROUP: (AclResourceType.GROUP, Error.GROUP_AUTHORIZATION_FAILED),
}
_OF_CLUSTER = (AclResourceType.CLUSTER, Error.CLUSTER_AUTHORIZATION_FAILED)

# Stock does not set this field.
_NO_TEXT: str | None = ""


def describe_configs(state: State, context: RequestContext, request: DescribeConfigsRequest, env: Env) -> Result:
    """DescribeConfigs: each resource is described or refused on its own.

    Raises ApiError: INVALID_REQUEST for an unknown type of resource; POLICY_VIOLATION if the response would be too
    large.
    """
    asked = []
    for resource in env.slices.spread(request.resources):
        kind = resource_type(resource.resource_type)
        if kind is ResourceType.UNKNOWN:
            raise ApiError(
                Error.INVALID_REQUEST, f"Unexpected resource type UNKNOWN for resource {resource.resource_name}"
            )
        asked.append((resource, need_of(kind, resource.resource_name)))
    describer = Describer(
        state, env, with_synonyms=request.include_synonyms, with_documentation=request.include_documentation
    )
    results: list[DescribedResource] = []
    count = 0
    allowed = []
    denied = []
    may_describe = permissions(state, context, asked, env)
    for resource, (type_, name, code) in env.slices.spread(asked):
        if not may_describe[type_](name):
            denied.append(denied_resource(resource, code))
            continue
        allowed.append(resource)
        env.slices.pause()
        results.append(describer.answer(resource))
        count += 1 + len(results[-1].configs)  # a small request can ask for a large response
        if count > ENTRIES_MAX:
            text = f"The response would have more than {ENTRIES_MAX} entries; describe fewer resources at a time."
            raise ApiError(Error.POLICY_VIOLATION, text)
    results += denied
    response = DescribeConfigsResponse(throttle_time_ms=0, results=tuple(results))
    return Result(response, rests_on=rests_on(state, allowed, env))


def permissions(
    state: State, context: RequestContext, asked: Iterable[tuple[Any, Need]], env: Env
) -> dict[AclResourceType, Callable[[str], bool]]:
    """Which resources of each type the sender of a request may describe. asked: the resources, with what each needs."""
    named: dict[AclResourceType, set[str]] = {type_: set() for type_, _ in (*_NEEDS.values(), _OF_CLUSTER)}
    for _, (type_, name, _) in env.slices.spread(asked):
        named[type_].add(name)
    return {
        type_: permission_on(state, context, env, AclOperation.DESCRIBE_CONFIGS, type_, names)
        for type_, names in named.items()
    }


def need_of(kind: ResourceType, name: str) -> Need:
    """What the description of a resource needs."""
    type_, code = _NEEDS.get(kind, _OF_CLUSTER)
    return type_, CLUSTER_NAME if type_ is AclResourceType.CLUSTER else name, code


def denied_resource(resource: Any, code: Error) -> DescribedResource:
    """The result of a resource that the sender may not describe."""
    return DescribedResource(
        error_code=code,
        error_message=error_text(code),
        resource_type=resource.resource_type,
        resource_name=resource.resource_name,
        configs=(),
    )


def describe(describer: Describer, resource: Any) -> DescribedResource:
    """The result for one resource, with the keys in the order of their names."""
    kind, name = resource_type(resource.resource_type), resource.resource_name
    code, text = Error.NONE, _NO_TEXT
    entries: tuple[Entry, ...] = ()
    try:
        wanted = resource.configuration_keys
        entries = tuple(entry for entry in DESCRIBE[kind](describer, name) if not wanted or entry.name in wanted)
        if wanted and kind is ResourceType.BROKER:
            entries = tuple(_with_value(describer, entry) if entry.name in own.KEYS else entry for entry in entries)
    except ConfigError:
        # The stored configuration is not valid, so it cannot be described.
        code, text = Error.UNKNOWN_SERVER_ERROR, None
    except ApiError as error:
        # Stock gives no message for an unknown topic.
        is_absent = error.code is Error.UNKNOWN_TOPIC_OR_PARTITION
        code, text = error.code, _NO_TEXT if is_absent else raised_text(error)
    return DescribedResource(
        error_code=code, error_message=text, resource_type=kind, resource_name=name, configs=entries
    )


def rests_on(state: State, described: Sequence[Any], env: Env) -> int:
    """The offset of the last uncommitted change that the results depend on. described: the resources that were."""
    if not described:
        return NOTHING_PENDING
    offset = state.configs.last_change()
    for resource in env.slices.spread(described):
        if resource_type(resource.resource_type) is ResourceType.TOPIC:
            offset = max(offset, state.topic_ids.change_offset(resource.resource_name))
    return offset


class Describer:
    """Describes the resources of one request; the configuration of the node is computed once."""

    def __init__(self, state: State, env: Env, *, with_synonyms: bool, with_documentation: bool = False) -> None:
        assert env.config is not None
        self.state = state
        self.env = env
        self.with_synonyms = with_synonyms
        self.documentation = env.documentation() if with_documentation else {}
        configs = state.configs
        node = configs.get((ResourceType.BROKER, str(env.node_id)), {})
        cluster = configs.get((ResourceType.BROKER, ""), {})
        self.dynamic = DynamicConfig(env.config, node, cluster)
        self._layers: dict[str, tuple[Synonym, ...]] = {}
        self._answers: dict[Any, DescribedResource] = {}
        self._without_own: dict[ResourceType, dict[str, Entry]] = {}

    def answer(self, resource: Any) -> DescribedResource:
        """The result for a resource; built once, even if the request names the resource again."""
        key = resource.resource_type, resource.resource_name, resource.configuration_keys
        if key not in self._answers:
            self._answers[key] = describe(self, resource)
        return self._answers[key]

    def own(self, kind: ResourceType, name: str) -> Mapping[str, str]:
        """The dynamic configs of a resource."""
        return self.state.configs.get((kind, name), {})

    def without_own(self, kind: ResourceType) -> dict[str, Entry]:
        """Key -> entry of a resource that has no configs of its own, by name."""
        known = self._without_own.get(kind)
        if known is None:
            definition = DEFINITIONS[kind].of(self.env.release.name)
            values = definition.parse(INHERITED[kind](self.dynamic.config.values))
            known = self._without_own[kind] = {
                name: self.entry(
                    kind,
                    name,
                    value_text(values[name]),
                    definition.type_of(name),
                    _inherited_synonyms(self, kind, name),
                    read_only=False,
                )
                for name in sorted(definition.keys)
                if not definition.keys[name].internal or self._is_given(kind, name)
            }
        return known

    def _is_given(self, kind: ResourceType, name: str) -> bool:
        """Whether the node's configuration sets the key that gives the default of a group's key."""
        return kind is ResourceType.GROUP and group.SYNONYMS.get(name) in self.dynamic.config.originals

    def layers(self, name: str, *, is_sensitive: bool) -> tuple[Synonym, ...]:
        """The values of a key of the node and of its synonyms, the effective one first."""
        known = self._layers.get(name)
        if known is None:
            known = self._layers[name] = self._found_layers(name, is_sensitive=is_sensitive)
        return known

    def _found_layers(self, name: str, *, is_sensitive: bool) -> tuple[Synonym, ...]:
        layers = [
            Synonym(name=synonym, value=None if is_sensitive else values[synonym], source=source)
            for values, source in (
                (self.dynamic.node, ConfigSource.DYNAMIC_BROKER),
                (self.dynamic.cluster, ConfigSource.DYNAMIC_DEFAULT_BROKER),
                (self.dynamic.static, ConfigSource.STATIC_BROKER),
                (DEFAULTS, ConfigSource.DEFAULT),
            )
            for synonym in described_synonyms(name)
            if synonym in values
        ]
        # Values before the first one under the key's own name have another meaning, such as a listener's key.
        first = next((position for position, synonym in enumerate(layers) if synonym.name == name), len(layers))
        return tuple(layers[first:])

    def entry(
        self, resource: ResourceType, name: str, value: str | None, kind: Type | None, layers: tuple[Synonym, ...],
        *, read_only: bool,
    ) -> Entry:  # fmt: skip
        """The entry of one key; without its value if that may be a secret. kind: None for an unknown key."""
        is_sensitive = kind in {None, Type.PASSWORD}
        return Entry(
            name=name,
            value=None if is_sensitive else value,
            read_only=read_only,
            config_source=layers[0].source if layers else ConfigSource.DEFAULT,
            is_sensitive=is_sensitive,
            synonyms=layers if self.with_synonyms else (),
            config_type=Type.UNKNOWN if kind is None else kind,
            documentation=self.documentation.get(resource, {}).get(name),
        )


def _topic(describer: Describer, name: str) -> Iterable[Entry]:
    check_topic_name(name)
    if name not in describer.state.topic_ids:
        raise ApiError(Error.UNKNOWN_TOPIC_OR_PARTITION)
    return _with_own(describer, ResourceType.TOPIC, name)


def _group(describer: Describer, name: str) -> Iterable[Entry]:
    if not name:
        raise ApiError(Error.INVALID_REQUEST, "Group name must not be empty")
    return _with_own(describer, ResourceType.GROUP, name)


def _client_metrics(describer: Describer, name: str) -> Iterable[Entry]:
    if not name:
        raise ApiError(Error.INVALID_REQUEST, "Client metrics subscription name must not be empty")
    return _with_own(describer, ResourceType.CLIENT_METRICS, name)


def _with_own(describer: Describer, kind: ResourceType, name: str) -> Iterable[Entry]:
    """All keys of a resource other than a node, by name; internal keys only if they are set."""
    given = describer.own(kind, name)
    entries = describer.without_own(kind)
    if given:
        entries = entries | {key: _own(describer, kind, key, text) for key, text in given.items()}
    return (entries[key] for key in sorted(entries)) if given else entries.values()


def _own(describer: Describer, kind: ResourceType, name: str, text: str) -> Entry:
    """The entry of a key that is set on the resource itself. Raises ConfigError if the value is not valid."""
    key = DEFINITIONS[kind].get(name)
    value = text if key is None or key.internal else value_text(key.parse(text))
    shown = None if key is None else value
    layers = (Synonym(name=name, value=shown, source=_OWN_SOURCES[kind]), *_inherited_synonyms(describer, kind, name))
    return describer.entry(kind, name, value, None if key is None else key.type, layers, read_only=False)


def _inherited_synonyms(describer: Describer, kind: ResourceType, name: str) -> tuple[Synonym, ...]:
    """The synonyms of a key that the resource inherits, as far as stock lists them."""
    if kind is ResourceType.TOPIC and name in topic.SYNONYMS:
        return describer.layers(topic.SYNONYMS[name][0][0], is_sensitive=False)
    if kind is ResourceType.GROUP and name in group.SYNONYMS:
        return describer.layers(group.SYNONYMS[name], is_sensitive=False)
    if kind is ResourceType.GROUP and name in group.KEYS:
        default = value_text(group.KEYS.keys[name].initial)
        return (Synonym(name=name, value=default, source=ConfigSource.DEFAULT),)
    return ()


def _node(describer: Describer, name: str) -> Iterable[Entry]:
    if not name:
        return _all_nodes(describer)
    _check_own_id(describer.env, name, f"expected {describer.env.node_id} or empty string, but received {name}")
    return _this_node(describer)


def _with_value(describer: Describer, entry: Entry) -> Entry:
    """A `kraft.*` key that a request names: with its value, which no stock client asks for."""
    key = own.KEYS.keys[entry.name]
    if key.type is Type.PASSWORD:
        return entry
    return Entry(
        name=entry.name,
        value=value_text(describer.dynamic.config.values[entry.name]),
        read_only=entry.read_only,
        config_source=entry.config_source,
        is_sensitive=False,
        synonyms=(),
        config_type=key.type,
        documentation=None,
    )


def _all_nodes(describer: Describer) -> Iterable[Entry]:
    for key, text in sorted(describer.dynamic.cluster.items()):
        kind = node_type(key)
        layers = describer.layers(key, is_sensitive=kind in {None, Type.PASSWORD})
        layers = tuple(layer for layer in layers if layer.source == ConfigSource.DYNAMIC_DEFAULT_BROKER)
        yield describer.entry(ResourceType.BROKER, key, text, kind, layers, read_only=key not in DYNAMIC)


def _this_node(describer: Describer) -> Iterable[Entry]:
    config = describer.dynamic.config
    keys = server.KEYS.of(describer.env.release.name)
    shown: dict[str, str | None] = dict(config.originals)
    shown.update({key.name: value_text(config.values[key.name]) for key in keys if not key.internal})
    for key, text in sorted(shown.items()):
        # A `kraft.*` key in the file is described as stock describes any key that it does not know.
        kind = None if key in own.KEYS else node_type(key)
        layers = describer.layers(key, is_sensitive=kind in {None, Type.PASSWORD})
        yield describer.entry(ResourceType.BROKER, key, text, kind, layers, read_only=key not in DYNAMIC)


def _loggers(describer: Describer, name: str) -> Iterable[Entry]:
    env = describer.env
    if not name:
        raise ApiError(Error.INVALID_REQUEST, "Broker id must not be empty")
    _check_own_id(env, name, f"expected {env.node_id} but received {name}")
    for logger, level in () if env.loggers is None else env.loggers.levels().items():
        yield Entry(
            name=logger,
            value=level,
            read_only=False,
            config_source=ConfigSource.DYNAMIC_BROKER_LOGGER,
            is_sensitive=False,
        )


DESCRIBE: dict[ResourceType, Callable[[Describer, str], Iterable[Entry]]] = {
    ResourceType.TOPIC: _topic,
    ResourceType.BROKER: _node,
    ResourceType.BROKER_LOGGER: _loggers,
    ResourceType.CLIENT_METRICS: _client_metrics,
    ResourceType.GROUP: _group,
}

# The values that a resource inherits from those of the node.
INHERITED: dict[ResourceType, Callable[[Mapping[str, Value]], dict[str, Value]]] = {
    ResourceType.TOPIC: topic_defaults,
    ResourceType.GROUP: group_defaults,
    ResourceType.CLIENT_METRICS: lambda _node: {},
}

_OWN_SOURCES = {
    ResourceType.TOPIC: ConfigSource.TOPIC,
    ResourceType.GROUP: ConfigSource.GROUP,
    ResourceType.CLIENT_METRICS: ConfigSource.CLIENT_METRICS,
}

# Key -> default value, as text; without the keys that have no default.
DEFAULTS: dict[str, str] = {
    key.name: text
    for key in server.KEYS
    if not isinstance(key.default, Required) and (text := value_text(key.default)) is not None
}


def _check_own_id(env: Env, name: str, expected: str) -> None:
    node_id = parse_integer(name)
    if node_id is None or not -(1 << 31) <= node_id < 1 << 31:
        raise ApiError(Error.INVALID_REQUEST, f"Broker id must be an integer, but it is: {name}")
    if node_id != env.node_id:
        raise ApiError(Error.INVALID_REQUEST, f"Unexpected broker id, {expected}")
