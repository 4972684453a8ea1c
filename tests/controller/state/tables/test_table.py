from __future__ import annotations

import pytest

from controller.state.tables.table import Table
from controller.state.tables.undo import Undo


def table():
    undo = Undo()
    undo.recording = True
    return Table(undo, "t"), undo


def test_a_table_is_read_as_a_dict_and_written_by_put_and_remove():
    found, _ = table()
    found.put("a", 1)
    found.put("b", 2)

    assert found.remove("a") == 1
    assert found == {"b": 2}
    with pytest.raises(KeyError):
        found.remove("a")
    with pytest.raises(TypeError, match="put"):
        found["c"] = 3
    with pytest.raises(TypeError, match="remove"):
        del found["b"]


def test_a_removed_key_is_uncommitted_too():
    found, undo = table()
    undo.offset = 4
    found.put("a", 1)
    undo.offset = 5
    found.remove("a")

    assert (found.change_offset("a"), found.change_offset("b"), found.last_change()) == (5, -1, 5)
    undo.forget(5)
    assert found.change_offset("a") == 5
    undo.forget(6)
    assert (found.change_offset("a"), found.last_change()) == (-1, -1)


def test_undoing_a_change_restores_the_uncommitted_offset_of_the_key():
    found, undo = table()
    for offset in (1, 3, 7):
        undo.offset = offset
        found.put("a", offset)

    undo.revert(7)
    assert (found["a"], found.change_offset("a"), found.last_change()) == (3, 3, 6)
    undo.forget(2)
    undo.revert(3)
    assert (found["a"], found.change_offset("a"), found.last_change()) == (1, -1, -1)


def test_committed_changes_leave_no_undo_entry():
    found, undo = table()
    undo.recording = False
    found.put("a", 1)
    found.remove("a")

    assert len(undo) == 0
    assert found.last_change() == -1


def test_the_stable_value_is_that_before_the_first_uncommitted_change():
    found, undo = table()
    for offset, key, value in ((1, "a", 1), (2, "b", 2), (3, "a", 3), (4, "a", 4)):
        undo.offset = offset
        found.put(key, value)
    undo.offset = 5
    found.remove("b")
    undo.forget(3)

    assert [found.stable(key) for key in "abc"] == [1, 2, None]
    undo.forget(6)
    assert [found.stable(key) for key in "abc"] == [4, None, None]
