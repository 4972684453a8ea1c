"""`python -m deploy.site.links DIR`: whether each link of a built site leads to a page, and to an anchor that is on it,
and whether a browser asks another host for something. What links to other sites lead to is not looked up.
"""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# What a browser fetches without being asked; of a `link` those with these relations.
FETCHED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "embed": "src", "object": "data"}
FETCHED_RELATIONS = {"stylesheet", "icon", "preload", "prefetch", "preconnect", "dns-prefetch", "modulepreload"}
OF_STYLES = re.compile(r"""url\(\s*['"]?([^'")]+)|@import\s+['"]([^'"]+)""")


class Page(HTMLParser):
    """What a page has: its anchors, the links to follow, and what a browser fetches with it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.fetched = [one or other for one, other in OF_STYLES.findall(text)]
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag == "link" and FETCHED_RELATIONS & set(given.get("rel", "").split()):
            self.fetched.append(given["href"])
        elif tag in FETCHED and FETCHED[tag] in given:
            self.fetched.append(given[FETCHED[tag]])


def wrong_links(site: Path) -> list[str]:
    """The links that lead nowhere, and what is fetched from another host; each with its page."""
    pages = {path: Page(path.read_text("utf-8")) for path in sorted(site.rglob("*.html"))}
    wrong = []
    for path, page in pages.items():
        for link in (*page.links, *page.fetched):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = path if not parts.path else (path.parent / unquote(parts.path)).resolve()
            if not target.is_file():
                wrong.append(f"{path.relative_to(site)}: {link}")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                wrong.append(f"{path.relative_to(site)}: {link}: there is no such anchor")
        wrong += [f"{path.relative_to(site)}: fetches {each}" for each in page.fetched if is_foreign(each)]
    for path in sorted(site.rglob("*.css")):
        found = (one or other for one, other in OF_STYLES.findall(path.read_text("utf-8")))
        wrong += [f"{path.relative_to(site)}: fetches {each}" for each in found if is_foreign(each)]
    return wrong


def is_foreign(address: str) -> bool:
    """Whether an address is of another host."""
    return bool(urlsplit(address).netloc)


def main(site: Path) -> int:
    wrong = wrong_links(site.resolve())
    print(
        "\n".join(wrong) if wrong else f"{site}: all links lead to a page and an anchor, nothing is from another host"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
