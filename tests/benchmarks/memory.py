"""The resident memory of a node: plain, with its HTTP port, with the watch service.

`python -m tests.benchmarks.memory [ROUNDS]` starts each kind of node ROUNDS times in turn, asks for each path of
the HTTP port once, and prints the least and the greatest size. The exit code is 1 if one is above its limit.
"""

from __future__ import annotations

import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from tests.controller.server.processes import free_port, resident_kib, running

# MiB.
LIMITS = {"plain": 48, "http": 51, "grpc": 66}
KEYS = {"plain": "", "http": "kraft_http_listener", "grpc": "kraft_grpc_listener"}
PATHS = ("/readyz", "/metrics", "/quorum", "/")
# The node has elected itself and has made its first collection of garbage.
SETTLED_S = 2.5


def resident_mib(kind: str) -> float:
    """Of a new node of this kind, alone in its quorum."""
    port = free_port()
    changes = {KEYS[kind]: f"127.0.0.1:{port}"} if KEYS[kind] else {}
    with tempfile.TemporaryDirectory() as root, running(Path(root), free_port(), **changes) as process:
        time.sleep(SETTLED_S)
        if kind == "http":
            for path in PATHS:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
                    answer.read()
        return resident_kib(process) / 1024


def main(rounds: int = 3) -> int:
    sizes: dict[str, list[float]] = {kind: [] for kind in LIMITS}
    for _ in range(rounds):
        for kind, found in sizes.items():
            found.append(resident_mib(kind))
    for kind, found in sizes.items():
        print(f"{kind:6} {min(found):5.1f} to {max(found):5.1f} MiB; at most {LIMITS[kind]}")
    return int(any(max(found) > LIMITS[kind] for kind, found in sizes.items()))


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:2])))
