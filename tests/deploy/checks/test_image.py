"""The image: its Dockerfile is linted, its steps run in an empty root, its command runs there like in an engine."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.controller.server.processes import CLUSTER_ID, free_port
from tests.deploy.checks.containers import DATA, container, own, run_in_container
from tests.deploy.checks.dockerfile import parse
from tests.interop.ask import describe_quorum
from tests.interop.cluster import eventually

if TYPE_CHECKING:
    from tests.deploy.checks.dockerfile import Image

ROOT = Path(__file__).parents[3]
COMPILERS = {"cc", "gcc", "c++", "g++", "clang", "ld", "as", "make", "cargo", "rustc", "go", "pip", "pip3", "apt-get"}


@pytest.mark.parametrize("name", ["Dockerfile", "deploy/strimzi/Dockerfile"])
def test_the_dockerfile_passes_its_linter(name: str) -> None:
    done = subprocess.run(["hadolint", str(ROOT / name)], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout) == (0, "")


def test_the_scripts_pass_their_linter() -> None:
    scripts = [
        ROOT / "deploy" / "rolling-restart.sh",
        ROOT / "deploy" / "strimzi" / "hand-over.sh",
        Path(__file__).parent / "install-missing.sh",
        ROOT / ".ci" / "run",
    ]

    done = subprocess.run(["shellcheck", *map(str, scripts)], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout) == (0, "")


def test_copied_files_are_not_excluded_from_the_build_context() -> None:
    patterns = (ROOT / ".dockerignore").read_text().split()
    included = [pattern.removeprefix("!") for pattern in patterns if pattern.startswith("!")]

    copied = [
        name
        for step in parse((ROOT / "Dockerfile").read_text())
        if step.name == "COPY" and not step.rest.startswith("--from=")
        for name in step.rest.split()[:-1]
    ]

    assert patterns[0] == "*"
    assert copied
    assert [name for name in copied if not any(fnmatch(name, pattern) for pattern in included)] == []
    assert [name for name in copied if not (ROOT / name).exists()] == []


def test_no_compiler_and_no_installer_are_left(image: Image) -> None:
    found = {
        str(path.relative_to(image.root))
        for directory in ("usr/bin", "usr/sbin", "usr/local/bin", "opt/kraft/bin")
        for path in (image.root / directory).glob("*")
        if path.name in COMPILERS
    }

    assert found == set()


def test_commands_are_at_the_paths_of_the_official_image(image: Image, tmp_path: Path) -> None:
    said = run_in_container(image, tmp_path, "/opt/kafka/bin/kafka-storage.sh", "random-uuid")

    assert len(said.strip()) == 22


def test_nothing_but_the_data_volume_belongs_to_the_user(image: Image) -> None:
    user = int(image.user.split(":")[0])

    owned = [
        str(path.relative_to(image.root))
        for path in image.root.rglob("*")
        if not path.is_symlink() and path.stat().st_uid == user
    ]

    assert user != 0
    assert sorted(owned) == ["var/lib/kafka", "var/lib/kafka/data"]
    assert DATA in image.volumes


def test_a_container_formats_serves_stops_on_sigterm_and_restarts_with_its_data(image: Image, tmp_path: Path) -> None:
    data, port = tmp_path / "data", free_port()
    own(data, image)
    uid = image.user.split(":")[0]
    environment = {
        "CLUSTER_ID": CLUSTER_ID,
        "KAFKA_PROCESS_ROLES": "controller",
        "KAFKA_NODE_ID": "1",
        "KAFKA_CONTROLLER_QUORUM_VOTERS": f"1@127.0.0.1:{port}",
        "KAFKA_CONTROLLER_LISTENER_NAMES": "CONTROLLER",
        "KAFKA_LISTENERS": f"CONTROLLER://127.0.0.1:{port}",
    }

    lives = []
    for _ in range(2):
        with container(image, data, environment) as node:
            eventually(lambda: describe_quorum(port).leader_id == 1, "a leader", 30)
            status = Path(f"/proc/{node.first}/status").read_text()
            command = Path(f"/proc/{node.first}/cmdline").read_text().split("\0")
            node.signal(getattr(signal, image.stop_signal))
            code, said = node.end()
            lives.append((code, "Formatting metadata directory" in said))
            assert f"Uid:\t{uid}\t{uid}\t{uid}\t{uid}\n" in status
            assert "CapEff:\t0000000000000000\n" in status
            assert "NoNewPrivs:\t1\n" in status
            assert command[1:3] == ["/opt/kraft/bin/kraftctl", "container"]

    assert lives == [(0, True), (0, False)]
    assert f"cluster.id={CLUSTER_ID}\n" in (data / "meta.properties").read_text()


def test_the_health_check_is_a_command_of_the_image(image: Image) -> None:
    assert image.health == ["kraftctl", "probe", "live"]
    assert image.command == ["kraftctl", "container"]
    assert (image.root / "opt/kraft/bin/kraftctl").exists()


def resolve_for(architecture: str, lock: str) -> subprocess.CompletedProcess[str]:
    """What pip says of the wheels of a lock elsewhere, for the Python of the image; nothing is installed."""
    python = re.search(r"(?m)^ARG PYTHON=(\d+\.\d+)-", (ROOT / "Dockerfile").read_text())
    platforms = [f"manylinux_2_{minor}_{architecture}" for minor in (17, 27, 28)]
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--quiet", "--ignore-installed", "--no-deps"]
    command += ["--only-binary", ":all:", "--require-hashes", "--python-version", python[1], "--target", "nowhere"]
    command += [word for platform in platforms for word in ("--platform", platform)]
    return subprocess.run(
        [*command, "-r", f"requirements/{lock}"], cwd=ROOT, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("lock", ["build.txt", "grpc.txt"])
def test_the_image_can_be_built_for_arm_from_the_lock(lock: str) -> None:
    """Each package has a wheel for it, with a hash of the lock: the image has no compiler."""
    done = resolve_for("aarch64", lock)

    assert done.returncode == 0, done.stderr


def test_an_architecture_without_wheels_would_be_seen() -> None:
    done = resolve_for("sparc64", "grpc.txt")

    assert done.returncode == 1
    assert "No matching distribution found" in done.stderr
