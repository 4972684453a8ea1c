"""Makes the screenshot of the page in the README: `python -m tests.deploy.screenshot docs/page.png`."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from tests.deploy.browser import browser, found_browser
from tests.deploy.model_brokers import populate
from tests.deploy.watched import watched


def main(target: Path) -> None:
    path = found_browser()
    assert path is not None, "no browser is installed"
    with tempfile.TemporaryDirectory() as place:
        directory = Path(place)
        quorum_directory = directory / "quorum"
        quorum_directory.mkdir()
        with watched(quorum_directory) as quorum, browser(path, directory / "profile") as page:
            leader = quorum.await_leader()
            populate(quorum, leader)
            page.open(f"http://127.0.0.1:{quorum.http_ports[leader]}/", width=1240, height=1300)
            page.await_text("#brokers", "fenced")
            time.sleep(2)  # the figures of one more second
            target.write_bytes(page.screenshot())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
