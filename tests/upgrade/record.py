"""`python -m tests.upgrade.record [COMMIT]`: the files that a version of ours writes, into tests/data/formats/COMMIT.

One is recorded for each release, and stays: `tests/test_formats.py` reads all of them with the present code.
"""

from __future__ import annotations

import argparse
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from records.metadata_log import PARTITION_DIRECTORY
from simulations.chaos.ports import free_ports
from tests.controller.server.processes import await_port, write_properties
from tests.upgrade.installed import OLDER, ROOT, Installation, install
from tests.upgrade.writer import Writer

FORMATS = ROOT / "tests" / "data" / "formats"
CLUSTER_ID = "UmVjb3JkZWRGb3JtYXRzXw"
BACKUP, AUDIT, PREFIX = "backup", "audit.jsonl", "committed-prefix-checkpoint"


def record(version: Installation, root: Path, target: Path) -> None:
    """Run one node for some writes, and keep its backup, its audit log and the checkpoint of its committed prefix."""
    (port,) = free_ports(1)
    properties = write_properties(root, port, kraft_audit_log=str(root / "audit.log"))
    done = version.run("kafka-storage", "format", "-t", CLUSTER_ID, "-c", str(properties))
    assert done.returncode == 0, done.stderr
    with (root / "node.log").open("wb") as log:
        command = [str(version.bin / "kraftctl"), "start", "-c", str(properties)]
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd="/")
    try:
        await_port(process, port)
        with Writer([port]) as writer:
            writer.await_progress()
        saved = version.run("kraftctl", "backup", "save", "-c", str(properties), str(root / BACKUP))
        assert saved.returncode == 0, saved.stderr
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
    finally:
        process.kill()
        process.wait()
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(root / BACKUP, target / BACKUP)
    shutil.copy(root / "audit.log", target / AUDIT)
    shutil.copy(root / "data" / PARTITION_DIRECTORY / PREFIX, target / PREFIX)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.upgrade.record", description=__doc__)
    parser.add_argument("commit", nargs="?", default=OLDER, help="default: %(default)s")
    commit = parser.parse_args().commit
    version = install(commit, ROOT / "build" / "upgrade")
    with tempfile.TemporaryDirectory(prefix="formats-") as root:
        record(version, Path(root), FORMATS / commit)
    return 0


if __name__ == "__main__":
    sys.exit(main())
