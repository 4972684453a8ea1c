"""The container's environment compared with the official image's wrapper; and the compose file's services, run."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from records.java.properties import parse_properties
from simulations.chaos.ports import free_ports
from tests.interop.cluster import BIN, eventually
from tools.kraftctl.run.environment import container_properties

if TYPE_CHECKING:
    from tests.interop.stock import Stock

COMPOSE = Path(__file__).parents[2] / "deploy" / "compose" / "compose.yaml"
WRAPPER = "kafka.docker.KafkaDockerWrapper"
SMALL = "-Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1"
LOG4J2 = """\
Configuration:
  Loggers:
    Root: {level: ERROR}
    Logger: [{name: kafka, level: ERROR}]
"""
WORDS = {
    "CLUSTER_ID": "4L6g3nShT-eMCtK--X86sw", "KAFKA_PROCESS_ROLES": "controller", "KAFKA_NODE_ID": "7",
    "KAFKA_CONTROLLER_QUORUM_VOTERS": "7@localhost:9093", "KAFKA_CONTROLLER_LISTENER_NAMES": "CONTROLLER",
    "KAFKA_LISTENERS": "CONTROLLER://:9093", "KAFKA_ODD__NAME": "a_b", "KAFKA_ODD___NAME": "a-b",
    "KAFKA_ODD____NAME": "four", "KAFKA_ODD_____NAME": "five", "KAFKA_HEAP_OPTS": "-Xmx1g", "KAFKA_OPTS": "-Dx=y",
    "KAFKA_VERSION": "4.3.1", "KAFKA_LOG4J_ROOT_LOGLEVEL": "WARN", "KAFKA_EMPTY_VALUE": "", "UNRELATED": "x",
    "KAFKA_SSL_KEYSTORE_FILENAME": "k.jks", "KAFKA_JMX_PORT": "9999",
}  # fmt: skip


def set_up(stock: Stock, root: Path, environment: dict[str, str], mounted: str | None = None) -> Path:
    """Do what the official image does before it starts the server, formatting included; returns its properties."""
    for name in ("default", "mounted", "final"):
        (root / name).mkdir(parents=True, exist_ok=True)
    for name in ("log4j2.yaml", "tools-log4j2.yaml"):
        (root / "default" / name).write_text(LOG4J2)
    (root / "default" / "server.properties").write_text("node.id=1\n")
    if mounted is not None:
        (root / "mounted" / "server.properties").write_text(mounted)
    places = ["-D", str(root / "default"), "-M", str(root / "mounted"), "-F", str(root / "final")]
    command = stock.java(WRAPPER, "setup", *places, heap=SMALL, level="WARN", target="SYSTEM_ERR")
    given = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), **environment}
    done = subprocess.run(command, env=given, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return root / "final" / "server.properties"


def test_the_environment_is_mapped_as_the_official_image_maps_it(tmp_path: Path, stock: Stock) -> None:
    environment = {**WORDS, "KAFKA_LOG_DIRS": str(tmp_path / "data")}

    theirs = parse_properties(set_up(stock, tmp_path, environment).read_bytes())
    ours = container_properties(environment, None)

    assert ours.pop("kraft.log.level") == "WARN"
    assert ours == theirs


def test_the_environment_overrides_a_mounted_file_as_in_the_official_image(tmp_path: Path, stock: Stock) -> None:
    mounted = f"node.id=3\nnum.io.threads=4\nlog.dirs={tmp_path / 'data'}\n"

    theirs = parse_properties(set_up(stock, tmp_path, WORDS, mounted).read_bytes())
    ours = container_properties(WORDS, parse_properties(mounted.encode()))

    assert ours.pop("kraft.log.level") == "WARN"
    assert ours == theirs
    assert ours["node.id"] == "7"


def test_the_services_of_the_compose_file_form_a_cluster(tmp_path: Path, stock: Stock) -> None:
    """Controllers by the command of our image, the broker by the wrapper of the official one; names are loopback's."""
    services = yaml.safe_load(COMPOSE.read_text())["services"]
    names = [name for name in services if name.startswith("controller-")]
    ports = free_ports(2 * len(names) + 2)
    inside, outside = ports[-2:]
    places = {f"{name}:9093": f"127.0.0.1:{port}" for name, port in zip(names, ports, strict=False)}
    places |= {
        "broker:19092": f"127.0.0.1:{inside}", "://:19092": f"://127.0.0.1:{inside}",
        "localhost:9092": f"127.0.0.1:{outside}", "://:9092": f"://127.0.0.1:{outside}",
    }  # fmt: skip

    def on_loopback(name: str, **changes: str) -> dict[str, str]:
        found = dict(services[name]["environment"])
        for key, value in found.items():
            for old, new in places.items():
                found[key] = found[key].replace(old, new) if isinstance(value, str) else str(value)
        return {**found, "KAFKA_LOG_DIRS": str(tmp_path / name / "data"), **changes}

    with ExitStack() as stack:
        for name, port, http in zip(names, ports, ports[len(names) :], strict=False):
            own = on_loopback(
                name, KAFKA_LISTENERS=f"CONTROLLER://127.0.0.1:{port}", KAFKA_KRAFT_HTTP_LISTENER=f"127.0.0.1:{http}"
            )
            log = stack.enter_context((tmp_path / f"{name}.log").open("wb"))
            node = subprocess.Popen(
                [str(BIN / "kraftctl"), "container"], env={"PATH": os.environ["PATH"], **own}, stdout=log, stderr=log
            )
            stack.callback(node.wait, 20)
            stack.callback(node.send_signal, signal.SIGTERM)
            probe = [str(BIN / "kraftctl"), "probe", "ready", "--at", f"127.0.0.1:{http}"]
        bootstrap = ",".join(place for name, place in places.items() if name.startswith("controller-"))
        waited = subprocess.run(
            [str(BIN / "kraftctl"), "wait", "--bootstrap-controller", bootstrap, "--timeout", "30"], check=False
        )
        broker = on_loopback("broker")
        properties = set_up(stock, tmp_path / "broker", broker)
        with (tmp_path / "broker.log").open("wb") as log:
            server = stock.server(properties, log)
        stack.callback(server.wait)
        stack.callback(server.kill)
        created = []

        def create() -> bool:
            created[:] = [
                stock.tool(
                    "topics", "--bootstrap-server", f"127.0.0.1:{outside}", "--create", "--if-not-exists",
                    "--topic", "hello", "--partitions", "3",
                ).stdout
            ]  # fmt: skip
            return "Created topic hello" in created[0]

        eventually(create, "a topic is created through the broker", 60)

        assert waited.returncode == 0
        assert subprocess.run(probe, check=False, capture_output=True).returncode == 0
        assert created == ["Created topic hello.\n"]
