"""`make upgrade-check`: builds both wheels, and upgrades and rolls back quorums of static and of dynamic voters."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.upgrade.check import DYNAMIC, STATIC, check
from tests.upgrade.installed import OLDER, PRESENT, ROOT, install


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.upgrade", description=__doc__)
    parser.add_argument("--older", default=OLDER, metavar="COMMIT", help="default: %(default)s")
    parser.add_argument("--kind", choices=(STATIC, DYNAMIC), help="of the voters; default: both, one after the other")
    options = parser.parse_args()
    began_s = time.monotonic()

    def say(text: str) -> None:
        print(f"{time.monotonic() - began_s:6.1f} s  {text}", flush=True)

    folder = ROOT / "build" / "upgrade"
    older, present = (install(commit, folder) for commit in (options.older, PRESENT))
    say(f"{older.name} and {present.name} are installed")
    for kind in (STATIC, DYNAMIC) if options.kind is None else (options.kind,):
        with tempfile.TemporaryDirectory(prefix=f"upgrade-{kind}-") as root:
            say(check(Path(root), kind, older, present, say))
    return 0


if __name__ == "__main__":
    sys.exit(main())
