"""`kraftctl features preflight` of a lower metadata.version: whether Kafka refuses it, and what would be unreadable."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.tools.offline.stock_directories import stock_directory
from tools.kraftctl.cluster.downgrade import refusal
from tools.kraftctl.cluster.features import run

if TYPE_CHECKING:
    from pathlib import Path


def test_a_downgrade_that_kafka_refuses_names_what_older_releases_cannot_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = str(stock_directory(tmp_path))

    assert run(["preflight", "3.6", "--directory", directory, "--json"]) == 2
    said = json.loads(capsys.readouterr().out)
    assert said["refusal"] == (
        "Kafka refuses a downgrade from 30 to 14, also with --unsafe: "
        "3.7-IV0, 3.7-IV2, 4.0-IV1, 4.3-IV0 changed records"
    )
    assert [(each["release"], each["number"], each["what"]) for each in said["unreadable"]] == [
        ("4.0-IV1", 18, "partitions with eligible leader replicas"),
        ("3.7-IV2", 342, "partitions with directory ids"),
        ("3.7-IV2", 2, "brokers with directory ids"),
        ("3.7-IV0", 3, "registered controllers"),
    ]

    assert run(["preflight", "4.0", "--directory", directory]) == 2
    assert capsys.readouterr().out.splitlines() == [
        "Kafka refuses a downgrade from 30 to 25, also with --unsafe: 4.3-IV0 changed records",
        "no record needs these levels, but Kafka refuses the downgrade without reading the records",
    ]


@pytest.mark.parametrize(("current", "level"), [(30, 30), (29, 25), (19, 17)])
def test_kafka_takes_a_downgrade_over_levels_that_changed_no_record(current: int, level: int) -> None:
    assert refusal(current, level) is None
