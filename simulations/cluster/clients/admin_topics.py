"""Requests of admin clients about topics and their partitions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from records.errors import Error
from records.messages.reassignments import (
    AlterPartitionReassignmentsRequest,
    ElectLeadersRequest,
    ListPartitionReassignmentsRequest,
)
from records.messages.topics import CreateTopicsRequest
from simulations.cluster.clients.admin_configs import configs
from simulations.histories.controller_requests import answer_of_created, topic_to_create
from simulations.world.streams import between

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulations.cluster.clients.admins import Admin

TIMEOUT_MS = 1200
PREFERRED, UNCLEAN = 0, 1


def create(admin: Admin) -> None:
    count = 1 if admin.rng.random() < 0.7 else 2
    names = sorted({admin.topic() for _ in range(count)})
    topics, asked = [], []
    for name in names:
        partitions = between(admin.rng, 1, 4)
        replicas = between(admin.rng, 1, max(1, min(3, admin.run.plan.brokers)))
        asked.append(("create", name, partitions, configs(admin) if admin.rng.random() < 0.3 else ()))
        topics.append(topic_to_create(asked[-1], replicas))

    def read(response: Any) -> list[Any]:
        answers = []
        for name in names:
            result = next(each for each in response.topics if each.name == name)
            answers.append(answer_of_created(result))
            if result.error_code == Error.NONE:
                admin.topic_ids[name] = result.topic_id
        return answers

    admin.ask(CreateTopicsRequest(topics=tuple(topics), timeout_ms=TIMEOUT_MS), asked, read, admin.tries())


def delete(admin: Admin) -> None:
    name = admin.topic()
    topic_id = admin.topic_ids.get(name) if admin.rng.random() < 0.5 else None
    admin.ask_one(("delete", name, topic_id), admin.tries())


def grow(admin: Admin) -> None:
    admin.ask_one(("grow", admin.topic(), between(admin.rng, 1, 6)), admin.tries())


def validate(admin: Admin) -> None:
    """A dry run of a request."""
    name = admin.topic()
    asked = admin.one_of(
        (
            ("create", name, between(admin.rng, 1, 4), ()),
            ("grow", name, between(admin.rng, 1, 6)),
            ("configure", name, configs(admin)),
            ("replace", name, configs(admin)),
        )
    )
    admin.ask_one(("validate", asked))


def reassign(admin: Admin) -> None:
    """Start or cancel a reassignment; its outcome is checked in the log."""
    replicas: tuple[int, ...] | None = None
    if admin.rng.random() < 0.75:
        ids = [machine.id for machine in admin.run.brokers]
        admin.rng.shuffle(ids)
        replicas = tuple(ids[: between(admin.rng, 1, min(3, len(ids)))])
    partition = between(admin.rng, 0, 2)
    _reassign(admin, [(admin.topic(), partition)], replicas)


def _reassign(
    admin: Admin, places: list[tuple[str, int]], replicas: tuple[int, ...] | None, *, may_resize: bool = True
) -> None:
    reassignable = AlterPartitionReassignmentsRequest.ReassignableTopic
    topics = tuple(
        reassignable(
            name=name, partitions=(reassignable.ReassignablePartition(partition_index=index, replicas=replicas),)
        )
        for name, index in places
    )
    admin.ask_only(
        AlterPartitionReassignmentsRequest(
            topics=topics, timeout_ms=TIMEOUT_MS, allow_replication_factor_change=may_resize
        )
    )


def align(admin: Admin) -> None:
    """Move a partition of every topic to one target, or cancel the moves: partitions of topics with other configs are
    then equal.
    """
    places = [(f"topic-{number}", 0) for number in range(admin.run.plan.topics)]
    replicas: tuple[int, ...] | None = None
    if admin.rng.random() < 0.7:
        ids = [machine.id for machine in admin.run.brokers]
        admin.rng.shuffle(ids)
        replicas = tuple(ids[: between(admin.rng, 2, max(2, len(ids) - 1))])
    _reassign(admin, places, replicas, may_resize=admin.rng.random() < 0.7)


def move_to_eligible(admin: Admin) -> None:
    """Move a partition to a member of its ELR alone, if there is one: to complete, that member must lead or be in sync
    (KIP-966).
    """
    image = admin.run.watch.log_rules.image
    found = sorted((image.topics[key[0]], key[1], one.elr[0]) for key, one in image.partitions.items() if one.elr)
    if found:
        name, index, member = admin.one_of(found)
        _reassign(admin, [(name, index)], (member,))
    else:
        admin.later()


def list_moves(admin: Admin) -> None:
    """List the reassignments in progress: of all topics, or of one."""
    wanted = ListPartitionReassignmentsRequest.ListPartitionReassignmentsTopics
    one = wanted(name=admin.topic(), partition_indexes=(0, 1, 2))
    topics = None if admin.rng.random() < 0.5 else (one,)
    admin.ask_only(ListPartitionReassignmentsRequest(topics=topics, timeout_ms=TIMEOUT_MS))


def elect(admin: Admin) -> None:
    admin.ask_only(_elections(admin, PREFERRED))


def elect_uncleanly(admin: Admin) -> None:
    """Request an unclean election, or enable or disable unclean elections by config."""
    if admin.rng.random() < 0.5:
        admin.ask_only(_elections(admin, UNCLEAN))
        return
    value = admin.one_of(("true", "true", "false", None))
    admin.ask_one(("configure", admin.topic(), (("unclean.leader.election.enable", value),)))


def _elections(admin: Admin, kind: int) -> ElectLeadersRequest:
    topic = ElectLeadersRequest.TopicPartitions(topic=admin.topic(), partitions=(0, 1, 2))
    times = 1 + (admin.asked % 3 == 0)  # one of three requests names the topic twice
    return ElectLeadersRequest(election_type=kind, topic_partitions=(topic,) * times, timeout_ms=TIMEOUT_MS)


ASKS: dict[str, Callable[[Admin], None]] = {
    "create": create,
    "delete": delete,
    "grow": grow,
    "validate": validate,
    "reassign": reassign,
    "align": align,
    "move_to_eligible": move_to_eligible,
    "list_moves": list_moves,
    "elect": elect,
    "elect_uncleanly": elect_uncleanly,
}
