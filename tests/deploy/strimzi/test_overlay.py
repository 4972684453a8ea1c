"""What is laid over Strimzi's image: the scripts hand over to our node for a pool of controllers alone, when the pool
says so, and else run Kafka's own with the same arguments. The image itself is not built here.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest

from tests.controller.server.processes import await_port, free_port
from tests.deploy.strimzi.pods import CLUSTER_ID, environment
from tests.deploy.strimzi.rendered import Address, secrets, server_config
from tests.raft.network.certificates import needs_openssl
from tests.raft.security.kubernetes_api import KubernetesApi

ROOT = Path(__file__).parents[3]
OVERLAY = ROOT / "deploy" / "strimzi"
ON = {"KRAFT_QUORUM_CONTROLLER": "true"}


class Image:
    """The directories of the image that the scripts touch. Kafka's own scripts only say that they were called."""

    def __init__(self, root: Path) -> None:
        self.bin = root / "kafka" / "bin"
        self.bin.mkdir(parents=True)
        self.home = root / "kraft-quorum"
        (self.home / "bin").mkdir(parents=True)
        for program in ("kafka-storage", "kafka-server-start"):
            shutil.copy(OVERLAY / "hand-over.sh", self.bin / f"{program}.sh")
            jvm = self.bin / f"{program}.jvm.sh"
            jvm.write_text(f'#!/bin/sh\nprintf "jvm {program}"\nprintf " <%s>" "$@"\n')
            jvm.chmod(0o755)
        for name, module in (("kafka-storage", "tools.kafka.storage"), ("kraftctl", "tools.kraftctl.main")):
            ours = self.home / "bin" / name
            ours.write_text(f"#!{sys.executable}\nimport sys\nfrom {module} import main\nsys.exit(main())\n")
            ours.chmod(0o755)

    def environment(self, variables: dict[str, str]) -> dict[str, str]:
        base = {**os.environ, "PYTHONPATH": str(ROOT), "KRAFT_QUORUM_HOME": str(self.home)}
        return {**base, **variables}

    def call(self, program: str, *arguments: str, variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.bin / f"{program}.sh"), *arguments],
            capture_output=True, text=True, env=self.environment(variables), timeout=60, check=False,
        )  # fmt: skip


@pytest.fixture(name="image")
def _image(tmp_path: Path) -> Image:
    return Image(tmp_path / "image")


def properties(path: Path, roles: str) -> str:
    path.write_text(f"node.id=1\n process.roles = {roles}\n")
    return str(path)


@pytest.mark.parametrize(
    ("variables", "roles", "says"),
    [
        ({}, "controller", ""),
        ({"KRAFT_QUORUM_CONTROLLER": "false"}, "controller", ""),
        ({"KRAFT_QUORUM_CONTROLLER": "0,2,11"}, "controller", ""),
        (ON, "broker", "process.roles=broker in "),
        (ON, "broker,controller", "process.roles=broker,controller in "),
    ],
)
def test_other_pods_run_what_they_ran_before(
    image: Image, tmp_path: Path, variables: dict[str, str], roles: str, says: str
) -> None:
    config = properties(tmp_path / "a.properties", roles)

    formatted = image.call("kafka-storage", "format", "-t=a b", f"-c={config}", "-g", variables=variables)
    started = image.call("kafka-server-start", config, "--override", "a=b c", variables=variables)

    assert (formatted.returncode, formatted.stdout) == (0, f"jvm kafka-storage <format> <-t=a b> <-c={config}> <-g>")
    assert (started.returncode, started.stdout) == (0, f"jvm kafka-server-start <{config}> <--override> <a=b c>")
    for done in (formatted, started):
        assert bool(done.stderr) == bool(says)
        assert says in done.stderr


@pytest.mark.parametrize("arguments", [("random-uuid",), ("format", "-c"), ("-c", "/none/such"), ()])
def test_a_call_without_a_configuration_is_kafkas_own(image: Image, arguments: tuple[str, ...]) -> None:
    for program in ("kafka-storage", "kafka-server-start"):
        assert image.call(program, *arguments, variables=ON).stdout.startswith(f"jvm {program}")


@needs_openssl
@pytest.mark.parametrize(
    ("form", "chosen"), [("-c={}", "true"), ("--config={}", "1"), ("-c {}", "0,1"), ("--config {}", "true")]
)
def test_a_pod_of_a_pool_of_controllers_runs_our_node(image: Image, tmp_path: Path, form: str, chosen: str) -> None:
    (tmp_path / "account").mkdir()
    (tmp_path / "data-0").mkdir()
    port = free_port()
    config = tmp_path / "strimzi.properties"
    config.write_text(server_config(1, {1: Address("localhost", port, "127.0.0.1")}, str(tmp_path)))
    with KubernetesApi(tmp_path / "account") as api:
        secrets(api, (1,))
        variables = {**environment(api), "KRAFT_QUORUM_CONTROLLER": chosen}

        formatted = image.call(
            "kafka-storage", "format", f"-t={CLUSTER_ID}", "-r=4.3-IV0", *form.format(config).split(), "-g",
            variables=variables,
        )  # fmt: skip
        process = subprocess.Popen(
            [str(image.bin / "kafka-server-start.sh"), str(config)],
            env=image.environment(variables), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            await_port(process, port)
            process.send_signal(signal.SIGTERM)
            ended = process.wait(timeout=30)
        finally:
            process.kill()
            process.wait()

    assert formatted.stdout.endswith("kafka-log1 with metadata.version 4.3-IV0.\n")
    assert ended == 0, "the script is our node: no shell stands between it and the signal"


def test_the_dockerfile_copies_what_there_is_and_what_its_build_context_has() -> None:
    text = (OVERLAY / "Dockerfile").read_text().replace("\\\n", "")
    copied = [name for line in re.findall(r"(?m)^COPY (?!--from)(.*)$", text) for name in line.split()[:-1]]
    included = [line[1:] for line in (ROOT / ".dockerignore").read_text().split() if line.startswith("!")]

    assert "deploy/strimzi/hand-over.sh" in copied
    assert [name for name in copied if not (ROOT / name).exists()] == []
    assert [name for name in copied if not any(fnmatch(name, pattern) for pattern in included)] == []


def test_what_is_installed_is_that_of_the_other_image_and_locked() -> None:
    installed = set(re.findall(r"-r (requirements/\S+\.txt)", (OVERLAY / "Dockerfile").read_text()))
    of_ours = set(re.findall(r"-r (requirements/\S+\.txt)", (ROOT / "Dockerfile").read_text()))

    assert installed == of_ours | {"requirements/strimzi.txt"}
    assert "uv==" in (ROOT / "requirements" / "strimzi.txt").read_text()
