"""An archive of the classes that Spark loads, with which a session starts in some half of the time (AppCDS, JEP 350).

A JVM maps the archive in place of reading thousands of classes from jars of 450 MB. It does without where the jars, or
the JVM itself, are others than those that the archive was made with. A file that was cut short would end the JVM,
so the size is a part of the name.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any
from uuid import uuid4

if TYPE_CHECKING:
    from collections.abc import Callable

# The JVM tells of an archive that it cannot use; nothing is wrong then.
_QUIET = "-Xlog:cds=error -Xlog:cds+dynamic=error"
_WAIT_S = 300


def java_options(java: str) -> str:
    """The options by which a JVM uses the archive; empty where there is none. java: the full version of the JVM."""
    found = _find(java)
    return "" if found is None else f"-XX:SharedArchiveFile={quote(str(found))} {_QUIET}"


def make(java: str, start: Callable[[str], Any], work: Callable[[Any], None]) -> Path:
    """Make the archive of what a session loads for some work, and remove former ones of other versions.

    java: the full version of the JVM. start: starts a session with more options of the JVM; the JVM ends here. Raises
    OSError if the JVM writes none, as one without this feature.
    """
    directory = _directory()
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    new = directory / f"{uuid4().hex}.new"
    try:
        session = start(f"-XX:ArchiveClassesAtExit={quote(str(new))} {_QUIET}")
        work(session)
        _end_jvm(session)
        if not new.is_file():
            raise OSError(f"Java {java} wrote no archive of its classes")
        with new.open("rb+") as file:
            os.fsync(file.fileno())
            size = os.fstat(file.fileno()).st_size
        made = new.rename(directory / f"{_prefix(java)}{size}.jsa")
    finally:
        new.unlink(missing_ok=True)
    for former in directory.glob("*.jsa"):
        if former != made:
            with suppress(OSError):
                former.unlink()
    return made


def _find(java: str) -> Path | None:
    prefix = _prefix(java)
    for path in _directory().glob(f"{prefix}*.jsa"):
        if path.name == f"{prefix}{path.stat().st_size}.jsa":
            return path
    return None


def _directory() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"), "kraft-quorum", "spark-classes")


def _prefix(java: str) -> str:
    try:
        spark = version("pyspark")
    except PackageNotFoundError:
        spark = "none"
    return re.sub(r"[^\w.+-]", "_", f"spark-{spark}-java-{java}-")


def _end_jvm(session: Any) -> None:
    """Stop a session, and wait until its JVM has ended: it writes the archive last."""
    gateway = session.sparkContext._gateway  # noqa: SLF001 - there is no other way to the process
    session.stop()
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait(_WAIT_S)
