"""Changes of a resource's configuration: their records, and the checks of them (KIP-133, KIP-339, KIP-966)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.config.resources import DEFINITIONS, STOCK_VALUES, check_resource
from controller.config.values.definition import Required, Type, value_text
from controller.interface.policies import ConfigChange
from records.errors import ApiError, Error
from records.features.record_versions import CORDONED_DIRECTORIES
from records.java.java_order import hash_order
from records.java.java_values import java_trim, parse_integer, split_list
from records.metadata.configs import ConfigRecord
from records.metadata.topics import ClearElrRecord
from records.resource_types import ConfigOperation, ResourceType

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from controller.config.values.definition import Key
    from controller.interface.env import Env
    from controller.state.state import State

Records = list[tuple[Any, int]]

MIN_ISR = "min.insync.replicas"
CORDONED = "cordoned.log.dirs"

# The greatest length of a value and of a name, in bytes of UTF-8: the limit of a string on the wire.
VALUE_BYTES_MAX = 32767

_SPLITTABLE = (ResourceType.BROKER, ResourceType.TOPIC)


def config_record(kind: ResourceType, name: str, key: str, value: str | None) -> tuple[ConfigRecord, int]:
    """The record, with its version, that sets a key, or removes it if the value is None."""
    return ConfigRecord(resource_type=kind, resource_name=name, name=key, value=value), 0


def incremental(state: State, kind: ResourceType, name: str, changes: Mapping[str, tuple[int, str | None]]) -> Records:
    """The records that apply changes to the present values, in the order of Kafka's map. Raises ApiError.

    changes: key -> operation and operand.
    """
    current = state.configs.get((kind, name), {})
    records: Records = []
    for key in hash_order(changes):
        operation, operand = changes[key]
        value = _apply_operation(kind, key, current.get(key), operation, operand)
        # An unchanged value is written too: the broker then reloads the files that the key names.
        if value != current.get(key) or kind is ResourceType.BROKER:
            records.append(config_record(kind, name, key, value))
    return records


def replacement(
    state: State, kind: ResourceType, name: str, values: Mapping[str, str | None]
) -> tuple[Records, Records]:
    """The records that make these the only keys of a resource: they set the given keys and remove all others."""
    current = state.configs.get((kind, name), {})
    named = [
        config_record(kind, name, key, value)
        for key in hash_order(values)
        if (value := values[key]) != current.get(key) or kind is ResourceType.BROKER
    ]
    return named, [config_record(kind, name, key, None) for key in current if key not in values]


def check_changes(
    state: State,
    env: Env,
    kind: ResourceType,
    name: str,
    records: Sequence[tuple[ConfigRecord, int]],
    *,
    implied: Sequence[tuple[ConfigRecord, int]] = (),
    is_new: bool = False,
    forwarded: bool = False,
) -> None:
    """Check changes by the rules of their resource: first each key, then all keys together as they would be; then by
    the operator's own policy.

    implied: removals of keys that the request does not name; the policy does not get them. is_new: the resource is
    being created. forwarded: a broker forwarded the request and has checked it.
    Raises ApiError.
    """
    existing = state.configs.get((kind, name), {})
    values = dict(existing)
    for record, _ in (*records, *implied):
        _check_record(state, record, existing, forwarded=forwarded)
        if record.value is None:
            values.pop(record.name, None)
        else:
            values[record.name] = record.value
    node = STOCK_VALUES if env.config is None else env.config.values
    check_resource(kind, name, values, existing, node, env.release)
    if not is_new:
        check_exists(state, env, kind, name)
    if env.policies.alter_config is not None:
        configs = {record.name: record.value for record, _ in records}
        env.policies.alter_config(ConfigChange(kind.name, name, configs))


def clear_elr_records(state: State, records: Sequence[tuple[Any, int]]) -> Records:
    """The records that clear ELRs if min.insync.replicas changes: they were kept by its old value (KIP-966)."""
    if not state.is_elr_enabled:
        return []
    return [
        (ClearElrRecord(topic_name=record.resource_name if record.resource_type == ResourceType.TOPIC else ""), 0)
        for record, _ in records
        if isinstance(record, ConfigRecord) and record.name == MIN_ISR
    ]


def check_exists(state: State, env: Env, kind: ResourceType, name: str) -> None:
    """Raises ApiError if the resource is a topic or a node that does not exist."""
    if kind is ResourceType.TOPIC and name not in state.topic_ids:
        raise ApiError(Error.UNKNOWN_TOPIC_OR_PARTITION, f"The topic '{name}' does not exist.")
    if kind is ResourceType.BROKER and name:
        node_id = parse_integer(name)
        assert node_id is not None, "the name was checked"
        voters = () if env.config is None else env.config.voters
        known = node_id in state.brokers or node_id in state.controllers or node_id in voters or node_id == env.node_id
        if not known:
            raise ApiError(Error.BROKER_ID_NOT_REGISTERED, f"No node with id {node_id} found.")


def _apply_operation(
    kind: ResourceType, key: str, current: str | None, operation: int, operand: str | None
) -> str | None:
    """The value after an operation on the current one; None if it is removed."""
    match operation:
        case ConfigOperation.SET:
            return operand
        case ConfigOperation.DELETE:
            return None
        case ConfigOperation.APPEND | ConfigOperation.SUBTRACT:
            definition = DEFINITIONS[kind].get(key) if kind in _SPLITTABLE else None
            named = ConfigOperation(operation).name
            if definition is None or definition.type is not Type.LIST:
                raise ApiError(Error.INVALID_CONFIG, f"Can't {named} to key {key} because its type is not LIST.")
            if operand is None:
                raise ApiError(Error.INVALID_REQUEST, f"Null value not supported for : {key}")
            base = _default(definition) if current is None else current
            parts = [part for part in base.split(",") if part]
            change = _append_operands if operation == ConfigOperation.APPEND else _subtract_operands
            return ",".join(change(parts, _java_split(operand)))
    raise ApiError(Error.INVALID_REQUEST, f"Unknown operation type {operation} for key {key}.")


def _default(definition: Key) -> str:
    default = definition.default
    return "" if isinstance(default, Required) else value_text(default) or ""


def _append_operands(parts: list[str], operands: list[str]) -> list[str]:
    """The parts, with each missing operand added at the end."""
    present = set(parts)
    return parts + [operand for operand in dict.fromkeys(operands) if operand not in present]


def _subtract_operands(parts: list[str], operands: list[str]) -> list[str]:
    """The parts, without the first occurrence of each operand."""
    left: dict[str, int] = {}
    for operand in operands:
        left[operand] = left.get(operand, 0) + 1
    kept = []
    for part in parts:
        if left.get(part, 0):
            left[part] -= 1
        else:
            kept.append(part)
    return kept


def _java_split(text: str) -> list[str]:
    """Split a text at commas as Java's String.split does: without empty parts at the end."""
    parts = text.split(",")
    while len(parts) > 1 and not parts[-1]:
        parts.pop()
    return [] if parts == [""] and text else parts


