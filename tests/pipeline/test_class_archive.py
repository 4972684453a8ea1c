"""The archive of Spark's classes: which file is used, and what a JVM that writes none leaves."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from pipeline import class_archive
from pipeline.class_archive import java_options, make

if TYPE_CHECKING:
    from pathlib import Path


class Jvm:
    """A session whose JVM writes so many bytes where it is told to, when it ends; none: no file."""

    def __init__(self, size: int | None) -> None:
        self.size = size
        self.options = ""
        gateway = SimpleNamespace(
            shutdown=lambda: None, proc=SimpleNamespace(stdin=SimpleNamespace(close=lambda: None), wait=self._wait)
        )
        self.sparkContext = SimpleNamespace(_gateway=gateway)

    def start(self, options: str) -> Any:
        self.options = options
        return self

    def stop(self) -> None:
        """Nothing but the JVM is left."""

    def _wait(self, _seconds: float) -> int:
        from pathlib import Path

        if self.size is not None:
            Path(self.options.split()[0].partition("=")[2]).write_bytes(bytes(self.size))
        return 0


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "kraft-quorum" / "spark-classes"


def made(java: str, size: int) -> Path:
    return make(java, Jvm(size).start, lambda _session: None)


def test_an_archive_is_used_by_the_java_that_made_it(directory: Path) -> None:
    assert java_options("17.0.15") == ""

    path = made("17.0.15", 1000)

    assert path.parent == directory
    assert java_options("17.0.15").split()[0] == f"-XX:SharedArchiveFile={path}"
    assert java_options("17.0.1") == java_options("17.0.16") == ""


def test_a_file_that_was_cut_short_is_not_used() -> None:
    path = made("17.0.15", 1000)

    path.write_bytes(bytes(999))

    assert java_options("17.0.15") == ""


def test_a_new_archive_replaces_former_ones(directory: Path) -> None:
    made("17.0.15", 1000)
    made("17.0.16", 2000)

    path = made("17.0.16", 3000)

    assert list(directory.iterdir()) == [path]


def test_what_fails_leaves_the_former_archive(directory: Path) -> None:
    path = made("17.0.15", 1000)

    def fail(_session: Any) -> None:
        raise ValueError("wrong")

    with pytest.raises(OSError, match=r"Java 17\.0\.15 wrote no archive of its classes"):
        make("17.0.15", Jvm(None).start, lambda _session: None)
    with pytest.raises(ValueError, match="wrong"):
        make("17.0.15", Jvm(1).start, fail)

    assert list(directory.iterdir()) == [path]


def test_a_path_with_a_space_is_one_option(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "two words"))
    path = class_archive._directory()
    path.mkdir(parents=True)
    (path / f"{class_archive._prefix('17')}3.jsa").write_bytes(b"abc")

    assert java_options("17").startswith(f"-XX:SharedArchiveFile='{path}/")
