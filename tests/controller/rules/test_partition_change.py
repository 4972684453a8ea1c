"""The change of one partition, on the fixtures of Kafka's PartitionChangeBuilderTest, and the epoch rules."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.rules.partition_change import Election, PartitionTarget, Rules, partition_change
from controller.rules.reassignment import plan_reassignment, revert
from controller.state.partitions.partition import Partition, apply_change
from records.metadata.topics import PartitionChangeRecord
from records.schema import schema_of
from records.uuids import LOST_DIRECTORY, MIGRATING_DIRECTORY, UNASSIGNED_DIRECTORY

TOPIC = b"topic-id-16bytes"
LEVELS = {0: 15, 1: 17, 2: 23}  # metadata.version by the version of the record that it writes
PREFERRED, ONLINE, UNCLEAN = Election.PREFERRED, Election.ONLINE, Election.UNCLEAN


def directory(number):
    return bytes([number]) * 16


def partition(replicas, isr, leader, *, directories=None, **others):
    directories = tuple(directory(replica) for replica in replicas) if directories is None else directories
    return Partition(tuple(replicas), tuple(isr), leader, 100, 200, directories, **others)


FOO = partition((2, 1, 3), (2, 1, 3), 1, directories=(directory(2), directory(1), UNASSIGNED_DIRECTORY))
BAR = partition((1, 2, 3, 4), (1, 2, 3), 1, removing=(1,), adding=(4,))
BAZ = partition((2, 1, 3), (1, 3), 3)


def rules(version=2, *, live=lambda broker: broker != 3, min_isr=2, elr=None, level=None):
    return Rules(
        LEVELS[version] if level is None else level,
        min_isr,
        version >= 2 if elr is None else elr,
        live,
        lambda _: UNASSIGNED_DIRECTORY,
    )


def change(before, rules, **target):
    """The fields that the record sets; None if there is no record."""
    built = partition_change(before, TOPIC, 7, rules, PartitionTarget(**target))
    if built is None:
        return None
    record, _ = built
    assert (record.topic_id, record.partition_id) == (TOPIC, 7)
    absent = PartitionChangeRecord(partition_id=7, topic_id=TOPIC)
    fields = [field.name for field in schema_of(PartitionChangeRecord).fields]
    return {name: getattr(record, name) for name in fields if getattr(record, name) != getattr(absent, name)}


@pytest.mark.parametrize("version", [0, 1, 2])
@pytest.mark.parametrize(
    ("before", "live", "target", "leader"),
    [
        (FOO, {1, 2}, {"election": PREFERRED}, 2),
        (FOO, {1, 2}, {}, None),
        (FOO, {1, 2}, {"election": UNCLEAN}, None),
        (FOO, {1, 2}, {"isr": (1, 3)}, None),
        (FOO, {1, 2}, {"isr": (3,)}, -1),
        (FOO, {1, 2}, {"isr": (3,), "election": UNCLEAN}, 2),
        (FOO, {1, 2}, {"isr": (3,), "election": PREFERRED}, -1),
        (FOO, {1, 2, 4}, {"isr": (4,), "replicas": (2, 1, 3, 4), "election": UNCLEAN}, 4),
        (BAZ, {1, 2, 3}, {"election": PREFERRED}, None),
        (BAZ, {1, 2, 3}, {"election": UNCLEAN}, None),
    ],
)
def test_an_election_prefers_replicas_without_data_loss(version, before, live, target, leader):
    fields = change(before, rules(version, live=live.__contains__), **target)

    assert (fields or {}).get("leader") == leader


@pytest.mark.parametrize("version", [0, 1, 2])
@pytest.mark.parametrize(
    ("before", "live", "target"),
    [
        (FOO, {1, 2}, {}),
        (FOO, {1, 2}, {"election": UNCLEAN}),
        (BAR, {1, 2, 4}, {}),
        (BAR, {1, 2, 4}, {"election": UNCLEAN}),
        (BAZ, {1, 2, 3}, {"election": PREFERRED}),
    ],
)
def test_no_record_is_written_where_nothing_changes(version, before, live, target):
    assert change(before, rules(version, live=live.__contains__), **target) is None


@pytest.mark.parametrize(("version", "level"), [(0, 15), (1, 17), (1, 22), (2, 23), (2, 30)])
def test_the_version_of_the_record_follows_the_metadata_version(version, level):
    record = partition_change(FOO, TOPIC, 7, rules(level=level, elr=False), PartitionTarget(isr=(2, 1)))

    assert record == (PartitionChangeRecord(partition_id=7, topic_id=TOPIC, isr=(2, 1)), version)


@pytest.mark.parametrize(("level", "leader"), [(7, 1), (11, 1), (12, None), (17, None), (23, None)])
def test_a_smaller_isr_raises_the_leader_epoch_only_before_3_6(level, leader):
    fields = change(FOO, rules(level=level, elr=False), isr=(2, 1))

    assert fields == {"isr": (2, 1)} | ({} if leader is None else {"leader": leader})


@pytest.mark.parametrize("level", [7, 11, 12, 17, 23])
def test_a_larger_isr_never_raises_the_leader_epoch(level):
    fields = change(BAZ, rules(level=level, elr=False, live=lambda _: True), isr=(1, 3, 2))

    assert fields == {"isr": (1, 3, 2)}


def test_an_empty_isr_that_is_not_written_does_not_raise_the_leader_epoch():
    fields = change(partition((2,), (2,), 2), rules(level=7, elr=False, live=lambda _: True), isr=())

    assert fields == {"leader": -1}


def test_another_order_of_the_isr_is_a_change():
    assert change(FOO, rules(0), isr=(1, 2, 3)) == {"isr": (1, 2, 3)}


def test_the_leader_changes_with_the_isr():
    assert change(FOO, rules(), isr=(2, 3)) == {"isr": (2, 3), "leader": 2}


def test_reordered_replicas_keep_the_epoch_and_their_directories():
    expected = {"replicas": (3, 2, 1), "directories": (UNASSIGNED_DIRECTORY, directory(2), directory(1))}

    assert change(FOO, rules(1), replicas=(3, 2, 1)) == expected
    assert change(FOO, rules(0), replicas=(3, 2, 1)) == {"replicas": (3, 2, 1)}


@pytest.mark.parametrize("version", [0, 1, 2])
def test_an_isr_with_all_added_replicas_completes_a_reassignment(version):
    fields = change(BAR, rules(version), isr=(1, 2, 3, 4))

    directories = {"directories": tuple(map(directory, (2, 3, 4)))} if version else {}
    assert fields == {
        "replicas": (2, 3, 4),
        "isr": (2, 3, 4),
        "leader": 2,
        "removing_replicas": (),
        "adding_replicas": (),
        **directories,
    }


def test_cancelling_removes_the_added_replicas_and_raises_the_leader_epoch():
    back = revert(BAR)

    fields = change(BAR, rules(), replicas=back.replicas, isr=back.isr, removing=(), adding=())

    assert fields == {
        "replicas": (1, 2, 3),
        "leader": 1,
        "removing_replicas": (),
        "adding_replicas": (),
        "directories": tuple(map(directory, (1, 2, 3))),
    }


def test_a_pure_removal_completes_at_once():
    wished = plan_reassignment(FOO.replicas, (1, 2))

    fields = change(FOO, rules(), replicas=wished.replicas, removing=wished.removing)

    assert fields == {"replicas": (1, 2), "isr": (2, 1), "leader": 1, "directories": (directory(1), directory(2))}


def test_a_preferred_election_is_of_the_first_replica_that_a_completed_reassignment_leaves():
    before = partition((1, 2, 3), (1, 2, 3), 3, removing=(1,))

    fields = change(before, rules(0, live=lambda _: True), election=PREFERRED)

    assert fields == {"leader": 2, "isr": (2, 3), "replicas": (2, 3), "removing_replicas": ()}


def test_an_addition_waits_for_the_new_replica():
    wished = plan_reassignment(FOO.replicas, (1, 2, 3, 4))

    fields = change(FOO, rules(), replicas=wished.replicas, adding=wished.adding)

    assert fields == {
        "replicas": (1, 2, 3, 4),
        "adding_replicas": (4,),
        "directories": (directory(1), directory(2), UNASSIGNED_DIRECTORY, UNASSIGNED_DIRECTORY),
    }


def test_a_removed_leader_stops_leading_even_without_a_successor():
    before = partition((2, 3, 0, 1), (0, 1), 0, removing=(0, 1), adding=(2, 3))

    fields = change(before, rules(level=7, elr=False, live=lambda _: False), isr=(0, 1, 2, 3))

    assert fields == {
        "replicas": (2, 3),
        "isr": (2, 3),
        "leader": -1,
        "removing_replicas": (),
        "adding_replicas": (),
    }


def test_an_unclean_leader_is_the_whole_isr_and_recovers():
    fields = change(FOO, rules(0), isr=(3,), election=UNCLEAN)

    assert fields == {"isr": (2,), "leader": 2, "leader_recovery_state": 1}


def test_an_unclean_election_forgets_elr_and_last_known_leader():
    before = partition((2, 1, 3), (), -1, elr=(3,), last_known_elr=(2,))

    fields = change(before, rules(live=lambda broker: broker == 1), election=UNCLEAN)

    assert fields == {
        "isr": (1,),
        "leader": 1,
        "leader_recovery_state": 1,
        "eligible_leader_replicas": (),
        "last_known_elr": (),
    }


def test_a_partition_in_recovery_stays_so_through_elections():
    before = partition((1, 2, 3), (1,), 1, recovery_state=1)

    offline = change(before, rules(level=7, elr=False, live=lambda _: False))
    online = change(before._replace(leader=-1), rules(level=7, elr=False, live=lambda _: True))
    unclean = change(before, rules(level=7, elr=False, live=lambda broker: broker == 2), isr=(1,), election=UNCLEAN)

    assert offline == {"leader": -1}
    assert online == {"leader": 1}
    assert unclean == {"leader": 2, "isr": (2,)}


def test_the_leader_ends_its_recovery_by_asking():
    before = partition((1, 2, 3), (1,), 1, recovery_state=1)

    assert change(before, rules(live=lambda _: True), recovery_state=0) == {"leader_recovery_state": 0}


def test_a_replica_that_leaves_an_isr_below_the_minimum_stays_eligible():
    before = partition((1, 2, 3, 4), (1, 2, 3, 4), 1)

    fields = change(before, rules(min_isr=3), isr=(1, 2), election=PREFERRED)

    assert fields == {"isr": (1, 2), "eligible_leader_replicas": (3, 4)}


def test_a_replica_that_leaves_a_large_enough_isr_is_not_eligible():
    before = partition((1, 2, 3, 4), (1, 2, 3, 4), 1)

    assert change(before, rules(min_isr=3), isr=(1, 2, 4)) == {"isr": (1, 2, 4)}


def test_a_large_enough_isr_clears_the_elr():
    before = partition((1, 2, 3, 4), (1, 2), 1, elr=(3,), last_known_elr=(4,))

    fields = change(before, rules(min_isr=3), isr=(1, 2, 3))

    assert fields == {"isr": (1, 2, 3), "eligible_leader_replicas": ()}


def test_a_new_member_of_a_small_isr_leaves_the_elr_as_it_is():
    before = partition((1, 2, 3, 4), (1,), 1, elr=(3,))

    assert change(before, rules(min_isr=3), isr=(1, 4)) == {"isr": (1, 4)}


def test_a_broker_that_lost_data_leaves_the_elr():
    before = partition((1, 2, 3, 4), (1,), 1, elr=(2, 3))

    fields = change(before, rules(min_isr=3), unclean_shutdown=(3,))

    assert fields == {"eligible_leader_replicas": (2,)}


def test_without_the_feature_a_stored_elr_is_wiped():
    before = partition((1, 2, 3), (1,), 1, elr=(2,))

    assert change(before, rules(elr=False)) == {"eligible_leader_replicas": ()}


def test_an_eligible_replica_is_elected_cleanly():
    before = partition((1, 2, 3, 4), (1,), 1, elr=(3,))

    fields = change(before, rules(min_isr=3, live=lambda broker: broker != 1), isr=(), election=PREFERRED)

    assert fields == {"isr": (3,), "leader": 3, "eligible_leader_replicas": (1,)}


def test_an_empty_isr_keeps_its_last_known_leader():
    before = partition((1, 2, 3, 4), (1, 2, 3, 4), 1)

    fields = change(before, rules(min_isr=3, live=lambda _: False), isr=(), election=PREFERRED)

    assert fields == {
        "isr": (),
        "leader": -1,
        "eligible_leader_replicas": (1, 2, 3, 4),
        "last_known_elr": (1,),
    }


def test_a_leader_lost_without_an_isr_change_becomes_the_last_known_leader():
    before = partition((1, 2, 3), (1,), 1, elr=(2,))

    fields = change(before, rules(min_isr=3, live=lambda _: False), election=PREFERRED)

    assert fields == {"leader": -1, "last_known_elr": (1,)}


def test_a_leaderless_partition_that_loses_a_replica_keeps_its_last_known_leader():
    before = partition((1, 2, 3), (), -1, elr=(2,), adding=(3,), last_known_elr=(1,))

    fields = change(before, rules(live=lambda _: False), replicas=(1, 2), adding=())

    assert fields == {
        "leader": -1,
        "replicas": (1, 2),
        "directories": (directory(1), directory(2)),
        "adding_replicas": (),
    }


def test_without_the_feature_the_last_member_stays_in_the_isr():
    before = partition((1, 2), (2,), 2)

    assert change(before, rules(elr=False, live=lambda _: False), isr=()) == {"leader": -1}


def test_the_last_known_leader_is_elected_if_no_other_replica_is_available():
    before = partition((1, 2, 3, 4), (), -1, last_known_elr=(1,))

    fields = change(before, rules(min_isr=3, live=lambda _: True), isr=(), election=PREFERRED)

    assert fields == {"isr": (1,), "leader": 1, "leader_recovery_state": 1, "last_known_elr": ()}


@pytest.mark.parametrize("election", list(Election))
def test_a_dead_last_known_leader_is_not_elected(election):
    before = partition((1, 2, 3, 4), (), -1, last_known_elr=(1,))

    assert change(before, rules(min_isr=3, live=lambda _: False), election=election) is None


def test_the_last_known_leader_is_not_elected_while_the_elr_is_not_empty():
    before = partition((1, 2, 3, 4), (), -1, elr=(3,), last_known_elr=(1,))

    assert change(before, rules(min_isr=3), election=PREFERRED) is None


def test_directories_stay_with_their_replicas_and_new_ones_get_theirs():
    before = partition((2, 1, 3), (2, 1, 3), 1)

    fields = change(before, rules(1, live=lambda _: True), replicas=(3, 1, 5, 4), directories={5: directory(55)})

    assert fields == {
        "leader": 1,
        "replicas": (3, 1, 5, 4),
        "directories": (directory(3), directory(1), directory(55), UNASSIGNED_DIRECTORY),
    }


def test_a_change_of_directories_alone_is_a_record():
    before = partition((2, 1, 3), (2, 1, 3), 2)

    fields = change(before, rules(live=lambda _: True), directories={3: directory(33), 1: LOST_DIRECTORY})

    assert fields == {"directories": (directory(2), LOST_DIRECTORY, directory(33))}


brokers = st.integers(1, 5)
broker_lists = st.lists(brokers, unique=True, max_size=5)


@given(
    replicas=st.lists(brokers, unique=True, min_size=1, max_size=5),
    live=st.sets(brokers),
    data=st.data(),
    elr=st.booleans(),
    level=st.sampled_from([7, 12, 17, 23, 30]),
)
def test_the_partition_stays_consistent_for_any_target(replicas, live, data, elr, level):
    elr = elr and level >= 23
    isr = data.draw(st.lists(st.sampled_from(replicas), unique=True, min_size=0 if elr else 1))
    leader = data.draw(st.sampled_from([*isr, -1]))
    eligible = [r for r in replicas if r not in isr and data.draw(st.booleans())] if elr and len(isr) < 2 else []
    directories = (MIGRATING_DIRECTORY,) * len(replicas)
    before = partition(replicas, isr, leader, directories=directories, elr=tuple(eligible))
    # AlterPartition refuses an empty ISR before the builder sees it.
    target = data.draw(st.lists(st.sampled_from(replicas), unique=True, min_size=1))
    election = data.draw(st.sampled_from(list(Election)))
    asked = rules(level=level, elr=elr, live=live.__contains__)

    built = partition_change(before, TOPIC, 0, asked, PartitionTarget(isr=target, election=election))

    after = before if built is None else apply_change(before, built[0])
    assert after.leader == -1 or (after.leader in after.isr and after.leader in live)
    assert set(after.isr) <= set(after.replicas)
    assert not set(after.isr) & set(after.elr)
    assert after.isr or elr
    assert (after.leader_epoch > before.leader_epoch) or after.leader == before.leader
    assert (
        after.leader in (before.leader, -1)
        or after.recovery_state
        or after.leader in {*target, *before.elr, *before.isr}
    )
