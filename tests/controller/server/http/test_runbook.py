"""The runbook on the HTTP port."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.server.http import runbook
from controller.server.http.runbook import anchor, runbook_answer

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_each_heading_has_its_anchor_and_text_is_not_taken_for_html(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "runbook.md").write_text("# Runbook\n\nText.\n\n## A disk is lost\n\nrun `a < b` & <script>\n")
    monkeypatch.setattr(runbook, "FILES", (tmp_path / "none.md", tmp_path / "runbook.md"))

    answer = runbook_answer()

    assert (answer.status, answer.content_type) == (200, "text/html; charset=utf-8")
    assert b'<h2 id="a-disk-is-lost">A disk is lost</h2><pre>run `a &lt; b` &amp; &lt;script&gt;</pre>' in answer.body
    assert "script-src 'none'" in dict(answer.headers)["Content-Security-Policy"]


def test_an_installation_without_it_says_where_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(runbook, "FILES", (tmp_path / "none.md",))

    answer = runbook_answer()

    assert (answer.status, answer.body) == (
        404, b"the runbook is not in this installation; it is docs/runbook.md of the source\n",
    )  # fmt: skip


def test_an_anchor_is_that_of_sites_that_show_markdown() -> None:
    assert [anchor(one) for one in ("KraftCommitsSlow", " A disk is lost", "What changed, when?")] == [
        "kraftcommitsslow", "a-disk-is-lost", "what-changed-when",
    ]  # fmt: skip
