"""`python -m tests.oracle --seeds 1-200`: sequences of the controller, on both sides."""

from __future__ import annotations

import sys

from tests.oracle.commands import from_text, to_text
from tests.oracle.exceptions import names
from tests.oracle.exploring import Level, main
from tests.oracle.generate.sequence import sequence
from tests.oracle.pair import Pair
from tests.oracle.shrink import shrunk

LEVEL = Level(
    "tests.oracle",
    Pair,
    lambda seed, careful: sequence(seed, careful=careful),
    shrunk,
    to_text,
    from_text,
    set.union(*names()),
)

if __name__ == "__main__":
    sys.exit(main(LEVEL))
