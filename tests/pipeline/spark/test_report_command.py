"""`kraft-pipeline report`: from directories of stock Kafka to the page, and one line for a path that is not a log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pipeline.commands.main import main
from tests.pipeline.logs import GOLDEN

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_a_page_is_made_from_directories_of_stock_kafka(
    spark: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:  # fmt: skip
    warehouse, out = str(tmp_path / "warehouse"), tmp_path / "report.html"

    code = main(["report", str(GOLDEN / "4.0-static"), "--warehouse", warehouse, "--out", str(out)])

    assert (code, capsys.readouterr().out) == (0, f"{out}\n")
    text = out.read_text()
    assert "<!doctype html>" in text
    assert '<th scope="row">__consumer_offsets</th>' in text
    assert "<dd>342<" in text
    # It was a quorum in which nobody flapped, and all voters were there.
    assert "None was found." in text


def test_a_missing_warehouse_or_log_is_reported_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nothing = str(tmp_path / "nothing")

    assert main(["report", "--warehouse", nothing]) == 1

    said = capsys.readouterr().err
    assert said == f"kraft-pipeline: {nothing} is not a warehouse yet: give a log directory, --quorum or --watch\n"
