"""The image: its Dockerfile linted, its steps done in an empty root, its command run there as an engine runs it."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.controller.server.processes import CLUSTER_ID, free_port
from tests.deploy.checks.dockerfile import Image, build
from tests.deploy.checks.empty_root import make, network_environment
from tests.interop.ask import describe_quorum
from tests.interop.cluster import eventually

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[3]
COMPILERS = {"cc", "gcc", "c++", "g++", "clang", "ld", "as", "make", "cargo", "rustc", "go", "pip", "pip3", "apt-get"}
DATA = "/var/lib/kafka/data"
# What an engine does with `docker run --read-only --cap-drop ALL --security-opt no-new-privileges`.
ENTER = """
set -e
mount --make-rprivate /
mount --bind "$ROOT" "$ROOT"
mount --bind "$DATA" "$ROOT/var/lib/kafka/data"
mount -t proc proc "$ROOT/proc"
mount -o remount,bind,ro "$ROOT"
exec setpriv --no-new-privs --bounding-set=-all,+sys_chroot,+setuid,+setgid \
    chroot --userspec="$AS" "$ROOT" /usr/bin/env -i "$@"
"""


def test_the_dockerfile_passes_its_linter() -> None:
    done = subprocess.run(["hadolint", str(ROOT / "Dockerfile")], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout) == (0, "")


@pytest.fixture(name="image", scope="module")
def _image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    if os.geteuid() != 0:
        pytest.skip("an empty root is entered by root alone")
    under = tmp_path_factory.mktemp("image")
    make(under / "base")
    return build(ROOT / "Dockerfile", under / "base", under, network_environment())


@contextmanager
def container(image: Image, data: Path, environment: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    """The image's command as process 1 of its own namespaces: root read-only, user and volume as the image says."""
    variables = [f"{name}={value}" for name, value in {**image.env, **environment}.items()]
    command = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", ENTER, "sh", *variables]
    given = {**os.environ, "ROOT": str(image.root), "DATA": str(data), "AS": image.user}
    with subprocess.Popen(
        [*command, *image.command], env=given, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def first_process(process: subprocess.Popen[str]) -> int:
    """The id, seen from here, of process 1 in the container."""
    return int(Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()[0])


def test_no_compiler_and_no_installer_are_left(image: Image) -> None:
    found = {
        str(path.relative_to(image.root))
        for directory in ("usr/bin", "usr/sbin", "usr/local/bin", "opt/kraft/bin")
        for path in (image.root / directory).glob("*")
        if path.name in COMPILERS
    }

    assert found == set()


def test_commands_stand_where_the_official_image_has_them(image: Image) -> None:
    done = subprocess.run(
        ["chroot", "--userspec", image.user, str(image.root), "/opt/kafka/bin/kafka-storage.sh", "random-uuid"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, len(done.stdout.strip())) == (0, 22)


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


def test_a_container_formats_serves_ends_at_sigterm_and_goes_on(image: Image, tmp_path: Path) -> None:
    data, port = tmp_path / "data", free_port()
    data.mkdir()
    uid, gid = map(int, image.user.split(":"))
    os.chown(data, uid, gid)
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
        with container(image, data, environment) as process:
            eventually(lambda: process.poll() is not None or describe_quorum(port).leader_id == 1, "a leader", 30)
            status = Path(f"/proc/{first_process(process)}/status").read_text()
            command = Path(f"/proc/{first_process(process)}/cmdline").read_text().split("\0")
            os.kill(first_process(process), getattr(signal, image.stop_signal))
            said = process.communicate(timeout=20)[0]
            lives.append((process.returncode, "Formatting metadata directory" in said, said))
            assert f"Uid:\t{uid}\t{uid}\t{uid}\t{uid}\n" in status
            assert "CapEff:\t0000000000000000\n" in status
            assert "NoNewPrivs:\t1\n" in status
            assert command[1:3] == ["/opt/kraft/bin/kraftctl", "container"]

    assert [(code, formatted) for code, formatted, _ in lives] == [(0, True), (0, False)], lives
    assert f"cluster.id={CLUSTER_ID}\n" in (data / "meta.properties").read_text()


def test_the_health_check_is_a_command_of_the_image(image: Image) -> None:
    assert image.health == ["kraftctl", "probe", "live"]
    assert image.command == ["kraftctl", "container"]
    assert (image.root / "opt/kraft/bin/kraftctl").exists()
