"""New sequences of one replica each day, for a bounded time: none may show an unknown difference."""

from __future__ import annotations

import os
import time
from itertools import count
from typing import TYPE_CHECKING

from tests.oracle.conftest import EXPLORED, seed_of_the_day
from tests.oracle.raft.commands import to_text
from tests.oracle.raft.generate.sequence import sequence
from tests.oracle.raft.shrink import shrunk
from tests.oracle.release import RELEASE

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.oracle.raft.commands import Command
    from tests.oracle.raft.pair import Pair

# A third of what the core level has.
SECONDS = float(os.environ.get("KRAFT_ORACLE_SECONDS", 120 * RELEASE.share)) / 3


def test_the_sequences_of_the_day_show_no_unknown_difference(
    replicas: Pair, record_property: Callable[[str, object], None]
) -> None:
    end = time.monotonic() + SECONDS
    steps = 0
    for seed in count(seed_of_the_day()):
        if time.monotonic() > end:
            break
        outcome = replicas.explore(*sequence(seed))
        steps += outcome.count
        if outcome.found:
            signature = outcome.signature

            def differs(tried: list[Command], signature: str = signature) -> bool:
                return replicas.run(tried).signature == signature

            commands = shrunk(outcome.commands, differs)
            found = "\n".join(str(difference) for difference in replicas.run(commands).found)
            raise AssertionError(f"seed {seed}:\n{found}\n{to_text(commands)}")
    record_property(EXPLORED, f"{steps} steps of a replica")

    assert steps > 0
