from __future__ import annotations

import numpy as np

from controller.state.partitions.bulk_undo import RowSet


def test_a_set_of_rows_knows_its_members_and_is_equal_to_itself_alone():
    rows = RowSet(np.array([7, 3, 900]))

    assert [row in rows for row in (3, 7, 900, 0, 4, 901)] == [True, True, True, False, False, False]
    assert rows == rows  # noqa: PLR0124
    assert rows != RowSet(np.array([7, 3, 900]))
    assert 1 not in RowSet(np.array([], np.intp))
