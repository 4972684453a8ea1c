"""`python -m tests.oracle.raft --seeds 1-200`: sequences of one replica of the quorum, on both sides."""

from __future__ import annotations

import sys

from tests.oracle.exploring import Level, main
from tests.oracle.raft.commands import from_text, to_text
from tests.oracle.raft.exceptions import names
from tests.oracle.raft.generate.sequence import sequence
from tests.oracle.raft.pair import Pair
from tests.oracle.raft.shrink import shrunk

LEVEL = Level(
    "tests.oracle.raft",
    Pair,
    lambda seed, careful: sequence(seed, calm=careful or None),
    shrunk,
    to_text,
    from_text,
    set.union(*names()),
)

if __name__ == "__main__":
    sys.exit(main(LEVEL))
