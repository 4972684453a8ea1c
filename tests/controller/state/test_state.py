from __future__ import annotations

import subprocess
import sys
from random import Random

import pytest

from controller.state.state import ReplayError, State
from controller.state.view import stable_view
from records.metadata.configs import ConfigRecord, FeatureLevelRecord
from records.metadata.security import UserScramCredentialRecord
from records.metadata.topics import PartitionRecord, RemoveTopicRecord, TopicRecord
from records.metadata.transactions import (
    AbortTransactionRecord,
    BeginTransactionRecord,
    EndTransactionRecord,
    NoOpRecord,
)
from records.resource_types import ResourceType
from tests.controller.lives import fresh, live


def topic(name):
    return TopicRecord(name=name, topic_id=name.encode().ljust(16, b"-"))


def replay(state, *records):
    for record in records:
        state.replay(record, state.end_offset)


def replay_committed(state, *records):
    for record in records:
        state.commit(state.end_offset + 1)
        state.replay(record, state.end_offset)
        state.commit(state.end_offset)


def offsets(state):
    return state.stable_end_offset, state.committed_end_offset, state.end_offset


def test_the_stable_the_committed_and_the_end_offset():
    state = State()
    replay(state, topic("a"), topic("b"), topic("c"))
    state.commit(2)

    assert offsets(state) == (2, 2, 3)


def test_the_high_watermark_never_goes_back():
    state = State()
    replay(state, topic("a"), topic("b"))
    state.commit(2)
    state.commit(1)

    assert offsets(state) == (2, 2, 2)


def test_revert_undoes_all_uncommitted_changes():
    state = State()
    replay(state, topic("a"), topic("b"), topic("c"))
    state.commit(1)

    state.revert()

    assert sorted(state.topic_ids) == ["a"]
    assert offsets(state) == (1, 1, 1)
    replay(state, topic("b"))
    assert sorted(state.topic_ids) == ["a", "b"]


def test_committed_records_of_an_open_transaction_are_not_stable():
    state = State()
    replay_committed(state, topic("a"), BeginTransactionRecord(), topic("b"))

    assert offsets(state) == (1, 3, 3)
    assert state.transaction_start == 1
    assert sorted(stable_view(state).tables["topic_ids"]) == ["a"]


def test_a_transaction_takes_effect_when_it_ends():
    state = State()
    replay_committed(state, BeginTransactionRecord(), topic("b"), EndTransactionRecord())

    assert offsets(state) == (3, 3, 3)
    assert state.transaction_start == -1
    assert sorted(state.topic_ids) == ["b"]
    assert len(state.undo) == 0


@pytest.mark.parametrize("take_in", [replay, replay_committed])
def test_an_aborted_transaction_changes_nothing(take_in):
    state = State()
    take_in(state, topic("a"), BeginTransactionRecord(name="x"), topic("b"))
    take_in(state, RemoveTopicRecord(topic_id=topic("a").topic_id), AbortTransactionRecord(reason="y"))

    assert sorted(state.topic_ids) == ["a"]
    assert state.transaction_start == -1
    state.commit(state.end_offset)
    assert offsets(state) == (5, 5, 5)
    assert len(state.undo) == 0


def test_an_abort_record_that_is_lost_reopens_the_transaction():
    state = State()
    replay_committed(state, topic("a"), BeginTransactionRecord(), topic("b"))

    replay(state, AbortTransactionRecord(), topic("c"))
    assert sorted(state.topic_ids) == ["a", "c"]
    state.revert()

    assert sorted(state.topic_ids) == ["a", "b"]
    assert state.transaction_start == 1
    replay_committed(state, AbortTransactionRecord())
    assert sorted(state.topic_ids) == ["a"]


def test_an_end_record_that_is_lost_leaves_the_transaction_open():
    state = State()
    replay_committed(state, BeginTransactionRecord(), topic("b"))

    replay(state, EndTransactionRecord(), topic("c"))
    state.revert()

    assert state.transaction_start == 0
    assert offsets(state) == (0, 2, 2)
    replay_committed(state, AbortTransactionRecord())
    assert not state.topic_ids


def test_a_snapshot_that_is_loaded_leaves_no_open_transaction():
    state = State()
    replay_committed(state, BeginTransactionRecord(), topic("b"))

    state.begin_load(9)
    state.replay(topic("a"), 8)
    state.end_load()
    replay_committed(state, topic("c"))

    assert state.transaction_start == -1
    assert offsets(state) == (10, 10, 10)
    assert sorted(state.topic_ids) == ["a", "c"]


def test_a_transaction_that_is_lost_completely_is_not_open():
    state = State()
    replay_committed(state, topic("a"))
    replay(state, BeginTransactionRecord(), topic("b"))

    state.revert()

    assert state.transaction_start == -1
    assert sorted(state.topic_ids) == ["a"]
    replay_committed(state, NoOpRecord())
    assert offsets(state) == (2, 2, 2)


