"""Bytes that are not requests: the node continues to serve, and its memory does not grow."""

from __future__ import annotations

import contextlib
import errno
import select
import socket
import time
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from records.messages.versions import ApiVersionsRequest
from records.registry import APIS
from tests.controller.server.processes import free_port, resident_kib, running
from tools.client.connection import Connection

if TYPE_CHECKING:
    from collections.abc import Iterator

GROWTH_KIB_MAX = 50 * 1024


def test_bad_bytes_leave_the_node_serving_and_its_memory_as_it_was(tmp_path: Path) -> None:
    rng = Random(3)
    port = free_port()
    with running(tmp_path, port) as process:
        assert is_served(port)
        before = resident_kib(process)

        send_all(port, [rng.randbytes(rng.randrange(1, 4000)) for _ in range(200)])
        send_all(port, [size.to_bytes(4, "big", signed=True) + bytes(64) for size in huge_sizes()])
        send_all(port, [framed(header(rng) + rng.randbytes(rng.randrange(200))) for _ in range(500)])
        send_all(port, [framed(header(rng) + b"\xff" * 64) for _ in range(200)])
        with half_frames(port, 100):
            assert is_served(port)
        grown = resident_kib(process) - before

        assert process.poll() is None
        assert is_served(port)
        assert grown < GROWTH_KIB_MAX


def test_more_connections_than_files_leave_the_node_its_log(tmp_path: Path) -> None:
    """Each snapshot needs a file descriptor."""
    port = free_port()
    frequent = {"metadata_log_max_record_bytes_between_snapshots": "1", "metadata_max_idle_interval_ms": "20"}
    with running(tmp_path, port, files_max=128, **frequent) as process, contextlib.ExitStack() as stack:
        connect_all(stack, port, 200)
        written = snapshots(tmp_path)
        end = time.monotonic() + 20
        while len(snapshots(tmp_path) - written) < 3:
            assert process.poll() is None, (tmp_path / "node.log").read_text()[-2000:]
            assert time.monotonic() < end
            time.sleep(0.02)

        assert is_served(port)
        open_files = len(list(Path(f"/proc/{process.pid}/fd").iterdir()))

    assert open_files < 128
    assert "Too many open files" not in (tmp_path / "node.log").read_text()


def connect_all(stack: contextlib.ExitStack, port: int, count: int) -> None:
    """Open connections at once: a request that finds the backlog full is sent again by the kernel after a second."""
    under_way = set()
    for _ in range(count):
        connection = stack.enter_context(socket.socket())
        connection.setblocking(False)
        assert connection.connect_ex(("127.0.0.1", port)) in {0, errno.EINPROGRESS}
        under_way.add(connection)
    end = time.monotonic() + 10
    while under_way:
        assert time.monotonic() < end, f"{len(under_way)} of {count} are not connected"
        _, connected, _ = select.select([], list(under_way), [], 1)
        for connection in connected:
            assert connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0
            under_way.discard(connection)


def snapshots(root: Path) -> set[str]:
    return {path.name for path in (root / "data" / "__cluster_metadata-0").glob("*.checkpoint")}


def is_served(port: int) -> bool:
    with Connection("127.0.0.1", port, "test") as connection:
        request = ApiVersionsRequest(client_software_name="test", client_software_version="1")
        return bool(connection.ask(request).error_code == 0)


def huge_sizes() -> list[int]:
    return [2**31 - 1, -1, -(2**31), 2**30, 104857601, 104857600, 2**24]


def framed(body: bytes) -> bytes:
    return len(body).to_bytes(4, "big") + body


def header(rng: Random) -> bytes:
    """The header of a request of some API, in a version that may or may not exist."""
    key = rng.choice([*APIS, 999])
    return b"".join(number.to_bytes(2, "big") for number in (key, rng.randrange(20))) + bytes(4) + b"\xff\xff"


def send_all(port: int, messages: list[bytes]) -> None:
    """Send each on its own connection, which the node may close at any time."""
    for message in messages:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=2) as connection:
            connection.sendall(message)
            connection.shutdown(socket.SHUT_WR)
            with contextlib.suppress(TimeoutError):
                while connection.recv(65536):
                    pass


@contextlib.contextmanager
def half_frames(port: int, count: int) -> Iterator[None]:
    """Connections that each announce a large request and send a part of it."""
    with contextlib.ExitStack() as stack:
        for _ in range(count):
            connection = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=2))
            # The node may close any of them, since together they use too much memory.
            with contextlib.suppress(OSError):
                connection.settimeout(0.2)
                connection.sendall((50 << 20).to_bytes(4, "big") + bytes(1 << 20))
        time.sleep(0.5)
        yield