def _check_record(state: State, record: ConfigRecord, existing: Mapping[str, str], *, forwarded: bool) -> None:
    is_broker = record.resource_type == ResourceType.BROKER
    if is_broker and record.name == MIN_ISR and state.is_elr_enabled:
        if record.resource_name:
            raise _invalid("Broker-level min.insync.replicas cannot be altered while ELR is enabled.")
        if record.value is None:
            raise _invalid("Cluster-level min.insync.replicas cannot be removed while ELR is enabled.")
    if is_broker and record.name == CORDONED:
        _check_cordoned(state, record, existing.get(CORDONED), forwarded=forwarded)
    for text in (record.name, record.value or ""):
        if len(text) * 3 > VALUE_BYTES_MAX and len(text.encode("utf-8", "surrogatepass")) > VALUE_BYTES_MAX:
            raise _invalid(
                "The configuration value cannot be added because it exceeds the maximum value size of "
                f"{VALUE_BYTES_MAX} bytes."
            )


def _check_cordoned(state: State, record: ConfigRecord, current: str | None, *, forwarded: bool) -> None:
    """Check cordoned.log.dirs (KIP-1066): only the broker knows its paths, a controller knows ids of directories."""
    if state.metadata_version < CORDONED_DIRECTORIES:
        raise _invalid(
            "The cordoned.log.dirs configuration value cannot be set because it requires metadata.version >= 4.3-IV0"
        )
    if forwarded or record.value is None:
        return
    present = () if current is None else split_list(java_trim(current))
    if not set(split_list(java_trim(record.value))) <= set(present):
        raise _invalid(
            "When updating cordoned.log.dirs via controllers,  the new value must be a subset of the current "
            "configuration value."
        )


def _invalid(text: str) -> ApiError:
    return ApiError(Error.INVALID_CONFIG, text)
