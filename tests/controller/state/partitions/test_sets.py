"""Sets of numbers are what numpy's own functions make of them, without the module that those import."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from controller.state.partitions.sets import distinct, union, without

NUMBERS = st.lists(st.integers(0, 30), max_size=20).map(lambda found: np.array(found, np.int64))


@given(NUMBERS, NUMBERS)
def test_sets_are_those_of_numpy(first: np.ndarray, second: np.ndarray) -> None:
    assert distinct(first).tolist() == np.unique(first).tolist()
    assert union(first, second).tolist() == np.union1d(first, second).tolist()
    assert without(first, second).tolist() == np.setdiff1d(first, second).tolist()


def test_no_masked_arrays_are_imported() -> None:
    program = """
import sys
import numpy as np
from controller.state.partitions.sets import distinct, union, without
rows = np.array([3, 1, 3, 70_000_000_000])
distinct(rows), union(rows, rows[:2]), without(rows, rows[:1])
assert "numpy.ma" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True)
