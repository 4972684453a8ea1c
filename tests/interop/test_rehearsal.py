"""No write that a plan promised to keep is lost: one round for each way out, with processes that are killed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.interop.rehearsal import rehearse

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(("seed", "way"), [(1, "start"), (2, "recover"), (4, "restore")])
def test_no_write_that_was_promised_is_lost(tmp_path: Path, seed: int, way: str) -> None:
    outcome = rehearse(tmp_path, seed)

    assert outcome.way == way
    assert outcome.promised
    assert outcome.lost == []
