"""Stock Kafka brokers on a quorum under chaos, and numbered records written and read through them."""

from __future__ import annotations

import json
import subprocess
import time
from typing import TYPE_CHECKING, NamedTuple

from simulations.chaos.ports import free_ports
from simulations.chaos.quorum import CLUSTER_ID

if TYPE_CHECKING:
    from pathlib import Path

    from simulations.chaos.quorum import Quorum

BROKERS = (1, 2, 3)
TOPIC = "numbers"
START_S = 60.0
# How long a producer and a consumer may take to come to an end, on a busy machine.
END_S = 90.0
HEAP = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
PER_S = 200


class Numbers(NamedTuple):
    """acked: the numbers whose write was acknowledged; read: all that were read back, in their order."""

    acked: set[int]
    read: list[int]


class StockBrokers:
    """Three brokers, RF 3, and a producer with acks=all. jars: the directory of Kafka's jars."""

    def __init__(self, quorum: Quorum, jars: Path) -> None:
        if not list(jars.glob("kafka-clients-*.jar")):
            raise OSError(f"{jars} holds no kafka-clients-*.jar: the jars of a release of Apache Kafka are wanted")
        self._quorum = quorum
        self._jars = jars
        self._directory = quorum.directory
        self._ports = dict(zip((100 + each for each in BROKERS), free_ports(len(BROKERS)), strict=True))
        self._processes: list[subprocess.Popen[bytes]] = []
        self._producer: subprocess.Popen[bytes] | None = None

    @property
    def bootstrap(self) -> str:
        return ",".join(f"127.0.0.1:{port}" for port in self._ports.values())

    def start(self) -> None:
        """Format and start the brokers, create the topic, start the producer. Raises OSError if that fails."""
        for broker_id, port in self._ports.items():
            path = self._directory / f"broker-{broker_id}.properties"
            path.write_text(self._properties(broker_id, port))
            self._run("kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c", str(path))
            self._processes.append(self._launch(f"broker-{broker_id}.log", "kafka.Kafka", str(path)))
        assignment = ":".join(str(broker_id) for broker_id in self._ports)
        self._retry_until_done(
            "org.apache.kafka.tools.TopicCommand", "--bootstrap-server", self.bootstrap, "--create", "--if-not-exists",
            "--topic", TOPIC, "--replica-assignment", assignment, "--config", "min.insync.replicas=2",
        )  # fmt: skip
        self._producer = self._launch(
            "producer.log", "org.apache.kafka.tools.VerifiableProducer", "--bootstrap-server", self.bootstrap,
            "--topic", TOPIC, "--acks", "-1", "--throughput", str(PER_S),
        )  # fmt: skip

    def numbers(self) -> Numbers:
        """End the producer, and read everything back."""
        assert self._producer is not None
        self._producer.terminate()
        self._producer.wait(END_S)
        acked = set()
        for line in (self._directory / "producer.log").read_text(errors="replace").splitlines():
            if line.startswith("{"):
                said = json.loads(line)
                if said.get("name") == "producer_send_success":
                    acked.add(int(said["value"]))
        text = self._run(
            "org.apache.kafka.tools.consumer.ConsoleConsumer", "--bootstrap-server", self.bootstrap, "--topic", TOPIC,
            "--partition", "0", "--offset", "earliest", "--timeout-ms", "10000",
        )  # fmt: skip
        return Numbers(acked, [int(line) for line in text.splitlines() if line.strip().isdecimal()])

    def close(self) -> None:
        for process in (*self._processes, *((self._producer,) if self._producer else ())):
            process.kill()
            process.wait()

    def _retry_until_done(self, *command: str) -> None:
        until = time.monotonic() + START_S
        while True:
            try:
                self._run(*command)
            except OSError:
                if time.monotonic() >= until:
                    raise
                time.sleep(1)
            else:
                return

    def _run(self, *command: str) -> str:
        done = subprocess.run(self._java(*command), capture_output=True, text=True, timeout=END_S, check=False)
        if done.returncode:
            raise OSError(f"{command[0]}: {(done.stderr or done.stdout).strip()}")
        return done.stdout

    def _launch(self, log_name: str, *command: str) -> subprocess.Popen[bytes]:
        with (self._directory / log_name).open("ab") as log:
            return subprocess.Popen(self._java(*command), stdout=log, stderr=log, start_new_session=True)

    def _java(self, *command: str) -> list[str]:
        return ["java", *HEAP, "-cp", f"{self._jars}/*", *command]

    def _properties(self, broker_id: int, port: int) -> str:
        settings = {
            "process.roles": "broker",
            "node.id": str(broker_id),
            "controller.quorum.voters": self._quorum.voters,
            "controller.listener.names": "CONTROLLER",
            "listeners": f"PLAINTEXT://127.0.0.1:{port}",
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
            "log.dirs": str(self._directory / f"broker-{broker_id}"),
        }
        return "".join(f"{key}={value}\n" for key, value in settings.items())
