"""Logs and states that differ: the first batch, the first record, the entries; and hashes that tell them apart."""

from __future__ import annotations

from records.batch import build_batch
from records.frame import encode_record
from records.metadata.configs import ConfigRecord, FeatureLevelRecord
from tools.kraftctl.cluster.replica_differences import (
    batch_difference,
    log_difference,
    log_hash,
    record_difference,
    state_difference,
    state_hash,
)
from tools.kraftctl.cluster.replica_logs import ReplicaLog, Sum
from tools.kraftctl.points.noting_image import NotingImage
from tools.offline.log_file import StoredBatch

LOG = {2: Sum(0, 2, 1, 11), 5: Sum(3, 5, 1, 22), 9: Sum(6, 9, 2, 33)}


def replica(sums: dict[int, Sum], start: int = 0, image: NotingImage | None = None, fault: str = "") -> ReplicaLog:
    return ReplicaLog("one", start, 10, sums, image, fault)


def config(value: str, *, name: str = "a") -> ConfigRecord:
    return ConfigRecord(resource_type=4, resource_name="", name=name, value=value)


def stored(*values: str) -> StoredBatch:
    records = [encode_record(config(value), 0) for value in values]
    return StoredBatch(0, build_batch(records, base_offset=7, leader_epoch=2, timestamp_ms=0))


def test_equal_logs_have_no_difference_and_equal_hashes() -> None:
    assert log_difference(replica(LOG), replica(dict(LOG))) is None
    assert log_hash(replica(LOG), 0) == log_hash(replica(dict(LOG)), 0)


def test_only_what_both_have_is_compared() -> None:
    other = replica({5: LOG[5], 9: LOG[9]}, start=3)

    assert log_difference(replica(LOG), other) is None
    assert log_hash(replica(LOG), 3) == log_hash(other, 3)
    assert log_hash(replica(LOG), 0) != log_hash(other, 0)


def test_the_first_of_two_differences_is_named() -> None:
    other = replica({2: LOG[2], 5: LOG[5]._replace(crc=1), 9: LOG[9]._replace(crc=1)})

    assert log_difference(replica(LOG), other) == 3
    assert batch_difference(replica(LOG), other, 3) == ("the first difference is in the batch of offsets 3 to 5", 5)
    assert log_hash(replica(LOG), 0) != log_hash(other, 0)


def test_another_epoch_a_missing_batch_and_a_further_one_are_named() -> None:
    epoch = replica({**LOG, 9: Sum(6, 9, 3, 33)})
    missing = replica({2: LOG[2], 9: LOG[9]})
    further = replica({**LOG, 10: Sum(10, 10, 2, 5)})

    assert "its epoch is 3 here, 2 on the leader" in batch_difference(replica(LOG), epoch, 6)[0]
    assert log_difference(replica(LOG), missing) == 3
    assert "this replica has no batch of offsets 3 to 5" in batch_difference(replica(LOG), missing, 3)[0]
    assert log_difference(replica(LOG)._replace(end_offset=11), further) == 10
    assert "the leader has no batch of offsets 10 to 10" in batch_difference(replica(LOG), further, 10)[0]


def test_a_log_that_cannot_be_read_to_its_end_is_compared_before_it() -> None:
    assert log_difference(replica(LOG), replica({2: LOG[2]}, fault="damaged")) is None
    assert log_difference(replica(LOG), replica({2: LOG[2]._replace(crc=1)}, fault="damaged")) == 0


def test_the_first_record_that_differs_is_named_without_its_value() -> None:
    said = record_difference(stored("one", "hunter2", "three"), stored("one", "hunter3", "other"))

    assert said == "record 8 has other bytes: ConfigRecord here, ConfigRecord on the leader"
    assert record_difference(stored("one"), stored("one", "two")) == "record 8, ConfigRecord, is only here"
    assert record_difference(stored("one", "two"), stored("one")) == "record 8, ConfigRecord, is only on the leader"
    assert record_difference(stored("one"), stored("one")) == "equal records, and another header, such as a time"


def image(*records: object) -> NotingImage:
    metadata = NotingImage()
    metadata.take_batch([(record, number) for number, record in enumerate(records)], len(records) - 1, 1, 0)
    return metadata


def test_states_differ_in_an_entry_whose_secret_is_not_shown() -> None:
    level = FeatureLevelRecord(name="metadata.version", feature_level=30)
    one = replica(LOG, image=image(level, config("hunter2", name="ssl.key.password")))
    same = replica(LOG, image=image(level, config("hunter2", name="ssl.key.password")))
    other = replica(LOG, image=image(level, config("hunter3", name="ssl.key.password")))

    assert (state_difference(one, same), state_hash(one)) == ("", state_hash(same))
    assert state_hash(one) != state_hash(other)
    said = state_difference(one, other)
    assert said.startswith("the logs are equal and the states are not, 1 differences from the leader: config broker:")
    assert "hunter" not in said


def test_a_state_that_is_not_known_has_no_hash() -> None:
    assert state_hash(replica(LOG)) == ""
    assert state_difference(replica(LOG), replica(LOG, image=image())) == ""
