from __future__ import annotations

import numpy as np
import pytest

from controller.state.partitions.partition import RECOVERING
from controller.state.partitions.uncommon_fields import (
    COMMON,
    HAS_ELR,
    IS_RECOVERING,
    IS_WIDE,
    REASSIGNING,
    UncommonFields,
    UncommonFieldsTable,
)


@pytest.mark.parametrize(
    ("value", "kinds"),
    [
        (UncommonFields(), 0),
        (UncommonFields(elr=(1,)), HAS_ELR),
        (UncommonFields(last_known_elr=(1,)), HAS_ELR),
        (UncommonFields(adding=(1,)), REASSIGNING),
        (UncommonFields(removing=(1,)), REASSIGNING),
        (UncommonFields(recovery_state=RECOVERING), IS_RECOVERING),
        (UncommonFields(lists=((), (), ())), IS_WIDE),
        (UncommonFields(adding=(1,), elr=(2,)), REASSIGNING | HAS_ELR),
    ],
)
def test_a_value_has_the_kinds_of_its_uncommon_fields(value, kinds):
    assert value.kinds == kinds


def test_equal_values_share_a_number_and_the_common_value_has_the_first():
    table = UncommonFieldsTable()

    numbers = [
        table.number(value)
        for value in (UncommonFields(elr=(1,)), UncommonFields(), UncommonFields(elr=(2,)), UncommonFields(elr=(1,)))
    ]

    assert numbers == [1, COMMON, 2, 1]
    assert [table.values[number] for number in numbers[:3]] == [
        UncommonFields(elr=(1,)),
        UncommonFields(),
        UncommonFields(elr=(2,)),
    ]


def test_kinds_include_values_added_later():
    table = UncommonFieldsTable()
    before = table.of_kind(HAS_ELR).tolist()
    table.number(UncommonFields(adding=(1,)))
    table.number(UncommonFields(elr=(5,)))

    assert (before, table.of_kind(HAS_ELR).tolist()) == ([False], [False, False, True])
    assert table.where(lambda uncommon: 5 in uncommon.elr).tolist() == [False, False, True]


def test_unused_values_are_dropped_and_the_others_renumbered():
    table = UncommonFieldsTable()
    for broker in range(10):
        table.number(UncommonFields(elr=(broker,)))
    column = np.array([0, 7, 3, 0, 7], np.int32)

    smaller, renumbered = table.drop_unused(column)

    assert len(smaller) == 3
    assert [smaller.values[number] for number in renumbered] == [table.values[number] for number in column]
