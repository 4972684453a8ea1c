"""Stock Apache Kafka beside ours: its jars from Maven Central, its server and its tools as processes."""

from __future__ import annotations

import argparse
import atexit
import contextlib
import os
import subprocess
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import IO

from tests.interop import class_archive
from tests.interop.jvm import Jvm, compiled, surroundings
from tools.kraftctl.run.stock_brokers import alone_in, fetch_jars

HERE = Path(__file__).parent
# The releases whose servers and controllers run beside ours.
RELEASES = ("4.3.1", "4.4.0")
# Those whose brokers run on ours at their own level, in one test.
OLDER = ("4.0.2", "4.1.1", "4.2.0")
# That of a test which does not say: `KRAFT_STOCK_RELEASE=4.4.0 make interop` runs them all with another one.
DEFAULT = os.environ.get("KRAFT_STOCK_RELEASE", "4.3.1")
# The newest release with a shell: kafka-shell 4.4.0 is not on Maven Central.
WITH_SHELL = "4.3.1"

TOOLS = {
    "acls": "org.apache.kafka.tools.AclCommand",
    "storage": "kafka.tools.StorageTool",
    "configs": "org.apache.kafka.tools.ConfigCommand",
    "dump-log": "org.apache.kafka.tools.DumpLogSegments",
    "metadata-shell": "org.apache.kafka.shell.MetadataShell",
    "metadata-quorum": "org.apache.kafka.tools.MetadataQuorumCommand",
    "features": "org.apache.kafka.tools.FeatureCommand",
    "cluster": "org.apache.kafka.tools.ClusterTool",
    "topics": "org.apache.kafka.tools.TopicCommand",
    "reassign-partitions": "org.apache.kafka.tools.reassign.ReassignPartitionsCommand",
    "delegation-tokens": "org.apache.kafka.tools.DelegationTokenCommand",
    "leader-election": "org.apache.kafka.tools.LeaderElectionCommand",
    "broker-api-versions": "org.apache.kafka.tools.BrokerApiVersionsCommand",
    "get-offsets": "org.apache.kafka.tools.GetOffsetShell",
    "console-producer": "org.apache.kafka.tools.ConsoleProducer",
    "console-consumer": "org.apache.kafka.tools.consumer.ConsoleConsumer",
}
# Tool and release -> the class, where it is another one.
MOVED = {
    **{("dump-log", release): "kafka.tools.DumpLogSegments" for release in ("4.0", "4.1", "4.2")},
    **{("configs", release): "kafka.admin.ConfigCommand" for release in ("4.0", "4.1", "4.2", "4.3")},
}

# The stock shell runs its command when an image was published. Its reader tells the loader the end of the file with the
# last batch, the footer; where the loader has handled the batch before by then, no image is published and the shell
# waits for ever (MetadataShell.waitUntilCaughtUp, MetadataLoader.stillNeedToCatchUp). It is started again.
SHELL_TRIES = 4
SHELL_SECONDS = 25.0

# A heap and a compiler for many processes on few cores; figures are taken with stock's own flags.
SMALL = "-Xmx512m -XX:+UseSerialGC -XX:TieredStopAtLevel=1"

# The program that calls tools in its own JVM; and the tools that it does not call: the shell may wait for ever, and
# clients leave threads.
TOOL_CALLS = HERE / "tools" / "ToolCalls.java"
APART = {"metadata-shell", "console-producer", "console-consumer", "get-offsets"}

LOG4J2 = """\
status = ERROR
rootLogger.level = {level}
rootLogger.appenderRef.out.ref = out
appender.out.type = Console
appender.out.name = out
appender.out.target = {target}
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = [%d] %p %m (%c)%n
"""


def cache() -> Path:
    """Where jars are kept between runs: `$KRAFT_CACHE`, else the user's cache."""
    return Path(os.environ.get("KRAFT_CACHE", Path.home() / ".cache" / "kraft-quorum")) / "stock-kafka"


