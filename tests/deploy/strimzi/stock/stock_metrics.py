"""What a running controller of stock Kafka serves to Prometheus in a pod of Strimzi's: by the JMX exporter with the
example configuration, and by Strimzi's own reporter.

`python -m tests.deploy.strimzi.stock.stock_metrics OPERATOR REPORTER` reads checkouts of strimzi/strimzi-kafka-operator
(its example configuration) and of strimzi/metrics-reporter (which is built from its source), runs a controller with a
broker beside it for each, and writes tests/data/strimzi/stock-metrics.tsv.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import textwrap
import time
import urllib.request
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from simulations.chaos.ports import free_ports
from tests.controller.server.processes import await_port
from tests.deploy.strimzi.series import FILE, series_in
from tests.interop.stock import SMALL, Stock, cache
from tools.kraftctl.run.stock_brokers import fetch_jars

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.deploy.strimzi.series import Series

VERSION = "4.4.0"
# The newest that Maven Central gives here; Strimzi's image of August 2026 has 1.6.0.
EXPORTER_VERSION = "1.0.1"
POM = """\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>kraft.quorum</groupId>
  <artifactId>{name}</artifactId>
  <version>1</version>
  <dependencies>{dependencies}</dependencies>
</project>
"""
DEPENDENCY = "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version></dependency>"
# What the reporter's own POM names besides Kafka.
REPORTER_NEEDS = [
    ("io.prometheus", f"prometheus-metrics-{part}", "1.3.6")
    for part in ("model", "instrumentation-jvm", "exporter-httpserver")
] + [("com.github.spotbugs", "spotbugs-annotations", "4.8.3")]
PROPERTIES = """\
process.roles={role}
node.id={node_id}
controller.quorum.voters=0@127.0.0.1:{controller}
controller.listener.names=CONTROLPLANE-9090
listeners={listener}://127.0.0.1:{port}
listener.security.protocol.map=CONTROLPLANE-9090:PLAINTEXT,REPLICATION-9091:PLAINTEXT
inter.broker.listener.name=REPLICATION-9091
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:ANONYMOUS
log.dirs={directory}
offsets.topic.replication.factor=1
"""
REPORTERS = """\
metric.reporters=io.strimzi.kafka.metrics.prometheus.ServerKafkaMetricsReporter
kafka.metrics.reporters=io.strimzi.kafka.metrics.prometheus.ServerYammerMetricsReporter
prometheus.metrics.reporter.listener=http://127.0.0.1:{metrics}
"""


def bring(name: str, version: str, dependencies: Sequence[tuple[str, str, str]]) -> Path:
    """A directory with these artifacts and all that they need."""
    directory = cache() / f"{name}-{version}"
    pom = POM.format(name=name, dependencies="".join(DEPENDENCY.format(*each) for each in dependencies))
    fetch_jars(pom, version, directory)
    return directory


def example_rules(operator: Path) -> str:
    """The exporter's configuration in Strimzi's example."""
    text = (operator / "examples" / "metrics" / "kafka-metrics.yaml").read_text()
    return textwrap.dedent(text.partition("kafka-metrics-config.yml: |\n")[2])


def build_reporter(reporter: Path, jars: Path, stock: Stock, directory: Path) -> Path:
    """Compile Strimzi's reporter. Returns the directory of its classes."""
    sources = [str(path) for path in sorted(reporter.glob("*-metrics-reporter/src/main/java/**/*.java"))]
    assert sources, f"{reporter} is no checkout of strimzi/metrics-reporter"
    subprocess.run(
        ["javac", "-nowarn", "-proc:none", "-d", directory, "-cp", f"{stock.jars}/*:{jars}/*", *sources], check=True
    )
    return directory


def scrape(port: int, seconds: float = 60) -> str:
    """The text, once it has the metrics of a broker that is registered."""
    end = time.monotonic() + seconds
    while True:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
            text: str = answer.read().decode()
        if "timesincelastheartbeatreceivedms{" in text.lower():
            return text
        assert time.monotonic() < end, text
        time.sleep(0.5)


def measure(stock: Stock, naming: str, operator: Path, reporter: Path) -> set[Series]:
    """The series of the controller."""
    controller, broker, metrics = free_ports(3)
    heap, class_path = SMALL, ""
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        root = Path(name)
        if naming == "exporter":
            needs = [("io.prometheus.jmx", "jmx_prometheus_javaagent", EXPORTER_VERSION)]
            jars = bring("jmx-exporter", EXPORTER_VERSION, needs)
            (root / "rules.yml").write_text(example_rules(operator))
            (agent,) = jars.glob("jmx_prometheus_javaagent*.jar")
            heap += f" -javaagent:{agent}=127.0.0.1:{metrics}:{root / 'rules.yml'}"
        else:
            jars = bring("strimzi-reporter", "1", REPORTER_NEEDS)
            (root / "classes").mkdir()
            class_path = f"{build_reporter(reporter, jars, stock, root / 'classes')}:{jars}/*:"
        for node_id, role, listener, port in (
            (0, "controller", "CONTROLPLANE-9090", controller), (1, "broker", "REPLICATION-9091", broker),
        ):  # fmt: skip
            file = root / f"{role}.properties"
            directory = root / role
            text = PROPERTIES.format(
                role=role, node_id=node_id, controller=controller, listener=listener, port=port, directory=directory
            )
            own = role == "controller"
            if own:
                text = text.replace("inter.broker.listener.name=REPLICATION-9091\n", "")
                text += REPORTERS.format(metrics=metrics) if naming == "reporter" else ""
            file.write_text(text)
            # Kafka's own formatter would load the reporter, too.
            plain = root / "format.properties"
            plain.write_text("".join(f"{line}\n" for line in text.splitlines() if ".reporter" not in line))
            formatted = stock.tool("storage", "format", "-t", "4L6g3nShT-eMCtK--X86sw", "-c", str(plain))
            assert formatted.returncode == 0, formatted.stderr
            command = stock.server_command(file, heap if own else SMALL)
            if own:
                place = command.index("-cp") + 1
                command[place] = class_path + command[place]
            with (root / f"{role}.log").open("ab") as log:
                process = subprocess.Popen(command, stdout=log, stderr=log)
            stack.callback(process.wait)
            stack.callback(process.kill)
            await_port(process, port, seconds=60)
        return series_in(scrape(metrics))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.deploy.strimzi.stock.stock_metrics", description=__doc__)
    parser.add_argument("operator", type=Path, help="a checkout of strimzi/strimzi-kafka-operator")
    parser.add_argument("reporter", type=Path, help="a checkout of strimzi/metrics-reporter")
    parser.add_argument("--version", default=VERSION, help=f"a release of Apache Kafka (default: {VERSION})")
    parser.add_argument("--output", type=Path, default=FILE)
    options = parser.parse_args()
    stock = Stock(options.version)
    stock.bring()
    lines = [
        f"# A controller of Kafka {options.version}: by the JMX exporter {EXPORTER_VERSION} with Strimzi's example",
        "# configuration, and by Strimzi's reporter. Written by tests.deploy.strimzi.stock.stock_metrics.",
        "# whose names, type, sample, labels (with the values that are not of one cluster)",
    ]
    for naming in ("exporter", "reporter"):
        found = measure(stock, naming, options.operator, options.reporter)
        lines += ["\t".join((naming, *series)) for series in sorted(found)]
        sys.stdout.write(f"{naming}: {len(found)} series\n")
    options.output.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
