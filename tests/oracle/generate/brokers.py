"""Registrations, heartbeats, and other requests of brokers and controllers about themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.oracle.generate.world import directory, incarnation
from tests.oracle.ours import CLUSTER

if TYPE_CHECKING:
    from tests.oracle.commands import Command
    from tests.oracle.generate.world import World


def features(world: World) -> list[dict[str, Any]]:
    """The features of a broker: all of a stock broker, rarely fewer."""
    found = [
        {"name": name, "minSupportedVersion": low, "maxSupportedVersion": high}
        for name, (low, high) in world.features.items()
    ]
    if world.chance(0.04):
        found = [feature for feature in found if not world.chance(0.3)]
    if world.chance(0.03):
        found.append({"name": "odd", "minSupportedVersion": world.pick((0, 1, 3)), "maxSupportedVersion": 2})
    if world.chance(0.03) and found:
        found[0] = {**found[0], "maxSupportedVersion": world.pick((0, 7, 19, 25))}
    return found


def listeners(world: World, host: str) -> list[dict[str, Any]]:
    found = [{"name": "PLAINTEXT", "host": host, "port": 9092, "securityProtocol": 0}]
    if world.chance(0.1):
        found.append({"name": "SSL", "host": host, "port": 9093, "securityProtocol": 1})
    if world.chance(0.02):
        found = []
    if found and world.chance(0.004):
        found = world.pick(([*found, found[0]], [{**found[0], "name": ""}], [{**found[0], "securityProtocol": 9}]))
    return found


def register(world: World) -> Command:
    return registration(world, world.pick(world.brokers))


def registration(world: World, broker_id: int) -> Command:
    number = 1 if world.chance(0.6) else world.rng.randint(1, 3)
    count = world.pick((0, 1, 1, 1, 2, 2, 3)) if world.metadata_version < 17 else world.pick((1, 1, 2, 2, 3))
    if world.chance(0.03):
        count = 0
    directories = [directory(broker_id, index) for index in range(count)]
    if world.chance(0.03):
        directories = [*directories, *(world.pick((directories[:1], [directory(0)], ["AAAAAAAAAAAAAAAAAAAAAA"])))]
    body = {
        "brokerId": broker_id,
        "clusterId": CLUSTER if world.chance(0.99) else "other",
        "incarnationId": incarnation(broker_id, number),
        "listeners": listeners(world, f"broker{broker_id}"),
        "features": features(world),
        "rack": world.pick(world.racks),
        "logDirs": directories,
        "previousBrokerEpoch": world.pick((-1, -1, f"$broker_epoch({broker_id})", -1 if world.careful else -2, 5)),
    }
    if world.chance(0.01):
        body["isMigratingZkBroker"] = True
    return world.request(62, 0, 4, body)


def heartbeat(world: World) -> Command:
    if not world.registered():
        return register(world)
    broker_id = world.heartbeating()
    body: dict[str, Any] = {
        "brokerId": broker_id,
        "brokerEpoch": world.epoch_of(broker_id),
        "currentMetadataOffset": "$end()-1" if world.chance(0.85) else world.pick(("$end()-2", "$end()-4", 0, -1)),
    }
    if world.chance(0.1):
        body["wantFence"] = True
    if world.chance(0.12):
        body["wantShutDown"] = True
    if world.chance(0.1):
        body["offlineLogDirs"] = directories_of(world, broker_id)
    if world.chance(0.12):
        body["cordonedLogDirs"] = world.pick((None, [], directories_of(world, broker_id)))
    return world.request(63, 0, 2, body)


def directories_of(world: World, broker_id: int) -> list[str]:
    """Some directories of the broker, rarely others."""
    owner = max(broker_id, 0) if world.chance(0.95) else world.pick(world.brokers)
    found = [directory(owner, index) for index in range(3) if world.chance(0.5)]
    if world.chance(0.02):
        found.append("AAAAAAAAAAAAAAAAAAAAAA")
    return found


def all_up(world: World) -> Command:
    """A heartbeat of a fenced broker, if there is one."""
    fenced = [broker_id for broker_id, broker in sorted(world.ours.state.brokers.items()) if broker.fenced]
    if not fenced:
        return heartbeat(world)
    broker_id = world.pick(fenced)
    body = {
        "brokerId": broker_id, "brokerEpoch": f"$broker_epoch({broker_id})", "currentMetadataOffset": "$end()-1",
    }  # fmt: skip
    return world.request(63, 0, 2, body)


def unregister(world: World) -> Command:
    return world.request(64, 0, 0, {"brokerId": world.broker()})


def register_controller(world: World) -> Command:
    body = {
        "controllerId": world.pick((3000, 3000, 3001, 0)),
        "incarnationId": incarnation(9, world.rng.randint(1, 2)),
        "zkMigrationReady": world.chance(0.05),
        "listeners": listeners(world, "controller"),
        "features": features(world),
    }
    return world.request(70, 0, 0, body)


def unregister_controller(world: World) -> Command:
    return world.request(94, 0, 0, {"controllerId": world.pick((3000, 3001, 3001, 0, 0, 7, -1))})


def producer_ids(world: World) -> Command:
    broker_id = world.broker()
    return world.request(67, 0, 0, {"brokerId": broker_id, "brokerEpoch": world.epoch_of(broker_id)})
