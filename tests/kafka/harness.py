"""Kafka's test jars from Maven Central, our class in place of Kafka's controller, and one JVM for each test class."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple
from xml.etree import ElementTree as ET

from tools.kraftctl.run.stock_brokers import alone_in, fetch_jars

VERSION = "4.3.1"
HERE = Path(__file__).parent
# A heap for many processes on few cores. Both compilers: the tests make RSA keys, which takes the first one minutes.
JVM = ("-Xmx1500m", "-XX:+UseSerialGC")
# What Kafka's own build opens to its tests: mocks reach into these packages, and a KDC into Java's Kerberos.
_OPEN_OF_JAVA = ("io", "lang", "nio", "nio.file", "text", "time")
_OPEN_OF_UTIL = ("", ".concurrent", ".regex", ".stream")
OPEN_PACKAGES = (
    *(f"java.base/java.{name}" for name in (*_OPEN_OF_JAVA, *("util" + each for each in _OPEN_OF_UTIL))),
    "java.security.jgss/sun.security.krb5",
)
# In the text of an error: the test asked a controller in its own JVM for what no request answers.
IN_MEMORY = "in memory: "
NO_METHOD = re.compile(r"NoSuchMethodError: '[^']* kafka\.server\.ControllerServer\.")
COMBINED = "both broker and controller"
KILL_SECONDS = 20
FIRST_KILL_MS = 500  # a cluster of one short test lives less than 2 s after its controller is active
# The levels of Kafka's own log4j2.yaml for tests, which ConfigCommandIntegrationTest expects to find.
LOG4J2 = """\
status = ERROR
rootLogger.level = OFF
logger.kafka.name = kafka
logger.kafka.level = ERROR
logger.apache.name = org.apache.kafka
logger.apache.level = ERROR
rootLogger.appenderRef.out.ref = out
appender.out.type = Console
appender.out.name = out
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = [%d] %p %m (%c)%n
"""

Side = Literal["stock", "ours", "kills"]  # kills: ours, whose active controller is killed, as KillTimes.java says
Outcome = Literal["passed", "failed", "in memory", "combined", "skipped"]


class Ended(NamedTuple):
    """One test of a class. reason: the first line of what failed; empty where nothing did."""

    name: str
    outcome: Outcome
    reason: str


@dataclass(frozen=True)
class Harness:
    """The jars and the compiled classes of one release. directory: where both are kept between runs.

    compiled: the classes, in a directory of their text: a run goes on with its own while the text is changed.
    running: the process groups of classes that are running.
    """

    directory: Path
    compiled: Path
    running: set[int] = field(default_factory=set)

    @classmethod
    def prepare(cls) -> Harness:
        """Fetch the jars and compile the classes, where that was not done. Raises PrepareFailed, CalledProcessError."""
        base = Path(os.environ.get("KRAFT_CACHE", Path.home() / ".cache" / "kraft-quorum"))
        directory = base / "kafka-tests" / VERSION
        text = b"".join(path.read_bytes() for path in _sources())
        made = cls(directory, directory / f"classes-{hashlib.sha256(text).hexdigest()[:12]}")
        pom, jars = (HERE / "pom.xml").read_text(), made.directory / "jars"
        if jars.exists() and (jars / "pom.xml").read_text() != pom:
            shutil.rmtree(jars)  # those of an earlier list
        fetch_jars(pom, VERSION, jars)
        with alone_in(made.directory):
            made._compile()
        return made

    def _compile(self) -> None:
        (self.directory / "log4j2.properties").write_text(LOG4J2)
        if not (self.compiled / ".whole").exists():
            command = ["javac", "-nowarn", "-d", self.compiled, "-cp", f"{self.directory}/jars/*", *_sources()]
            subprocess.run(command, check=True)
            (self.compiled / ".whole").touch()

    def classes(self) -> list[str]:
        """The names of all test classes that start a cluster."""
        jars = sorted(map(str, (self.directory / "jars").glob(f"*-{VERSION}-test.jar")))
        command = ["java", "-cp", self._class_path("ours"), "kraft.tests.Classes", *jars]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()

    def run(self, name: str, side: Side, out: Path, seconds_max: float) -> list[Ended]:
        """Run one class, or CLASS#METHOD, with its reports, its output and the logs of controllers in `out`.

        Raises TimeoutExpired after `seconds_max`, FileNotFoundError where the JVM wrote no report.
        """
        shutil.rmtree(out, ignore_errors=True)
        (out / "logs").mkdir(parents=True)
        kraftctl = Path(sys.executable).with_name("kraftctl")
        command = [
            "java", *JVM, *(f"--add-opens={name}=ALL-UNNAMED" for name in OPEN_PACKAGES),
            f"-Dlog4j2.configurationFile={self.directory}/log4j2.properties",
            f"-Dkraft.tests.command={kraftctl} start -c", f"-Dkraft.tests.logs={out}/logs",
            f"-Dkraft.tests.kill.seconds={KILL_SECONDS if side == 'kills' else 0}",
            f"-Dkraft.tests.kill.first.ms={FIRST_KILL_MS}",
            "-cp", self._class_path(side), "org.junit.platform.console.ConsoleLauncher", "execute",
            "--disable-banner", "--disable-ansi-colors", "--details=none", f"--reports-dir={out}",
            "--config=junit.jupiter.extensions.autodetection.enabled=true",
            f"--select-{'method' if '#' in name else 'class'}={name}",
        ]  # fmt: skip
        with (out / "out.txt").open("w") as log:
            # Controllers import `java_plugins` of this package.
            environment = os.environ | {"PYTHONPATH": str(HERE.parents[1])}
            jvm = subprocess.Popen(
                command, stdout=log, stderr=subprocess.STDOUT, env=environment, start_new_session=True
            )
            self.running.add(jvm.pid)
            try:
                jvm.wait(seconds_max)
            finally:
                self.running.discard(jvm.pid)
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(jvm.pid, signal.SIGKILL)  # controllers outlive a JVM that does not end them
                jvm.wait()
        apart = {} if side == "stock" else methods_apart(name.partition("#")[0])
        tests = read_report(out / "TEST-junit-jupiter.xml")
        return [set_apart(test, apart) if test.outcome in {"failed", "in memory"} else test for test in tests]

    def kill(self) -> None:
        """End all classes that are running, as by their time."""
        for group in [*self.running]:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(group, signal.SIGKILL)

    def _class_path(self, side: Side) -> str:
        jars = f"{self.directory}/jars/*"
        return jars if side == "stock" else f"{self.compiled}:{jars}"


def _sources() -> list[Path]:
    return sorted((HERE / "src").rglob("*.java"))


def methods_apart(class_name: str) -> dict[str, str]:
    """The tests of a class that can only be passed by a controller in their own JVM, and why; `*` is all of them."""
    rows = [line.split("\t") for line in (HERE / "apart.tsv").read_text().splitlines()]
    return {test: reason for name, test, reason in rows if name == class_name}


def set_apart(test: Ended, apart: dict[str, str]) -> Ended:
    """The test with the reason why only a controller in its own JVM can pass it; as it is where there is none."""
    reason = apart.get("*") or apart.get(method_of(test))
    return test if reason is None else test._replace(outcome="in memory", reason=reason)


def method_of(test: Ended) -> str:
    """The name of the method, without parameters and the number of a repetition."""
    return test.name.partition("(")[0]


def read_report(path: Path) -> list[Ended]:
    """The tests of a report in JUnit's form. Raises FileNotFoundError, ParseError."""
    return [_read_case(case) for case in ET.parse(path).getroot().iter("testcase")]


def _read_case(case: ET.Element) -> Ended:
    name = case.get("name", "")
    results = [result for kind in ("failure", "error", "skipped") for result in case.iterfind(kind)]
    texts = [f"{result.get('message') or ''}\n{result.text or ''}".strip() for result in results]
    # What is asked of a controller in the JVM first: a tear-down that fails after it is another failure of the test.
    texts.sort(key=lambda text: IN_MEMORY not in text and NO_METHOD.search(text) is None)
    if texts:
        text, reason = texts[0], texts[0].partition("\n")[0][:300]
        if results[0].tag == "skipped":
            return Ended(name, "combined" if COMBINED in text else "skipped", reason)
        return Ended(name, "in memory" if IN_MEMORY in text or NO_METHOD.search(text) else "failed", reason)
    return Ended(name, "passed", "")
