"""The pods of a StatefulSet as processes: its environment and grace, names as its headless service gives them.

A pod has a volume, a host name, and in place of a network of its own a loopback address, to which the names in its
/etc/hosts lead. So its listeners have a host; that, the paths of the volume and a shorter time for an observer to be
level are all that differs from the manifest.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from typing import TYPE_CHECKING, Any

from records.errors import Error
from records.messages.configs import DescribeConfigsRequest, IncrementalAlterConfigsRequest
from records.messages.quorum import DescribeQuorumRequest
from records.metadata_log import METADATA_TOPIC
from records.resource_types import ResourceType
from tests.deploy.watched import eventually
from tests.interop.ask import ask_on

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

ENTER = 'mount --make-rprivate / && mount --bind "$0" /etc/hosts && exec setpriv --no-new-privs "$@"'
STABILIZATION_MS = 1500
PORT, HTTP_PORT = 9093, 9644
Topic = DescribeQuorumRequest.TopicData
DESCRIBED = DescribeQuorumRequest(
    topics=(Topic(topic_name=METADATA_TOPIC, partitions=(Topic.PartitionData(partition_index=0),)),)
)
Alter = IncrementalAlterConfigsRequest.AlterConfigsResource


class StatefulPods:
    """objects: the rendered manifests, by kind. namespace: part of the pods' full names."""

    def __init__(self, root: Path, objects: dict[str, Any], namespace: str) -> None:
        self.root, self.namespace = root, namespace
        stateful = objects["StatefulSet"]
        assert stateful["spec"]["podManagementPolicy"] == "Parallel"
        self.name, self.service = stateful["metadata"]["name"], stateful["spec"]["serviceName"]
        self.grace_s = stateful["spec"]["template"]["spec"]["terminationGracePeriodSeconds"]
        self.environment: dict[str, str] = dict(objects["ConfigMap"]["data"])
        self._pods: dict[int, subprocess.Popen[bytes]] = {}
        self.written: list[str] = []
        self.took_s: list[float] = []  # of each pod that was stopped, until its end

    def address(self, ordinal: int) -> str:
        # Those of checks that run at the same time, in other processes, are others.
        return f"127.7.{os.getpid() % 250}.{ordinal + 1}"

    def host(self, ordinal: int) -> str:
        return f"{self.name}-{ordinal}.{self.service}.{self.namespace}.svc.cluster.local"

    @property
    def ordinals(self) -> list[int]:
        return sorted(self._pods)

    def scale(self, replicas: int) -> None:
        """As `kubectl scale` does: pods are started at the same time, and all that go get SIGTERM at the same time."""
        self._write_hosts()
        for ordinal in range(replicas):
            if ordinal not in self._pods:
                self._start(ordinal)
        self.stop(*(ordinal for ordinal in self.ordinals if ordinal >= replicas))

    def stop(self, *ordinals: int) -> None:
        """SIGTERM, and SIGKILL when the grace is over. A client writes meanwhile."""
        begin = time.monotonic()
        for ordinal in ordinals:
            self._pods[ordinal].send_signal(signal.SIGTERM)
        for ordinal in ordinals:
            pod = self._pods.pop(ordinal)
            while pod.poll() is None and time.monotonic() - begin < self.grace_s:
                if self._pods:
                    self.write()
                time.sleep(0.05)
            assert pod.poll() == 0, f"pod {ordinal} had to be killed, or failed: {pod.poll()}"
            self.took_s.append(time.monotonic() - begin)

    def wipe(self, ordinal: int) -> None:
        """The pod and its volume are lost, and made again."""
        pod = self._pods.pop(ordinal)
        pod.kill()
        pod.wait()
        shutil.rmtree(self.root / f"data-{ordinal}")
        self._start(ordinal)

    def close(self) -> None:
        for pod in self._pods.values():
            pod.kill()
            pod.wait()

    def is_ready(self, ordinal: int) -> bool:
        """Whether the readiness probe passes."""
        with contextlib.suppress(OSError):
            url = f"http://{self.address(ordinal)}:{HTTP_PORT}/readyz"
            with urllib.request.urlopen(url, timeout=2) as answer:
                return bool(answer.status == 200)
        return False

    def log(self, ordinal: int) -> str:
        return (self.root / f"pod-{ordinal}.log").read_text()

    def ask_leader(self, request: Any, version: int) -> Any:
        """The answer of the pod that leads; None where none does."""
        for ordinal in self.ordinals:
            with contextlib.suppress(OSError):
                described = self._ask(ordinal, DESCRIBED, 2).topics[0].partitions[0]
                if described.leader_id == ordinal and not described.error_code:
                    return self._ask(ordinal, request, version)
        return None

    def voters(self) -> dict[int, bytes]:
        """Their directory ids, as the leader tells."""
        answer = self.ask_leader(DESCRIBED, 2)
        voters = () if answer is None else answer.topics[0].partitions[0].current_voters
        return {each.replica_id: each.replica_directory_id for each in voters}

    def voter_hosts(self) -> set[str]:
        """Where the voters are, by the log."""
        answer = self.ask_leader(DESCRIBED, 2)
        return set() if answer is None else {node.listeners[0].host for node in answer.nodes}

    def write(self) -> None:
        """Write a record of its own, and note it once it is acknowledged."""
        name = f"written.{len(self.written)}"
        change = Alter.AlterableConfig(name=name, config_operation=0, value="1")
        resource = Alter(resource_type=ResourceType.BROKER, resource_name="", configs=(change,))
        answer = self.ask_leader(IncrementalAlterConfigsRequest(resources=(resource,), validate_only=False), 1)
        if answer is not None and answer.responses[0].error_code == Error.NONE:
            self.written.append(name)

    def lost(self) -> set[str]:
        """The acknowledged records that the leader lacks."""
        resource = DescribeConfigsRequest.DescribeConfigsResource(
            resource_type=ResourceType.BROKER, resource_name="", configuration_keys=None
        )
        answer = self.ask_leader(DescribeConfigsRequest(resources=(resource,)), 1)
        return {*self.written} - {each.name for each in answer.results[0].configs}

    def await_voters(self, ids: Iterable[int]) -> float:
        """Write until these are the voters, and all pods are ready; the seconds that it took."""
        expected, begin = sorted(ids), time.monotonic()

        def is_so() -> bool:
            self.write()
            return sorted(self.voters()) == expected and all(map(self.is_ready, self.ordinals))

        eventually(is_so, f"the voters {expected}", 40)
        return time.monotonic() - begin

    def _write_hosts(self) -> None:
        """The names of all pods that there may be: the full ones, and those within the namespace."""
        lines = ["127.0.0.1 localhost"]
        for ordinal in range(5):
            short = f"{self.name}-{ordinal}.{self.service}"
            lines.append(f"{self.address(ordinal)} {self.host(ordinal)} {short}")
        (self.root / "hosts").write_text("\n".join(lines) + "\n")

    def _start(self, ordinal: int) -> None:
        """A pod: what the image runs, with the environment of the container."""
        data = self.root / f"data-{ordinal}"
        data.mkdir(exist_ok=True)
        host = self.host(ordinal)
        environment = {
            **self.environment, "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "KAFKA_NODE_ID": str(ordinal),
            "KAFKA_LOG_DIRS": self.environment["KAFKA_LOG_DIRS"].replace("/var/lib/kafka/data", str(data)),
            "KAFKA_LISTENERS": f"CONTROLLER://{host}:{PORT}",
            "KAFKA_KRAFT_HTTP_LISTENER": f"{self.address(ordinal)}:{HTTP_PORT}",
            "KAFKA_KRAFT_AUTOPILOT_STABILIZATION_MS": str(STABILIZATION_MS),
        }  # fmt: skip
        command = [sys.executable, "-m", "tools.kraftctl.main", "container"]
        words = ["unshare", "--mount", "sh", "-c", ENTER, str(self.root / "hosts"), *command]
        with (self.root / f"pod-{ordinal}.log").open("ab") as log:
            self._pods[ordinal] = subprocess.Popen(words, env=environment, stdout=log, stderr=log)

    def _ask(self, ordinal: int, request: Any, version: int) -> Any:
        with socket.create_connection((self.address(ordinal), PORT), timeout=5) as connection:
            return ask_on(connection, request, version)
