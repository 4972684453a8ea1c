"""Run a command in an image's root like a container engine: without privileges, only the data volume writable."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.deploy.checks.dockerfile import Image

DATA = "/var/lib/kafka/data"
# What an engine does with `docker run --read-only --cap-drop ALL --security-opt no-new-privileges`.
ENTER = """
set -e
mount --make-rprivate /
mount --bind "$ROOT" "$ROOT"
mount --rbind "$DATA" "$ROOT/var/lib/kafka/data"
mount -t proc proc "$ROOT/proc"
mount -o remount,bind,ro "$ROOT"
exec setpriv --no-new-privs --bounding-set=-all,+sys_chroot,+setuid,+setgid \
    chroot --userspec="$AS" "$ROOT" /usr/bin/env -i "$@"
"""


class Container:
    """A command as process 1 of its own namespaces: root read-only, user and volume as the image says."""

    def __init__(self, image: Image, data: Path, command: Sequence[str], environment: dict[str, str]) -> None:
        variables = [f"{name}={value}" for name, value in {**image.env, **environment}.items()]
        words = ["unshare", "--mount", "--pid", "--fork", "sh", "-c", ENTER, "sh", *variables, *command]
        given = {**os.environ, "ROOT": str(image.root), "DATA": str(data), "AS": image.user}
        self.process = subprocess.Popen(
            words, env=given, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
        )

    @property
    def first(self) -> int:
        """The id, seen from here, of process 1 in the container."""
        pid = self.process.pid
        return int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])

    def signal(self, number: int) -> None:
        os.kill(self.first, number)

    def end(self, seconds: float = 20) -> tuple[int, str]:
        """Wait until it exits; the exit code, and its output."""
        said = self.process.communicate(timeout=seconds)[0]
        return self.process.returncode, said

    def kill(self) -> None:
        """Kill all its processes at once."""
        with contextlib.suppress(OSError, IndexError):
            self.signal(signal.SIGKILL)  # the first process takes all others of its namespace with it
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.communicate(timeout=10)
        self.process.kill()
        self.process.communicate()


@contextmanager
def container(image: Image, data: Path, environment: dict[str, str]) -> Iterator[Container]:
    """Run the image's own command."""
    found = Container(image, data, image.command, environment)
    try:
        yield found
    finally:
        found.kill()


def run_in_container(image: Image, data: Path, *command: str) -> str:
    """The output of a command, which must succeed."""
    code, said = Container(image, data, command, {}).end(60)
    assert code == 0, said
    return said


def own(data: Path, image: Image) -> None:
    """Make a directory that belongs to the image's user and can be reached by it."""
    data.mkdir(parents=True, exist_ok=True)
    uid, gid = map(int, image.user.split(":"))
    os.chown(data, uid, gid)
