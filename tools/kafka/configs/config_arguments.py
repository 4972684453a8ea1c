"""The arguments of kafka-configs: entities, configs to add and to delete, as stock reads and checks them."""

from __future__ import annotations

import re
from typing import NamedTuple

from records.java.java_forms import integer
from records.java.java_order import hash_order
from records.java.java_values import java_trim
from tools.command_line.java_texts import Uncaught, uncaught

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tools.command_line.options import Options

ILLEGAL_ARGUMENT = "java.lang.IllegalArgumentException"
TOPICS, CLIENTS, USERS, BROKERS, IPS = "topics", "clients", "users", "brokers", "ips"
CLIENT_METRICS, GROUPS, BROKER_LOGGERS = "client-metrics", "groups", "broker-loggers"
TYPES = (BROKER_LOGGERS, TOPICS, CLIENTS, USERS, BROKERS, IPS, CLIENT_METRICS, GROUPS)
# Option -> the type of the entity that it names.
FLAGS = {
    "topic": TOPICS, "client": CLIENTS, "user": USERS, "broker": BROKERS, "broker-logger": BROKER_LOGGERS, "ip": IPS,
    "client-metrics": CLIENT_METRICS, "group": GROUPS,
}  # fmt: skip
DEFAULTS = {"client-defaults": CLIENTS, "user-defaults": USERS, "broker-defaults": BROKERS, "ip-defaults": IPS}
QUOTAS = ("consumer_byte_rate", "controller_mutation_rate", "producer_byte_rate", "request_percentage")
IP_QUOTAS = ("connection_creation_rate",)
# Mechanism -> the name of Java's constant.
SCRAM = {"SCRAM-SHA-256": "SCRAM_SHA_256", "SCRAM-SHA-512": "SCRAM_SHA_512"}
WITH_DEFAULT = (USERS, CLIENTS, BROKERS, IPS)
# Not followed by a `]` before the next `[`: commas within brackets belong to a value.
_OUTSIDE = r"(?=[^\]]*(?:\[|$))"
_COMMA = re.compile("," + _OUTSIDE)
_EQUALS = re.compile(r"\s*=\s*" + _OUTSIDE, re.ASCII)
_KEY = re.compile(r"[$a-zA-Z0-9._-]*")


class Entities(NamedTuple):
    """types: as given, or by the options that name an entity. names: empty texts for defaults."""

    types: list[str]
    names: list[str]


def entities_of(options: Options) -> Entities:
    """The types and names of the options. Raises OptionError for an option without its value."""
    flags = [name for name in FLAGS if options.has(name)]
    defaults = [name for name in DEFAULTS if options.has(name)]
    types = [
        *options.given.get("entity-type", ()),
        *map(FLAGS.__getitem__, flags),
        *map(DEFAULTS.__getitem__, defaults),
    ]
    given = iter(options.given.get("entity-name", ()))
    names = [
        next(given) if name == "entity-name" else ""
        for name in options.order
        if name in ("entity-name", "entity-default")
    ]
    return Entities(types, [*names, *map(options.value, flags), *("" for _ in defaults)])


def _refusal(text: str) -> Uncaught:
    return Uncaught(ILLEGAL_ARGUMENT, text)


def check_entities(options: Options) -> None:
    """Stock's checks of the entities, in its order. Raises OptionError, Uncaught."""
    types = entities_of(options).types
    if len(set(types)) != len(types):
        repeated = [kind for number, kind in enumerate(types) if kind in types[:number]]
        raise _refusal(f"Duplicate entity type(s) specified: {','.join(dict.fromkeys(repeated))}")
    if not options.has("bootstrap-server") and not options.has("bootstrap-controller"):
        raise _refusal("Either --bootstrap-server or --bootstrap-controller must be specified.")
    for kind in types:
        if kind not in TYPES:
            where = "with a --bootstrap-server or --bootstrap-controller argument"
            raise _refusal(f"Invalid entity type {kind}, the entity type must be one of {', '.join(TYPES)} {where}")
    if not types:
        raise _refusal("At least one entity type must be specified")
    if len(types) > 1 and set(types) != {USERS, CLIENTS}:
        raise _refusal("Only 'users' and 'clients' entity types may be specified together")
    if any(options.has(name) for name in ("entity-name", "entity-type", "entity-default")) and any(
        options.has(name) for name in (*FLAGS, *DEFAULTS)
    ):
        raise _refusal("--entity-{type,name,default} should not be used in conjunction with specific entity flags")
    names = entities_of(options).names
    if options.has("bootstrap-server") and options.has("bootstrap-controller"):
        raise _refusal("Only one of --bootstrap-server or --bootstrap-controller can be specified")
    _check_names(options, types, has_name=any(names))
    if options.has("describe"):
        _check_describe(options, types, has_name=any(names))
    if options.has("alter"):
        _check_alter(options, types, names)


