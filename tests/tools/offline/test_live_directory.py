"""A directory that is read while a node writes to it: what is truncated is read again, and a hole is an error."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.tools.offline.stock_directories import PARTITION, SEGMENT, stock_directory
from tests.tools.offline.test_truncation import split
from tools.offline.live_directory import LiveDirectory
from tools.offline.log_file import DamagedLog

if TYPE_CHECKING:
    from pathlib import Path


def without_checkpoints(tmp_path: Path, *offsets: int) -> tuple[Path, Path]:
    """A log that is split at these offsets: its directory, and that of the partition."""
    directory = stock_directory(tmp_path)
    split(directory, *offsets)
    for path in (directory / PARTITION).glob("*.checkpoint"):
        path.unlink()
    return directory, directory / PARTITION


def test_a_truncation_that_removes_the_segment_being_read_is_noticed(tmp_path: Path) -> None:
    directory, partition = without_checkpoints(tmp_path, 580, 728)
    last = partition / f"{728:020d}.log"
    kept = last.read_bytes()
    reader = LiveDirectory(str(directory))
    whole = reader.update().last_offset

    last.unlink()
    cut = reader.update().last_offset
    last.write_bytes(kept)

    assert (whole, cut, reader.update().last_offset) == (1038, 727, 1038)


def test_a_reader_goes_on_behind_a_segment_that_was_cleaned(tmp_path: Path) -> None:
    directory, partition = without_checkpoints(tmp_path, 580, 728)
    last = partition / f"{728:020d}.log"
    kept = last.read_bytes()
    last.unlink()
    reader = LiveDirectory(str(directory))
    image = reader.update()

    last.write_bytes(kept)
    (partition / f"{580:020d}.log").unlink()
    (partition / f"{0:020d}.log").unlink()

    assert reader.update() is image
    assert image.last_offset == 1038


def test_a_log_that_no_checkpoint_reaches_is_an_error(tmp_path: Path) -> None:
    directory, _ = without_checkpoints(tmp_path, 580, 728)
    (directory / SEGMENT).unlink()

    with pytest.raises(DamagedLog, match="the log starts at offset 580, and there is no checkpoint"):
        LiveDirectory(str(directory)).update()


def test_a_log_that_starts_after_its_newest_checkpoint_is_an_error(tmp_path: Path) -> None:
    directory = stock_directory(tmp_path)
    split(directory, 580, 728)
    for base_offset in (0, 580):
        (directory / PARTITION / f"{base_offset:020d}.log").unlink()

    with pytest.raises(DamagedLog, match="the log starts at offset 728, and the newest checkpoint ends at 712"):
        LiveDirectory(str(directory)).update()
