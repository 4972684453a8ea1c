"""The timeline in a real browser: plots are zoomed together, and rows are filtered by time, cluster and text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pipeline.report.page import page
from tests.deploy.browser import Browser, browser, found_browser
from tests.pipeline.report.rows import DAY, HOUR, empty, fleet

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow
SHOWN = "[...document.querySelectorAll('svg[data-first] [data-at]')].filter((one) => one.style.display !== 'none')"
WIDTHS = f"{SHOWN}.map((one) => +one.getAttribute('width'))"
STARTS = f"[...new Set({SHOWN}.map((one) => +one.dataset.at))]"
ROWS = (
    "[...document.querySelectorAll('#{} tbody tr')].filter((one) => !one.hidden).map((one) => one.cells[1].textContent)"
)


@pytest.fixture(name="opened", scope="module")
def _opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    path = found_browser()
    if path is None:
        pytest.skip("no browser is installed: apt-get install chromium")
    root = tmp_path_factory.mktemp("report")
    (root / "report.html").write_text(page(fleet()))
    (root / "empty.html").write_text(page(empty()))
    with browser(path, root / "profile") as opened:
        opened.open((root / "report.html").as_uri())
        opened.await_text("#times output", "rows")
        yield opened
        assert opened.troubles() == []


@pytest.fixture(autouse=True)
def _whole(opened: Browser) -> None:
    """Each test begins with the whole timeline."""
    opened.value(
        "document.querySelector('#times [value=whole]').click(); for (const name of ['cluster', 'words']) "
        "{ const field = document.getElementById('times').elements[name]; field.value = ''; "
        "field.dispatchEvent(new Event('input', {bubbles: true})); }"
    )


def press(opened: Browser, value: str) -> None:
    opened.value(f"document.querySelector('#times [value={value}]').click()")


def enter(opened: Browser, name: str, value: str) -> None:
    opened.value(
        f"(() => {{ const field = document.getElementById('times').elements['{name}']; field.value = '{value}'; "
        "for (const kind of ['input', 'change']) field.dispatchEvent(new Event(kind, {bubbles: true})); })()"
    )


def test_buttons_zoom_all_plots_and_leave_rows_of_that_time(opened: Browser) -> None:
    before = opened.value(WIDTHS)

    press(opened, "back")  # at the start already
    press(opened, "in")
    press(opened, "back")

    assert opened.value(STARTS) == [DAY + HOUR]
    assert min(opened.value(WIDTHS)) > 1.8 * max(before)
    assert opened.value(ROWS.format("configs")) == ["north"]
    press(opened, "on")
    press(opened, "on")
    assert opened.value(STARTS) == [DAY + 47 * HOUR]
    assert opened.value(ROWS.format("configs")) == []
    press(opened, "whole")
    assert opened.value(STARTS) == [DAY + HOUR, DAY + 47 * HOUR]


def test_a_drag_over_a_plot_zooms_to_that_time(opened: Browser) -> None:
    opened.value(
        "(() => { const plot = document.querySelector('svg[data-first]'), box = plot.getBoundingClientRect();"
        "for (const [kind, part] of [['pointerdown', 0.06], ['pointerup', 0.3]]) plot.dispatchEvent("
        "new PointerEvent(kind, {clientX: box.left + part * box.width, bubbles: true})); })()"
    )

    assert opened.value(STARTS) == [DAY + HOUR]
    assert opened.value("document.querySelector('svg[data-first] .when').textContent").startswith("00:")


def test_times_can_be_entered(opened: Browser) -> None:
    enter(opened, "to", "2026-11-29 01:30:00")

    assert opened.value(STARTS) == [DAY + HOUR]
    assert len(opened.value(ROWS.format("failovers"))) == 2
    enter(opened, "to", "soon")
    assert opened.value("document.getElementById('times').checkValidity()") is False
    assert opened.value(STARTS) == [DAY + HOUR]
    enter(opened, "to", "2026-12-01 00:00:00")


def test_rows_and_plots_of_one_cluster_can_be_chosen(opened: Browser) -> None:
    enter(opened, "cluster", "south")

    assert opened.value(ROWS.format("unavailability")) == ["south"]
    assert opened.value("document.querySelectorAll('.over:not([hidden])').length") == 0
    assert opened.text("#times output") == "5 of 16 rows"


def test_rows_with_a_text_can_be_chosen(opened: Browser) -> None:
    enter(opened, "words", "CLICKS")

    assert opened.value(ROWS.format("unavailability")) == ["south"]
    assert opened.value(ROWS.format("brokers")) == []


def test_without_rows_there_are_no_controls(opened: Browser) -> None:
    shown = page(empty())

    assert '<form id="times" aria-label="Timeline" hidden>' in shown
    assert opened.value("document.getElementById('times').hidden") is False
