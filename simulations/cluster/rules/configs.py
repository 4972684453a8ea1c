"""IncrementalAlterConfigs, AlterConfigs and DescribeConfigs: independent rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from records.errors import Error
from records.java.java_order import hash_order
from records.messages.configs import IncrementalAlterConfigsRequest
from records.metadata.configs import ConfigRecord
from records.metadata.topics import ClearElrRecord
from simulations.cluster.metadata.member_rules import CORDONED_SINCE, MIN_ISR
from simulations.cluster.rules.case import Case, find_repeated, is_topic_name
from simulations.nodes.config_values import (
    APPEND,
    BROKER,
    CLIENT_METRICS,
    DELETE,
    GROUP,
    LISTS,
    LOGGER,
    NODE_LOGGERS,
    SET,
    SUBTRACT,
    TOPIC,
    is_taken,
)

if TYPE_CHECKING:
    from collections.abc import Callable

KINDS = (TOPIC, BROKER, CLIENT_METRICS, GROUP)
CORDONED = "cordoned.log.dirs"
ENTRIES_MAX = 100_000
# A dynamic config takes precedence over all static synonyms.
RETENTION = ("log.retention.ms", "log.retention.minutes", "log.retention.hours")
ROOT = "root"
LEVELS = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")
# The defaults of lists that a topic does not set.
LIST_DEFAULTS = {"cleanup.policy": "delete"}
# Sources of values.
OF_TOPIC, OF_BROKER, OF_ALL, OF_FILE, BY_DEFAULT, OF_LOGGER, OF_CLIENT_METRICS, OF_GROUP = range(1, 9)
OWN = {TOPIC: OF_TOPIC, GROUP: OF_GROUP, CLIENT_METRICS: OF_CLIENT_METRICS}
# The number of keys of a resource without configs of its own, by type.
KEYS = {TOPIC: 37, GROUP: 21, CLIENT_METRICS: 3}

Key = tuple[int, str]
Values = dict[str, str | None]


def check_alter(case: Case) -> Callable[[Any], None]:
    request = case.request
    keys: list[Key] = [(each.resource_type, each.resource_name) for each in request.resources]
    is_incremental = isinstance(request, IncrementalAlterConfigsRequest)
    records: list[Any] = []
    allowed: dict[Key, set[int] | None] = {}
    for key, resource in zip(keys, request.resources, strict=True):
        if key[0] == LOGGER and is_incremental:
            allowed[key] = _wrong_levels(case, resource) if key not in find_repeated(keys) else None
        elif key[0] not in (*KINDS, LOGGER):
            allowed[key] = {Error.UNSUPPORTED_VERSION}
        elif key in find_repeated(keys) or key[0] == LOGGER:
            allowed[key] = {Error.INVALID_REQUEST}
        else:
            named = {each.name: each for each in resource.configs}
            changes = {name: named[name] for name in hash_order(named)}
            wanted, wrong, is_known = (_incremental if is_incremental else _whole)(case, key, changes)
            wrong |= _wrong_resource(case, key)
            if wrong and not is_known:
                wrong |= {Error.INVALID_CONFIG, Error.INVALID_REQUEST}
            allowed[key] = wrong if is_known or wrong else None
            if is_known and not wrong:
                records += wanted
            elif not wrong:
                records.append(None)  # whether it is taken is not known here
    if None not in records:
        _is_written(case, [] if request.validate_only else records)

    def read(response: Any) -> None:
        for result in response.responses:
            codes = allowed[result.resource_type, result.resource_name]
            if codes is not None and not (
                result.error_code == Error.POLICY_VIOLATION and case.may_be_too_much(len(keys))
            ):
                case.expect(f"{result.resource_type} {result.resource_name}", result.error_code, codes)

    return read


def _wrong_levels(case: Case, resource: Any) -> set[int]:
    """Levels can be set only of this node's loggers (KIP-412); null is an internal error, as in stock."""
    if resource.resource_name != str(case.node_id):
        return {Error.INVALID_REQUEST}
    errors: set[int] = set()
    for each in resource.configs:
        if each.config_operation not in (SET, DELETE) or (each.config_operation == DELETE and each.name == ROOT):
            errors.add(Error.INVALID_REQUEST)
        if each.config_operation == SET and each.value is None:
            errors.add(Error.UNKNOWN_SERVER_ERROR)
        if each.name not in NODE_LOGGERS or (each.config_operation == SET and each.value not in LEVELS):
            errors.add(Error.INVALID_CONFIG)
    return errors


def _is_written(case: Case, records: list[Any]) -> None:
    written = [each for each in case.request_records if isinstance(each, (ConfigRecord, ClearElrRecord))]
    if case.keeps_elr:
        records = records + [
            ClearElrRecord(topic_name=each.resource_name if each.resource_type == TOPIC else "")
            for each in records
            if each.name == MIN_ISR
        ]
    if written or not case.may_be_too_much(len(records)):
        case.same("the records", written, records)


