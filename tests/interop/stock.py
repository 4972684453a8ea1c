"""Stock Apache Kafka beside ours: its jars from Maven Central, its server and its tools as processes."""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO

from tests.interop import class_archive
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
    """One release of Apache Kafka. quick: its processes start from an archive of classes; not so where figures are
    taken.
    """

    version: str = DEFAULT
    quick: bool = False

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

    def java(self, main: str, *args: str, heap: str, level: str, target: str) -> list[str]:
        """The command line of a class of Kafka's."""
        self.bring()
        config = self.jars / f"log4j2-{level}-{target}.properties"
        text = LOG4J2.format(level=level, target=target)
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
        command = self.tool_command(name, *args)
        for _ in range(SHELL_TRIES - 1 if name == "metadata-shell" else 0):
            with contextlib.suppress(subprocess.TimeoutExpired):
                return run(command, stdin, SHELL_SECONDS)
        return run(command, stdin, seconds)


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
    stock = Stock(options.version)
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
