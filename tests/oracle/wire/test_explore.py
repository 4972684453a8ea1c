"""New conversations each day, for a bounded time: none may show an unknown difference."""

from __future__ import annotations

import os
import time
from itertools import count
from typing import TYPE_CHECKING

from tests.oracle.conftest import EXPLORED, seed_of_the_day
from tests.oracle.release import RELEASE
from tests.oracle.wire.explore import Explorer

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from tests.oracle.wire.pair import WirePair

# With the 45 s of the controller's level and the 40 s of a replica, three minutes for both releases.
SECONDS = float(os.environ.get("KRAFT_ORACLE_SECONDS", 95 * RELEASE.share))


def test_the_conversations_of_the_day_show_no_unknown_difference(
    wire: WirePair, record_property: Callable[[str, object], None], capsys: pytest.CaptureFixture[str]
) -> None:
    explorer = Explorer(wire, print)
    end = time.monotonic() + SECONDS
    for seed in count(seed_of_the_day()):
        if time.monotonic() > end or explorer.seen:
            break
        explorer.explore(seed)
    record_property(EXPLORED, f"{explorer.requests} requests over the wire")

    # What was found was printed in its shortest form.
    assert explorer.seen == {}, capsys.readouterr().out
    assert explorer.requests > 0
