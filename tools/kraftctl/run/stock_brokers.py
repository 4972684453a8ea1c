"""Stock Kafka brokers beside a local quorum, for `kraftctl up --brokers N`."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path

from records.release import KAFKA_VERSION as VERSION
from tools.kraftctl.run.local_quorum import HOST, PrepareFailed, check_free, format_directory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from tools.kraftctl.run.local_quorum import LocalQuorum

ID_OFFSET = 100
# The ports of brokers begin this much above that of the first node.
PORT_OFFSET = 10
BROKERS_MAX = 9
HEAP = ("-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")

# What the server needs, from Maven Central.
POM = """\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>kraft.quorum</groupId>
  <artifactId>stock-broker</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.apache.kafka</groupId>
      <artifactId>kafka_2.13</artifactId>
      <version>${kafka.version}</version>
    </dependency>
    <dependency>
      <groupId>org.apache.logging.log4j</groupId>
      <artifactId>log4j-slf4j-impl</artifactId>
      <version>2.25.4</version>
    </dependency>
  </dependencies>
</project>
"""
LOG4J2 = """\
status = ERROR
rootLogger.level = INFO
rootLogger.appenderRef.out.ref = out
appender.out.type = Console
appender.out.name = out
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = [%d] %p %m (%c)%n
"""


class StockBrokers:
    """Brokers 101, 102, … of a quorum. Raises PrepareFailed if there is no Kafka here, and no Maven with a JDK."""

    def __init__(self, quorum: LocalQuorum, count: int) -> None:
        if not 1 <= count <= BROKERS_MAX:
            raise PrepareFailed(f"--brokers {count}: 1 to {BROKERS_MAX} is expected")
        self._quorum = quorum
        self._count = count
        self._home = os.environ.get("KAFKA_HOME")
        script = Path(self._home or "") / "bin" / "kafka-server-start.sh"
        if self._home and not script.exists():
            raise PrepareFailed(f"KAFKA_HOME is {self._home}, and {script} does not exist")
        if not self._home and not (shutil.which("java") and shutil.which("mvn")):
            raise PrepareFailed(
                "--brokers needs KAFKA_HOME, the directory of a Kafka 4.x distribution, or a JDK 17+ and Maven"
            )

    @property
    def ports(self) -> dict[int, int]:
        first = self._quorum.ports[1] + PORT_OFFSET
        return {ID_OFFSET + number: first + number - 1 for number in range(1, self._count + 1)}

    @property
    def names(self) -> list[str]:
        return [f"broker-{broker}" for broker in self.ports]

    def prepare(self) -> None:
        """Fetch Kafka where KAFKA_HOME is not set; write the configuration files; format. Raises PrepareFailed."""
        check_free({f"broker {broker}": port for broker, port in self.ports.items()})
        voters = ",".join(f"{node}@{HOST}:{port}" for node, port in self._quorum.ports.items())
        for broker, port in self.ports.items():
            path = self._properties_of(broker)
            log_dir = self._quorum.directory / f"broker-{broker}"
            path.write_text(
                f"process.roles=broker\nnode.id={broker}\ncontroller.quorum.voters={voters}\n"
                f"controller.listener.names=CONTROLLER\nlisteners=PLAINTEXT://{HOST}:{port}\n"
                f"listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT\nlog.dirs={log_dir}\n"
                "offsets.topic.replication.factor=1\ntransaction.state.log.replication.factor=1\n"
                "transaction.state.log.min.isr=1\nshare.coordinator.state.topic.replication.factor=1\n"
                "share.coordinator.state.topic.min.isr=1\ngroup.initial.rebalance.delay.ms=0\n"
            )
            if not (log_dir / "meta.properties").exists():
                format_directory(path, self._quorum.cluster_id)
        if not self._home:
            fetch_jars(POM, VERSION, _jars())

    def commands(self) -> dict[str, list[str]]:
        """Name -> command line; once `prepare` has run."""
        return {f"broker-{broker}": self._command(self._properties_of(broker)) for broker in self.ports}

    def _command(self, properties: Path) -> list[str]:
        if self._home:
            return [str(Path(self._home) / "bin" / "kafka-server-start.sh"), str(properties)]
        config = _jars() / "log4j2-up.properties"
        config.write_text(LOG4J2)
        flags = [*HEAP, f"-Dlog4j2.configurationFile={config}"]
        return [shutil.which("java") or "java", *flags, "-cp", f"{_jars()}/*", "kafka.Kafka", str(properties)]

    def _properties_of(self, broker: int) -> Path:
        return self._quorum.directory / f"broker-{broker}.properties"


def _jars() -> Path:
    """Where the jars are kept between runs: `$KRAFT_CACHE`, else the user's cache."""
    base = Path(os.environ.get("KRAFT_CACHE", Path.home() / ".cache" / "kraft-quorum"))
    return base / "stock-broker" / VERSION


def fetch_jars(pom: str, version: str, directory: Path) -> None:
    """Copy what a POM depends on into a directory, once per version, one process at a time. Raises PrepareFailed."""
    done = directory / ".whole"
    if done.exists():
        return
    directory.mkdir(parents=True, exist_ok=True)
    with alone_in(directory):
        if not done.exists():
            _fetch(pom, version, directory)
            done.touch()


@contextmanager
def alone_in(directory: Path) -> Iterator[None]:
    """Wait until no other process prepares the files of a directory."""
    with (directory / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _fetch(pom: str, version: str, directory: Path) -> None:
    path = directory / "pom.xml"
    path.write_text(pom)
    print(f"fetching Kafka {version} from Maven Central, once, into {directory}", flush=True)
    ran = subprocess.run(
        [shutil.which("mvn") or "mvn", "-q", "-B", "-f", str(path), f"-Dkafka.version={version}",
         "dependency:copy-dependencies", f"-DoutputDirectory={directory}"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if ran.returncode:
        lines = (ran.stdout or ran.stderr).strip().splitlines()
        raise PrepareFailed(f"Maven could not fetch Kafka {version}: {lines[0] if lines else 'no reason was printed'}")
