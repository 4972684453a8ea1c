"""Directories that stock Kafka wrote, and single files that its classes printed."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path

GOLDEN = Path(__file__).parents[2] / "data" / "golden"
PARTITION = "__cluster_metadata-0"
LOG = "00000000000000000000.log"

# (quorum, node) of each; the directory of a node that was killed lacks its indexes, which were too large to keep.
DIRECTORIES = [
    *((quorum, f"node-{node}") for quorum in ("4.3-static", "4.0-static", "4.3-dynamic") for node in (1, 2, 3)),
    ("4.1-static", "node-1"),
]


def partition(quorum: str, node: str) -> Path:
    return GOLDEN / quorum / node / PARTITION


def copied(quorum: str, node: str, to: Path) -> Path:
    """A copy of a node's partition directory that may be written to."""
    target = to / PARTITION
    shutil.copytree(partition(quorum, node), target)
    return target


@cache
def vectors() -> dict[str, str]:
    """Rows of raft-vectors.tsv: name to hex, or text."""
    lines = (GOLDEN / "raft-vectors.tsv").read_text().splitlines()
    return dict(line.split("\t", 1) for line in lines if "\t" in line)
