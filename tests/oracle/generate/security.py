"""ACLs, SCRAM credentials, client quotas and delegation tokens."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING, Any

from tests.oracle.generate.world import USERS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.oracle.commands import Command
    from tests.oracle.generate.world import World

ANY, MATCH, LITERAL, PREFIXED = 1, 2, 3, 4
TOPIC, GROUP, CLUSTER, USER = 2, 3, 4, 7
DENY, ALLOW = 2, 3
OPERATIONS = tuple(range(2, 16))
# READ, WRITE, CREATE, DELETE, ALTER, DESCRIBE, DESCRIBE_CONFIGS, ALTER_CONFIGS.
OF_TOPICS = (3, 4, 5, 6, 7, 8, 10, 11)
# An oracle's requests come from 127.0.0.1.
HOSTS = ("*", "*", "*", "127.0.0.1", "10.0.0.1", "127.0.0.0/8", "127.0.0.2/31", "10.0.0.0/8", "::/0")
USER_KEYS = ("producer_byte_rate", "consumer_byte_rate", "request_percentage", "controller_mutation_rate")
VALUES = (1.0, 1000.0, 1000.0000001, 0.5, 0.0, -1.0, 2.0**31, 2.0**63, 1e300, float("inf"), float("nan"))
# None of them makes Java ask a name server.
ADDRESSES = (
    "127.0.0.1", "localhost", None, "10.1", "::1", "[::1]", "4294967295", "1.2.3.4",
    "::", "1::2", "1:2:3:4:5:6:7:8", "::ffff:1.2.3.4", "::1.2.3.256", "::1.2.3.x", "::1%1", "::1%x", "1::2::3", "::g",
    "::12345", "1:2", "[::1",
)  # fmt: skip
MINUTE_MS = 60_000


def acl_resource(world: World) -> tuple[int, str, int]:
    """Type, name and pattern type of a resource, mostly one that requests ask for."""
    kind = world.pick((TOPIC, TOPIC, CLUSTER, CLUSTER, USER, GROUP))
    match kind:
        case 2:
            return world.pick(
                ((kind, world.topic(), LITERAL), (kind, "*", LITERAL), (kind, world.topic()[:1], PREFIXED))
            )
        case 4:
            return kind, "kafka-cluster", LITERAL
        case 7:
            return kind, f"User:{world.pick(USERS)}", LITERAL
    return kind, world.pick(("group", "g2")), world.pick((LITERAL, PREFIXED))


def create_acls(world: World) -> Command:
    creations = []
    for _ in range(world.pick((1, 1, 2, 3))):
        kind, name, pattern = acl_resource(world)
        creation = {
            "resourceType": kind,
            "resourceName": name,
            "resourcePatternType": pattern,
            "principal": f"User:{world.pick((*USERS, '*'))}",
            "host": world.pick(HOSTS),
            "operation": world.pick(OF_TOPICS if kind == TOPIC and world.chance(0.8) else OPERATIONS),
            "permissionType": ALLOW if world.chance(0.8) else DENY,
        }
        if world.chance(0.08):
            key, values = world.pick(list(BAD_CREATIONS.items()))
            creation[key] = world.pick(values)
        there = list(world.ours.state.acls.values())
        if there and world.chance(0.15):
            acl = world.pick(there)
            creation = {
                "resourceType": acl.resource_type,
                "resourceName": acl.resource_name,
                "resourcePatternType": acl.pattern_type,
                "principal": acl.principal,
                "host": acl.host,
                "operation": acl.operation,
                "permissionType": acl.permission_type,
            }
        creations.append(creation)
    return world.request(30, 1, 3, {"creations": creations})


BAD_CREATIONS: dict[str, tuple[Any, ...]] = {
    "resourceType": (5, 6, 1, 0, 99),
    "resourceName": ("", "other", "*", "a b"),
    "resourcePatternType": (PREFIXED, ANY, MATCH, 0, 99),
    "principal": ("alice", "", ":", "User:", "Group:a", "User:a:b"),
    "host": ("", "nowhere", "/", "10.0.0.0/33", "10.0.0/8", "::1/129", "1.2.3.4/x", "a/8", "::ffff:127.0.0.1/104"),
    "operation": (1, 2, 15, 0, 99),
    "permissionType": (1, 0, 99),
}


def acl_filter(world: World) -> dict[str, Any]:
    kind, name, pattern = acl_resource(world)
    found = {
        "resourceTypeFilter": kind if world.chance(0.6) else ANY,
        "resourceNameFilter": name if world.chance(0.5) else world.pick((None, None, "foo", "")),
        "patternTypeFilter": pattern if world.chance(0.5) else world.pick((ANY, MATCH, MATCH)),
        "principalFilter": world.pick((None, None, None, f"User:{world.pick(USERS)}", "User:*")),
        "hostFilter": world.pick((None, None, None, *HOSTS)),
        "operation": ANY if world.chance(0.7) else world.pick(OPERATIONS),
        "permissionType": ANY if world.chance(0.7) else world.pick((DENY, ALLOW)),
    }
    if world.chance(0.02):
        found[world.pick(("resourceTypeFilter", "patternTypeFilter", "operation", "permissionType"))] = world.pick(
            (0, 99)
        )
    return found


def describe_acls(world: World) -> Command:
    return world.request(29, 1, 3, acl_filter(world))


def delete_acls(world: World) -> Command:
    return world.request(31, 1, 3, {"filters": [acl_filter(world) for _ in range(world.pick((1, 1, 2)))]})


def text_of(data: bytes) -> str:
    """Bytes in the form of a sequence file."""
    return b64encode(data).decode()


def alter_scram(world: World) -> Command:
    deletions = [{"name": world.pick(USERS), "mechanism": mechanism(world)} for _ in range(world.pick((0, 0, 1, 1, 2)))]
    upsertions = [
        {
            "name": world.pick(USERS) if world.chance(0.95) else "",
            "mechanism": mechanism(world),
            "iterations": world.pick((4096, 8192, 16384)) if world.chance(0.95) else world.pick((4095, 16385, 0, -1)),
            "salt": text_of(bytes(world.rng.randrange(256) for _ in range(world.pick((0, 4, 16))))),
            "saltedPassword": text_of(b"password" * 4 if world.chance(0.95) else b""),
        }
        for _ in range(world.pick((0, 1, 1, 2)))
    ]
    return world.request(51, 0, 0, {"deletions": deletions, "upsertions": upsertions})


def mechanism(world: World) -> int:
    return int(world.pick((1, 2))) if world.chance(0.96) else int(world.pick((0, 3, -1)))


def alter_quotas(world: World) -> Command:
    entries = [quota_entry(world) for _ in range(world.pick((0, 1, 1, 1, 2)))]
    return world.request(49, 0, 1, {"entries": entries, "validateOnly": world.chance(0.15)})


def quota_entry(world: World) -> dict[str, Any]:
    there = sorted(world.ours.state.quotas.items(), key=str)
    if there and world.chance(0.25):
        return changed_quota(world, *world.pick(there))
    user = {"entityType": "user", "entityName": world.pick((*USERS, "admin", "ANONYMOUS", None))}
    client = {"entityType": "client-id", "entityName": world.pick(("oracle", "other", None))}
    address = {"entityType": "ip", "entityName": world.pick(ADDRESSES)}
    entity = world.pick(([user], [user], [client], [user, client], [client, user], [address]))
    keys = USER_KEYS if address not in entity else ("connection_creation_rate",)
    if world.chance(0.08):
        odd = ({"entityType": "user", "entityName": ""}, {"entityType": "odd", "entityName": "a"}, address, user)
        entity = [*entity, world.pick(odd)] if world.chance(0.7) else []
    if world.chance(0.05):
        keys = ("connection_creation_rate", "no.such.key", "producer_byte_rate")
    ops = [
        {
            "key": world.pick(keys),
            "value": world.pick((1000.0, 2000.0, 3.0, 0.2)) if world.chance(0.8) else world.pick(VALUES),
            "remove": world.chance(0.25),
        }
        for _ in range(world.pick((0, 1, 1, 1, 2)))
    ]
    return {"entity": entity, "ops": ops}


def changed_quota(world: World, entity: Any, values: Mapping[str, float]) -> dict[str, Any]:
    """A quota that is there: set again, to another value or the same, or removed."""
    parts = [{"entityType": kind, "entityName": name} for kind, name in entity]
    world.rng.shuffle(parts)
    key = world.pick(sorted(values))
    value = values[key] if world.chance(0.5) else world.pick((1000.0, 3.0))
    return {"entity": parts, "ops": [{"key": key, "value": value, "remove": world.chance(0.25)}]}


def create_token(world: World) -> Command:
    renewers = [
        {"principalType": "User" if world.chance(0.95) else "Group", "principalName": world.pick(USERS)}
        for _ in range(world.pick((0, 0, 1, 2)))
    ]
    body: dict[str, Any] = {"renewers": renewers, "maxLifetimeMs": world.pick((-1, 0, 1000, 10 * MINUTE_MS, 2**63 - 1))}
    if world.chance(0.3):
        body |= {"ownerPrincipalType": "User", "ownerPrincipalName": world.pick(USERS)}
    return world.secure(world.request(38, 1, 3, body))


def token(world: World) -> str:
    """The secret of a token, rarely one that no token has."""
    count = len(world.ours.state.tokens)
    number = world.rng.randrange(count) if count and world.chance(0.95) else count
    return f"$token({number})"


def renew_token(world: World) -> Command:
    period = world.pick((-1, 0, 1000, MINUTE_MS, 2**62))
    return world.secure(world.request(39, 1, 2, {"hmac": token(world), "renewPeriodMs": period}))


def expire_token(world: World) -> Command:
    period = world.pick((-1, -1, 0, 1000, MINUTE_MS, 2**63 - 1))
    return world.secure(world.request(40, 1, 2, {"hmac": token(world), "expiryTimePeriodMs": period}))


def authenticate(world: World) -> Command:
    """An authentication where the connection has none to do."""
    if world.chance(0.5):
        return world.request(17, 0, 1, {"mechanism": world.pick(("PLAIN", "SCRAM-SHA-256", ""))})
    return world.request(36, 0, 2, {"authBytes": text_of(b"alice")})


def describe_unserved(world: World) -> Command:
    """APIs that stock's controllers announce and do not serve."""
    if world.chance(0.5):
        return world.request(41, 1, 3, {"owners": None})
    return world.request(50, 0, 0, {"users": [{"name": name} for name in USERS[: world.rng.randint(0, 2)]]})
