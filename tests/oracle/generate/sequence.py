"""One sequence: a cluster's levels and settings, some brokers and topics, and then commands by weight."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from controller.config.authorizer import STANDARD
from tests.oracle.commands import Hold, Lead, Lose, Snapshot, Start
from tests.oracle.generate import brokers, cluster, configs, partitions, security, topics
from tests.oracle.generate.world import World
from tests.oracle.ours import supported
from tests.oracle.release import KAFKA

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.oracle.commands import Command
    from tests.oracle.ours import Ours

# What only one of the releases serves.
OF_RELEASE = () if 94 in KAFKA.lacks else ((1, brokers.unregister_controller),)
WEIGHTS: tuple[tuple[int, Callable[[World], Command]], ...] = (
    (6, brokers.register), (16, brokers.heartbeat), (10, brokers.all_up), (2, brokers.unregister),
    (1, brokers.register_controller), *OF_RELEASE, (2, brokers.producer_ids),
    (9, topics.create), (2, topics.delete), (4, topics.grow),
    (16, partitions.alter), (8, partitions.reassign), (3, partitions.list_reassignments), (7, partitions.elect),
    (5, partitions.assign), (7, configs.incremental), (3, configs.legacy), (3, configs.describe),
    (3, cluster.update_features), (1, cluster.describe_cluster), (1, cluster.api_versions), (6, cluster.passes),
    (1, cluster.restart), (1, cluster.snapshot),
    (3, security.create_acls), (1, security.delete_acls), (1, security.describe_acls), (2, security.alter_scram),
    (2, security.alter_quotas), (2, security.create_token), (2, security.renew_token), (2, security.expire_token),
    (1, security.describe_unserved), (1, security.authenticate),
)  # fmt: skip
LEVELS = tuple(range(7, KAFKA.latest_production + 1))
# The second one never does anything, and may be registered or not.
TWO_VOTERS = "3000@localhost:9093,3001@localhost:9094"
# Features with levels of their own in a Start. kraft.version is not in the metadata: it begins with 0.
NAMED_LEVELS = ("metadata.version", "eligible.leader.replicas.version", "kraft.version")
# Those whose answers rest on what is committed in stock, and on the latest in ours.
ON_COMMITTED = (security.renew_token, security.expire_token)
# A node that does not lead is not restarted: that would make it lead.
OF_LEADERS = (cluster.restart, cluster.passes)
LENGTH = 120


def start_of(rng: Random) -> Start:
    """The cluster of a sequence, mostly with the newest levels."""
    level = KAFKA.latest_production if rng.random() < 0.6 else rng.choice(LEVELS)
    unstable = rng.random() < 0.05
    if unstable and rng.random() < 0.5:
        level = KAFKA.latest_testing
    levels = [("metadata.version", level)]
    if level >= 23 and rng.random() < 0.7:
        levels.append(("eligible.leader.replicas.version", 1))
    if rng.random() < 0.3:
        for name, (low, high) in supported().items():
            if name not in NAMED_LEVELS and rng.random() < 0.7:
                levels.append((name, rng.randint(low, high)))
    properties = {"unstable.feature.versions.enable": "true"} if unstable else {}
    if rng.random() < 0.3:
        properties["unclean.leader.election.enable"] = "true"
    if rng.random() < 0.2:
        properties["min.insync.replicas"] = "2"
    if rng.random() < 0.2:
        properties["default.replication.factor"] = "2"
    if rng.random() < 0.2:
        properties["num.partitions"] = "3"
    if rng.random() < 0.1:
        properties["delete.topic.enable"] = "false"
    if rng.random() < 0.2:
        properties["auto.leader.rebalance.enable"] = "false"
    if rng.random() < 0.3:
        properties["leader.imbalance.check.interval.seconds"] = "20"
    if rng.random() < 0.3:
        properties["unclean.leader.election.interval.ms"] = "25000"
    if rng.random() < 0.4:
        properties["authorizer.class.name"] = STANDARD
        properties["super.users"] = "User:admin"
        if rng.random() < 0.25:
            properties["allow.everyone.if.no.acl.found"] = "true"
    if rng.random() < 0.4:
        properties["delegation.token.secret.key"] = "secret" if rng.random() < 0.95 else ""
        if rng.random() < 0.5:
            properties["delegation.token.expiry.check.interval.ms"] = "15000"
            properties["delegation.token.expiry.time.ms"] = "20000"
    if rng.random() < 0.05:
        properties["controller.quorum.voters"] = TWO_VOTERS
    return Start(tuple(properties.items()), tuple(levels), rng.randrange(1 << 31))


def without_leadership(world: World, makers: list[Callable[[World], Command]], weights: list[int]) -> Iterator[Command]:
    """Another node is leader for a while; requests arrive meanwhile."""
    yield Lose()
    for make in world.rng.choices(makers, weights, k=world.pick((0, 0, 1, 3, 5))):
        if make not in OF_LEADERS:
            yield make(world)
    yield Lead()


def many_brokers(world: World) -> Iterator[Command]:
    """All brokers are there, and those that leave an ISR join the ELR."""
    for broker_id in world.brokers:
        yield brokers.registration(world, broker_id)
    for _ in world.brokers:
        yield brokers.all_up(world)
    yield configs.large_min_isr(world)
    if world.registered():
        yield topics.create_wide(world)


def commands_of(rng: Random, start: Start, *, careful: bool = False) -> Callable[[Ours], Iterator[Command]]:
    """The generator of one sequence's commands."""

    def generate(ours: Ours) -> Iterator[Command]:
        has_users = "authorizer.class.name" in dict(start.properties)
        level = dict(start.levels)["metadata.version"]
        unstable = "unstable.feature.versions.enable" in dict(start.properties)
        world = World(rng, ours, level, careful=careful, has_users=has_users, unstable=unstable)
        if world.has_many_brokers:
            yield from many_brokers(world)
        for _ in range(rng.randint(2, 6)):
            yield brokers.register(world)
        for _ in range(rng.randint(2, 7)):
            yield brokers.all_up(world)
        yield topics.create(world)
        for _ in range(4 if has_users else 0):
            yield security.create_acls(world)
        if rng.random() < 0.05:
            yield from cluster.enable_elr(world)
        if rng.random() < 0.1:
            yield from cluster.levels_change(world)
        makers = [make for _, make in WEIGHTS]
        weights = [weight for weight, _ in WEIGHTS]
        # A sequence is mostly about a few APIs: that takes it deeper than a little of everything.
        favoured = {rng.randrange(len(weights)) for _ in range(3)}
        weights = [weight * (5 if index in favoured else 1) for index, weight in enumerate(weights)]
        holding = 0
        for _ in range(LENGTH):
            if holding:
                holding -= 1
                if holding == 0:
                    yield from cluster.release(world)
            elif rng.random() < 0.015:
                if rng.random() < 0.5:
                    holding = rng.randint(2, 8)
                    yield Hold(True)
                    if rng.random() < 0.2:
                        yield cluster.update_features(world)
                        yield cluster.api_versions(world)
                else:
                    yield from without_leadership(world, makers, weights)
            make = rng.choices(makers, weights)[0]
            if holding and (make is cluster.restart or make in ON_COMMITTED):
                continue
            yield make(world)
        if holding:
            yield from cluster.release(world)
        yield Snapshot()

    return generate


def sequence(seed: int, *, careful: bool = False) -> tuple[Start, Callable[[Ours], Iterator[Command]]]:
    """The start and the commands of the sequence of a seed."""
    rng = Random(seed)
    start = start_of(rng)
    return start, commands_of(rng, start, careful=careful)
