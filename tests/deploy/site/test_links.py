"""What is said of a site with links that lead nowhere, or that asks another host for something."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deploy.site.links import main, wrong_links

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

GOOD = """<html><head><link rel="stylesheet" href="s.css"><link rel="canonical" href="https://example.org/a.html"></head>
<body><h1 id="top">A</h1><a href="#top">1</a><a href="b/b.html#here">2</a><a href="https://example.org/x">3</a></body>"""


def site(folder: Path, page: str) -> Path:
    (folder / "b").mkdir(exist_ok=True)
    (folder / "a.html").write_text(page)
    (folder / "b" / "b.html").write_text('<p id="here"></p><a href="../a.html">back</a><a href="../s%2Ecss">style</a>')
    (folder / "s.css").write_text("a { background: url(data:image/png;base64,AA==) }")
    return folder


def test_a_site_that_is_whole_has_no_wrong_link(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(site(tmp_path, GOOD)) == 0
    assert capsys.readouterr().out.endswith("all links lead to a page and an anchor, nothing is from another host\n")


def test_a_page_and_an_anchor_that_are_not_there_are_wrong(tmp_path: Path) -> None:
    page = GOOD.replace("#here", "#there").replace('"#top"', '"c.html"')

    assert wrong_links(site(tmp_path, page)) == [
        "a.html: c.html",
        "a.html: b/b.html#there: there is no such anchor",
    ]
    assert main(tmp_path) == 1


def test_what_a_browser_fetches_from_another_host_is_wrong(tmp_path: Path) -> None:
    page = GOOD.replace("s.css", "https://fonts.example.org/s.css")
    page += '<img src="//example.org/i.png"><script src="https://cdn.example.org/x.js"></script>'
    page += "<style>@import 'https://example.org/t.css'; p { background: url( 'http://example.org/u.png' ) }</style>"
    site(tmp_path, page)
    (tmp_path / "s.css").write_text("@font-face { src: url(https://fonts.example.org/f.woff2) }")

    assert wrong_links(tmp_path) == [
        "a.html: fetches https://example.org/t.css",
        "a.html: fetches http://example.org/u.png",
        "a.html: fetches https://fonts.example.org/s.css",
        "a.html: fetches //example.org/i.png",
        "a.html: fetches https://cdn.example.org/x.js",
        "s.css: fetches https://fonts.example.org/f.woff2",
    ]
