from __future__ import annotations

from controller.state.tables.quotas import entity_of
from records.metadata.configs import ClientQuotaRecord
from tests.controller.state.tables.replaying import state_of


def quota(entity, key, value, *, remove=False):
    parts = [ClientQuotaRecord.EntityData(entity_type=type_, entity_name=name) for type_, name in entity]
    return ClientQuotaRecord(entity=tuple(parts), key=key, value=value, remove=remove)


ALICE = (("user", "alice"), ("client-id", None))


def test_the_parts_of_an_entity_may_be_in_any_order():
    state = state_of(quota(ALICE, "x", 1.0), quota(tuple(reversed(ALICE)), "y", 2.0))

    assert state.quotas == {(("client-id", None), ("user", "alice")): {"x": 1.0, "y": 2.0}}
    assert entity_of(dict(ALICE)) == entity_of(dict(reversed(ALICE)))


def test_an_entity_without_quotas_is_not_kept():
    state = state_of(
        quota(ALICE, "x", 1.0), quota(ALICE, "x", 0.0, remove=True), quota((("ip", None),), "z", 0.0, remove=True)
    )

    assert state.quotas == {}


def test_the_rates_of_mutations_are_those_of_the_snapshot_that_is_loaded():
    state = state_of(quota(ALICE, "controller_mutation_rate", 1.0))
    assert state.quotas.mutation_rates == {entity_of(dict(ALICE)): 1.0}

    state.begin_load(10)
    state.end_load()

    assert (state.quotas, state.quotas.mutation_rates) == ({}, {})
