"""The version in which a record is written."""

from __future__ import annotations

import pytest

from controller.state.records_of import records_of
from controller.state.view import stable_view
from records.features.record_versions import partition_version
from records.metadata.configs import FeatureLevelRecord
from records.metadata.topics import TopicRecord
from records.schema import replace
from tests.controller.lives import fresh
from tests.controller.state.test_records_of import PARTITION


@pytest.mark.parametrize(
    ("level", "version", "directories", "elr"), [(30, 2, True, True), (22, 1, True, False), (12, 0, False, False)]
)
def test_record_versions_follow_the_metadata_version(level, version, directories, elr):
    partition = replace(
        PARTITION,
        directories=PARTITION.directories if directories else (),
        eligible_leader_replicas=(2,) if elr else None,
        last_known_elr=(1,) if elr else None,
    )
    records = [FeatureLevelRecord(name="metadata.version", feature_level=level)]
    if elr:
        records.append(FeatureLevelRecord(name="eligible.leader.replicas.version", feature_level=1))
    records += [TopicRecord(name="a.b", topic_id=b"t" * 16), partition]

    found = list(records_of(stable_view(fresh(records))))

    assert found[-1] == (partition, version)
    assert version == partition_version(level)
