"""`results`: writes simulations/RESULTS.md from the stored kills, the corpus, the verdicts and the measured figures."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from simulations.commands.figures import FIGURES

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from simulations.mutants.row import Mutant

SAYS = "write simulations/RESULTS.md from the stored results"
PATH = Path(__file__).parents[1] / "RESULTS.md"

HEAD = """\
# Results of simulation

`python -m simulations results` generates this file from `mutants/kills.json`, the corpus, `SURVIVORS.md` and
`commands/figures.py`; do not edit it. A test checks that it is up to date.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """What it takes."""
    parser.add_argument("--check", action="store_true", help="write nothing; fail where the file is out of date")


def execute(args: argparse.Namespace) -> int:
    """Returns 0; with --check 1 where the file is out of date."""
    if not args.check:
        PATH.write_text(text())
        return 0
    if PATH.read_text() == text():
        return 0
    sys.stdout.write(f"{PATH} is out of date: run `python -m simulations results`\n")
    return 1


def text() -> str:
    """The whole file."""
    parts = (("Mutants", _mutants()), ("Properties", _properties()), ("Faults", _faults()), ("Corpus", _corpus()))
    sections = [f"\n## {title}\n\n{''.join(lines)}" for title, lines in (*parts, ("Measured", _write_measured()))]
    return HEAD + "".join(sections)


def _mutants() -> Iterator[str]:
    from simulations.mutants.kills import read_survivors
    from simulations.mutants.table import MUTANTS, SURVIVORS, TAGS, has_tag

    yield "Seeds until the first kill, in five disjoint ranges of seeds (`mutants --hunt`, `mutants --report`).\n\n"
    yield _row("mutants", "number", "caught by a seed", "median", "95 of 100", "worst", "ranges without a kill")
    yield _row(*["---"] * 7)
    everything = list(MUTANTS.values())
    yield _score("all", everything)
    for level in sorted({mutant.level for mutant in everything}):
        yield _score(f"level {level}", [mutant for mutant in everything if mutant.level == level])
    for tag in TAGS:
        yield _score(f"tag {tag}", [mutant for mutant in everything if has_tag(mutant, tag)])
    yield f"\nNot caught on purpose (BOUNDARY.md): {', '.join(SURVIVORS)}.\n\n"
    verdicts = Counter(each.verdict for each in read_survivors().values())
    listed = ", ".join(f"{name} {count}" for name, count in sorted(verdicts.items()))
    yield f"Generated mutants with a verdict in SURVIVORS.md: {listed}.\n"


def _score(name: str, chosen: Sequence[Mutant]) -> str:
    from simulations.mutants import kills

    kept = kills.read()
    totals = kills.score({mutant.id: kept[mutant.id] for mutant in chosen if mutant.id in kept})
    caught = f"{totals.mutants - len(totals.missed)}" + (
        f", all but {' '.join(totals.missed)}" if totals.missed else ""
    )
    ranges = f"{totals.endless} of {totals.ranges}"
    return _row(
        name, len(chosen), caught, f"{totals.seeds_median:g}", f"{totals.seeds_p95:g}", totals.seeds_worst, ranges
    )


def _properties() -> Iterator[str]:
    from simulations.commands.kills import with_corpus
    from simulations.mutants import kills
    from simulations.mutants.table import MUTANTS
    from simulations.properties.ids import PROPERTIES

    yield "Which property catches which mutants first, by the stored kills and the corpus (`mutants --oracles`).\n\n"
    yield _row("property", "mutants", "which")
    yield _row("---", "---", "---")
    for name, caught in kills.by_property(with_corpus(list(MUTANTS.values()), kills.read()), PROPERTIES).items():
        yield _row(name, len(caught), " ".join(caught) or "none")


def _faults() -> Iterator[str]:
    from simulations.commands.kills import with_corpus
    from simulations.mutants import kills
    from simulations.mutants.table import MUTANTS
    from simulations.running import witnesses

    mutants_by_kind = kills.by_fault(with_corpus(list(MUTANTS.values()), kills.read()), tuple(witnesses.kinds()))
    by_witness: dict[str, list[str]] = {name: [] for name in mutants_by_kind}
    for each in witnesses.WITNESSES:
        by_witness[each.kind].append(each.mutant_id)
    yield "Which mutants a kind of fault helps to catch (`mutants --faults`). A witness is a world with faults of\n"
    yield "that kind alone that catches the mutant, and does not catch it without them.\n\n"
    yield _row("kind", "needed by a kill of", "witness for")
    yield _row("---", "---", "---")
    for name, needed in mutants_by_kind.items():
        yield _row(name, " ".join(needed) or "none", " ".join(by_witness[name]) or "none")


def _corpus() -> Iterator[str]:
    from simulations.corpus import entries
    from simulations.corpus.table import README, faults_of, read_seen

    corpus = list(entries())
    shrunk = [entry for entry in corpus if entry.original]
    seen = read_seen(README.read_text())
    levels = ", ".join(f"{name} {count}" for name, count in sorted(Counter(entry.level for entry in corpus).items()))
    yield f"{len(corpus)} entries ({levels}); of the {len(shrunk)} that were shrunk:\n\n"
    yield _row("", "median", "most")
    yield _row("---", "---", "---")
    for name, numbers in (
        ("faults before", [faults_of(entry.original) for entry in shrunk]),
        ("faults after", [faults_of(entry.plan) for entry in shrunk]),
        ("decisions of noise after", [seen[entry.name].decisions for entry in shrunk if entry.name in seen]),
        ("CPU seconds of shrinking", [round(entry.cpu_s) for entry in shrunk]),
        ("runs of shrinking", [entry.runs for entry in shrunk]),
    ):
        yield _row(name, f"{median(numbers):g}", max(numbers))


def _write_measured() -> Iterator[str]:
    yield "On 2 cores of a shared machine, Python 3.11, CPU time, all properties checked, real storage.\n\n"
    yield _row("goal", "what", "command", "target", "measured")
    yield _row(*["---"] * 5)
    for each in FIGURES:
        yield _row(each.goal, each.what, f"`{each.command}`", each.target, each.measured)


def _row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |\n"
