"""The file of the audit log: bounded, rotated, and never in the way of the node."""

from __future__ import annotations

import errno
import os
import threading
from typing import TYPE_CHECKING, Any

import pytest

from controller.node.audit.audit_file import AuditFile

if TYPE_CHECKING:
    from pathlib import Path


class Notes:
    """The events for the node's log."""

    def __init__(self) -> None:
        self.all: list[tuple[str, dict[str, Any]]] = []
        self.came = threading.Condition()

    def __call__(self, name: str, fields: dict[str, Any]) -> None:
        with self.came:
            self.all.append((name, fields))
            self.came.notify_all()

    def names(self) -> list[str]:
        return [name for name, _ in self.all]

    def wait_for(self, name: str) -> dict[str, Any]:
        with self.came:
            assert self.came.wait_for(lambda: name in self.names(), 10), self.all
            return next(fields for each, fields in self.all if each == name)


class FullDisk:
    """`os.write` on a disk with this much room."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, room: int) -> None:
        self.room = room
        self._write = os.write
        monkeypatch.setattr("controller.node.audit.audit_file.os.write", self)

    def __call__(self, fd: int, data: bytes) -> int:
        if not self.room:
            raise OSError(errno.ENOSPC, "No space left on device")
        written = self._write(fd, data[: self.room])
        self.room -= written
        return written


def lines(count: int, size: int = 10, start: int = 0) -> list[bytes]:
    return [b"%0*d\n" % (size - 1, number) for number in range(start, start + count)]


def test_lines_are_in_the_file_in_their_order_when_it_is_closed(tmp_path: Path) -> None:
    notes, path = Notes(), tmp_path / "audit.log"
    path.write_bytes(b"before\n")
    file = AuditFile(str(path), 1000, 3, notes)

    for line in lines(5):
        file.put(line)
    file.close()

    assert path.read_bytes() == b"before\n" + b"".join(lines(5))
    assert (notes.all, file.lost) == ([], 0)


def test_a_new_file_is_not_readable_for_everybody(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        AuditFile(str(tmp_path / "audit.log"), 1000, 3, Notes()).close()
    finally:
        os.umask(before)

    assert (tmp_path / "audit.log").stat().st_mode & 0o777 == 0o640


def test_the_files_are_rotated_and_no_more_are_kept_than_configured(tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    for number in (2, 3):
        (tmp_path / f"audit.log.{number}").write_text("of a configuration that kept more files")
    (tmp_path / "audit.log.other").write_text("not ours")

    file = AuditFile(str(path), 30, 2, Notes())
    for line in lines(10):
        file.put(line)
    file.close()

    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == {
        "audit.log": b"".join(lines(1, start=9)),
        "audit.log.1": b"".join(lines(3, start=6)),
        "audit.log.2": b"".join(lines(3, start=3)),
        "audit.log.other": b"not ours",
    }


def test_without_rotated_files_a_full_file_is_deleted(tmp_path: Path) -> None:
    file = AuditFile(str(tmp_path / "audit.log"), 30, 0, Notes())
    for line in lines(7):
        file.put(line)
    file.close()

    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == {"audit.log": b"".join(lines(1, start=6))}


def test_a_full_disk_loses_nothing_until_the_queue_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notes, path = Notes(), tmp_path / "audit.log"
    file = AuditFile(str(path), 1000, 3, notes, queue_bytes_max=100, retry_s=0.01)
    disk = FullDisk(monkeypatch, 25)

    for line in lines(12):  # 25 bytes are written, and then some of the lines wait
        file.put(line)
    failed = notes.wait_for("audit_log_failed")
    for line in lines(12, start=12):
        file.put(line)
    lost = notes.wait_for("audit_lines_lost")
    disk.room = 10_000
    resumed = notes.wait_for("audit_log_resumed")
    file.put(b"the last\n")
    file.close()

    written = path.read_bytes().splitlines(keepends=True)
    assert failed == {"path": str(path), "error": "No space left on device"}
    assert lost == {"path": str(path), "limit_bytes": 100}
    assert resumed == {"path": str(path), "lost": file.lost}
    assert notes.names().count("audit_lines_lost") == 1
    # No line is cut, those that are missing are counted, and none is there twice.
    assert written[-1] == b"the last\n"
    assert written[:-1] == sorted(set(written[:-1]) & set(lines(24)))
    assert len(written) + file.lost == 25


def test_a_line_that_a_crash_cut_short_is_ended_at_the_next_start(tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    path.write_bytes(b'{"time":"2026')

    file = AuditFile(str(path), 1000, 3, Notes())
    file.put(b"whole\n")
    file.close()

    assert path.read_bytes() == b'{"time":"2026\nwhole\n'


def test_a_file_that_another_program_renamed_is_made_again(tmp_path: Path) -> None:
    path, moved = tmp_path / "audit.log", tmp_path / "moved"
    file = AuditFile(str(path), 1000, 3, Notes())
    path.rename(moved)

    file.put(b"after\n")
    file.close()

    assert (moved.read_bytes(), path.read_bytes()) == (b"", b"after\n")


@pytest.mark.parametrize("place", ["missing/audit.log", "directory", "file/audit.log"])
def test_a_path_that_can_never_be_a_file_is_refused(tmp_path: Path, place: str) -> None:
    (tmp_path / "directory").mkdir()
    (tmp_path / "file").touch()

    with pytest.raises(OSError, match=place):
        AuditFile(str(tmp_path / place), 1000, 3, Notes())


def test_a_disk_that_is_full_at_the_start_does_not_keep_a_node_from_starting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    notes = Notes()
    with monkeypatch.context() as patched:
        patched.setattr("controller.node.audit.audit_file.os.open", full)
        file = AuditFile(str(tmp_path / "audit.log"), 1000, 3, notes)
    assert notes.names() == ["audit_log_failed"]
    file.put(b"line\n")
    notes.wait_for("audit_log_resumed")
    file.close()

    assert (tmp_path / "audit.log").read_bytes() == b"line\n"