@dataclass(frozen=True)
class Stock:
    """One release of Apache Kafka.

    quick: its processes start from an archive of classes, and its tools are called in one JVM; not so where figures are
    taken. shares: its tools are called in one JVM, which starts without an archive.
    """

    version: str = DEFAULT
    quick: bool = False
    shares: bool = False

    @property
    def release(self) -> str:
        """As `--release-version` takes it."""
        return self.version.rpartition(".")[0]

    @property
    def jars(self) -> Path:
        return cache() / self.version

    def bring(self) -> None:
        """Fetch the jars (about 57 MB), once per version."""
        fetch_jars((HERE / "pom.xml").read_text(), self.version, self.jars)

    @cached_property
    def _class_path(self) -> str:
        """The jars in one order: an archive of classes is for one class path."""
        return ":".join(sorted(map(str, self.jars.glob("*.jar"))))

    @cached_property
    def _archive(self) -> list[str]:
        """The flags that use the archive of classes, which is made where it does not exist."""
        archive = class_archive.path_in(cache() / f"classes-{self.version}")
        if not archive.exists():
            archive.parent.mkdir(parents=True, exist_ok=True)
            with alone_in(archive.parent):
                if not archive.exists():
                    class_archive.make(Stock(self.version), archive)
        return class_archive.flags(archive)

    def program(self, source: Path, level: str = "OFF") -> list[str]:
        """The command line of a program of our own beside Kafka's jars, with the name of its file. It is compiled here.

        level: of the log, which is written to the present System.err.
        """
        self.bring()
        classes = compiled(source, self._class_path, cache() / f"programs-{self.version}")
        flags = "-Djava.security.manager=allow -Dfile.encoding=UTF-8 -Dsun.jnu.encoding=UTF-8"
        command = self.java(source.stem, heap=f"{SMALL} {flags}", level=level, target="SYSTEM_ERR", is_followed=True)
        place = command.index("-cp") + 1
        command[place] += f":{classes}"
        return command

    def java(self, main: str, *args: str, heap: str, level: str, target: str, is_followed: bool = False) -> list[str]:
        """The command line of a class of Kafka's.

        is_followed: whether the log goes to the stream that the program sets in place of `target`.
        """
        self.bring()
        config = self.jars / f"log4j2-{level}-{target}{'-followed' if is_followed else ''}.properties"
        text = LOG4J2.format(level=level, target=target) + ("appender.out.follow = true\n" if is_followed else "")
        with alone_in(self.jars):
            if not config.exists() or config.read_text() != text:
                config.write_text(text)
        archive = self._archive if self.quick else []
        flags = [*heap.split(), "-Xshare:auto", *archive, f"-Dlog4j2.configurationFile={config}"]
        return ["java", *flags, "-cp", self._class_path, main, *args]

    def server_command(self, properties: Path, heap: str = SMALL) -> list[str]:
        """The command line of a broker or controller."""
        return self.java("kafka.Kafka", str(properties), heap=heap, level="INFO", target="SYSTEM_OUT")

    def server(self, properties: Path, log: IO[bytes], heap: str = SMALL) -> subprocess.Popen[bytes]:
        """Start a broker or controller; its log goes to `log`."""
        return subprocess.Popen(self.server_command(properties, heap), stdout=log, stderr=log, start_new_session=True)

    def tool_command(self, name: str, *args: str) -> list[str]:
        main = MOVED.get((name, self.version.rpartition(".")[0]), TOOLS[name])
        return self.java(
            main, *args, heap="-Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1", level="WARN", target="SYSTEM_ERR"
        )

    def tool(
        self, name: str, *args: str, stdin: str | None = None, seconds: float = 90
    ) -> subprocess.CompletedProcess[str]:
        """Run a command line tool to its end; stdin None: none."""
        if (self.quick or self.shares) and stdin is None and name not in APART:
            called = _called(self, name, args, seconds)
            if called is not None:
                return called
        command = self.tool_command(name, *args)
        for _ in range(SHELL_TRIES - 1 if name == "metadata-shell" else 0):
            with contextlib.suppress(subprocess.TimeoutExpired):
                return run(command, stdin, SHELL_SECONDS)
        return run(command, stdin, seconds)


# The JVM of each release that calls tools: a tool alone needs a second of CPU time to start. And what it inherits.
_callers: dict[str, Jvm] = {}
_SURROUNDINGS = surroundings()
_is_calling = Lock()


def _called(stock: Stock, name: str, args: tuple[str, ...], seconds: float) -> subprocess.CompletedProcess[str] | None:
    """A tool's answer from the JVM that calls tools; None where that is busy, or where a test has set variables.

    Raises TimeoutExpired.
    """
    if surroundings() != _SURROUNDINGS or not _is_calling.acquire(blocking=False):
        return None
    try:
        if stock.version not in _callers:
            caller = Jvm(stock.program(TOOL_CALLS, level="WARN"))
            atexit.register(caller.kill)
            _callers[stock.version] = caller
        said = _callers[stock.version].ask({"tool": name, "args": args}, seconds)
        return subprocess.CompletedProcess([name, *args], said["exit"], said["stdout"], said["stderr"])
    except subprocess.TimeoutExpired:
        del _callers[stock.version]
        raise
    finally:
        _is_calling.release()


def run(command: list[str], stdin: str | None, seconds: float) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, input=stdin or "", capture_output=True, text=True, timeout=seconds, check=False)


def main() -> int:
    """`python -m tests.interop.stock [--version V] server FILE | tool NAME … | jars`: stock Kafka by hand."""
    parser = argparse.ArgumentParser(prog="python -m tests.interop.stock", description=main.__doc__)
    parser.add_argument("--version", default="4.4.0", help="a release of Apache Kafka (default: 4.4.0)")
    parser.add_argument("what", choices=["server", "tool", "jars"])
    parser.add_argument(
        "arguments", nargs=argparse.REMAINDER, help="the properties file, or the tool and its arguments"
    )
    options = parser.parse_args()
    stock = Stock(options.version, quick=options.what == "tool" and options.version in RELEASES)
    if options.what == "jars":
        stock.bring()
        sys.stdout.write(f"{stock.jars}\n")
    else:
        command = (
            stock.tool_command(*options.arguments)
            if options.what == "tool"
            else stock.java("kafka.Kafka", *options.arguments, heap=SMALL, level="INFO", target="SYSTEM_OUT")
        )
        os.execvp(command[0], command)
    return 0


if __name__ == "__main__":
    sys.exit(main())