def _check_names(options: Options, types: Sequence[str], *, has_name: bool) -> None:
    """Check the names of entities. Raises OptionError, Uncaught for one that its type cannot have."""
    if has_name and (BROKERS in types or BROKER_LOGGERS in types):
        for name in filter(options.has, ("entity-name", "broker", "broker-logger")):
            text = options.value(name)
            try:
                integer(text)
            except ValueError:
                raise _refusal(
                    f"The entity name for {types[0]} must be a valid integer broker id, but it is: {text}"
                ) from None
    if has_name and IPS in types:
        for name in filter(options.has, ("entity-name", "ip")):
            text = options.value(name)
            if not _is_host(text):
                raise _refusal(
                    f"The entity name for {types[0]} must be a valid IP or resolvable host, but it is: {text}"
                )


def _is_host(text: str) -> bool:
    import socket

    try:
        socket.getaddrinfo(text or "localhost", None)
    except (OSError, UnicodeError):
        return False
    return True


def _check_describe(options: Options, types: Sequence[str], *, has_name: bool) -> None:
    """Check what is to be described. Raises Uncaught for entities that cannot be."""
    if options.has("entity-default") and not any(kind in types for kind in WITH_DEFAULT):
        raise _refusal(f"--entity-default must not be specified with --describe of {','.join(types)}")
    if BROKER_LOGGERS in types and not has_name:
        raise _refusal(f"An entity name must be specified with --describe of {','.join(types)}")


def _check_alter(options: Options, types: Sequence[str], names: Sequence[str]) -> None:
    """Check what is to be altered. Raises Uncaught where an entity or a change is missing."""
    if any(kind in types for kind in WITH_DEFAULT):
        if not names:
            raise _refusal(
                "An entity-name or default entity must be specified with --alter of users, clients, brokers or ips"
            )
    elif not any(names):
        raise _refusal(f"An entity name must be specified with --alter of {','.join(types)}")
    if options.has("add-config") and options.has("add-config-file"):
        raise _refusal("Only one of --add-config or --add-config-file must be specified")
    if not any(options.has(name) for name in ("add-config", "add-config-file", "delete-config")):
        raise _refusal(
            "At least one of --add-config, --add-config-file, or --delete-config must be specified with --alter"
        )


def configs_to_add(options: Options) -> dict[str, str]:
    """Key -> value, in the order of Java's map. Raises OptionError, Uncaught."""
    configs: dict[str, str] = {}
    if options.has("add-config-file"):
        from tools.client.settings import read_file

        try:
            configs |= read_file(options.value("add-config-file"))
        except OSError as error:
            raise uncaught(error) from None
    if options.has("add-config"):
        pairs = [_EQUALS.split(part) for part in _parts(options.value("add-config"))]
        if any(len(pair) != 2 for pair in pairs):
            raise _refusal(
                'Invalid entity config: all configs to be added must be in the format "key=val" or  "key=[val1,val2]" '
                "to group values which contain commas."
            )
        configs |= {java_trim(key): java_trim(value.replace("[", "").replace("]", "")) for key, value in pairs}
    listed = hash_order(configs)
    for key in listed:
        if not _KEY.fullmatch(key):
            raise _refusal(f"Invalid character found for config key: {key}")
    return {key: configs[key] for key in listed}


def _parts(text: str) -> list[str]:
    """The parts between commas outside of brackets, without empty parts at the end."""
    parts = _COMMA.split(text)
    while len(parts) > 1 and not parts[-1]:
        parts.pop()
    return [] if parts == [""] and text else parts


def configs_to_delete(options: Options) -> list[str]:
    """The keys to delete, in the order of the options."""
    keys = []
    for text in options.given.get("delete-config", ()):
        # As jopt-simple separates values: empty ones only where there is no other.
        keys += [part for part in text.split(",") if part] or [text]
    return [java_trim(key) for key in keys]
