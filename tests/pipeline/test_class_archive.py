"""The archive of Spark's classes: which file is used, and what a JVM that writes none leaves."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from pipeline import class_archive
from pipeline.class_archive import cache_directory, java_options, make

if TYPE_CHECKING:
    from collections.abc import Callable


class Jvm:
    """A Java home, and a Spark session whose JVM writes an archive of `size` bytes when it ends; None: no archive."""

    def __init__(self, home: Path, size: int | None, *, shares: bool = True) -> None:
        self.home = home
        java = home / "bin" / "java"
        java.parent.mkdir(parents=True, exist_ok=True)
        java.write_text(f"#!/bin/sh\nexit {0 if shares else 1}\n")
        java.chmod(0o755)
        self.size = size
        self.options = ""
        self.ended: list[str] = []
        process = SimpleNamespace(
            stdin=SimpleNamespace(close=lambda: None), wait=self._wait, kill=lambda: self.ended.append("killed")
        )
        self.sparkContext = SimpleNamespace(_gateway=SimpleNamespace(shutdown=lambda: None, proc=process))

    def start(self, options: str) -> Any:
        self.options = options
        return self

    def stop(self) -> None:
        """Nothing but the JVM is left."""

    def _wait(self, _seconds: float = 0) -> int:
        if self.size is not None and not self.ended:
            path = Path(self.options.split()[0].partition("=")[2])
            path.write_bytes(bytes(self.size))
            path.chmod(0o444)
        self.ended.append("ended")
        return 0

    def make(self, java: str, work: Callable[[Any], None] = lambda _session: None) -> Path:
        return make(self.home, java, self.start, work)


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "kraft-quorum" / "spark-classes"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "java"


def test_an_archive_is_used_by_the_java_that_made_it(directory: Path, home: Path) -> None:
    assert java_options("17.0.15") == ""

    path = Jvm(home, 1000).make("17.0.15")

    assert path.parent == directory
    assert java_options("17.0.15").split()[0] == f"-XX:SharedArchiveFile={path}"
    assert java_options("17.0.1") == java_options("17.0.16") == ""


def test_a_file_that_was_cut_short_is_not_used(home: Path) -> None:
    path = Jvm(home, 1000).make("17.0.15")

    path.chmod(0o600)
    path.write_bytes(bytes(999))

    assert java_options("17.0.15") == ""


@pytest.mark.parametrize("name", ["archive", "directory"])
def test_what_others_may_write_is_not_used(name: str, directory: Path, home: Path) -> None:
    path = Jvm(home, 1000).make("17.0.15")

    (path if name == "archive" else directory).chmod(0o777)

    assert java_options("17.0.15") == ""


def test_a_new_archive_replaces_former_ones(directory: Path, home: Path) -> None:
    Jvm(home, 1000).make("17.0.15")
    Jvm(home, 2000).make("17.0.16")

    path = Jvm(home, 3000).make("17.0.16")

    assert list(directory.glob("*.*")) == [path]


def test_what_fails_ends_the_jvm_and_leaves_the_former_archive(directory: Path, home: Path) -> None:
    path = Jvm(home, 1000).make("17.0.15")
    failing = Jvm(home, 1)

    def fail(_session: Any) -> None:
        raise ValueError("wrong")

    with pytest.raises(OSError, match=r"Java 17\.0\.15 wrote no archive of its classes"):
        Jvm(home, None).make("17.0.15")
    with pytest.raises(ValueError, match="wrong"):
        failing.make("17.0.15", fail)

    assert failing.ended == ["killed", "ended"]
    assert list(directory.glob("*.*")) == [path]


def test_two_at_a_time_do_not_disturb_each_other(directory: Path, home: Path) -> None:
    refused = []

    def work(_session: Any) -> None:
        with pytest.raises(OSError, match="another process makes the archive") as error:
            Jvm(home, 2000).make("17.0.15")
        refused.append(error)

    path = Jvm(home, 1000).make("17.0.15", work)

    assert refused
    assert list(directory.glob("*.*")) == [path]


def test_what_java_cannot_do_is_said_before_the_work(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    with pytest.raises(OSError, match=r"has no archive of its own classes, .* `java -Xshare:dump` makes one"):
        Jvm(home, 1000, shares=False).make("21.0.8")

    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    with pytest.raises(OSError, match="is a directory with files, beside which Java uses no archive"):
        Jvm(home, 1000).make("21.0.8")

    monkeypatch.setenv("XDG_CACHE_HOME", f"{tmp_path}/a:b")
    with pytest.raises(OSError, match="has a colon"):
        Jvm(home, 1000).make("21.0.8")


def test_a_cache_that_is_no_absolute_path_is_that_of_the_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    assert cache_directory() == Path.home() / ".cache" / "kraft-quorum"

    monkeypatch.setenv("XDG_CACHE_HOME", "here")
    assert cache_directory() == Path.home() / ".cache" / "kraft-quorum"


def test_a_path_with_a_space_is_one_option(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "two words"))
    path = class_archive._directory()
    path.mkdir(parents=True, mode=0o700)
    (path / f"{class_archive._prefix('17')}3.jsa").write_bytes(b"abc")

    assert java_options("17").startswith(f"-XX:SharedArchiveFile='{path}/")
