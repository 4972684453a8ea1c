from __future__ import annotations

from random import Random

import pytest

from controller.rules.bulk_elections import leader_and_isr_changes
from controller.state.records_of import records_of
from controller.state.state import State
from controller.state.view import stable_view
from tests.controller.lives import BROKERS, first_records, fresh, live, next_record
from tests.controller.rules.test_bulk_elections import env


@pytest.mark.parametrize("seed", range(30))
def test_a_view_holds_only_stable_records(seed):
    random = Random(seed)
    state, log = State(), []
    committed = 0
    for _ in range(120):
        record = first_records()[len(log)] if len(log) < 2 else next_record(random, state)
        state.replay(record, len(log))
        log.append(record)
        if random.random() < 0.1:
            committed = random.randint(committed, len(log))
            state.commit(committed)
        if committed and random.random() < 0.1:
            view = stable_view(state)

            stable = fresh(log[: view.end_offset])
            assert view.end_offset == state.stable_end_offset
            assert stable.transaction_start == -1
            assert fresh([record for record, _ in records_of(view)]).contents() == stable.contents()


@pytest.mark.parametrize("seed", range(10))
def test_a_view_does_not_contain_uncommitted_changes_of_whole_columns(seed):
    random = Random(seed)
    state = State()
    live(random, 300, state)
    before = state.contents()

    for broker in BROKERS:
        rows = state.partitions.in_isr(broker)
        state.replay_changes(leader_and_isr_changes(state, env(), rows, removed=broker), state.end_offset)
        state.replay(next_record(random, state, transactions=False), state.end_offset)
    view = stable_view(state)

    assert fresh([record for record, _ in records_of(view)]).contents() == before


def test_a_view_does_not_change_while_the_state_advances():
    random = Random(4)
    state = State()
    live(random, 200, state)
    before = state.contents()
    view = stable_view(state)

    for _ in range(300):
        offset = state.end_offset
        state.commit(offset + 1)
        state.replay(next_record(random, state), offset)
        state.commit(offset + 1)

    assert state.contents() != before
    assert fresh([record for record, _ in records_of(view)]).contents() == before
