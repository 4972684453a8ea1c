from __future__ import annotations

from controller.state.replay import REPLAY
from records.registry import METADATA_RECORDS, metadata_class


def test_every_record_that_can_be_read_can_be_replayed():
    assert set(REPLAY) == {metadata_class(record_type) for record_type in METADATA_RECORDS}
