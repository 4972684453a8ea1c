"""The site of all documents: it builds without a warning, its links lead somewhere, its search needs no server."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from deploy.site.links import wrong_links
from tests.deploy.browser import browser, found_browser
from tests.test_documents import PAGES

ROOT = Path(__file__).parents[3]


@pytest.fixture(name="site", scope="module")
def _site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    site = tmp_path_factory.mktemp("site") / "site"
    command = ["make", "--no-print-directory", "site", f"SITE={site}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return site


def test_each_document_is_a_page_and_no_link_is_wrong(site: Path) -> None:
    pages = [page.relative_to(ROOT).with_suffix(".html") for page in PAGES if "data" not in page.parts]

    assert [str(page) for page in pages if not (site / page).is_file()] == []
    assert wrong_links(site) == []
    assert (site / "index.html").read_bytes() == (site / "README.html").read_bytes()


def test_the_first_page_lists_each_document(site: Path) -> None:
    text = (site / "index.html").read_text("utf-8")

    documents = sorted((ROOT / "docs").rglob("*.md"))
    assert [
        path.name for path in documents if f'href="{path.relative_to(ROOT).with_suffix(".html")}"' not in text
    ] == []
    assert 'href="raft/DESIGN.html"' in text


def test_an_option_in_a_sentence_keeps_its_dashes(site: Path) -> None:
    assert "except for --create option." in (site / "docs" / "commands.html").read_text("utf-8")


def test_a_link_to_an_anchor_that_is_not_there_ends_the_build(tmp_path: Path) -> None:
    for name in ("deploy/site/conf.py", "records/release.py"):
        (tmp_path / name).parent.mkdir(parents=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "README.md").write_text("# Documents\n\n[home](../README.md#one)\n")
    (tmp_path / "README.md").write_text("# One\n\n[index](docs/README.md#documents)\n")
    command = ["sphinx-build", "-q", "-W", "--keep-going", "-c", "deploy/site", ".", "build/site"]

    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")

    (tmp_path / "README.md").write_text("# One\n\n[index](docs/README.md#nowhere)\n")
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "README.md:3: WARNING" in done.stderr
    assert "nowhere" in done.stderr


def test_the_search_works_from_a_directory_and_asks_no_host(site: Path, tmp_path: Path) -> None:
    path = found_browser()
    if path is None:
        pytest.skip("no browser here")
    with browser(path, tmp_path) as page:
        page.ask("Network.enable")
        page.open(f"{site.as_uri()}/search.html?q=quorum-state-kept")
        page.await_text("#search-results", "Changes")

        asked = [event["params"]["request"]["url"] for event in page.events if event["method"].endswith("BeSent")]
        assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
        assert any(url.endswith("searchindex.js") for url in asked)
        assert page.troubles() == []
