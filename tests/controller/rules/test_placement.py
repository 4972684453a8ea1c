"""Placement of replicas, on the vectors of Kafka's StripedReplicaPlacerTest."""

from collections import Counter
from random import Random

import pytest

from controller.rules import placement
from controller.rules.placement import Usable, UsableBroker
from records.errors import ApiError, Error


class KafkaMockRandom:
    """Kafka's test generator: a 64-bit linear congruence, drawn from as java.util.Random and Collections.shuffle do."""

    def __init__(self):
        self.state = 17

    def bits(self, count):
        self.state = (self.state * 2862933555777941757 + 3037000493) % 2**64
        return self.state >> (64 - count)

    def randrange(self, stop):
        drawn = self.bits(31)
        if stop & (stop - 1) == 0:
            return (stop * drawn) >> 31
        while drawn - drawn % stop + stop - 1 >= 2**31:
            drawn = self.bits(31)
        return drawn % stop

    def shuffle(self, items):
        for i in range(len(items), 1, -1):
            j = self.randrange(i)
            items[i - 1], items[j] = items[j], items[i - 1]


def brokers(unfenced, fenced=(), rack=None):
    return [UsableBroker(b, rack, False) for b in unfenced] + [UsableBroker(b, rack, True) for b in fenced]


def place(of, partition_count, replica_count, rng):
    """The second placement on the same brokers: the first one has left them as they were."""
    usable = Usable(of)
    if usable.unfenced_count:
        placement.place(usable, 40, usable.broker_count, Random(1))
    return placement.place(usable, partition_count, replica_count, rng)


def test_leaders_and_followers_rotate_over_the_brokers_of_one_rack():
    placed = place(brokers([0, 3, 2, 1]), 5, 3, KafkaMockRandom())

    assert placed == [[2, 3, 0], [3, 0, 1], [0, 1, 2], [1, 2, 3], [1, 0, 2]]


def test_a_fenced_broker_is_not_used_while_there_are_others():
    placed = place(brokers([3, 0, 4, 2], fenced=[1]), 5, 4, KafkaMockRandom())

    assert placed == [[3, 4, 0, 2], [4, 0, 2, 3], [0, 2, 3, 4], [2, 3, 4, 0], [0, 4, 3, 2]]


def test_a_fenced_broker_gets_replicas_if_needed_and_never_leads():
    placed = place(brokers([3, 2], fenced=[1]), 4, 3, KafkaMockRandom())

    assert placed == [[3, 2, 1], [2, 3, 1], [3, 2, 1], [2, 3, 1]]


def test_a_single_unfenced_broker_leads_every_partition():
    placed = place(brokers([0], fenced=[1]), 3, 1, KafkaMockRandom())

    assert placed == [[0], [0], [0]]


def test_every_rack_is_used_before_one_repeats():
    racks = [*brokers([11, 10], rack="1"), *brokers([21], [20], rack="2"), *brokers([30, 31], rack="3")]

    placed = place(racks, 3, 4, KafkaMockRandom())

    assert placed == [[11, 21, 31, 10], [21, 30, 10, 20], [31, 11, 21, 30]]


def test_a_rack_without_unfenced_brokers_gives_followers_only():
    racks = [
        *brokers([11, 10], rack="1"),
        *brokers([], [20, 21], rack="2"),
        *brokers([], [30, 31], rack="3"),
        *brokers([41], [40], rack="4"),
    ]

    placed = place(racks, 3, 4, KafkaMockRandom())

    assert placed == [[41, 11, 21, 30], [10, 20, 31, 41], [41, 21, 30, 11]]


def test_pairs_are_distributed_as_in_kafka():
    placed = place(brokers([0, 1, 2, 3]), 200, 2, KafkaMockRandom())

    counts = Counter(tuple(replicas) for replicas in placed)
    assert [counts[pair] for pair in [(0, 1), (0, 2), (0, 3), (1, 0), (1, 2), (1, 3)]] == [14, 22, 14, 17, 17, 16]
    assert [counts[pair] for pair in [(2, 0), (2, 1), (2, 3), (3, 0), (3, 1), (3, 2)]] == [13, 17, 20, 20, 19, 11]


@pytest.mark.parametrize(
    ("replica_count", "of", "text"),
    [
        (0, brokers([10, 11]), "Invalid replication factor 0: the replication factor must be positive."),
        (1, brokers([], [10, 11]), "All brokers are currently fenced, or have all their log directories cordoned."),
        (1, [], "All brokers are currently fenced, or have all their log directories cordoned."),
        (
            3,
            brokers([10, 11]),
            (
                "The target replication factor of 3 cannot be reached because only 2 broker(s) are registered or some "
                "brokers have all their log directories cordoned."
            ),
        ),
    ],
)
def test_an_impossible_replication_factor_is_refused(replica_count, of, text):
    with pytest.raises(ApiError) as refused:
        place(of, 1, replica_count, KafkaMockRandom())

    assert (refused.value.code, refused.value.text) == (Error.INVALID_REPLICATION_FACTOR, text)


@pytest.mark.parametrize("seed", range(50))
def test_every_placement_has_distinct_replicas_an_unfenced_leader_and_spreads_over_racks(seed):
    random = Random(seed)
    usable = [
        UsableBroker(broker, random.choice([None, "a", "b", "c"]), random.random() < 0.3)
        for broker in random.sample(range(1000), random.randint(1, 12))
    ]
    usable[0] = usable[0]._replace(fenced=False)
    fenced = {broker.id: broker.fenced for broker in usable}
    rack_of = {broker.id: broker.rack for broker in usable}
    replica_count = random.randint(1, len(usable))

    placed = place(usable, 40, replica_count, random)

    for replicas in placed:
        assert len(set(replicas)) == len(replicas) == replica_count
        assert not fenced[replicas[0]]
    racks = len(set(rack_of.values()))
    if replica_count >= racks:
        assert all(len({rack_of[r] for r in replicas}) == racks for replicas in placed)


@pytest.mark.parametrize("seed", range(40))
def test_brokers_of_one_rack_are_placed_as_those_of_any_rack(seed):
    rng = Random(seed)
    usable = Usable(brokers(rng.sample(range(30), rng.randint(1, 9)), rack=rng.choice([None, "a"])))
    replica_count = rng.randint(1, usable.broker_count)
    drawn, drawn_before = Random(seed), Random(seed)
    racks = placement._Racks(usable, drawn_before)
    wanted = [racks.place(replica_count) for _ in range(60)]

    placed = placement.place(usable, 60, replica_count, drawn)

    assert placed == wanted
    assert drawn.random() == drawn_before.random()
