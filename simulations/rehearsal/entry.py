"""The entry of `kraftctl rehearse`: from what the verb was given to the report that it prints."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from simulations.outcomes.story import story
from simulations.rehearsal.layout import (
    NUMBERS,
    BadLayout,
    Layout,
    check_voters,
    in_one_site,
    number_of,
    parse_layout,
    parse_voters,
    properties_of,
    warnings_of,
)
from simulations.rehearsal.metadata import BadMetadata, read_metadata
from simulations.rehearsal.play import CannotSettle
from simulations.rehearsal.play import play as play_one
from simulations.rehearsal.report import Report, as_json, text_of
from simulations.rehearsal.runs import RunFailed, all_runs
from simulations.rehearsal.scenarios import scenarios
from simulations.rehearsal.summary import results
from simulations.world.messages import KINDS
from simulations.world.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from simulations.rehearsal.metadata import Metadata
    from simulations.rehearsal.scenarios import Scenario

PROG = "kraftctl rehearse"
# Where no number of seeds is given: so many, but no more than about so many runs.
SEEDS = 12
RUNS = 240


def layout_of(
    voters: str | None,
    layout_text: str | None,
    layout_name: str,
    known_voters: Collection[int],
    kraft_version: int | None,
    properties: dict[str, str],
    numbers: dict[str, str],
) -> Layout:
    """The layout that was given. Raises BadLayout.

    known_voters: those of a controller.properties or of a live quorum, empty for none; kraft_version: likewise.
    numbers: by option. An option counts before the layout file, and that before the rest.
    """
    fields: dict[str, Any] = {} if layout_text is None else parse_layout(layout_text, layout_name)
    if voters is not None:
        fields["sites"] = parse_voters(voters)
    if "sites" not in fields:
        fields["sites"] = in_one_site(known_voters)
    elif known_voters and set(fields["sites"]) != set(known_voters):
        given, there = (", ".join(map(str, sorted(each))) for each in (fields["sites"], known_voters))
        raise BadLayout(f"the layout has the voters {given}, but the quorum has {there}")
    fields["sites"] = check_voters(fields["sites"])
    if kraft_version is not None:
        fields.setdefault("kraft_version", kraft_version)
    fields["properties"] = {**properties_of(properties, "the configuration"), **fields.get("properties", {})}
    for key, text in numbers.items():
        fields[key] = number_of(text, key, f"--{key.replace('_', '-')}")
    sites = set(fields["sites"].values())
    links = fields.get("links", {})
    unknown = sorted({site for pair in links for site in pair} - sites)
    if unknown:
        raise BadLayout(f"a link names the site {unknown[0]!r}; the sites are: {', '.join(sorted(sites))}")
    return Layout(**fields)


def choose(layout: Layout, names: list[str]) -> list[Scenario]:
    """The scenarios with these names; all if none is named. Raises BadLayout."""
    known = scenarios(layout)
    by_name = {each.name: each for each in known}
    if len(by_name) < len(known):
        raise BadLayout("two scenarios would have the same name; give sites other names, without 'to'")
    for name in names:
        if name not in by_name:
            raise BadLayout(f"--scenario {name}: there is none of this name; known are {', '.join(by_name)}")
    return [each for each in known if not names or each.name in names]


def usual_seeds(layout: Layout, names: list[str]) -> int:
    """How many seeds to play if no number is given: fewer of many scenarios, but each voter leads once."""
    return max(len(layout.voters), min(SEEDS, RUNS // len(choose(layout, names))))


def rehearse(
    layout: Layout,
    metadata_path: str | None,
    names: list[str],
    seeds: range,
    jobs: int,
    *,
    again: str,
    json_form: bool,
    html: str | None,
    trace: str | None,
    note: Callable[[int, int], None],
) -> int:
    """Play and report. Exit code 0: done; 1: it could not be played; 2: a run shows what a sound quorum never does.

    note: called with the number of runs that are done, and of all. Raises BadLayout, BadMetadata, OSError.
    """
    wanted = choose(layout, names)
    if trace is not None and (len(wanted) != 1 or len(seeds) != 1):
        raise BadLayout("--trace is of one run: give one --scenario and one --seed")
    if trace == "-" and json_form:
        raise BadLayout("--trace - and --json both print to stdout; give --trace a file")
    for target in (html, trace):
        folder = None if target in {None, "-"} else os.path.dirname(os.path.abspath(str(target)))  # noqa: PTH100, PTH120
        if folder is not None and not os.access(folder, os.W_OK):
            raise BadLayout(f"{target} cannot be written: {folder} is no directory that this user may write to")
    metadata = None if metadata_path is None else read_metadata(metadata_path)
    warnings = warnings_of(layout)
    for text in warnings:
        print(f"{PROG}: warning: {text}", file=sys.stderr)
    try:
        if trace is not None:
            write_trace(layout, metadata, wanted[0], seeds[0], trace)
        total = len(wanted) * len(seeds)
        played = all_runs(layout, metadata, wanted, seeds, jobs, lambda done: note(done, total))
    except CannotSettle as error:
        print(f"{PROG}: {error}", file=sys.stderr)
        return 1
    except RunFailed as error:
        print(f"{PROG}: a run failed: {error}", file=sys.stderr)
        return 1
    report = Report(layout, metadata, seeds, results(layout, wanted, played), played, warnings)
    if html is not None:
        from simulations.rehearsal.page import page

        with open(html, "w", encoding="utf-8") as file:  # noqa: PTH123
            file.write(page(report, again))
    if json_form:
        print(as_json(report))
    else:
        print(text_of(report))
    return 2 if report.is_finding else 0


def write_trace(layout: Layout, metadata: Metadata | None, scenario: Scenario, seed: int, target: str) -> None:
    """All events of one run, a line each; `-` for stdout. The same arguments give the same lines."""
    fields = {kind.name: kind.fields for kind in KINDS.values()}
    kept = _Kept()
    play_one(layout, metadata, scenario, seed, kept)
    kept.finish()
    lines = story(kept.entries_kept, fields)
    if target == "-":
        for line in lines:
            print(line)
        return
    with open(target, "w", encoding="utf-8") as file:  # noqa: PTH123
        file.writelines(f"{line}\n" for line in lines)


class _Kept(Trace):
    """A trace that keeps every entry."""

    def __init__(self) -> None:
        super().__init__()
        self.entries_kept: list[Any] = []

    def add(self, entry: Any) -> None:
        self.entries_kept.append(entry)
        super().add(entry)


__all__ = ["NUMBERS", "BadLayout", "BadMetadata", "layout_of", "rehearse", "usual_seeds"]
