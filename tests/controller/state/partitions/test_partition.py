from __future__ import annotations

import subprocess
import sys

import pytest

from controller.state.partitions.partition import (
    NO_LEADER,
    RECOVERED,
    RECOVERING,
    Partition,
    apply_change,
    next_epoch,
    partition_of,
    partition_record,
)
from records.metadata.topics import PartitionChangeRecord, PartitionRecord
from records.schema import replace
from records.uuids import MIGRATING_DIRECTORY, UNASSIGNED_DIRECTORY

TOPIC = bytes(range(16))
DIRECTORIES = tuple(bytes([number]) * 16 for number in (1, 2, 3))

FOO = Partition(
    replicas=(1, 2, 3),
    isr=(1, 2),
    leader=1,
    leader_epoch=10,
    partition_epoch=200,
    directories=DIRECTORIES,
    elr=(3,),
)


def change(**fields):
    return PartitionChangeRecord(partition_id=0, topic_id=TOPIC, **fields)


def record(**fields):
    return replace(partition_record(FOO, TOPIC, 0, version=2), **fields)


def test_every_change_raises_only_the_partition_epoch():
    assert apply_change(FOO, change()) == FOO._replace(partition_epoch=201)


@pytest.mark.parametrize("leader", [1, 2, NO_LEADER])
def test_naming_a_leader_raises_the_leader_epoch_even_if_it_leads_already(leader):
    assert apply_change(FOO, change(leader=leader)) == FOO._replace(leader=leader, leader_epoch=11, partition_epoch=201)


def test_a_given_list_replaces_the_former_even_if_empty():
    changed = apply_change(
        FOO,
        change(
            isr=(2, 1),
            removing_replicas=(3,),
            adding_replicas=(),
            eligible_leader_replicas=(),
            last_known_elr=(1,),
        ),
    )

    assert changed == FOO._replace(isr=(2, 1), removing=(3,), elr=(), last_known_elr=(1,), partition_epoch=201)


def test_the_recovery_state_stays_unless_it_is_named():
    recovering = apply_change(FOO, change(leader_recovery_state=RECOVERING))
    still = apply_change(recovering, change(isr=(1,)))
    recovered = apply_change(still, change(leader_recovery_state=RECOVERED))

    assert [recovering.recovery_state, still.recovery_state, recovered.recovery_state] == [RECOVERING, RECOVERING, 0]


def test_directories_follow_the_replicas_that_they_are_given_with():
    changed = apply_change(FOO, change(replicas=(1, 4), directories=(DIRECTORIES[0], UNASSIGNED_DIRECTORY)))

    assert (changed.replicas, changed.directories) == ((1, 4), (DIRECTORIES[0], UNASSIGNED_DIRECTORY))


@pytest.mark.parametrize("unassigned", [(), (MIGRATING_DIRECTORY,), (MIGRATING_DIRECTORY,) * 5])
def test_directories_that_were_never_assigned_take_the_number_of_the_replicas(unassigned):
    before = FOO._replace(directories=(MIGRATING_DIRECTORY,) * 3)

    assert apply_change(before, change(replicas=(1, 2, 3, 4))).directories == (MIGRATING_DIRECTORY,) * 4
    assert apply_change(FOO, change(directories=unassigned)).directories == (MIGRATING_DIRECTORY,) * 3
    assert partition_of(record(directories=())).directories == (MIGRATING_DIRECTORY,) * 3


@pytest.mark.parametrize(
    "fields",
    [
        {"replicas": (1, 2), "directories": DIRECTORIES},
        {"replicas": (1, 2)},
        {"directories": DIRECTORIES[:2]},
        {"leader_recovery_state": 2},
    ],
)
def test_a_change_that_contradicts_itself_or_the_partition_is_refused(fields):
    with pytest.raises(ValueError, match=r"directories for|leader recovery state"):
        apply_change(FOO, change(**fields))


@pytest.mark.parametrize("fields", [{"directories": DIRECTORIES[:2]}, {"leader_recovery_state": -1}])
def test_a_record_that_contradicts_itself_is_refused(fields):
    with pytest.raises(ValueError, match=r"directories for|leader recovery state"):
        partition_of(record(**fields))


def test_a_record_without_elr_is_read_as_an_empty_elr():
    assert partition_of(record(eligible_leader_replicas=None)) == FOO._replace(elr=())


def test_a_partition_survives_the_conversion_to_its_record_and_back():
    whole = FOO._replace(removing=(3,), adding=(2,), last_known_elr=(1,), recovery_state=RECOVERING)

    assert partition_of(partition_record(whole, TOPIC, 5, version=2)) == whole
    assert partition_record(FOO, TOPIC, 5, version=2) == PartitionRecord(
        partition_id=5,
        topic_id=TOPIC,
        replicas=(1, 2, 3),
        isr=(1, 2),
        removing_replicas=(),
        adding_replicas=(),
        leader=1,
        leader_epoch=10,
        partition_epoch=200,
        directories=DIRECTORIES,
        eligible_leader_replicas=(3,),
    )


def test_an_elr_is_written_only_where_the_version_has_it():
    assert partition_record(FOO, TOPIC, 0, version=1).eligible_leader_replicas is None
    assert partition_record(FOO._replace(elr=()), TOPIC, 0, version=2).eligible_leader_replicas is None


def test_assigned_directories_cannot_be_written_by_a_version_without_them():
    unassigned = FOO._replace(directories=(MIGRATING_DIRECTORY,) * 3)

    assert partition_record(unassigned, TOPIC, 0, version=0).directories == ()
    with pytest.raises(ValueError, match="directory assignment"):
        partition_record(FOO, TOPIC, 0, version=0)


def test_epochs_wrap_as_in_java():
    assert [next_epoch(7), next_epoch(0x7FFFFFFF)] == [8, -0x80000000]


def test_the_properties_of_a_partition():
    assert (FOO.preferred_leader, FOO.is_reassigning, FOO.directory_of(2)) == (1, False, DIRECTORIES[1])
    assert FOO._replace(replicas=()).preferred_leader == NO_LEADER
    assert FOO._replace(adding=(4,)).is_reassigning
    with pytest.raises(ValueError, match="not in tuple"):
        FOO.directory_of(9)


def test_tools_can_import_it_without_numpy():
    code = "import controller.state.partitions.partition, sys; assert 'numpy' not in sys.modules"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
