"""`mutants --hunt, --report, --oracles, --faults`: how soon each mutant is caught, by which property and faults."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from simulations.commands import gate
from simulations.commands.arguments import positive
from simulations.running.progress import Progress
from simulations.running.tasks import Task

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Mapping, Sequence

    from simulations.commands.crew import Crew
    from simulations.mutants.kills import Kill
    from simulations.mutants.row import Mutant
    from simulations.running.witnesses import Witness


def add(parser: argparse.ArgumentParser) -> None:
    """What it takes."""
    from simulations.mutants.kills import RANGES

    ways = parser.add_mutually_exclusive_group()
    ways.add_argument("--hunt", action="store_true", help="try each in ranges of seeds, and store the first kills")
    ways.add_argument("--report", action="store_true", help="print how soon each is caught, from the stored kills")
    ways.add_argument(
        "--gate", action="store_true", help="check that each is still caught by what is known to catch it"
    )
    ways.add_argument(
        "--oracles", action="store_true", help="print which property catches which mutants, from the stored kills"
    )
    ways.add_argument("--faults", action="store_true", help="print which kinds of faults the kills need")
    parser.add_argument(
        "--beside-corpus", action="store_true",
        help="with --gate, leave out the mutants with a plan in the corpus: `corpus --verify` has checked them",
    )  # fmt: skip
    parser.add_argument("--only", default="", metavar="ID", help="check this property alone, and store what it catches")
    parser.add_argument("--unkept", action="store_true", help="only those without a stored kill")
    parser.add_argument(
        "--ranges", type=positive, default=RANGES, metavar="N", help=f"how many ranges of seeds ({RANGES})"
    )
    parser.add_argument("--further", action="store_true", help="continue where the stored hunts ended")
    parser.add_argument(
        "--seeds-max", type=positive, default=200, metavar="N", help="how many seeds of a range at most (200)"
    )


def execute(args: argparse.Namespace, chosen: Sequence[Mutant], crew: Crew) -> int | None:
    """Returns the exit code; None where the arguments ask for none of this."""
    from simulations.corpus import entries
    from simulations.mutants import kills

    if args.beside_corpus and not args.gate:
        raise ValueError("--beside-corpus needs --gate")
    kept = kills.read()
    if args.only:
        return _alone(chosen, crew, args.only, args.seeds or range(1, args.seeds_max + 1))
    if args.unkept:
        chosen = [mutant for mutant in chosen if not any(kill.seed for kill in kept.get(mutant.id, ()))]
    if args.hunt:
        return _hunt(chosen, crew, args.ranges, args.seeds_max, kept if args.further else {})
    if args.gate:
        verified = {entry.mutant_id for entry in entries()} if args.beside_corpus else ()
        return gate.execute(chosen, crew, verified)
    if args.report:
        return _report(chosen, kept)
    if args.oracles:
        return _oracles(chosen, kept)
    if args.faults:
        return _faults(chosen, kept, crew)
    return None


def _hunt(
    chosen: Sequence[Mutant], crew: Crew, ranges: int, seeds_max: int, before: Mapping[str, Sequence[Kill]]
) -> int:
    """Each mutant through so many ranges, behind what was tried before; what is found is kept at once, so a hunt may be
    broken off.
    """
    from simulations.mutants import kills

    tasks = []
    for mutant in chosen:
        seeds = kills.remaining_seeds(before.get(mutant.id, ()), ranges, min(seeds_max, mutant.seeds))
        if seeds:
            tasks.append(Task(seeds, mutant.level, mutant.id, until_broken=True, needs=True, apart=kills.APART))
    progress = Progress(len(tasks), "mutants")
    for row in crew(tasks):
        progress.add(1)
        progress.clear()
        name = row.task.mutant_id
        if row.error:
            sys.stdout.write(f"{name} cannot be tried: {row.error.strip().splitlines()[-1]}\n")
            continue
        kept = kills.read()
        kept[name] = kills.of_ranges(row.outcomes, ranges, before.get(name, ()))
        kills.write(kept)
        sys.stdout.write(_line(name, kept[name], f"{row.cpu_s:.1f} s"))
        sys.stdout.flush()
    progress.clear()
    return 0


def _alone(chosen: Sequence[Mutant], crew: Crew, property_id: str, seeds: Iterable[int]) -> int:
    """Try each mutant with all properties but one silent; returns 0 where it catches a mutant."""
    from simulations.mutants import kills
    from simulations.properties.ids import PROPERTIES

    if property_id not in PROPERTIES:
        raise ValueError(f"no property {property_id!r}; known are {', '.join(PROPERTIES)}")
    caught = 0
    tasks = [Task(tuple(seeds), each.level, each.id, until_broken=True, only=property_id) for each in chosen]
    for row in crew(tasks):
        name = row.task.mutant_id
        if row.error or not row.outcomes or row.outcomes[-1].is_well:
            why = row.error.strip().splitlines()[-1] if row.error else f"not caught in {len(row.outcomes)} seeds"
            sys.stdout.write(f"{name:5} {why}, {row.cpu_s:.1f} s\n")
            continue
        caught += 1
        last = row.outcomes[-1]
        kept = kills.read_alone()
        kept.setdefault(property_id, {})[name] = last.seed
        kills.write_alone(kept)
        sys.stdout.write(f"{name:5} seed {last.seed}, {row.cpu_s:.1f} s: {last.text}\n")
        sys.stdout.flush()
    return 0 if caught else 1


def _report(chosen: Sequence[Mutant], kept: Mapping[str, list[Kill]]) -> int:
    from simulations.mutants.kills import score

    own_kills = {mutant.id: kept[mutant.id] for mutant in chosen if mutant.id in kept}
    kills = with_corpus(chosen, kept)
    living = [name for name, each in kills.items() if not any(kill.seed for kill in each)]
    unhunted = [mutant.id for mutant in chosen if mutant.id not in kept]
    for mutant in chosen:
        if mutant.id in own_kills:
            others = {kill.property_id for kill in own_kills[mutant.id] if kill.seed} - set(mutant.expected)
            note = f", expected of {'/'.join(mutant.expected)}" if others and mutant.expected else ""
            sys.stdout.write(_line(mutant.id, own_kills[mutant.id], f"{mutant.name}{note}"))
    totals = score(own_kills)
    sys.stdout.write(
        f"{totals.mutants} mutants tried, {totals.mutants - len(totals.missed)} caught; seeds until the kill: median"
        f" {totals.seeds_median:g}, 95 of 100 within {totals.seeds_p95:g}, worst {totals.seeds_worst};"
        f" {totals.endless} of {totals.ranges} ranges without a kill, which count as infinite\n"
    )
    sys.stdout.write(f"{len(kills) - len(living)} of {len(kills)} are caught by a seed or by a plan of the corpus\n")
    for what, names in (
        ("not caught", totals.missed),
        ("not caught in every range", totals.partly),
        ("not tried", unhunted),
    ):
        sys.stdout.write(f"{what}: {', '.join(names) or 'none'}\n")
    return 1 if totals.missed or unhunted else 0


def _line(name: str, kills: Sequence[Kill], note: str = "") -> str:
    seeds = " ".join(f"{kill.tried}" if kill.seed else f"-{kill.tried}" for kill in kills)
    by = "/".join(dict.fromkeys(kill.property_id for kill in kills if kill.seed))
    return f"{name:5} {seeds:20} {by or 'MISSED':14} {note}\n"


def with_corpus(chosen: Sequence[Mutant], kept: Mapping[str, list[Kill]]) -> dict[str, list[Kill]]:
    """The stored kills and those by plans of the corpus, which need every fault that shrinking has left in them."""
    from simulations.corpus import entries
    from simulations.mutants.kills import Kill

    kills = {mutant.id: list(kept.get(mutant.id, ())) for mutant in chosen}
    for entry in entries():
        if entry.mutant_id in kills:
            plan = json.loads(entry.plan)
            kinds = dict.fromkeys(fault["kind"] for fault in plan.get("faults", ()))
            kills[entry.mutant_id].append(Kill(plan["seed"], 1, entry.property_id, needs=tuple(kinds)))
    return kills


def _oracles(chosen: Sequence[Mutant], kept: Mapping[str, list[Kill]]) -> int:
    from simulations.mutants.kills import by_property, read_alone
    from simulations.properties.ids import PROPERTIES

    mutants_by_property = by_property(with_corpus(chosen, kept), PROPERTIES)
    by_itself = read_alone()
    for name, mutants in mutants_by_property.items():
        others = f"alone: {' '.join(by_itself[name])}" if by_itself.get(name) else ""
        caught = " ".join((*mutants, others)).strip()
        sys.stdout.write(f"{name:6} {len(mutants):3} {caught or 'NONE'}\n")
    idle = [name for name, mutants in mutants_by_property.items() if not mutants and not by_itself.get(name)]
    never_first = [name for name, mutants in mutants_by_property.items() if not mutants and by_itself.get(name)]
    sys.stdout.write(f"{len(mutants_by_property)} properties; only alone: {', '.join(never_first) or 'none'}\n")
    sys.stdout.write(f"{len(idle)} catch nothing: {', '.join(idle) or 'none'}\n")
    return 1 if idle else 0


def _faults(chosen: Sequence[Mutant], kept: Mapping[str, list[Kill]], crew: Crew) -> int:
    """By the stored kills; for kinds that none of these needs, by their witnesses, which are run again."""
    from simulations.mutants.kills import by_fault
    from simulations.running import witnesses

    kinds = tuple(witnesses.kinds())
    mutants_by_kind = by_fault(with_corpus(chosen, kept), kinds)
    for row in crew([_witness_task(each) for each in witnesses.WITNESSES]):
        if not row.error and row.outcomes[-1].needs == list(row.task.names):
            mutants_by_kind[row.task.names[0]].append(row.task.mutant_id)
    for name, mutants in mutants_by_kind.items():
        sys.stdout.write(f"{name:14} {len(mutants):3} {' '.join(mutants) or 'NONE'}\n")
    idle = [name for name, mutants in mutants_by_kind.items() if not mutants]
    sys.stdout.write(
        f"{len(mutants_by_kind)} kinds of faults, no mutant needs {len(idle)}: {', '.join(idle) or 'none'}\n"
    )
    return 1 if idle else 0


def _witness_task(witness: Witness) -> Task:
    from simulations.levels.table import load
    from simulations.mutants.table import MUTANTS
    from simulations.running.witnesses import plan_of

    level = MUTANTS[witness.mutant_id].level
    text = load(level).show(plan_of(witness.kind, witness.seed))
    return Task((), level, witness.mutant_id, plans=(text,), names=(witness.kind,), needs=True)
