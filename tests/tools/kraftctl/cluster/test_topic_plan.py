"""The plan of a topic's alteration, by KIP-4's three rules."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.state.partitions.partition import Partition
from controller.state.tables.brokers import Broker
from tools.kraftctl.cluster.topic_plan import ADDED_MAX, Alteration, CannotAlter, Move, Plan, plan, resize
from tools.offline.image import Image, Topic

ID = bytes(15) + b"\7"


def broker(number: int, rack: str | None = None, *, fenced: bool = False, cordoned: bool = False) -> Broker:
    directory = bytes(15) + bytes([number])
    return Broker(
        number, 1, bytes(16), {}, {}, rack, fenced, False, False, (directory,), (directory,) if cordoned else None
    )  # fmt: skip


def partition(*replicas: int, isr: tuple[int, ...] | None = None, removing: tuple[int, ...] = ()) -> Partition:
    in_sync = replicas if isr is None else isr
    return Partition(replicas, in_sync, in_sync[0], 1, 1, (bytes(16),) * len(replicas), removing)


def image(*partitions: Partition, brokers: tuple[Broker, ...] = ()) -> Image:
    metadata = Image()
    metadata.topic_ids["t"] = ID
    metadata.topics[ID] = Topic("t", ID)
    metadata.topics[ID].partitions.update(enumerate(partitions))
    for one in brokers or tuple(broker(number) for number in range(1, 5)):
        metadata.brokers[one.broker_id] = one
    return metadata


def test_with_an_assignment_existing_partitions_move_and_others_are_added() -> None:
    asked = Alteration("t", 9, 4, {0: (1, 2), 1: (3, 1), 2: (2, 3)})

    assert plan(image(partition(1, 2), partition(1, 2)), asked) == Plan(
        "t", {}, 3, ((2, 3),), (Move(1, (1, 2), (3, 1)),)
    )


def test_with_a_replication_factor_existing_partitions_keep_their_replicas_and_get_more() -> None:
    asked = Alteration("t", replication_factor=3)

    steps = plan(image(partition(1), partition(2)), asked)

    assert steps == Plan("t", {}, None, None, (Move(0, (1,), (1, 3, 4)), Move(1, (2,), (2, 1, 3))))


def test_new_partitions_are_created_with_the_old_replication_factor_and_then_reassigned() -> None:
    asked = Alteration("t", 3, 2)

    steps = plan(image(partition(1), partition(2)), asked)

    assert (steps.partitions, steps.first_replicas) == (3, ((3,),))
    assert [(move.partition, move.before, len(move.after)) for move in steps.moves] == [
        (0, (1,), 2), (1, (2,), 2), (2, (3,), 2),
    ]  # fmt: skip


def test_a_lower_replication_factor_keeps_the_in_sync_replicas() -> None:
    asked = Alteration("t", replication_factor=1)

    steps = plan(image(partition(1, 2, 3, isr=(3,)), partition(1, 2, 3)), asked)

    assert steps.moves == (Move(0, (1, 2, 3), (3,)), Move(1, (1, 2, 3), (1,)))


def test_an_added_partition_is_created_with_as_many_replicas_as_the_others() -> None:
    steps = plan(image(partition(1, 2, 3)), Alteration("t", assignment={1: (4,)}))

    assert steps == Plan("t", {}, 2, ((4, 1, 2),), (Move(1, (4, 1, 2), (4,)),))


def test_with_only_a_number_of_partitions_the_controller_places_the_new_ones() -> None:
    asked = Alteration("t", partitions=4, configs={"retention.ms": "1", "cleanup.policy": None})

    assert plan(image(partition(1)), asked) == Plan("t", asked.configs, 4, None, ())


def test_an_alteration_to_the_current_state_is_empty() -> None:
    there = image(partition(1, 2), partition(3, 1, 2, removing=(3,)))

    for asked in (
        Alteration("t"),
        Alteration("t", partitions=2),
        Alteration("t", replication_factor=2),
        Alteration("t", assignment={0: (1, 2), 1: (1, 2)}),
    ):
        assert plan(there, asked).is_empty


def test_replicas_are_spread_over_racks() -> None:
    racks = (broker(1, "a"), broker(2, "a"), broker(3, "b"), broker(4, "b"))

    steps = plan(image(partition(1), partition(3), brokers=racks), Alteration("t", replication_factor=2))

    assert [move.after for move in steps.moves] == [(1, 4), (3, 2)]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (Alteration("u"), "topic u: the topic does not exist"),
        (Alteration("t", partitions=1), "topic t: it has 2 partitions, 1 would be fewer (INVALID_PARTITIONS)"),
        (Alteration("t", partitions=3 + ADDED_MAX),
         f"topic t: {ADDED_MAX + 1} new partitions exceed the limit of 10000 at once"),
        (Alteration("t", replication_factor=4),
         "a replication factor of 4 needs 4 brokers, and 2 are active and not cordoned"),
        (Alteration("t", replication_factor=0), "a replication factor of 0 is invalid; it must be at least 1"),
        (Alteration("t", assignment={3: (1,)}),
         "topic t: it has partitions 0 to 1; those that are added must follow without a gap, and 3 do not"),
        (Alteration("t", assignment={0: (1, 9)}),
         "topic t, partition 0: broker 9 is not registered; registered are [1, 2, 3, 4]"),
        (Alteration("t", assignment={0: (1, 1)}), "topic t, partition 0: brokers [1, 1] contain a duplicate"),
        (Alteration("t", assignment={0: ()}), "topic t, partition 0: it needs at least one replica"),
        (Alteration("t", assignment={0: (4,)}), "topic t, partition 0: all log directories of broker 4 are cordoned"),
        (Alteration("t", assignment={2: (3, 3)}), "topic t, partition 2: brokers [3, 3] contain a duplicate"),
        (Alteration("t", assignment={2: (3,)}),
         "topic t, partition 2: of brokers [3] none is active, so nobody could lead it"),
    ],
)  # fmt: skip
def test_an_invalid_alteration_is_refused_as_a_whole(asked: Alteration, message: str) -> None:
    there = image(
        partition(1), partition(2), brokers=(broker(1), broker(2), broker(3, fenced=True), broker(4, cordoned=True))
    )

    with pytest.raises(CannotAlter) as error:
        plan(there, asked)

    assert str(error.value) == message


@given(
    st.lists(st.lists(st.integers(1, 6), min_size=1, max_size=4, unique=True), min_size=1, max_size=6),
    st.integers(0, 5),
    st.integers(1, 6),
)
def test_every_target_has_distinct_active_brokers_and_keeps_replicas_if_possible(
    lists: list[list[int]], added: int, factor: int
) -> None:
    existing = {number: partition(*replicas) for number, replicas in enumerate(lists)}
    brokers = {number: broker(number, "ab"[number % 2]) for number in range(1, 7)}

    targets = resize(brokers, existing, len(lists) + added, factor)

    assert sorted(targets) == list(range(len(lists) + added))
    for number, target in targets.items():
        assert len(set(target)) == len(target) == factor
        assert set(target) <= set(brokers)
        if number in existing:
            kept = existing[number].replicas[:factor]
            assert target[: len(kept)] == kept
