"""`python -m tests.oracle.wire --seeds 1-100`: talk to both nodes, and save the shortest conversations that differ."""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import time
from pathlib import Path

from tests.oracle.wire.conversation import from_text
from tests.oracle.wire.explore import SETTINGS, SHRINKS_MAX, Explorer
from tests.oracle.wire.pair import running_pair


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.oracle.wire", description=__doc__)
    parser.add_argument("--seeds", default="1-100", help="first and last seed")
    parser.add_argument("--seconds", type=float, default=600, help="stop after so long")
    parser.add_argument("--save", type=Path, help="a directory for the shortest conversations")
    parser.add_argument("--settings", choices=sorted(SETTINGS), default="plain", help="the nodes' configuration")
    parser.add_argument("--shrinks", type=int, default=SHRINKS_MAX, help="tries to make a conversation shorter")
    parser.add_argument("files", nargs="*", type=Path, help="run these files instead")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the nodes are ended too
    with (
        tempfile.TemporaryDirectory(prefix="wire-") as root,
        running_pair(Path(root), SETTINGS[options.settings]) as pair,
    ):
        explorer = Explorer(pair, out, options.save, shrinks=options.shrinks)
        if options.files:
            for path in options.files:
                pair.renew()
                outcome = explorer.run(from_text(path.read_text()))
                out(f"{path}: {sorted(outcome.known)} " + "\n  ".join(["", *map(str, outcome.found)]))
            return 0
        first, _, last = options.seeds.partition("-")
        begun = time.monotonic()
        for seed in range(int(first), int(last or first) + 1):
            if time.monotonic() - begun > options.seconds:
                break
            explorer.explore(seed)
        passed = time.monotonic() - begun
        out(f"{explorer.requests} requests in {passed:.1f} s; known: {explorer.known}")
        for signature, count in sorted(explorer.seen.items(), key=lambda item: -item[1]):
            out(f"{count:6} {signature}")
        return 1 if explorer.seen else 0


def out(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
