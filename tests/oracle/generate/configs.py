"""AlterConfigs, IncrementalAlterConfigs and DescribeConfigs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tests.oracle.generate.values import KEYS, config
from tests.oracle.ours import NODE_ID

if TYPE_CHECKING:
    from tests.oracle.commands import Command, Request
    from tests.oracle.generate.world import World

SET, DELETE, APPEND, SUBTRACT = range(4)
# The type of a node's loggers as a resource.
LOGGERS = 8


def resource(world: World) -> tuple[int, str]:
    kind = world.pick((2, 2, 2, 4, 4, 32, 16)) if world.chance(0.98) else world.pick((0, 8, 1, 3))
    match kind:
        case 2:
            return kind, world.topic()
        case 4:
            good = ("", "", *(str(broker) for broker in world.brokers[:3]), str(NODE_ID))
            return kind, world.pick(good) if world.chance(0.95) else world.pick(("x", "-1", "2147483648"))
        case 32:
            return kind, world.pick(("group", "g2", ""))
        case 16:
            return kind, world.pick(("sub", "s2", ""))
    return kind, world.pick(("", "1", "foo"))


def logger_level(world: World) -> dict[str, Any]:
    """A change of a logger's level: the root, which each node has, and one that no node has."""
    return {
        "name": world.pick(("root", "root", "no.such.logger", "")),
        "configOperation": world.pick((SET, SET, SET, DELETE, APPEND, SUBTRACT, 9)),
        "value": world.pick(("FATAL", "FATAL", "OFF", "fatal", None, "")),
    }


def large_min_isr(world: World) -> Command:
    """A min.insync.replicas above all replication factors: each replica that leaves an ISR joins the ELR."""
    config = {"name": "min.insync.replicas", "value": "20"}
    return world.request(44, 1, 1, {"resources": [{"resourceType": 4, "resourceName": "", "configs": [config]}]})


def from_anywhere(world: World, request: Request) -> Request:
    """The request, which seldom came to a broker that has sent it on."""
    return replace(request, forwarded=True) if world.chance(0.2) else request


def incremental(world: World) -> Command:
    resources: list[dict[str, Any]] = []
    for _ in range(world.pick((1, 1, 1, 2))):
        kind, name = resource(world)
        if world.chance(0.02):
            levels = [logger_level(world) for _ in range(world.pick((1, 1, 2)))]
            resources.append({"resourceType": LOGGERS, "resourceName": str(NODE_ID), "configs": levels})
        configs = []
        for _ in range(world.pick((1, 1, 2))):
            key, value = config(world, kind)
            operation = world.pick((SET, SET, SET, DELETE, APPEND, SUBTRACT))
            if operation in (APPEND, SUBTRACT):
                value = (
                    "x" if value is None and world.chance(0.9) else world.pick((value, value, ",a,,", ",", "compact"))
                )
            if world.chance(0.003):
                operation = 9
            configs.append({"name": key, "configOperation": operation, "value": value})
        resources.append({"resourceType": kind, "resourceName": name, "configs": configs})
    body = {"resources": resources, "validateOnly": world.chance(0.1)}
    return from_anywhere(world, world.request(44, 0, 1, body))


def legacy(world: World) -> Command:
    resources = []
    for _ in range(world.pick((1, 1, 1, 2))):
        kind, name = resource(world)
        pairs = [config(world, kind) for _ in range(world.rng.randint(0, 2))]
        configs: list[dict[str, Any]] = [{"name": key, "value": value} for key, value in pairs]
        resources.append({"resourceType": kind, "resourceName": name, "configs": configs})
    body = {"resources": resources, "validateOnly": world.chance(0.1)}
    return from_anywhere(world, world.request(33, 0, 2, body))


def describe(world: World) -> Command:
    resources = []
    for _ in range(world.pick((1, 1, 2)) if world.chance(0.97) else 0):
        kind, name = resource(world)
        keys = None
        if world.chance(0.6):
            keys = [world.pick(list(KEYS.get(kind, KEYS[2]))) for _ in range(world.rng.randint(0, 3))]
        resources.append({"resourceType": kind, "resourceName": name, "configurationKeys": keys})
    body = {"resources": resources, "includeSynonyms": world.chance(0.5)}
    return world.request(32, 1, 4, body)
