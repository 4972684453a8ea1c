"""CreateTopics, DeleteTopics and CreatePartitions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tests.oracle.generate.values import topic_config
from tests.oracle.generate.world import NAMES

if TYPE_CHECKING:
    from tests.oracle.commands import Command
    from tests.oracle.generate.world import World

ODD_NAMES = ("", ".", "..", "a b", "ä", "x" * 249, "x" * 250, "__cluster_metadata")


def assignments(world: World, count: int) -> list[list[int]]:
    width = world.rng.randint(1, 4 if world.chance(0.5) else max(4, len(world.brokers) - 2))
    return [world.some_brokers(width if world.chance(0.97) else 1, width) for _ in range(count)]


def new_topic(world: World) -> dict[str, Any]:
    name = world.pick(NAMES) if world.chance(0.95) else world.pick(ODD_NAMES)
    topic: dict[str, Any] = {"name": name, "numPartitions": -1, "replicationFactor": -1}
    if world.chance(0.5):
        lists = assignments(world, world.rng.randint(1, 4))
        topic["assignments"] = [{"partitionIndex": index, "brokerIds": brokers} for index, brokers in enumerate(lists)]
        if world.chance(0.03):
            topic["assignments"][0]["partitionIndex"] = world.pick((1, 5, -1))
        if world.chance(0.02):
            topic[world.pick(("replicationFactor", "numPartitions"))] = 2
    else:
        topic["numPartitions"] = world.pick((-1, 1, 2, 3, 5, 20)) if world.chance(0.96) else world.pick((0, -2, 10001))
        topic["replicationFactor"] = (
            world.pick((-1, 1, 2, 2, 3, 3, 4)) if world.chance(0.96) else world.pick((0, -2, 9, 32767))
        )
    if world.chance(0.3):
        count = world.rng.randint(1, 2)
        topic["configs"] = [dict(zip(("name", "value"), topic_config(world), strict=True)) for _ in range(count)]
    return topic


def create(world: World) -> Command:
    topics = [new_topic(world) for _ in range(world.pick((1, 1, 1, 2, 3)))]
    body = {"topics": topics, "timeoutMs": timeout(world), "validateOnly": world.chance(0.1)}
    return world.request(19, 2, 7, body)


def create_wide(world: World) -> Command:
    """A topic with a replica on nearly each broker."""
    brokers = world.rng.sample(world.registered(), max(1, len(world.registered()) - 1))
    topic = {"name": NAMES[0], "numPartitions": -1, "replicationFactor": -1, "assignments": [{"brokerIds": brokers}]}
    return world.request(19, 2, 7, {"topics": [topic], "timeoutMs": 1000})


def timeout(world: World) -> int:
    return 1000 if world.careful or world.chance(0.97) else int(world.pick((0, -1, 1)))


def delete(world: World) -> Command:
    count = world.pick((1, 1, 1, 2, 3))
    version = 6 if world.chance(0.6) else world.rng.randint(1, 5)
    names = world.some_topics(count)
    states: list[dict[str, Any]] = []
    for name in names:
        kind = world.rng.random()
        if kind < 0.5:
            states.append({"name": name})
        elif kind < 0.95:
            states.append({"name": None, "topicId": f"$topic_id({name})"})
        else:
            states.append({"name": name, "topicId": f"$topic_id({name})"} if world.chance(0.8) else {"name": None})
    body = {"topics": states, "topicNames": names, "timeoutMs": timeout(world)}
    request = world.request(20, 1, 6, body)
    return replace(request, version=version)


def grow(world: World) -> Command:
    topics = []
    for name in world.some_topics(world.pick((1, 1, 1, 2))):
        found = world.ours.state.topic(name)
        count = 0 if found is None else found.partition_count()
        added = world.pick((1, 1, 2, 3, 4)) if world.chance(0.9) else world.pick((0, -1, -count))
        topic: dict[str, Any] = {"name": name, "count": count + added, "assignments": None}
        if world.chance(0.4) and 0 < added < 10:
            wanted = added if world.chance(0.95) else added + 1
            topic["assignments"] = [{"brokerIds": brokers} for brokers in assignments(world, wanted)]
        topics.append(topic)
    body = {"topics": topics, "timeoutMs": timeout(world), "validateOnly": world.chance(0.1)}
    return world.request(37, 0, 3, body)
