"""`python -m tests.trogdor`: Trogdor's workloads on stock brokers, with controllers of ours under faults."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from tests.trogdor.play import play, tell


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.trogdor", description=__doc__)
    parser.add_argument("--seconds", type=int, default=180, help="how long there are faults (180)")
    parser.add_argument("--seed", type=int, default=1, help="of the faults (1)")
    parser.add_argument("--directory", type=Path, metavar="DIR", help="empty; for the files of all processes")
    options = parser.parse_args()
    directory = options.directory or Path(tempfile.mkdtemp(prefix="trogdor-"))
    directory.mkdir(parents=True, exist_ok=True)
    outcome = play(directory.resolve(), options.seconds, options.seed, lambda line: print(line, flush=True))
    sys.stdout.write(tell(outcome))
    if outcome.wrong:
        sys.stdout.write(f"the files of all processes are in {directory}\n")
        return 1
    if options.directory is None:
        shutil.rmtree(directory)
    return 0


if __name__ == "__main__":
    sys.exit(main())
