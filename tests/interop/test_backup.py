"""A live quorum of stock Kafka or ours is saved, and stock Kafka and ours start from what is restored."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from tests.interop.cluster import OURS, STOCK, eventually
from tests.interop.dynamic import Dynamic
from tests.interop.test_log_repair import kraftctl

if TYPE_CHECKING:
    from pathlib import Path

    from tests.interop.stock import Stock


@pytest.mark.parametrize("kind", [STOCK, OURS])
def test_a_live_quorum_is_saved_and_restored_after_its_only_disk_is_lost(
    tmp_path: Path, stock: Stock, kind: str
) -> None:
    found = Dynamic(tmp_path, stock)
    try:
        found.begin([kind])
        node = found.controllers[1]
        backup = str(tmp_path / "backup")
        end = found.high_watermark()

        saved = kraftctl("backup", "save", "--json", "--bootstrap-controller", f"127.0.0.1:{node.port}", backup)

        assert saved.returncode == 0, saved.stderr
        assert json.loads(saved.stdout)["end_offset"] >= end
        assert kraftctl("backup", "verify", backup).returncode == 0

        # The disk is lost, and with it the quorum: a node that is formatted anew is another cluster.
        found.end()
        shutil.rmtree(node.directory)
        restored = kraftctl("backup", "restore", "--json", backup, "-c", str(node.properties))

        assert restored.returncode == 0, restored.stderr
        for each in (STOCK, OURS):
            node.kind = each
            node.start()
            found.await_leader()
            eventually(lambda: found.high_watermark() > end, "new records are committed")
            assert found.voters_now() == [1]
            node.stop()
        assert kraftctl("log", "replay", str(node.directory)).returncode == 0
    finally:
        found.close()
