from __future__ import annotations

from random import Random

import pytest

from controller.state.state import State
from tests.controller.lives import fresh, next_record


@pytest.mark.parametrize("seed", range(60))
def test_an_undo_leaves_the_state_of_the_committed_records(seed):
    random = Random(seed)
    state, log = State(), []
    committed = 0

    for _ in range(150):
        rng = random.random()
        if rng < 0.8:
            record = next_record(random, state)
            state.replay(record, len(log))
            log.append(record)
        elif rng < 0.92:
            committed = random.randint(committed, len(log))
            state.commit(committed)
        else:
            state.revert()
            del log[committed:]

            again = fresh(log)
            assert state.contents() == again.contents()
            assert state.quotas.mutation_rates == again.quotas.mutation_rates
            assert state.end_offset == len(log)

    state.revert()
    standby = fresh(log[:committed])
    assert state.contents() == standby.contents()
    assert state.partitions.counts() == standby.partitions.counts()
    assert state.transaction_start == standby.transaction_start


@pytest.mark.parametrize("seed", range(20))
def test_a_key_is_uncommitted_from_its_change_until_the_commit(seed):
    random = Random(seed)
    state, log = State(), []
    changes: list[tuple[int, object]] = []  # of the table of configs, by a model that looks at values alone
    committed = 0
    for _ in range(150):
        before = dict(state.configs)
        rng = random.random()
        if rng < 0.8:
            state.replay(next_record(random, state, transactions=False), len(log))
            log.append(None)
            changed = [key for key in {**before, **state.configs} if before.get(key) != state.configs.get(key)]
            changes += [(len(log) - 1, key) for key in changed]
        elif rng < 0.9:
            committed = random.randint(committed, len(log))
            state.commit(committed)
        else:
            state.revert()
            del log[committed:]
            changes = [(offset, key) for offset, key in changes if offset < committed]

        expected = {key: offset for offset, key in changes if offset >= committed}
        for key, offset in expected.items():
            assert state.configs.change_offset(key) >= offset
        assert {key for _, key in changes if state.configs.change_offset(key) >= 0} >= set(expected)
        for _, key in changes:
            assert state.configs.change_offset(key) in (-1, *range(committed, len(log)))
        assert (state.configs.last_change() >= 0) >= bool(expected)
