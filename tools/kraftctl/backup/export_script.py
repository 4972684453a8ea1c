"""An image as a script of stock's tools, to create parts of it again; secrets are left out, and named."""

from __future__ import annotations

import shlex

from controller.config.dynamic import node_type
from controller.config.values.definition import Type
from controller.state.tables.acl import CLUSTER_NAME, AclOperation, AclResourceType, PatternType, Permission
from controller.state.tables.configs import BROKER, CLIENT_METRICS, GROUP, TOPIC
from controller.state.tables.scram import MECHANISMS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from controller.state.tables.acl import Acl
    from tools.offline.image import Image

PARTS = ("topics", "configs", "acls", "quotas", "users")
SERVER = '--bootstrap-server "$BOOTSTRAP"'
_ENTITIES = {BROKER: "brokers", CLIENT_METRICS: "client-metrics", GROUP: "groups"}
_RESOURCES = {
    AclResourceType.TOPIC: "--topic",
    AclResourceType.GROUP: "--group",
    AclResourceType.TRANSACTIONAL_ID: "--transactional-id",
    AclResourceType.DELEGATION_TOKEN: "--delegation-token",
    AclResourceType.USER: "--user-principal",
}


def script(image: Image, parts: tuple[str, ...]) -> Iterator[str]:
    """The lines: commands, and comments for what cannot be exported. parts: of PARTS."""
    if "topics" in parts:
        yield from _topics(image)
    if "configs" in parts:
        yield from _configs(image)
    if "acls" in parts:
        for acl in sorted(image.acls.values()):
            yield _acl(acl)
    if "quotas" in parts:
        yield from _quotas(image)
    if "users" in parts:
        yield from _users(image)


def _topics(image: Image) -> Iterator[str]:
    """Internal topics are left out: brokers create them when they are needed."""
    for name, topic_id in sorted(image.topic_ids.items()):
        partitions = image.topics[topic_id].partitions
        if name.startswith("__") or not partitions:
            continue
        configs = image.configs.get((TOPIC, name), {})
        replicas = len(next(iter(partitions.values())).replicas)
        options = "".join(f" --config {shlex.quote(f'{key}={value}')}" for key, value in sorted(configs.items()))
        yield (
            f"kafka-topics.sh {SERVER} --create --if-not-exists --topic {shlex.quote(name)} --partitions "
            f"{len(partitions)} --replication-factor {replicas}{options}"
        )


def _configs(image: Image) -> Iterator[str]:
    for (kind, name), values in sorted(image.configs.items()):
        if kind not in _ENTITIES:
            continue
        entity = f"--entity-name {shlex.quote(name)}" if name else "--entity-default"
        for key, value in sorted(values.items()):
            if kind == BROKER and node_type(key) in (None, Type.PASSWORD):
                yield f"# {_ENTITIES[kind]} {_plain(name) or 'default'}: the value of {_plain(key)} is secret, set it"
                continue
            added = shlex.quote(f"{key}=[{value}]")
            yield f"kafka-configs.sh {SERVER} --alter --entity-type {_ENTITIES[kind]} {entity} --add-config {added}"


def _acl(acl: Acl) -> str:
    allows = acl.permission_type == Permission.ALLOW
    who = "allow" if allows else "deny"
    if acl.resource_type == AclResourceType.CLUSTER:
        resource = "--cluster" if acl.resource_name == CLUSTER_NAME else f"--cluster {shlex.quote(acl.resource_name)}"
    else:
        resource = f"{_RESOURCES[AclResourceType(acl.resource_type)]} {shlex.quote(acl.resource_name)}"
    operation = "".join(word.capitalize() for word in AclOperation(acl.operation).name.split("_"))
    return (
        f"kafka-acls.sh {SERVER} --add --{who}-principal {shlex.quote(acl.principal)} --{who}-host "
        f"{shlex.quote(acl.host)} --operation {operation} {resource} --resource-pattern-type "
        f"{PatternType(acl.pattern_type).name.lower()}"
    )


def _quotas(image: Image) -> Iterator[str]:
    kinds = {"user": "users", "client-id": "clients", "ip": "ips"}
    for entity, values in sorted(image.quotas.items(), key=repr):
        named = " ".join(
            f"--entity-type {kinds.get(kind, kind)} "
            + ("--entity-default" if name is None else f"--entity-name {shlex.quote(name)}")
            for kind, name in entity
        )
        added = shlex.quote(",".join(f"{key}={value:g}" for key, value in sorted(values.items())))
        yield f"kafka-configs.sh {SERVER} --alter {named} --add-config {added}"


def _users(image: Image) -> Iterator[str]:
    for user, mechanism in sorted(image.scram):
        name = MECHANISMS.get(mechanism, str(mechanism))
        yield f"# user {_plain(user)} has credentials of {name}: secret, set a new password"
    if image.tokens:
        yield f"# {len(image.tokens)} delegation tokens: secret, they must be created again"


def _plain(text: str) -> str:
    """A name that is safe in a comment: a line break would end it."""
    return text if text.isprintable() else repr(text)
