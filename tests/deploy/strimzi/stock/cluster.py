"""A cluster as Strimzi's operator runs it: a pool of controllers, stock brokers, and what the operator does."""

from __future__ import annotations

import re
import signal
import threading
import time
import urllib.request
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Self

from records.java.properties import parse_properties
from tests.controller.server.processes import await_port, resident_kib
from tests.deploy.strimzi.operator_rules import differences, may_roll
from tests.deploy.strimzi.pods import Pods, format_pod
from tests.deploy.strimzi.rendered import broker_config, for_a_jvm, pod_name, secrets, write_secrets
from tests.deploy.strimzi.stock.operator import BROKERS, CONTROLLERS, Operator, Refused

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from tests.interop.stock import Stock
    from tests.raft.security.kubernetes_api import KubernetesApi

CONTROLLER_IDS, BROKER_IDS = (0, 1, 2), (10, 11, 12)
ACTIVE = re.compile(r"^kafka_controller_kafkacontroller_activecontrollercount 1", re.MULTILINE)
OFFLINE = re.compile(r"^kafka_controller_kafkacontroller_offlinepartitionscount (\d+)", re.MULTILINE)


def await_true(condition: Callable[[], object], what: str, seconds: float = 60) -> None:
    """Also while what is asked refuses: an operator asks again."""
    end, last = time.monotonic() + seconds, ""
    while True:
        try:
            if condition():
                return
        except (Refused, OSError) as error:
            last = str(error)
        assert time.monotonic() < end, f"{what}: {last}"
        time.sleep(0.1)


class BrokerPods:
    """Stock brokers. A context manager, which ends them."""

    def __init__(self, api: KubernetesApi, root: Path, controllers: Pods, stock: Stock) -> None:
        self.stock = stock
        self.ports = dict(zip(BROKER_IDS, controllers.spare_ports, strict=False))
        self.running: dict[int, subprocess.Popen[bytes]] = {}
        self._api, self._root, self._controllers = api, root, controllers

    def start(self, node_id: int) -> None:
        """Format what is not formatted, and start."""
        directory = self._root / pod_name(node_id, "brokers")
        (directory / "data-0").mkdir(parents=True, exist_ok=True)
        write_secrets(self._api, self._root / "secrets")
        text = broker_config(node_id, self.ports[node_id], self._controllers.addresses, str(directory))
        file = directory / "strimzi.properties"
        file.write_text(for_a_jvm(text, self._root / "secrets"))
        formatted = format_pod(self._api, file, self._controllers.metadata_version)
        assert formatted.returncode == 0, formatted.stderr
        with (directory / "log").open("ab") as log:
            self.running[node_id] = self.stock.server(file, log)
        await_port(self.running[node_id], self.ports[node_id], seconds=60)

    def stop(self, node_id: int) -> None:
        process = self.running.pop(node_id)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 143

    def end(self) -> None:
        for process in self.running.values():
            process.kill()
            process.wait()


class OfflineWatch:
    """Reads, while it runs, how many partitions the active controller sees without a leader: `most` of them.

    readings: how often an active controller said so. A pod that runs a JVM has no metrics here.
    """

    def __init__(self, pods: Pods) -> None:
        self.most = self.readings = 0
        self._pods = pods
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        while not self._ending.wait(0.1):
            for node_id, ports in self._pods.ports.items():
                with suppress(OSError):
                    if node_id not in self._pods.stocks:
                        self._read(f"http://127.0.0.1:{ports.metrics}/metrics")

    def _read(self, url: str) -> None:
        with urllib.request.urlopen(url, timeout=2) as answer:
            text = answer.read().decode()
        offline = OFFLINE.search(text)
        if ACTIVE.search(text) and offline is not None:
            self.readings += 1
            self.most = max(self.most, int(offline[1]))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.set()
        self._thread.join()


