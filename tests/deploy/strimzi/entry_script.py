"""Strimzi's own entry script and probes run our node: a pod without a container engine.

`python -m tests.deploy.strimzi.entry_script CHECKOUT` (as root, with tini and netstat) reads a checkout of
strimzi/strimzi-kafka-operator. In namespaces of its own for mounts, the host's name and the network, the machine's root
is read-only; /opt/kafka has the scripts of Strimzi's image, with ours laid over them as the Dockerfile does; /tmp and
/var/lib/kafka are empty; the pod's Secrets come from a server that answers as the Kubernetes API does. As user 1001 of
group 0 the script starts a node, twice. The base and the Python are those of the machine, and there is no JVM.
"""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tests.deploy.strimzi.pods import CLUSTER_ID
from tests.deploy.strimzi.rendered import Address, agent_config, pod_name, secrets, server_config
from tests.deploy.strimzi.test_overlay import OVERLAY, ROOT
from tests.http_answers import http_answer
from tests.raft.security.kubernetes_api import KubernetesApi

if TYPE_CHECKING:
    from collections.abc import Mapping

SCRIPTS = Path("docker-images/kafka-based/kafka/scripts")
PROGRAMS = {"kafka-storage": "tools.kafka.storage", "kraftctl": "tools.kraftctl.main"}
INSIDE = "--inside"
NODE_ID = 0
AS_POD = ["setpriv", "--reuid=1001", "--regid=0", "--clear-groups", "--no-new-privs"]


def lay_out(checkout: Path, root: Path) -> None:
    """The directories of the image and of the pod's volumes."""
    mount("--rbind", "/", root)
    mount("-o", "remount,bind,ro", root)
    for writable in ("opt", "tmp", "run", "var/lib"):
        mount("-t", "tmpfs", "tmpfs", root / writable)
    kafka = root / "opt/kafka"
    shutil.copytree(checkout / SCRIPTS, kafka)
    for folder in ("bin", "libs", "custom-config"):
        (kafka / folder).mkdir()
    (kafka / "libs/kafka-agent-1.0.0.jar").touch()
    for program in ("kafka-storage", "kafka-server-start"):
        write_script(kafka / f"bin/{program}.sh", "#!/bin/sh\necho the JVM was called >&2\nexit 1\n")
    for path in (root / "opt/prometheus-jmx-exporter", root / "opt/kraft-quorum/bin", root / "var/lib/kafka/data-0"):
        path.mkdir(parents=True)
    (root / "opt/prometheus-jmx-exporter/jmx_prometheus_javaagent-1.6.0.jar").touch()
    write_script(root / "opt/kraft-quorum/hand-over.sh", (OVERLAY / "hand-over.sh").read_text())
    (command,) = overlay_commands()
    subprocess.run(["chroot", str(root), "sh", "-c", command], check=True)
    # User 1001 may not read the home of root, where a Python may be.
    python = root / "opt/kraft-quorum/python"
    python.mkdir()
    mount("--rbind", sys.base_prefix, python)
    paths = [str(ROOT), *(path for path in sys.path if path.endswith("site-packages"))]
    for name, module in PROGRAMS.items():
        text = (
            f"#!/opt/kraft-quorum/python/bin/python3\nimport sys\nsys.path[:0] = {paths}\nfrom {module} import main\n"
        )
        write_script(root / "opt/kraft-quorum/bin" / name, f"{text}sys.exit(main())\n")
    rows = {
        "server.config": server_config(NODE_ID, {NODE_ID: Address("localhost")}, "/var/lib/kafka", metrics="jmx"),
        "cluster.id": CLUSTER_ID, "metadata.version": "4.3-IV0", "agent.config": agent_config(pod_name(NODE_ID)),
        "metrics-config.json": "{}", "log4j2.properties": "",
    }  # fmt: skip
    for name, text in rows.items():
        (kafka / "custom-config" / name).write_text(text)
    (root / "tmp").chmod(0o1777)
    # Volumes of a pod belong to its group, 0.
    (root / "var/lib/kafka/data-0").chmod(0o775)
    mount("-o", "remount,ro", root / "opt")