@pytest.mark.parametrize(
    ("records", "reason"),
    [
        ([EndTransactionRecord()], "no transaction is open"),
        ([AbortTransactionRecord()], "no transaction is open"),
        ([BeginTransactionRecord(), BeginTransactionRecord()], "the transaction that began at offset 0 is still open"),
    ],
)
def test_transactions_do_not_nest_and_end_once(records, reason):
    with pytest.raises(ReplayError, match=reason):
        replay(State(), *records)


def test_an_error_names_the_contradicting_record_and_its_offset():
    state = State()
    replay(state, topic("a"))

    with pytest.raises(ReplayError) as caught:
        state.replay(topic("a"), 17)

    assert str(caught.value) == (
        "TopicRecord at offset 17 cannot be replayed: topic a YS0tLS0tLS0tLS0tLS0tLQ is there already, with id"
        " YS0tLS0tLS0tLS0tLS0tLQ"
    )
    assert (caught.value.offset, caught.value.record) == (17, TopicRecord)


def test_a_snapshot_replaces_everything():
    state = State()
    replay_committed(state, topic("old"), BeginTransactionRecord(), topic("older"))
    replay(state, topic("oldest"))

    state.begin_load(90)
    state.replay(topic("new"), 89)
    state.end_load()

    assert sorted(state.topic_ids) == ["new"]
    assert offsets(state) == (90, 90, 90)
    assert state.transaction_start == -1
    assert state.topics.last_change() == state.topic_ids.change_offset("oldest") == -1
    replay(state, topic("newer"))
    state.revert()
    assert sorted(state.topic_ids) == ["new"]


@pytest.mark.parametrize("record", [BeginTransactionRecord(), EndTransactionRecord(), AbortTransactionRecord()])
def test_a_snapshot_holds_no_transactions(record):
    state = State()
    state.begin_load(10)

    with pytest.raises(ReplayError, match="a snapshot holds no transactions"):
        state.replay(record, 9)


def test_equal_states_have_equal_digests_whatever_their_history():
    state = State()
    log = live(Random(3), 300, state)
    again = State()
    again.begin_load(1)
    from controller.state.records_of import records_of

    for record, _ in records_of(stable_view(state)):
        again.replay(record, 0)
    again.end_load()

    assert state.digest() == fresh(log).digest() == again.digest()
    before = state.digest()
    replay(
        state,
        UserScramCredentialRecord(name="x", mechanism=1, salt=b"s", stored_key=b"k", server_key=b"v", iterations=4096),
    )
    one = state.digest()
    replay(
        state,
        UserScramCredentialRecord(name="x", mechanism=1, salt=b"s", stored_key=b"K", server_key=b"v", iterations=4096),
    )
    assert len({before, one, state.digest()}) == 3


def test_a_digest_does_not_depend_on_the_order_of_hashes():
    code = (
        "from random import Random; from controller.state.state import State; from tests.controller.lives import live\n"
        "state = State(); live(Random(5), 200, state); print(state.digest())"
    )

    found = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("1", "2")
    }

    assert len(found) == 1


def test_a_record_made_here_equals_a_decoded_one():
    made, read = State(), State()

    made.replay(ConfigRecord(resource_type=ResourceType.BROKER, resource_name="", name="x", value="1"), 0)
    read.replay(ConfigRecord(resource_type=int(ResourceType.BROKER), resource_name="", name="x", value="1"), 0)

    assert made.digest() == read.digest()


def test_the_state_has_the_finalized_feature_levels():
    state = State()
    assert (state.metadata_version, state.is_elr_enabled) == (0, False)

    replay(
        state,
        FeatureLevelRecord(name="metadata.version", feature_level=30),
        FeatureLevelRecord(name="eligible.leader.replicas.version", feature_level=1),
    )

    assert (state.metadata_version, state.is_elr_enabled) == (30, True)


def test_secrets_are_not_printed():
    state = State()
    record = UserScramCredentialRecord(
        name="x", mechanism=1, salt=b"SECRET", stored_key=b"SECRET", server_key=b"SECRET", iterations=4096
    )
    replay(state, record)

    assert "SECRET" not in repr(state.scram)
    assert "SECRET" not in str(ReplayError(1, type(record), "because"))


def test_a_partition_is_uncommitted_by_its_row():
    state = State()
    replay(state, topic("a"))
    topic_id = topic("a").topic_id
    for partition_id in (0, 1):
        replay(
            state,
            PartitionRecord(
                partition_id=partition_id,
                topic_id=topic_id,
                replicas=(1,),
                isr=(1,),
                removing_replicas=(),
                adding_replicas=(),
            ),
        )
    rows = [state.topics[topic_id].row(partition_id) for partition_id in (0, 1)]

    assert [state.partitions.change_offset(row) for row in rows] == [1, 2]
    state.commit(2)
    assert [state.partitions.change_offset(row) for row in rows] == [-1, 2]
    assert state.partitions.last_change() == 2
