"""The changes of `kafka-configs --alter`."""

from __future__ import annotations

import re
import sys

from records.errors import Error
from records.java.java_order import DEFAULT_CAPACITY, hash_order
from records.java.java_values import java_trim, parse_double
from tools.client.exceptions import PACKAGE, KafkaError
from tools.command_line.java_texts import Uncaught, parse_integer
from tools.kafka.configs.config_arguments import (
    BROKER_LOGGERS,
    CLIENTS,
    ILLEGAL_ARGUMENT,
    IP_QUOTAS,
    IPS,
    QUOTAS,
    SCRAM,
    USERS,
    configs_to_add,
    configs_to_delete,
)
from tools.kafka.configs.config_calls import ConfigResource
from tools.kafka.configs.config_describe import QUOTA_TYPES, RESOURCES, all_quotas, logger_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from tools.client.admin import Admin
    from tools.command_line.options import Options
    from tools.kafka.configs.config_arguments import Entities
    from tools.kafka.configs.config_change_calls import Credential

INVALID_CONFIGURATION = f"{PACKAGE}.InvalidConfigurationException"
ITERATIONS = 4096
_CREDENTIAL = re.compile(r"(?:iterations=(-?[0-9]*),)?password=(.*)", re.ASCII)


def alter(admin: Admin, entities: Entities, options: Options) -> None:
    """Alter the configs of one entity, or of the clients of a user. Raises OptionError, Uncaught."""
    kind, name = entities.types[0], entities.names[0]
    added, deleted = configs_to_add(options), configs_to_delete(options)
    if kind == BROKER_LOGGERS:
        _check_loggers(admin, name, added, deleted)
    if kind in RESOURCES:
        _alter_resource(admin, ConfigResource(RESOURCES[kind], name), added, deleted)
    elif kind == IPS:
        unknown = hash_order(key for key in _union(added, deleted) if key not in IP_QUOTAS)
        if unknown:
            text = (
                "Only connection quota configs can be added for 'ips' using --bootstrap-server. Unexpected config names"
            )
            raise Uncaught(ILLEGAL_ARGUMENT, f"{text}: {', '.join(unknown)}")
        _alter_quotas(admin, entities, added, deleted)
    else:
        _alter_client(admin, entities, added, deleted)
    if name:
        sys.stdout.write(f"Completed updating config for {kind[:-1]} {name}.\n")
    else:
        sys.stdout.write(f"Completed updating default config for {kind} in the cluster.\n")


def _union(first: Collection[str], more: Collection[str]) -> list[str]:
    """The distinct keys of both in the order of a HashSet that was made from `first`."""
    return hash_order((*first, *more), max(DEFAULT_CAPACITY, int(len(first) / 0.75) + 1))


def _check_loggers(admin: Admin, name: str, added: Mapping[str, str], deleted: Sequence[str]) -> None:
    """Check the named loggers. Raises Uncaught for one that the node does not have."""
    known = set(logger_names(admin, name))
    unknown = [key for key in (*deleted, *added) if key not in known]
    if unknown:
        raise Uncaught(INVALID_CONFIGURATION, f"Invalid broker logger(s): {','.join(unknown)}")


def _alter_resource(admin: Admin, resource: ConfigResource, added: Mapping[str, str], deleted: Sequence[str]) -> None:
    """Alter the configs of a resource. Raises Uncaught where the node refuses it."""
    from tools.kafka.configs.config_change_calls import alter_configs

    try:
        alter_configs(admin, resource, added, deleted)
    except Uncaught as error:
        if isinstance(error.cause, KafkaError) and error.cause.code == Error.UNSUPPORTED_VERSION:
            raise KafkaError(
                Error.UNSUPPORTED_VERSION,
                "The INCREMENTAL_ALTER_CONFIGS API is not supported by the cluster. The API is supported starting from "
                "version 2.3.0. You may want to use an older version of this tool to interact with your cluster, or "
                "upgrade your brokers to version 2.3.0 or newer to avoid this error.",
            ) from None
        raise


