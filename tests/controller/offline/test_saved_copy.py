"""A copy of a log directory is whole under its name, or is not there."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from controller.offline.saved_copy import CopyExists, copy_name, digests, save_copy
from tests.controller.offline.stock_directories import stock_directory

if TYPE_CHECKING:
    from pathlib import Path


def test_a_copy_has_the_same_files_and_sums_that_sha256sum_accepts(tmp_path: Path) -> None:
    directory = stock_directory(tmp_path)
    target = tmp_path / "copy"

    found = save_copy(str(directory), str(target))

    assert found == digests(str(target)) == digests(str(directory))
    assert not (tmp_path / "copy.part").exists()
    subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=target, check=True)


def test_a_copy_that_fails_does_not_get_the_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = stock_directory(tmp_path)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("raft.storage.files.OsFiles.write", full)
    with pytest.raises(OSError, match="No space left"):
        save_copy(str(directory), str(tmp_path / "copy"))

    assert not (tmp_path / "copy").exists()
    assert not (tmp_path / "copy.part").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a file system")
def test_a_copy_without_room_is_refused_with_what_it_needs(tmp_path: Path) -> None:
    directory = stock_directory(tmp_path)
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(small)], check=False)
    if mounted.returncode:
        pytest.skip("this machine mounts nothing")
    try:
        with pytest.raises(OSError, match=r"needs \d+ KiB, and 1024 KiB are free .* Name a directory on another"):
            save_copy(str(directory), str(small / "deep" / "copy"))

        assert list(small.iterdir()) == []
    finally:
        subprocess.run(["umount", "-l", str(small)], check=True)


def test_a_directory_that_is_there_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "copy").mkdir()

    with pytest.raises(CopyExists, match="is there already"):
        save_copy(str(stock_directory(tmp_path)), str(tmp_path / "copy"))


def test_the_default_name_is_beside_the_directory() -> None:
    assert copy_name("/var/lib/kafka/metadata/", 1_700_000_000) == "/var/lib/kafka/metadata.backup-20231114T221320Z"