def _incremental(case: Case, key: Key, changes: dict[str, Any]) -> tuple[list[Any], set[int], bool]:
    """The records, the error, and whether both are known."""
    now = case.image.configs.get(key, {})
    after: Values = {}
    wrong: set[int] = set()
    for name, change in changes.items():
        operation, value = change.config_operation, change.value
        if operation == SET:
            after[name] = value
        elif operation == DELETE:
            after[name] = None
        elif operation not in (APPEND, SUBTRACT):
            wrong.add(Error.INVALID_REQUEST)
        elif (
            key[0] not in (TOPIC, BROKER)
            or (name not in LISTS and key[0] == TOPIC)
            or (name not in ("log.cleanup.policy", CORDONED) and key[0] == BROKER)
        ):
            wrong.add(Error.INVALID_CONFIG)
        elif value is None:
            wrong.add(Error.INVALID_REQUEST)
        else:
            base = now.get(name, LIST_DEFAULTS.get(name.removeprefix("log."), ""))
            after[name] = _join(base, value, is_more=operation == APPEND)
    return _check_values(case, key, after, wrong)


def _join(base: str, value: str, *, is_more: bool) -> str:
    parts = [each for each in base.split(",") if each]
    given = value.split(",")
    if is_more:
        return ",".join([*parts, *(each for each in dict.fromkeys(given) if each not in parts)])
    return ",".join(each for each in parts if each not in given)


def _whole(case: Case, key: Key, changes: dict[str, Any]) -> tuple[list[Any], set[int], bool]:
    now = case.image.configs.get(key, {})
    after: Values = {name: change.value for name, change in changes.items()}
    after |= {name: None for name in now if name not in changes}
    return _check_values(case, key, after, set())


def _check_values(case: Case, key: Key, after: Values, wrong: set[int]) -> tuple[list[Any], set[int], bool]:
    """Check the resulting values."""
    is_known = True
    kind, resource = key
    now = case.image.configs.get(key, {})
    whole = {**now, **after}
    for name, value in whole.items():
        if kind == BROKER:
            if name in after and _is_wrong_of_nodes(case, resource, name, value, now.get(name)):
                wrong.add(Error.INVALID_CONFIG)
            continue
        if value is None:
            continue
        takes = is_taken(kind, name, value)
        if takes is False:
            wrong |= {Error.INVALID_CONFIG, Error.INVALID_REQUEST} if kind != TOPIC else {Error.INVALID_CONFIG}
        is_known = is_known and takes is not None
    records = [
        ConfigRecord(resource_type=kind, resource_name=resource, name=name, value=value)
        for name, value in after.items()
        if value != now.get(name) or kind == BROKER
    ]
    return records, wrong, is_known


def _is_wrong_of_nodes(case: Case, resource: str, name: str, value: str | None, now: str | None) -> bool:
    """The two keys of brokers that a controller checks (KIP-966, KIP-1066)."""
    if name == MIN_ISR and case.keeps_elr:
        return bool(resource) or value is None
    if name != CORDONED:
        return False
    if case.level < CORDONED_SINCE:
        return True
    given, known = (set((each or "").replace(" ", "").split(",")) - {""} for each in (value, now))
    return not given <= known  # a broker alone knows which paths it has


def _wrong_resource(case: Case, key: Key) -> set[int]:
    kind, name = key
    if kind == TOPIC:
        return _wrong_topic(case, name)
    if kind == BROKER:
        return _wrong_node(case, name)
    return set() if name else {Error.INVALID_REQUEST}


def _wrong_topic(case: Case, name: str) -> set[int]:
    if not name:
        return {Error.INVALID_REQUEST}
    if not is_topic_name(name):
        return {Error.INVALID_TOPIC_EXCEPTION}
    return set() if name in case.image.names else {Error.UNKNOWN_TOPIC_OR_PARTITION}


def _wrong_node(case: Case, name: str) -> set[int]:
    if not name:
        return set()
    if not name.isdigit() or int(name) >= 1 << 31:
        return {Error.INVALID_REQUEST}
    known = int(name) in case.image.brokers or int(name) in case.image.controllers or int(name) in case.voters
    return set() if known else {Error.BROKER_ID_NOT_REGISTERED}


# Described


