from __future__ import annotations

import pytest

from controller.state.state import ReplayError
from controller.state.tables.producer_ids import NEXT, ProducerIds
from records.metadata.producer_ids import ProducerIdsRecord
from tests.controller.state.tables.replaying import state_of


def block(next_producer_id):
    return ProducerIdsRecord(broker_id=1, broker_epoch=9, next_producer_id=next_producer_id)


def test_the_next_producer_id_only_rises():
    assert state_of(block(0), block(1000)).producer_ids == {NEXT: ProducerIds(1000, 1, 9)}
    for again in (1000, 999):
        with pytest.raises(ReplayError, match=f"is to be {again}, it is 1000 already"):
            state_of(block(1000), block(again))
