"""The runbook as a page of the HTTP port, so that a link to it works without the Internet."""

from __future__ import annotations

import re
from pathlib import Path

from controller.server.http.answers import Answer, text
from controller.server.http.page import escape, policy_of

# Beside this module in an installation; in the repository, where it is written.
FILES = (Path(__file__).with_name("runbook.md"), Path(__file__).parents[3] / "docs" / "runbook.md")
STYLE = "body{font:16px/1.5 monospace;margin:1rem}pre{white-space:pre-wrap}:target{background:#ffe08a;color:#000}"


def anchor(heading: str) -> str:
    """The anchor of a heading, as sites that show Markdown make it."""
    return re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-")


def runbook_answer() -> Answer:
    """The text of docs/runbook.md, with an anchor for each heading; 404 in an installation without it."""
    for path in FILES:
        try:
            source = path.read_text("utf-8")
        except OSError:
            continue
        page = _page(source)
        return Answer(200, "text/html; charset=utf-8", page.encode(), (("Content-Security-Policy", policy_of(page)),))
    return text(404, "the runbook is not in this installation; it is docs/runbook.md of the source")


def _page(source: str) -> str:
    parts = []
    for part in re.split(r"(?m)^(?=#+ )", source):
        heading, _, body = part.partition("\n")
        name = heading.lstrip("#").strip()
        parts.append(f'<h2 id="{escape(anchor(name))}">{escape(name)}</h2><pre>{escape(body.strip())}</pre>')
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Runbook</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light '
        f'dark"><link rel="icon" href="data:,"><style>{STYLE}</style></head><body>{"".join(parts)}</body></html>'
    )
