"""`kraftctl` as a process, on the controllers of a cluster."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from tests.interop.cluster import BIN

if TYPE_CHECKING:
    from tests.interop.cluster import Cluster

Done = subprocess.CompletedProcess[str]


def kraftctl(found: Cluster, *arguments: str, seconds: float = 120) -> Done:
    """Run a verb with the addresses of the controllers whose process runs."""
    servers = ",".join(f"127.0.0.1:{node.port}" for node in found.controllers.values() if node.process is not None)
    command = [str(BIN / "kraftctl"), *arguments, "--bootstrap-controller", servers]
    return subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds, check=False
    )
