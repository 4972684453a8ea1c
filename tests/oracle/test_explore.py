"""New sequences each day, for a bounded time: none may show an unknown difference."""

from __future__ import annotations

import os
import time
from itertools import count
from typing import TYPE_CHECKING

from tests.oracle.commands import to_text
from tests.oracle.conftest import EXPLORED, seed_of_the_day
from tests.oracle.exceptions import names
from tests.oracle.generate.sequence import sequence
from tests.oracle.release import RELEASE
from tests.oracle.shrink import shrunk

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.oracle.commands import Command
    from tests.oracle.pair import Outcome, Pair

SECONDS = float(os.environ.get("KRAFT_ORACLE_SECONDS", 45 * RELEASE.share))


def shortest(pair: Pair, outcome: Outcome) -> list[Command]:
    """A short sequence that differs in the same way."""
    return shrunk(outcome.commands, lambda tried: pair.run(tried).signature == outcome.signature)


def test_the_sequences_of_the_day_show_no_unknown_difference(
    pair: Pair, record_property: Callable[[str, object], None]
) -> None:
    careful = bool(names()[1])
    end = time.monotonic() + SECONDS
    operations = 0
    for seed in count(seed_of_the_day()):
        if time.monotonic() > end:
            break
        outcome = pair.explore(*sequence(seed, careful=careful))
        operations += outcome.count
        if outcome.found:
            commands = shortest(pair, outcome)
            found = "\n".join(str(difference) for difference in pair.run(commands).found)
            raise AssertionError(f"seed {seed}:\n{found}\n{to_text(commands)}")
    record_property(EXPLORED, f"{operations} operations")

    assert operations > 0
