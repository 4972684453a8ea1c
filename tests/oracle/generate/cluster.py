"""Features, DescribeCluster, and events of the controller itself: time, leadership, restarts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.core.apis import served_versions
from tests.oracle.commands import Hold, Lead, Lose, Pass, Restart, Snapshot
from tests.oracle.ours import CLUSTER, NODE_ID
from tests.oracle.release import KAFKA

if TYPE_CHECKING:
    from tests.oracle.commands import Command
    from tests.oracle.generate.world import World


def update_features(world: World) -> Command:
    updates: list[dict[str, Any]] = []
    for _ in range(world.pick((1, 1, 1, 2))):
        name, (low, high) = world.pick(list(world.features.items()))
        level = world.rng.randint(low, high) if world.chance(0.9) else world.pick((-1, low - 1, high + 2, 32767))
        if name == "metadata.version" and world.chance(0.6):
            level = min(world.metadata_version + world.rng.randint(0, 2), high)
        updates.append(
            {
                "feature": name if world.chance(0.97) else "odd",
                "maxVersionLevel": level,
                "allowDowngrade": world.chance(0.4),
                "upgradeType": world.pick((1, 1, 1, 2, 3, 0, 4)),
            }
        )
    body = {"featureUpdates": updates, "timeoutMs": 1000, "validateOnly": world.chance(0.3)}
    return world.request(57, 0, 2, body)


def enable_elr(world: World) -> list[Command]:
    """Enabling ELRs removes min.insync.replicas of single nodes."""
    config = {"name": "min.insync.replicas", "value": "2"}
    resources = [{"resourceType": 4, "resourceName": name, "configs": [config]} for name in ("0", "17")]
    update = {"feature": "eligible.leader.replicas.version", "maxVersionLevel": 1}
    return [
        world.request(44, 1, 1, {"resources": resources}),
        world.request(57, 1, 2, {"featureUpdates": [update], "timeoutMs": 1000}),
    ]


def levels_change(world: World) -> list[Command]:
    """Each feature in a row: what it takes and refuses at the levels there are now, and what is finalized then."""
    names = list(world.features)
    world.rng.shuffle(names)
    commands: list[Command] = []
    for name in names:
        low, high = world.features[name]
        level = world.rng.randint(max(low - 1, 0), high + 1)
        update = {"feature": name, "maxVersionLevel": level, "upgradeType": world.pick((1, 2, 3))}
        update["allowDowngrade"] = update["upgradeType"] != 1
        body = {"featureUpdates": [update], "timeoutMs": 1000, "validateOnly": world.chance(0.3)}
        commands += [world.request(57, 0, 2, body), api_versions(world)]
    return commands


def describe_cluster(world: World) -> Command:
    body = {
        "includeClusterAuthorizedOperations": world.chance(0.5),
        "endpointType": world.pick((2, 2, 1, 0, 3)),
        "includeFencedBrokers": world.chance(0.3),
    }
    return world.request(60, 0, 2, body)


def api_versions(world: World) -> Command:
    name = "oracle" if world.chance(0.9) else world.pick(("", "-x", "a b"))
    body: dict[str, Any] = {"clientSoftwareName": name, "clientSoftwareVersion": "1.0"}
    newest = served_versions(KAFKA)[18][1]
    if newest >= 5 and world.chance(0.5):
        body |= {"clusterId": world.pick((None, CLUSTER, "other", "")), "nodeId": world.pick((-1, NODE_ID, 7, -2))}
    return world.request(18, 0, newest, body)


def passes(world: World) -> Command:
    return Pass(world.pick((100, 500, 1000, 3000, 5000, 8000, 9100, 10_000, 30_000, 300_000)))


def restart(world: World) -> Command:
    return Restart(world.chance(0.5))


def snapshot(_world: World) -> Command:
    return Snapshot()


def release(world: World) -> list[Command]:
    """End a phase without commits: all records are committed, or all are lost."""
    return [Hold(False)] if world.chance(0.5) else [Lose(), Lead()]
