from __future__ import annotations

from records.metadata.transactions import NoOpRecord, ZkMigrationStateRecord
from tests.controller.state.tables.replaying import state_of


def test_records_without_effect_leave_the_state_as_it_was():
    """Transactions themselves are tested in `test_state`."""
    state = state_of(NoOpRecord(), ZkMigrationStateRecord(zk_migration_state=1))

    assert state.contents() == state_of().contents()
    assert (state.end_offset, len(state.undo)) == (2, 0)
