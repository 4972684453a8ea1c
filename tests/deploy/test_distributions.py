"""What makes two builds equal, and what is said where they are not."""

from __future__ import annotations

import io
import os
import tarfile
import zipfile
from typing import TYPE_CHECKING

from deploy import distributions
from deploy.distributions import first_difference, normalize_sdist, normalize_wheel

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

EPOCH = 1_700_000_000
FILES = {"a-1/b.py": (b"b", 0o664), "a-1/a.sh": (b"a", 0o775)}


def sdist(path: Path, names: list[str], time: int, user: str, mask: int = 0) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name in names:
            content, mode = FILES[name]
            member = tarfile.TarInfo(name)
            member.size, member.mtime, member.mode, member.uname = len(content), time, mode & ~mask, user
            archive.addfile(member, io.BytesIO(content))
    return path


def wheel(path: Path, date: tuple[int, ...], mask: int = 0) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, (content, mode) in FILES.items():
            entry = zipfile.ZipInfo(name, date)
            entry.external_attr = (0o100000 | mode & ~mask) << 16
            archive.writestr(entry, content)
    return path


def test_a_source_distribution_has_no_order_time_owner_or_umask_of_its_build(tmp_path: Path) -> None:
    one = sdist(tmp_path / "one.tar.gz", list(FILES), 1, "alice")
    other = sdist(tmp_path / "other.tar.gz", list(reversed(FILES)), 2, "bob", 0o077)

    for path in (one, other):
        normalize_sdist(path, EPOCH)

    assert one.read_bytes() == other.read_bytes()
    with tarfile.open(one) as archive:
        found = [(each.name, each.mode, each.mtime, each.uid, each.uname) for each in archive]
        assert found == [("a-1/a.sh", 0o755, EPOCH, 0, ""), ("a-1/b.py", 0o644, EPOCH, 0, "")]
        assert archive.extractfile("a-1/b.py").read() == b"b"


def test_a_wheel_has_no_time_or_umask_of_its_build(tmp_path: Path) -> None:
    one = wheel(tmp_path / "one.whl", (2020, 1, 1, 0, 0, 0))
    other = wheel(tmp_path / "other.whl", (2021, 1, 1, 0, 0, 0), 0o077)

    for path in (one, other):
        normalize_wheel(path, EPOCH)

    assert one.read_bytes() == other.read_bytes()
    with zipfile.ZipFile(one) as archive:
        modes = {each.filename: (each.external_attr >> 16, each.date_time) for each in archive.infolist()}
        assert modes == {
            "a-1/b.py": (0o100644, (2023, 11, 14, 22, 13, 20)), "a-1/a.sh": (0o100755, (2023, 11, 14, 22, 13, 20)),
        }  # fmt: skip
        assert archive.read("a-1/a.sh") == b"a"


def test_the_first_file_that_is_not_equal_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for folder in (one, other):
        folder.mkdir()
        sdist(folder / "a.tar.gz", list(FILES), 1, "alice")
        normalize_sdist(folder / "a.tar.gz", EPOCH)
        (folder / "b.json").write_text("{}")
    assert first_difference(one, other) is None

    (other / "b.json").write_text("[]")
    assert first_difference(one, other) == "b.json"

    monkeypatch.setitem(FILES, "a-1/b.py", (b"another", 0o664))
    sdist(other / "a.tar.gz", list(FILES), 1, "alice")
    assert first_difference(one, other) == "a.tar.gz: a-1/b.py"

    monkeypatch.undo()
    sdist(other / "a.tar.gz", list(FILES), 1, "alice")
    assert first_difference(one, other) == "a.tar.gz: its files are equal, their order, times or modes are not"

    (one / "a.tar.gz").unlink()
    assert first_difference(one, other) == "a.tar.gz: in one of the two only"


def test_the_time_is_that_of_the_environment_else_of_the_source_distribution(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(distributions, "ROOT", tmp_path)
    (tmp_path / "PKG-INFO").touch()
    os.utime(tmp_path / "PKG-INFO", (EPOCH, EPOCH))

    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    assert distributions.source_date_epoch() == EPOCH

    monkeypatch.setenv("SOURCE_DATE_EPOCH", "17")
    assert distributions.source_date_epoch() == 17