def _alter_client(admin: Admin, entities: Entities, added: Mapping[str, str], deleted: Sequence[str]) -> None:
    """Quotas of a user or of clients, or SCRAM credentials of a user. Raises Uncaught."""
    scram = {key: added[key] for key in hash_order(added) if key in SCRAM}
    scram_deleted = [key for key in deleted if key in SCRAM]
    has_quotas = any(key in QUOTAS for key in (*added, *deleted))
    kind = CLIENTS if CLIENTS in entities.types else USERS
    what = "quota" if kind == CLIENTS else "quota and SCRAM credential"
    for verb, keys in (("added", added), ("deleted", deleted)):
        unknown = hash_order(key for key in keys if key not in SCRAM and key not in QUOTAS)
        if kind == CLIENTS:
            unknown = _union(unknown, [key for key in keys if key in SCRAM])
        if unknown:
            text = f"Only {what} configs can be {verb} for '{kind}' using --bootstrap-server. Unexpected config names"
            raise Uncaught(ILLEGAL_ARGUMENT, f"{text}: {','.join(unknown)}")
    if kind == USERS and (scram or scram_deleted):
        if "" in entities.names:
            raise Uncaught(
                ILLEGAL_ARGUMENT,
                "The use of --entity-default or --user-defaults is not allowed with User SCRAM Credentials using "
                "--bootstrap-server.",
            )
        if has_quotas:
            raise Uncaught(
                ILLEGAL_ARGUMENT,
                "Cannot alter both quota and SCRAM credential configs simultaneously for 'users' using "
                "--bootstrap-server.",
            )
    if has_quotas:
        _alter_quotas(admin, entities, added, deleted)
        return
    if len(entities.names) != 1:
        text = "Altering user SCRAM credentials should never occur for more zero or multiple users"
        raise Uncaught("java.lang.IllegalStateException", f"{text}: [{', '.join(entities.names)}]")
    _alter_credentials(admin, entities.names[0], scram, scram_deleted)


def _alter_quotas(admin: Admin, entities: Entities, added: Mapping[str, str], deleted: Sequence[str]) -> None:
    """Alter the quotas of an entity. Raises Uncaught for a key that is not there, or a value that is no number."""
    from tools.kafka.configs.config_quota_calls import alter_quotas

    existing = next((quotas.values for quotas in all_quotas(admin, entities)), {})
    absent = [key for key in deleted if key not in existing]
    if absent:
        raise Uncaught(INVALID_CONFIGURATION, f"Invalid config(s): {','.join(absent)}")
    values: dict[str, float | None] = {}
    for key, text in added.items():
        value = parse_double(java_trim(text))
        if value is None:
            raise Uncaught(ILLEGAL_ARGUMENT, f"Cannot parse quota configuration value for {key}: {text}")
        values[key] = value
    entity = {QUOTA_TYPES[kind]: name or None for kind, name in zip(entities.types, entities.names, strict=True)}
    alter_quotas(admin, entity, {**values, **dict.fromkeys(deleted)})


def _alter_credentials(admin: Admin, user: str, scram: Mapping[str, str], deleted: Sequence[str]) -> None:
    """Alter the credentials of a user. Raises Uncaught for one that is not valid, or not there."""
    from tools.kafka.configs.config_change_calls import alter_credentials
    from tools.rng import random_bits

    upserted = [_credential(mechanism, text) for mechanism, text in scram.items()]
    if upserted or deleted:
        alter_credentials(admin, user, upserted, deleted, random_bits)


def _credential(mechanism: str, text: str) -> Credential:
    """The credential of a text such as `iterations=8192,password=…`. Raises Uncaught."""
    from tools.kafka.configs.config_change_calls import Credential

    match = _CREDENTIAL.fullmatch(text)
    if match is None:
        # Stock prints the text, which may have the password.
        raise Uncaught(ILLEGAL_ARGUMENT, f"Invalid credential property {SCRAM[mechanism]}=[hidden]")
    iterations = ITERATIONS if match[1] is None or match[1] == "-1" else parse_integer(match[1])
    if iterations < ITERATIONS:
        text = f"Iterations {iterations} is less than the minimum {ITERATIONS} required for {mechanism}"
        raise Uncaught(ILLEGAL_ARGUMENT, text)
    return Credential(mechanism, iterations, match[2])
