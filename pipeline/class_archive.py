"""An archive of the classes that Spark loads, with which a session starts in two thirds of the time (AppCDS, JEP 350).

A JVM maps the archive in place of reading thousands of classes from jars of 450 MB. It does without where the jars, or
the JVM itself, are others than those that the archive was made with. A file that was cut short would end the JVM,
so the size is a part of the name.
"""

from __future__ import annotations

import fcntl
import os
import re
import stat
from contextlib import contextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from shlex import quote
from subprocess import DEVNULL, run
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# The JVM compares the checksums of the archive. It is silent where it cannot use it: nothing is wrong then.
_USED = "-XX:+VerifySharedSpaces -Xlog:cds=off -Xlog:cds+dynamic=off"
_NEW = "new"
_WAIT_S = 300


def cache_directory() -> Path:
    """The directory of this user for what can be made again: in XDG_CACHE_HOME, if that is absolute, or ~/.cache."""
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (given if given.is_absolute() else Path.home() / ".cache") / "kraft-quorum"


def java_options(java: str) -> str:
    """The options by which a JVM uses the archive; empty where there is none. java: the full version of the JVM."""
    directory = _directory()
    prefix = _prefix(java)
    with suppress(OSError):
        # An archive is code: only its owner may have written it.
        if not _is_own(directory):
            return ""
        for path in directory.glob(f"{prefix}*.jsa"):
            if _is_own(path) and path.name == f"{prefix}{path.stat().st_size}.jsa":
                return f"-XX:SharedArchiveFile={quote(str(path))} {_USED}"
    return ""


def make(home: Path, java: str, start: Callable[[str], Any], work: Callable[[Any], None]) -> Path:
    """Make the archive of what a session loads for some work, in place of all former ones.

    home, java: of the JVM, and its full version. start: starts a session with more options of the JVM, which ends here.
    Raises OSError where the JVM can write none, or another process makes one.
    """
    _check(home, java)
    directory = _directory()
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    with _lock(directory):
        new = directory / _NEW
        new.unlink(missing_ok=True)
        session = start(f"-XX:ArchiveClassesAtExit={quote(str(new))} -Xlog:cds=error -Xlog:cds+dynamic=error")
        gateway = session.sparkContext._gateway  # noqa: SLF001 - there is no other way to the process
        try:
            work(session)
            _end_jvm(session, gateway)
        finally:
            gateway.proc.kill()
            gateway.proc.wait()
        if not new.is_file():
            raise OSError(f"Java {java} wrote no archive of its classes")
        with new.open("rb") as file:  # the JVM lets nobody write to it
            os.fsync(file.fileno())
            size = os.fstat(file.fileno()).st_size
        for former in directory.glob("*.jsa"):
            former.unlink()
        return new.rename(directory / f"{_prefix(java)}{size}.jsa")


def _check(home: Path, java: str) -> None:
    """Raise OSError where a JVM could not write an archive at its end, which is a minute later."""
    tried = run([str(home / "bin" / "java"), "-Xshare:on", "-version"], stdout=DEVNULL, stderr=DEVNULL, check=False)
    if tried.returncode:
        text = f"Java {java} in {home} has no archive of its own classes, on which one of Spark's is built"
        raise OSError(f"{text}; its command `java -Xshare:dump` makes one")
    if ":" in str(_directory()):
        raise OSError(f"{_directory()} has a colon, so Java cannot read an archive from it; set XDG_CACHE_HOME")
    settings = os.environ.get("SPARK_CONF_DIR", "")
    if settings and any(Path(settings).glob("*")):
        raise OSError(f"SPARK_CONF_DIR={settings} is a directory with files, beside which Java uses no archive")


@contextmanager
def _lock(directory: Path) -> Iterator[None]:
    """Raises OSError if another process has the directory."""
    with (directory / "lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise OSError(f"another process makes the archive in {directory}") from None
        yield


def _is_own(path: Path) -> bool:
    found = path.stat()
    return found.st_uid == os.getuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _directory() -> Path:
    return cache_directory() / "spark-classes"


def _prefix(java: str) -> str:
    try:
        spark = version("pyspark")
    except PackageNotFoundError:
        spark = "none"
    return re.sub(r"[^\w.+-]", "_", f"spark-{spark}-java-{java}-")


def _end_jvm(session: Any, gateway: Any) -> None:
    """Stop a session, and wait until its JVM has ended: it writes the archive last."""
    session.stop()
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait(_WAIT_S)