class StrimziCluster:
    """A context manager. stock: the release of Kafka that the brokers and the operator begin with."""

    def __init__(self, api: KubernetesApi, root: Path, stock: Stock, user_configuration: Mapping[str, str]) -> None:
        self.api = api
        self._renewals = 0
        self.renew_certificates()
        self.pods = Pods(api, root, CONTROLLER_IDS, user_configuration)
        self.brokers = BrokerPods(api, root, self.pods, stock)
        self.operator = Operator(stock)
        self._stack = ExitStack()

    def renew_certificates(self) -> None:
        """Set new Secrets of all pods, which read them at their next start."""
        for pool, node_ids in (("controllers", CONTROLLER_IDS), ("brokers", BROKER_IDS)):
            secrets(self.api, node_ids, pool, renewal=self._renewals)
        self._renewals += 1

    @property
    def broker_bootstrap(self) -> list[str]:
        return [f"localhost:{port}" for port in self.brokers.ports.values()]

    def open(self) -> None:
        """Make the operator's clients."""
        self.operator.open(CONTROLLERS, self.pods.bootstrap, self.pods.client_security)
        self.operator.open(BROKERS, self.broker_bootstrap, self.pods.client_security)

    def roll_controllers(self, stock: Stock | None = None) -> int:
        """All by KafkaRoller's rule: each when enough of the others have caught up, the active one last. Returns how
        many were rolled.
        """
        waiting, rolled = set(CONTROLLER_IDS), 0
        while waiting:
            leader_id = self._await_quorum(waiting)
            node_id = min(waiting - {leader_id} or waiting)
            await_true(lambda node_id=node_id: self._may_roll(node_id), f"controller {node_id} may be rolled")  # type: ignore[misc]
            self.pods.restart(node_id, stock)
            if stock is None:
                await_true(lambda node_id=node_id: self._is_ready(node_id), f"controller {node_id} is ready")  # type: ignore[misc]
            waiting.discard(node_id)
            rolled += 1
        self._await_quorum(set(CONTROLLER_IDS))
        # A difference would make the operator roll them again, and again.
        for node_id in CONTROLLER_IDS:
            rendered = parse_properties(self.pods.files[node_id].read_bytes())
            assert differences(rendered, self.operator.configs(node_id)) == {}
        return rolled

    def roll_brokers(self) -> None:
        """One by one: none that holds the last in-sync replica of a partition."""
        for node_id in sorted(self.brokers.running):
            self.await_whole()
            self.brokers.stop(node_id)
            self.brokers.start(node_id)
        self.await_whole()

    def partitions(self) -> list[dict[str, object]]:
        found: list[dict[str, object]] = self.operator.call_on(BROKERS, "topics")["partitions"]
        return found

    def await_whole(self) -> None:
        """Wait until each partition has a leader and all of its replicas in sync."""

        def is_whole() -> bool:
            return all(
                each["leader"] != -1 and sorted(each["isr"]) == sorted(each["replicas"])  # type: ignore[call-overload]
                for each in self.partitions()
            )

        await_true(is_whole, "all replicas are in sync")

    def memory_mib(self) -> dict[str, float]:
        """Resident memory by pod."""
        found = {pod_name(node_id): self.pods.resident_kib(node_id) for node_id in CONTROLLER_IDS}
        for node_id, process in self.brokers.running.items():
            found[pod_name(node_id, "brokers")] = resident_kib(process)
        return {name: round(kib / 1024, 1) for name, kib in found.items()}

    def _await_quorum(self, node_ids: set[int]) -> int:
        """The leader's id, once one of these nodes may be rolled."""
        await_true(lambda: any(self._may_roll(node_id) for node_id in node_ids), "the quorum has caught up")
        return self.operator.quorum()[0]

    def _may_roll(self, node_id: int) -> bool:
        leader_id, voters = self.operator.quorum()
        return leader_id >= 0 and may_roll(voters, leader_id, node_id)

    def _is_ready(self, node_id: int) -> bool:
        url = f"http://localhost:{self.pods.ports[node_id].local}/v1/controller-ready/"
        with urllib.request.urlopen(url, timeout=2) as answer:
            return int(answer.status) == 204

    def __enter__(self) -> Self:
        self._stack.enter_context(self.pods)
        self._stack.callback(self.brokers.end)
        self._stack.enter_context(self.operator)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()