def overlay_commands() -> list[str]:
    """What the Dockerfile runs in Strimzi's image."""
    lines = (OVERLAY / "Dockerfile").read_text().replace("\\\n", "").partition("FROM ${STRIMZI_IMAGE}")[2].splitlines()
    return [line.removeprefix("RUN ") for line in lines if line.startswith("RUN ")]


def mount(*arguments: object) -> None:
    subprocess.run(["mount", *map(str, arguments)], check=True)


def write_script(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def in_pod(root: Path, command: str, variables: Mapping[str, str]) -> list[str]:
    return ["chroot", str(root), "env", "-i", *(f"{name}={value}" for name, value in variables.items()), *AS_POD,
            "bash", "-c", f"cd /opt/kafka && exec {command}"]  # fmt: skip


def get(url: str) -> int:
    try:
        return http_answer(url, 2)[0]
    except OSError:
        return 0


def live_once(root: Path, variables: Mapping[str, str]) -> str:
    """Start, probe and stop the pod. Returns its log."""
    process = subprocess.Popen(
        in_pod(root, "./kafka_run.sh", variables), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    began = time.monotonic()
    probe = in_pod(root, "./kafka_readiness.sh", variables)
    while subprocess.run(probe, capture_output=True, check=False).returncode:
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < began + 30, "the pod is not ready"
        time.sleep(0.1)
    seconds = time.monotonic() - began
    end = time.monotonic() + 30
    while get("http://localhost:8080/v1/controller-ready/") != 204 or get("http://localhost:9404/metrics") != 200:
        assert time.monotonic() < end, "the node leads, and serves its ports"
        time.sleep(0.1)
    process.send_signal(signal.SIGTERM)
    log = process.communicate(timeout=30)[0]
    assert process.returncode == 0, log
    assert "PRIVATE KEY" not in log, "no secret is printed"
    assert "the JVM was called" not in log
    sys.stdout.write(f"ready after {seconds:.1f} s\n")
    return log


def run_inside(checkout: Path, directory: Path) -> None:
    """Within the namespaces."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    subprocess.run(["hostname", pod_name(NODE_ID)], check=True)
    root, account = directory / "root", directory / "account"
    root.mkdir()
    account.mkdir()
    with KubernetesApi(account) as api:
        secrets(api, (NODE_ID,))
        lay_out(checkout, root)
        shutil.copytree(account, root / "run/secrets/kubernetes.io/serviceaccount")
        variables = {
            **{name: value for name, value in api.environment.items() if name.startswith("KUBERNETES_SERVICE_")},
            "PATH": "/usr/local/bin:/usr/bin:/bin", "KAFKA_HOME": "/opt/kafka", "KRAFT_QUORUM_CONTROLLER": "true",
            "KAFKA_JMX_EXPORTER_ENABLED": "true", "JMX_EXPORTER_HOME": "/opt/prometheus-jmx-exporter",
            "PYTHONDONTWRITEBYTECODE": "1", "STRIMZI_KAFKA_GC_LOG_ENABLED": "false",
            "LD_LIBRARY_PATH": "/opt/kraft-quorum/python/lib",
        }  # fmt: skip
        first, second = live_once(root, variables), live_once(root, variables)
    assert "Formatting metadata directory /var/lib/kafka/data-0/kafka-log0 with metadata.version 4.3-IV0" in first, (
        first
    )
    assert "All of the log directories are already formatted." in second, second
    assert "Removing quorum-state file" in second, second
    assert "quorum_state_restored" in second, second
    sys.stdout.write("Strimzi's entry script, readiness probe and tini ran our node, twice\n")


def main() -> None:
    if sys.argv[1] == INSIDE:
        run_inside(Path(sys.argv[2]), Path(sys.argv[3]))
        return
    with tempfile.TemporaryDirectory() as name:
        command = [sys.executable, "-m", "tests.deploy.strimzi.entry_script", INSIDE, sys.argv[1], name]
        subprocess.run(["unshare", "--mount", "--uts", "--net", *command], check=True, cwd=ROOT)


if __name__ == "__main__":
    main()
