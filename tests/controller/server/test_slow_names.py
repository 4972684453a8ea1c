"""Voters whose host names a name server does not answer for: the other voters elect a leader, and commit."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from simulations.chaos.ports import free_ports
from tests.controller.server.processes import format_directory, start_command, write_properties
from tests.interop.ask import describe_quorum
from tests.interop.cluster import eventually

if TYPE_CHECKING:
    from pathlib import Path

# A lookup of a name that ends in .slow takes two minutes and fails: longer than the test runs.
SLOW_LOOKUPS = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <string.h>
#include <unistd.h>

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **found) {
    static int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    if (!real) real = dlsym(RTLD_NEXT, "getaddrinfo");
    if (node && strlen(node) > 5 && !strcmp(node + strlen(node) - 5, ".slow")) {
        sleep(120);
        return EAI_AGAIN;
    }
    return real(node, service, hints, found);
}
"""


def slow_lookups(root: Path) -> str:
    """The path of a library for LD_PRELOAD."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler is installed: apt-get install gcc")
    (root / "slow.c").write_text(SLOW_LOOKUPS)
    library = root / "slow.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, root / "slow.c", "-ldl"], check=True)
    return str(library)


def test_names_that_are_not_resolved_delay_only_their_own_peers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Three of seven voters do not run, and their names hang. The others have a name that is looked up too, and later.
    ports = dict(zip(range(4, 8), free_ports(4), strict=True))
    live = [f"{node_id}@localhost:{port}" for node_id, port in ports.items()]
    voters = ",".join(["1@one.slow:9093", "2@two.slow:9093", "3@three.slow:9093", *live])
    library = slow_lookups(tmp_path)

    with contextlib.ExitStack() as stack:
        for node_id, port in ports.items():
            root = tmp_path / str(node_id)
            root.mkdir()
            properties = write_properties(root, port, node_id=str(node_id), controller_quorum_voters=voters)
            format_directory(properties)
            monkeypatch.setenv("LD_PRELOAD", library)
            with (root / "node.log").open("wb") as log:
                process = subprocess.Popen(start_command(properties), stdout=log, stderr=log)
            monkeypatch.delenv("LD_PRELOAD")
            stack.callback(process.wait)
            stack.callback(process.kill)

        def is_committed() -> bool:
            return any(describe_quorum(port).high_watermark > 0 for port in ports.values())

        eventually(is_committed, "the four live voters have committed records")
