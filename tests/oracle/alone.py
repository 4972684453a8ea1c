"""`python -m tests.oracle.alone --seeds 1-600`: sequences on ours without stock, to measure what of ours they reach."""

from __future__ import annotations

import argparse
import sys
import time

from tests.oracle.generate.sequence import sequence
from tests.oracle.pair import run_alone


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.oracle.alone", description=__doc__)
    parser.add_argument("--seeds", default="1-600", help="first and last seed")
    options = parser.parse_args()
    first, _, last = options.seeds.partition("-")
    begun = time.monotonic()
    operations = sum(run_alone(*sequence(seed)) for seed in range(int(first), int(last or first) + 1))
    sys.stdout.write(f"{operations} operations in {time.monotonic() - begun:.1f} s\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
