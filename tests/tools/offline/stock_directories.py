"""Directories that stock Kafka wrote, copied where a test may change them, and batches to append to them."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from records.batch import build_batch
from records.frame import encode_record
from records.metadata.brokers import FenceBrokerRecord
from tests.records.golden import GOLDEN

if TYPE_CHECKING:
    from pathlib import Path

PARTITION = "__cluster_metadata-0"
SEGMENT = f"{PARTITION}/00000000000000000000.log"


def stock_directory(tmp_path: Path, name: str = "4.3-static/node-1") -> Path:
    """A copy of the log directory of a stock node. That of 4.3-static/node-1 ends at offset 1039, in epoch 2."""
    target = tmp_path / name.replace("/", "-")
    shutil.copytree(GOLDEN / name, target)
    for path in target.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return target


def append_unreplayable(directory: Path, end_offset: int, epoch: int) -> int:
    """Append a batch that is whole, whose record fences a broker that does not exist; returns its position."""
    log = directory / SEGMENT
    value = encode_record(FenceBrokerRecord(id=4711, epoch=1), 0)
    position = log.stat().st_size
    with log.open("ab") as file:
        file.write(build_batch([value], base_offset=end_offset, leader_epoch=epoch, timestamp_ms=1_700_000_000_000))
    return position
