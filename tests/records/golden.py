"""What stock Kafka wrote, as tests read it; `tests/data/golden/README.md` says where it is from."""

from __future__ import annotations

from functools import cache
from pathlib import Path

DATA = Path(__file__).parents[1] / "data"
GOLDEN = DATA / "golden"
CLUSTERS = ("4.0-static", "4.1-static", "4.3-dynamic", "4.3-static")


@cache
def wire_rows(table: str) -> list[tuple[str, int, str, bytes]]:
    """Message, version, JSON and bytes of each row of `wire.tsv` or `wire-unknown-tags.tsv`."""
    lines = (GOLDEN / table).read_text().splitlines()[1:]
    return [
        (name, int(version), text, bytes.fromhex(data))
        for name, _, version, text, data in (line.split("\t") for line in lines)
    ]


def files(pattern: str) -> list[Path]:
    """Files of the metadata log in all clusters, in order: `*.log` or `*.checkpoint`."""
    return sorted(path for cluster in CLUSTERS for path in (GOLDEN / cluster).rglob(pattern))