def check_describe(case: Case) -> Callable[[Any], None]:
    request = case.request
    if any(each.resource_type not in (*KINDS, LOGGER) for each in request.resources):

        def check_refusal(response: Any) -> None:
            for result in response.results:
                case.expect(
                    f"{result.resource_type} {result.resource_name}", result.error_code, {Error.INVALID_REQUEST}
                )

        return check_refusal
    wanted = [(resource, _check_description(case, resource)) for resource in request.resources]

    def read(response: Any) -> None:
        if all(result.error_code == Error.POLICY_VIOLATION for result in response.results):
            if len(request.resources) * KEYS[TOPIC] < ENTRIES_MAX:
                raise case.fail("it is refused as too large")
            return
        case.same("the number of described resources", len(response.results), len(wanted))
        for (resource, expected), result in zip(wanted, response.results, strict=True):
            expected(resource, result)

    return read


def _check_description(case: Case, resource: Any) -> Callable[[Any, Any], None]:
    """The check of the response for one resource against its present configs."""
    kind, name = resource.resource_type, resource.resource_name
    own = dict(case.image.configs.get((kind, name), {}))
    wrong = _not_described(case, kind, name)
    with_synonyms = case.request.include_synonyms

    def read(resource: Any, result: Any) -> None:
        what = f"{kind} {name}"
        case.same("the described resource", (result.resource_type, result.resource_name), (kind, name))
        case.expect(what, result.error_code, wrong)
        if result.error_code != Error.NONE:
            case.same(f"the configs of {what}", tuple(result.configs), ())
            return
        entries = {each.name: each for each in result.configs}
        keys = resource.configuration_keys
        case.same("the order of the keys", list(entries), sorted(entries))
        if keys and set(entries) - set(keys):
            raise case.fail(f"{set(entries)} are described, but {keys} were requested")
        if kind in KEYS:
            _is_resource(case, kind, own, entries, keys)
        elif kind == BROKER and not name:
            _is_of_all(case, own, entries)
        for each in entries.values():
            _is_entry(case, each, with_synonyms)

    return read


def _not_described(case: Case, kind: int, name: str) -> set[int]:
    if kind == TOPIC:
        if not name:
            return {Error.INVALID_TOPIC_EXCEPTION}
        return _wrong_topic(case, name)
    if kind in (CLIENT_METRICS, GROUP):
        return set() if name else {Error.INVALID_REQUEST}
    if kind == BROKER and not name:
        return set()
    return set() if name == str(case.node_id) else {Error.INVALID_REQUEST}


def _is_resource(case: Case, kind: int, own: dict[str, str], entries: dict[str, Any], keys: Any) -> None:
    if not keys:
        case.same("the number of keys", len(entries), KEYS[kind])
    for key, entry in entries.items():
        case.same(f"the source of {key}", entry.config_source == OWN[kind], key in own)
        case.same(f"read-only and sensitive of {key}", (entry.read_only, entry.is_sensitive), (False, False))
    for key, value in own.items():
        if key in entries:
            case.same(f"{key}", _plain(entries[key].value), _plain(value))


def _plain(value: str | None) -> str:
    """Booleans and numbers are described in their canonical form."""
    text = (value or "").strip().lower()
    try:
        return str(float(text))
    except ValueError:
        return text


def _is_of_all(case: Case, own: dict[str, str], entries: dict[str, Any]) -> None:
    """The configs of all brokers: passwords, and unknown keys, which may be passwords, without the value.

    A config without effect, because of its value or another one, may be left out.
    """
    for key, entry in entries.items():
        is_secret = key in ("ssl.keystore.password", "no.such.key")
        case.same(f"the value of {key}", entry.value, None if is_secret else own.get(key))
        case.same(f"sensitive of {key}", entry.is_sensitive, is_secret)


def _is_entry(case: Case, entry: Any, with_synonyms: bool) -> None:
    """Synonyms, highest precedence first, and the first of them is in effect."""
    if not with_synonyms:
        case.same(f"synonyms of {entry.name}", tuple(entry.synonyms), ())
        return
    sources = [each.source for each in entry.synonyms]
    case.same(f"the order of {entry.name}", sources, sorted(sources, key=_strength))
    if sources:
        case.same(f"the source of {entry.name}", entry.config_source, sources[0])
        if entry.value is not None or not _is_covered(case, entry.name):
            case.same(f"the value of {entry.name}", entry.synonyms[0].value, entry.value)
    if entry.is_sensitive:
        case.same(f"the values of {entry.name}", {entry.value, *(each.value for each in entry.synonyms)}, {None})


def _is_covered(case: Case, key: str) -> bool:
    """Whether a dynamic synonym takes precedence: the static value is then described as a synonym,
    and is not in effect.
    """
    names = (str(case.node_id), "")
    return key in RETENTION and any(
        other in case.image.configs.get((BROKER, name), {}) for name in names for other in RETENTION if other != key
    )


def _strength(source: int) -> int:
    return 0 if source in (OF_TOPIC, OF_GROUP, OF_CLIENT_METRICS) else source
