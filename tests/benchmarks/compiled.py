"""`python -m tests.benchmarks.compiled`: what the compiled wheel brings, beside the pure one of the same sources.

Both wheels are built, or taken from `--dist`. Each round measures one after the other, in a process each; the ratio is
the median of the rounds' ratios, printed with the least and the greatest, so other work on the machine changes it
little.
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
from pathlib import Path
from statistics import median

from deploy import distributions
from tests.deploy.unpacked import Unpacked

NEEDED = ("tests/raft", "tests/__init__.py", "tests/benchmarks/__init__.py", "tests/benchmarks/raft_steps.py")
SWEEP = ("-m", "kraft_quorum.simulations", "sweep", "--seeds", "1-20", "--jobs", "1")


def steps_us(unpacked: Unpacked) -> float:
    return float(json.loads(unpacked.run("-m", "tests.benchmarks.raft_steps")))


def simulation_s(unpacked: Unpacked) -> float:
    """CPU time of 20 seeds of the simulation, which runs whole nodes, in s."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    unpacked.run(*SWEEP)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


MEASURES = {
    "steps": ("steps of raft per commit, three replicas (µs)", steps_us),
    "simulation": ("20 seeds of the simulation (s of CPU)", simulation_s),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dist", type=Path, help="where both wheels are")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--measure", choices=MEASURES, action="append", help="these alone")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        dist = options.dist or Path(place, "dist")
        if not options.dist:
            distributions.build(dist, with_compiled=True)
        wheels = sorted(dist.glob("kraft_quorum-*.whl"), key=lambda path: not path.stem.endswith("-any"))
        pure, compiled = (Unpacked(wheel, Path(place, wheel.stem)) for wheel in wheels)
        for each in (pure, compiled):
            each.add_tests(*NEEDED)
        for name, measure in (MEASURES[each] for each in options.measure or MEASURES):
            rounds = [(measure(pure), measure(compiled)) for _ in range(options.rounds)]
            ratios = sorted(after / before for before, after in rounds)
            medians = [median(times) for times in zip(*rounds, strict=True)]
            print(
                f"{name}: pure {medians[0]:.2f}, compiled {medians[1]:.2f}, "
                f"median of the ratios {median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})",
                flush=True,
            )


if __name__ == "__main__":
    main()
