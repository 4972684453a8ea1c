"""`shrink --report`: how small the plans of the corpus are, compared with the smallest by hand."""

from __future__ import annotations

import sys
from statistics import median
from typing import TYPE_CHECKING

from simulations.corpus import entries
from simulations.corpus.smallest import SMALLEST
from simulations.corpus.table import README, faults_of, read_seen

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from simulations.corpus import Entry
    from simulations.corpus.smallest import Smallest
    from simulations.corpus.table import Seen

FAULTS, DECISIONS, CPU_S, TIMES = 5, 40, 60.0, 2.0
"""Targets: medians of faults and of decisions, the longest shrinking, and the ratio to the smallest plan by hand."""


def report() -> int:
    """Print the sizes of the shrunk plans. Returns 0 where they meet the targets, else 1."""
    shrunk = [entry for entry in entries() if entry.original]
    seen = read_seen(README.read_text())
    lacking = [entry.name for entry in shrunk if entry.name not in seen]
    if lacking:
        raise ValueError(f"`corpus --table` has no row for {', '.join(lacking)}")
    faults = [faults_of(entry.plan) for entry in shrunk]
    decisions = [seen[entry.name].decisions for entry in shrunk]
    seconds = [entry.cpu_s for entry in shrunk]
    before = median(faults_of(entry.original) for entry in shrunk)
    sys.stdout.write(
        f"{len(shrunk)} plans: {before:.0f} faults reduced to {median(faults):.0f} in the median, {max(faults)} at"
        f" most; decisions of noise {median(decisions):.0f}, {max(decisions)}; seconds of CPU {median(seconds):.0f},"
        f" {max(seconds):.0f}; runs {median(entry.runs for entry in shrunk):.0f}\n"
    )
    reached = median(faults) <= FAULTS and median(decisions) <= DECISIONS and max(seconds) <= CPU_S
    return 0 if compare_with_hand_made(shrunk, seen, SMALLEST) and reached else 1


def compare_with_hand_made(shrunk: Sequence[Entry], seen: Mapping[str, Seen], smallest: Mapping[str, Smallest]) -> bool:
    """Whether no plan is more than TIMES as large as the smallest by hand; prints each."""
    by_mutant = {entry.mutant_id: entry for entry in shrunk}
    sys.stdout.write("\nmutant  faults noise  by hand  times\n")
    times = []
    for mutant_id, by_hand in smallest.items():
        entry = by_mutant[mutant_id]
        faults, decisions = faults_of(entry.plan), seen[entry.name].decisions
        # An empty schedule counts as one step, so that the ratio is defined.
        times.append(max(1, faults + decisions) / max(1, by_hand.steps))
        sys.stdout.write(f"{mutant_id:7} {faults:6} {decisions:5} {by_hand.steps:8} {times[-1]:6.1f}  {by_hand.why}\n")
    within = sum(each <= TIMES for each in times)
    sys.stdout.write(
        f"{within} of {len(times)} are at most {TIMES:.0f} times as large; {median(times):.1f} times in the median\n"
    )
    return within == len(times)
