"""Our shell on live quorums, ours and stock's, has the tree that the stock shell shows of the checkpoint."""

from __future__ import annotations

import re
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from tests.interop.cluster import BIN, OURS, STOCK, Cluster, cluster, eventually
from tests.interop.stock import WITH_SHELL
from tests.interop.test_broker_joins import await_brokers

if TYPE_CHECKING:
    from pathlib import Path

    from tests.interop.stock import Stock

# Entries about the shell's own source: the offsets in a file differ from the log's, and the version is the software's.
OWN = ("/image/provenance", "/local/version", "/local/commitId")
# A checkpoint each second; no records except those of requests.
SETTINGS = {"metadata.log.max.snapshot.interval.ms": "1000", "metadata.max.idle.interval.ms": "0"}


def ours(*arguments: str) -> str:
    done = subprocess.run(
        [str(BIN / "kafka-metadata-shell"), *arguments], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def tree_of(printed: str) -> str:
    """The output of `tree /`, without the entries about the shell itself."""
    printed = re.sub(r"(provenance|version|commitId):\n\s+\S[^\n]*\n", r"\1:\n", printed)
    return printed.strip()


def names_of(printed: str) -> str:
    return "\n".join(line for line in printed.splitlines() if line not in OWN)


COMMANDS = {"find": names_of, "tree": tree_of}


def checkpoints(found: Cluster) -> list[Path]:
    """The leader's, the newest last. It has none until the first is written."""
    leader = found.controllers[found.leader()]
    return sorted((leader.directory / "__cluster_metadata-0").glob("*.checkpoint"))


def settled_checkpoint(found: Cluster) -> Path:
    """The checkpoint that contains all committed records."""
    end = found.high_watermark()

    def contains_all() -> bool:
        return any(int(each.name.split("-")[0]) >= end for each in checkpoints(found))

    eventually(contains_all, "a checkpoint of all", 30)
    return checkpoints(found)[-1]


def fill(found: Cluster) -> None:
    server = ("--bootstrap-server", found.bootstrap)
    for topic in ("first", "second"):
        found.tool("topics", *server, "--create", "--topic", topic, "--partitions", "3", "--replication-factor", "1")
    # The interval between checkpoints is over when the last record comes: a record is what makes one due.
    time.sleep(1.2)
    found.tool(
        "configs", *server, "--alter", "--entity-type", "topics", "--entity-name", "first", "--add-config",
        "retention.ms=1000",
    )  # fmt: skip


@pytest.mark.parametrize("stock", [WITH_SHELL], indirect=True)
@pytest.mark.parametrize("kind", [OURS, STOCK])
def test_a_live_quorum_has_the_tree_that_the_stock_shell_shows_of_its_checkpoint(
    kind: str, stock: Stock, tmp_path: Path
) -> None:
    with cluster(tmp_path, stock, [kind], 1, settings=SETTINGS) as found:
        await_brokers(found, 1)
        fill(found)
        checkpoint = settled_checkpoint(found)
        copy = tmp_path / checkpoint.name  # beside no lock
        copy.write_bytes(checkpoint.read_bytes())

        for command, comparable in COMMANDS.items():
            live = comparable(ours("--controllers", found.bootstrap_controller, command, "/"))
            there = comparable(ours("--directory", str(checkpoint.parents[1]), command, "/"))
            file = comparable(ours("--snapshot", str(copy), command, "/"))
            theirs = stock_shows(found, copy, command, live)

            assert "second" in theirs
            assert (live, there, file) == (theirs, theirs, theirs)


def stock_shows(found: Cluster, checkpoint: Path, command: str, whole: str) -> str:
    """The output of the stock shell; it may run a command before it has read the whole file, so it is retried."""
    printed = ""
    for _ in range(6):
        printed = COMMANDS[command](found.tool("metadata-shell", "--snapshot", str(checkpoint), command, "/"))
        if printed == whole:
            break
    return printed


def test_a_broker_is_reported_as_not_a_controller(stock: Stock, tmp_path: Path) -> None:
    with cluster(tmp_path, stock, [STOCK], 1) as found:
        await_brokers(found, 1)
        config = tmp_path / "client.properties"
        config.write_text("default.api.timeout.ms=1000\n")

        done = subprocess.run(
            [str(BIN / "kafka-metadata-shell"), "-C", found.bootstrap, "-c", str(config), "ls"],
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"kafka-metadata-shell: no leader of the quorum answered within 1 s: {found.bootstrap}: "
        "it is a broker, not a controller\n"
    )
