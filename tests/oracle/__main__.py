"""`python -m tests.oracle --seeds 1-200`: run sequences, shrink what differs, and save it."""

from __future__ import annotations

import argparse
import re
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tests.oracle.commands import from_text, to_text
from tests.oracle.exceptions import names
from tests.oracle.generate.sequence import sequence
from tests.oracle.pair import Pair
from tests.oracle.shrink import shrunk

if TYPE_CHECKING:
    from tests.oracle.commands import Command
    from tests.oracle.pair import Outcome


def explore(
    pair: Pair, seeds: range, directory: Path | None, seconds: float, wanted: set[str], *, careful: bool
) -> int:
    """Run the sequences of these seeds until the time is up; save the shortest of each sort of difference.

    wanted: the names of the known differences of which a sequence is saved too.
    """
    begun = time.monotonic()
    operations = 0
    seen: dict[str, int] = {}
    known: dict[str, int] = {}
    for seed in seeds:
        if time.monotonic() - begun > seconds:
            break
        outcome = pair.explore(*sequence(seed, careful=careful))
        operations += outcome.count
        for name in outcome.names:
            known[name] = known.get(name, 0) + 1
            if known[name] == 1 and name in wanted:
                report_known(pair, seed, outcome, name, directory)
        if not outcome.found:
            continue
        signature = outcome.signature
        seen[signature] = seen.get(signature, 0) + 1
        if seen[signature] == 1:
            report(pair, seed, outcome, directory)
    passed = time.monotonic() - begun
    out(f"{operations} operations in {passed:.1f} s, {operations / passed:.0f} a second")
    out(f"known: {known}")
    for signature, count in sorted(seen.items(), key=lambda item: -item[1]):
        out(f"{count:6} {signature}")
    return 1 if seen else 0


def report(pair: Pair, seed: int, outcome: Outcome, directory: Path | None) -> None:
    signature = outcome.signature
    commands = shrunk(outcome.commands, lambda tried: pair.run(tried).signature == signature)
    again = pair.run(commands)
    comment = f"seed {seed}: {signature}\n" + "\n".join(str(difference) for difference in again.found[:6])
    text = to_text(commands, comment)
    out(f"--- {text}")
    if directory is not None:
        directory.mkdir(parents=True, exist_ok=True)
        name = re.sub(r"[^A-Za-z0-9]+", "-", signature.replace("(|", "(none|").replace("|)", "|none)")).strip("-")[:100]
        (directory / f"{name}.txt").write_text(text)


def report_known(pair: Pair, seed: int, outcome: Outcome, name: str, directory: Path | None) -> None:
    """The shortest sequence that meets a known difference, and nothing unknown."""

    def meets(tried: list[Command]) -> bool:
        again = pair.run(tried)
        return name in again.names and not again.found

    commands = shrunk(outcome.commands, meets)
    lines = [str(difference) for met, difference in pair.run(commands).known if met == name]
    text = to_text(commands, f"{name} (seed {seed})\n" + "\n".join(lines[:4]))
    out(f"--- {text}")
    if directory is not None:
        directory.mkdir(parents=True, exist_ok=True)
        (directory / f"{name}.txt").write_text(text)


def out(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.oracle", description=__doc__)
    parser.add_argument("--seeds", default="1-100", help="first and last seed")
    parser.add_argument("--seconds", type=float, default=600, help="stop after so long")
    parser.add_argument("--save", type=Path, help="a directory for the shortest sequences")
    parser.add_argument("--careful", action="store_true", help="leave out values that lead to a known difference")
    parser.add_argument("--known", nargs="*", default=[], help="known differences to save a sequence of; `all`")
    parser.add_argument("files", nargs="*", type=Path, help="run these sequence files instead")
    options = parser.parse_args()
    pair = Pair()
    try:
        if options.files:
            failed = 0
            for path in options.files:
                outcome = pair.run(from_text(path.read_text()))
                failed |= bool(outcome.found)
                out(f"{path}: {sorted(outcome.names)} " + "\n  ".join(["", *map(str, outcome.found)]))
            return failed
        deliberate, pending = names()
        wanted = deliberate | pending if options.known == ["all"] else set(options.known)
        first, _, last = options.seeds.partition("-")
        return explore(
            pair,
            range(int(first), int(last or first) + 1),
            options.save,
            options.seconds,
            wanted,
            careful=options.careful,
        )
    finally:
        pair.close()


if __name__ == "__main__":
    sys.exit(main())
