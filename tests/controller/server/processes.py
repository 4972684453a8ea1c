"""One node as a process, for tests of its exit code, its memory, and its one line on stderr."""

from __future__ import annotations

import contextlib
import io
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from simulations.chaos.ports import free_ports
from tools.kafka.storage import run as run_storage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CLUSTER_ID = "4L6g3nShT-eMCtK--X86sw"
FORMAT = "import sys; from tools.kafka.storage import main; sys.exit(main())"


def free_port() -> int:
    """A loopback port that nothing listens on now."""
    return free_ports(1)[0]


def write_properties(root: Path, port: int, **changes: str | None) -> Path:
    """A controller.properties of a quorum of one. changes: keys with `_` for `.`; None removes a key."""
    settings: dict[str, str | None] = {
        "process.roles": "controller",
        "node.id": "1",
        "controller.quorum.voters": f"1@127.0.0.1:{port}",
        "controller.listener.names": "CONTROLLER",
        "listeners": f"CONTROLLER://127.0.0.1:{port}",
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT",
        "log.dirs": str(root / "data"),
    }
    settings.update({key.replace("_", "."): value for key, value in changes.items()})
    path = root / "controller.properties"
    path.write_text("".join(f"{key}={value}\n" for key, value in settings.items() if value is not None))
    return path


def format_directory(properties: Path, *options: str, cluster_id: str = CLUSTER_ID) -> subprocess.CompletedProcess[str]:
    """Format the directory of a node, by the tool within this process; one of its own takes 0.2 s."""
    done = called(run_storage, ["format", "-t", cluster_id, "-c", str(properties), *options])
    done.check_returncode()
    return done


def called(run: Callable[[list[str]], int], arguments: list[str]) -> subprocess.CompletedProcess[str]:
    """Run a tool in this process."""
    streams = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = outputs = [
        io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="surrogateescape", newline="") for _ in range(2)
    ]
    try:
        code = run(arguments)
    finally:
        sys.stdout, sys.stderr = streams
    texts = []
    for stream in outputs:
        stream.flush()
        texts.append(stream.buffer.getvalue().decode("utf-8", "surrogateescape"))  # type: ignore[attr-defined]
    return subprocess.CompletedProcess(arguments, code, *texts)


def start_command(properties: Path) -> list[str]:
    return [sys.executable, "-m", "tools.kraftctl.main", "start", "-c", str(properties)]


def run_to_end(properties: Path) -> subprocess.CompletedProcess[str]:
    """Start a node that is expected to refuse to start."""
    return subprocess.run(start_command(properties), capture_output=True, text=True, timeout=30, check=False)


@contextlib.contextmanager
def running(
    root: Path, port: int, *, files_max: int | None = None, **changes: str | None
) -> Iterator[subprocess.Popen[bytes]]:
    """A formatted node that answers on its port, and is killed at the end of the block. files_max: of open files."""
    properties = write_properties(root, port, **changes)
    if not (root / "data" / "meta.properties").exists():
        format_directory(properties)
    with (root / "node.log").open("ab") as log:
        limited = [] if files_max is None else ["sh", "-c", f'ulimit -n {files_max}; exec "$@"', "sh"]
        process = subprocess.Popen([*limited, *start_command(properties)], stdout=log, stderr=log)
    try:
        await_port(process, port)
        yield process
    finally:
        process.kill()
        process.wait()


def await_port(process: subprocess.Popen[bytes], port: int, seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while True:
        assert process.poll() is None, "the node ended"
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        assert time.monotonic() < end, "the node does not listen"
        time.sleep(0.02)


def resident_kib(process: subprocess.Popen[bytes]) -> int:
    """Resident memory of the process as the kernel counts it."""
    for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise AssertionError("no VmRSS")
