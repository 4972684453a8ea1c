"""Running sequences by hand, of seeds or of files; a sequence that differs is shrunk and saved."""

from __future__ import annotations

import argparse
import re
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.oracle.pair import Outcome


class Pair(Protocol):
    """Both sides of a level."""

    def explore(self, start: Any, generate: Callable[[Any], Any]) -> Outcome[Any]: ...

    def run(self, commands: list[Any]) -> Outcome[Any]: ...

    def close(self) -> None: ...


class Level(NamedTuple):
    """The parts of a level of the oracle.

    sequence: start and generator of a seed, with or without values that lead to a known difference. names: of the
    known differences.
    """

    program: str
    pair: Callable[[], Pair]
    sequence: Callable[[int, bool], tuple[Any, Callable[[Any], Any]]]
    shrunk: Callable[[list[Any], Callable[[list[Any]], bool]], list[Any]]
    to_text: Callable[[list[Any], str], str]
    from_text: Callable[[str], list[Any]]
    names: set[str]


def explore(
    level: Level,
    pair: Pair,
    seeds: range,
    directory: Path | None,
    seconds: float,
    operations_max: int,
    wanted: set[str],
    *,
    careful: bool,
) -> int:
    """Run the sequences of these seeds until the time is over, or this number of operations is done.

    The shortest of each sort of difference is saved.
    wanted: the names of the known differences of which a sequence is saved too.
    """
    begun = time.monotonic()
    operations = 0
    seen: dict[str, int] = {}
    known: dict[str, int] = {}
    for seed in seeds:
        if time.monotonic() - begun > seconds or operations >= operations_max:
            break
        outcome = pair.explore(*level.sequence(seed, careful))
        operations += outcome.count
        for name in outcome.names:
            known[name] = known.get(name, 0) + 1
            if known[name] == 1 and name in wanted:
                report_known(level, pair, seed, outcome, name, directory)
        if not outcome.found:
            continue
        signature = outcome.signature
        seen[signature] = seen.get(signature, 0) + 1
        if seen[signature] == 1:
            report(level, pair, seed, outcome, directory)
    passed = time.monotonic() - begun
    out(f"{operations} operations in {passed:.1f} s, {operations / passed:.0f} a second")
    out(f"known: {known}")
    for signature, count in sorted(seen.items(), key=lambda item: -item[1]):
        out(f"{count:6} {signature}")
    return 1 if seen else 0


def report(level: Level, pair: Pair, seed: int, outcome: Outcome[Any], directory: Path | None) -> None:
    signature = outcome.signature
    commands = level.shrunk(outcome.commands, lambda tried: pair.run(tried).signature == signature)
    again = pair.run(commands)
    comment = f"seed {seed}: {signature}\n" + "\n".join(str(difference) for difference in again.found[:6])
    text = level.to_text(commands, comment)
    out(f"--- {text}")
    if directory is not None:
        directory.mkdir(parents=True, exist_ok=True)
        name = re.sub(r"[^A-Za-z0-9]+", "-", signature.replace("(|", "(none|").replace("|)", "|none)")).strip("-")[:100]
        (directory / f"{name}.txt").write_text(text)


def report_known(level: Level, pair: Pair, seed: int, outcome: Outcome[Any], name: str, directory: Path | None) -> None:
    """The shortest sequence that meets a known difference, and nothing unknown."""

    def meets(tried: list[Any]) -> bool:
        again = pair.run(tried)
        return name in again.names and not again.found

    commands = level.shrunk(outcome.commands, meets)
    lines = [str(difference) for met, difference in pair.run(commands).known if met == name]
    text = level.to_text(commands, f"{name} (seed {seed})\n" + "\n".join(lines[:4]))
    out(f"--- {text}")
    if directory is not None:
        directory.mkdir(parents=True, exist_ok=True)
        (directory / f"{name}.txt").write_text(text)


def out(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main(level: Level) -> int:
    parser = argparse.ArgumentParser(prog=f"python -m {level.program}", description=__doc__)
    parser.add_argument("--seeds", default="1-100", help="first and last seed")
    parser.add_argument("--seconds", type=float, default=600, help="stop after so long")
    parser.add_argument("--operations", type=int, default=sys.maxsize, help="stop after so many")
    parser.add_argument("--save", type=Path, help="a directory for the shortest sequences")
    parser.add_argument("--careful", action="store_true", help="leave out values that lead to a known difference")
    parser.add_argument("--known", nargs="*", default=[], help="known differences to save a sequence of; `all`")
    parser.add_argument("files", nargs="*", type=Path, help="run these sequence files instead")
    options = parser.parse_args()
    pair = level.pair()
    try:
        if options.files:
            failed = 0
            for path in options.files:
                outcome = pair.run(level.from_text(path.read_text()))
                failed |= bool(outcome.found)
                out(f"{path}: {sorted(outcome.names)} " + "\n  ".join(["", *map(str, outcome.found)]))
            return failed
        wanted = level.names if options.known == ["all"] else set(options.known)
        first, _, last = options.seeds.partition("-")
        return explore(
            level,
            pair,
            range(int(first), int(last or first) + 1),
            options.save,
            options.seconds,
            options.operations,
            wanted,
            careful=options.careful,
        )
    finally:
        pair.close()
