"""The site of all documents, made by Sphinx from the Markdown files where they are: `make docs` writes build/site.

It asks no other host for anything, and works from a directory as from a server, its search too.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

# Sphinx executes this file; it has no `__package__`, and the environment of the checkers has not our packages' needs.
ROOT = Path(__file__).parents[2]
RELEASE = re.search(r'(?m)^VERSION = "(.*)"$', (ROOT / "records" / "release.py").read_text("utf-8"))

project = f"kraft-quorum {RELEASE[1]}" if RELEASE else "kraft-quorum"
root_doc = "README"
extensions = ["myst_parser"]
include_patterns = ["*.md", "**/*.md"]
exclude_patterns = [".*", "build", "dist", "data", "warehouse", "*.egg-info", "tests/data", "**/__pycache__"]

# Headings have the anchors that they have in a repository's view; a link to one that is not there is a warning, and
# `make docs` takes warnings for errors.
myst_heading_anchors = 4
highlight_language = "none"
smartquotes = False  # an option keeps its two dashes

html_theme = "furo"
html_title = project
html_copy_source = False
# The search would fetch each page that it found to show a part of it; a browser refuses that for files.
html_show_search_summary = False
html_show_copyright = False


def add_contents(app: Any, name: str, source: list[str]) -> None:
    """Give the first page the table of contents: the documents in the order of their index, then the rest."""
    if name != root_doc:
        return
    index = (ROOT / "docs" / "README.md").read_text("utf-8")
    linked = (f"docs/{path}".replace("docs/../", "") for path in re.findall(r"\]\(([\w./-]+)\.md[#)]", index))
    documents = [each for each in dict.fromkeys(["docs/README", *linked]) if each != root_doc]
    others = sorted(app.env.found_docs - {root_doc, *documents})
    for caption, pages in (("Documents", documents), ("Code", others)):
        listed = "\n".join(pages)
        source[0] += f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{listed}\n```\n"


def write_index(app: Any, error: Exception | None) -> None:
    """The first page under the name that servers and people look for."""
    if error is None and app.builder.name == "html":
        shutil.copy(Path(app.outdir, f"{root_doc}.html"), Path(app.outdir, "index.html"))


def setup(app: Any) -> None:
    app.connect("source-read", add_contents)
    app.connect("build-finished", write_index)
