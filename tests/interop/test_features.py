"""Each level of metadata.version from 3.3-IV3 to 4.3-IV0, on ours and on stock: the same answers, texts and records."""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING, Any

from records.errors import Error
from records.features.levels import KAFKA_4_3, METADATA_VERSION, METADATA_VERSIONS, MINIMUM, changes_metadata_between
from records.messages.features import UpdateFeaturesRequest
from tests.benchmarks.client import Connection
from tests.interop.cluster import OURS, STOCK, cluster, eventually
from tests.interop.test_broker_joins import dumped, end_offset

if TYPE_CHECKING:
    from pathlib import Path

    from tests.interop.cluster import Cluster
    from tests.interop.stock import Stock

UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE = 1, 2, 3
KINDS = (UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE)
Answer = tuple[str, int, str | None]


class Features:
    """UpdateFeatures on the only controller of a cluster. answers: of all requests, in order."""

    def __init__(self, found: Cluster) -> None:
        self.found = found
        self.answers: list[Answer] = []
        self._connection = Connection(found.controllers[found.await_leader()].port)
        # The leader of the quorum becomes the active controller when it has replayed the log.
        eventually(
            lambda: self._ask(METADATA_VERSION, 0, UPGRADE, True).error_code != Error.NOT_CONTROLLER, "a controller"
        )

    def close(self) -> None:
        self._connection.close()

    def update(self, name: str, level: int, kind: int, is_dry_run: bool = False) -> int:
        """Ask for one level; the error code."""
        answer = self._ask(name, level, kind, is_dry_run)
        self.answers.append((f"{name}={level} by {kind}", answer.error_code, answer.error_message))
        return int(answer.error_code)

    def _ask(self, name: str, level: int, kind: int, is_dry_run: bool) -> Any:
        update = UpdateFeaturesRequest.FeatureUpdateKey(feature=name, max_version_level=level, upgrade_type=kind)
        request = UpdateFeaturesRequest(timeout_ms=30000, feature_updates=(update,), validate_only=is_dry_run)
        return self._connection.ask(request, 2)

    def try_all(self) -> None:
        """Each level of each feature, and one beyond at both ends, as each kind of change; nothing is changed."""
        for kind in KINDS:
            for level in range(MINIMUM - 1, KAFKA_4_3.latest_testing + 2):
                self.update(METADATA_VERSION, level, kind, is_dry_run=True)
            for feature in KAFKA_4_3.features:
                for level in range(-1, feature.latest_testing + 2):
                    self.update(feature.name, level, kind, is_dry_run=True)
        self.update("no.such.feature", 1, UPGRADE, is_dry_run=True)

    def walk(self) -> None:
        """Upgrade level by level. At each, try everything, and go back and forth by one level where that is allowed."""
        self.try_all()
        for version in METADATA_VERSIONS:
            level = version.level
            if not MINIMUM < level <= KAFKA_4_3.latest_production:
                continue
            self.upgrade(level)
            self.try_all()
            if not changes_metadata_between(level, level - 1):
                assert self.update(METADATA_VERSION, level - 1, SAFE_DOWNGRADE) == Error.NONE
                self.upgrade(level)

    def upgrade(self, level: int) -> None:
        """From 3.7-IV0 on, each controller must have registered; it does so soon after the upgrade to that level."""
        before = list(self.answers)

        def is_done() -> bool:
            self.answers = list(before)
            return self.update(METADATA_VERSION, level, UPGRADE) == Error.NONE

        eventually(is_done, f"metadata.version {level}")


def records_of(found: Cluster) -> list[str]:
    """The FeatureLevelRecords in the log, as stock's tool prints them."""
    node = found.controllers[1]
    lines = dumped(found, node.directory, end_offset(node.directory))
    return [match[0] for line in lines if (match := re.search(r'payload: \{"type":"FEATURE_LEVEL_RECORD".*', line))]


def test_each_metadata_version_is_reached_and_left_as_on_stock(tmp_path: Path, stock: Stock) -> None:
    answers: dict[str, list[Answer]] = {}
    records: dict[str, list[str]] = {}
    for kind in (OURS, STOCK):
        (tmp_path / kind).mkdir()
        release = ("--release-version", "3.3-IV3")
        with cluster(tmp_path / kind, stock, [kind], 0, *release, controllers_by=kind) as found:
            with contextlib.closing(Features(found)) as features:
                features.walk()
            answers[kind] = features.answers
            described = found.tool("features", "--bootstrap-controller", found.bootstrap_controller, "describe")
            records[kind] = [re.sub(r"Epoch: \d+", "Epoch: N", line) for line in described.splitlines()]
            found.controllers[1].stop()
            records[kind] += records_of(found)

    assert answers[OURS] == answers[STOCK]
    assert len(answers[STOCK]) > 2000
    assert records[OURS] == records[STOCK]
    assert sum("FEATURE_LEVEL_RECORD" in line for line in records[STOCK]) > KAFKA_4_3.latest_production - MINIMUM


def test_the_stock_tool_upgrades_by_release_with_the_same_texts(tmp_path: Path, stock: Stock) -> None:
    steps = [
        ("upgrade", "--release-version", "3.9"),
        ("upgrade", "--release-version", "4.1", "--dry-run"),
        ("upgrade", "--release-version", "4.1"),
        ("downgrade", "--release-version", "4.0", "--dry-run"),
        ("downgrade", "--release-version", "3.6"),
        ("downgrade", "--release-version", "3.6", "--unsafe"),
        ("upgrade", "--feature", "streams.version=1", "--feature", "group.version=1"),
        ("disable", "--feature", "streams.version"),
        ("upgrade", "--metadata", "4.3"),
        ("describe",),
    ]
    texts: dict[str, list[tuple[int, str, str]]] = {}
    for kind in (OURS, STOCK):
        (tmp_path / kind).mkdir()
        release = ("--release-version", "3.7")
        with cluster(tmp_path / kind, stock, [kind], 0, *release, controllers_by=kind) as found:
            server = ("--bootstrap-controller", found.bootstrap_controller)
            done = [stock.tool("features", *server, *step) for step in steps]
            texts[kind] = [(each.returncode, re.sub(r"Epoch: \d+", "", each.stdout), each.stderr) for each in done]

    assert texts[OURS] == texts[STOCK]
    assert [code for code, _, _ in texts[STOCK]] == [0, 0, 0, 0, 1, 1, 0, 0, 0, 0]
