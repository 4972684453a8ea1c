"""AlterConfigs, IncrementalAlterConfigs and DescribeConfigs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.oracle.generate.values import KEYS, config
from tests.oracle.generate.world import BROKERS

if TYPE_CHECKING:
    from tests.oracle.commands import Command
    from tests.oracle.generate.world import World

SET, DELETE, APPEND, SUBTRACT = range(4)


def resource(world: World) -> tuple[int, str]:
    kind = world.pick((2, 2, 2, 4, 4, 32, 16)) if world.chance(0.98) else world.pick((0, 8, 1, 3))
    match kind:
        case 2:
            return kind, world.topic()
        case 4:
            good = ("", "", *(str(broker) for broker in BROKERS[:3]), "3000")
            return kind, world.pick(good) if world.chance(0.95) else world.pick(("x", "-1", "2147483648"))
        case 32:
            return kind, world.pick(("group", "g2", ""))
        case 16:
            return kind, world.pick(("sub", "s2", ""))
    return kind, world.pick(("", "1", "foo"))


def incremental(world: World) -> Command:
    resources = []
    for _ in range(world.pick((1, 1, 1, 2))):
        kind, name = resource(world)
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
    return world.request(44, 0, 1, {"resources": resources, "validateOnly": world.chance(0.1)})


def legacy(world: World) -> Command:
    resources = []
    for _ in range(world.pick((1, 1, 1, 2))):
        kind, name = resource(world)
        pairs = [config(world, kind) for _ in range(world.rng.randint(0, 2))]
        configs: list[dict[str, Any]] = [{"name": key, "value": value} for key, value in pairs]
        resources.append({"resourceType": kind, "resourceName": name, "configs": configs})
    return world.request(33, 0, 2, {"resources": resources, "validateOnly": world.chance(0.1)})


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
