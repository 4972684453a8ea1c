"""The search of a scope that is too large for one process, in parts, each on a machine of the fleet.

A part is the same scope with only one node that may crash, and only one node whose messages may be lost, if the scope
allows one crash and one loss. Each state of the whole is in one of its parts; states in several parts are counted once,
by the fingerprints of all states, which each part leaves in the table.
"""

from __future__ import annotations

import json
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from simulations.fleet.spark import run
from simulations.spec.machines import NODES
from simulations.spec.search import Found, search

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    import pyarrow as pa

    from simulations.spec.model import Scope

ANY = 0
ROWS = 1 << 16
"""Of one batch of fingerprints."""


class Whole(NamedTuple):
    """The result of all parts together. parts: the result of each; states: distinct ones, over all of them."""

    parts: list[Found]
    states: int

    @property
    def is_whole(self) -> bool:
        return all(part.is_whole for part in self.parts)


def parts_of(scope: Scope) -> list[Scope]:
    """Scopes that reach the same states together. If two crashes or losses are allowed, they may be of two nodes, so
    the scope is not divided by them.
    """
    crashes = NODES if scope.crashes == 1 and not scope.crash_of else (scope.crash_of,)
    losses = NODES if scope.losses == 1 and not scope.lose_of else (scope.lose_of,)
    return [scope._replace(crash_of=crash, lose_of=lose) for crash, lose in product(crashes, losses)]


def search_parts(scope: Scope, states_max: int, *, master: str, out: Path) -> Whole:
    """Search all parts of a scope on a fleet. states_max: of each part. out: the directory of the table, which is new.

    Raises ValueError without Spark.
    """
    parts = parts_of(scope)
    run(master, len(parts), len(parts), searcher(parts, states_max), schema(), out)
    return whole_of(out)


@cache
def schema() -> Any:
    """Of the table: a row for each state of a part; and one of the part itself, whose `found` is the result."""
    import pyarrow as pa

    return pa.schema([("part", pa.int32()), ("fingerprint", pa.int64()), ("found", pa.string())])


def searcher(parts: list[Scope], states_max: int) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """The function that a machine calls with the numbers of its parts."""

    def work(numbers: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in numbers:
            for number in batch.column(0).to_pylist():
                seen: set[int] = set()
                result = search(parts[number], states_max, seen=seen)
                yield from batches_of(number, result, seen)

    return work


def batches_of(number: int, result: Found, seen: set[int]) -> Iterator[pa.RecordBatch]:
    """The rows of one part."""
    import pyarrow as pa

    yield pa.record_batch([[number], [None], [json.dumps(result._asdict())]], schema=schema())
    while seen:
        some = [seen.pop() for _ in range(min(ROWS, len(seen)))]
        yield pa.record_batch([[number] * len(some), some, [None] * len(some)], schema=schema())


def whole_of(directory: Path) -> Whole:
    """The result in a table."""
    import pyarrow.dataset

    table = pyarrow.dataset.dataset(str(directory), schema=schema())
    broken = table.to_table(["part", "found"], filter=pyarrow.dataset.field("found").is_valid()).sort_by("part")
    parts = []
    for text in broken.column("found").to_pylist():
        fields = json.loads(text)
        parts.append(Found(**{**fields, "path": tuple(fields["path"])}))
    return Whole(parts, states_in([directory]))


def states_in(directories: Sequence[Path]) -> int:
    """The number of distinct states in some tables together."""
    import pyarrow as pa
    import pyarrow.compute
    import pyarrow.dataset

    tables = [pyarrow.dataset.dataset(str(each), schema=schema()).to_table(["fingerprint"]) for each in directories]
    count: int = pyarrow.compute.count_distinct(pa.concat_tables(tables).column(0), mode="only_valid").as_py()
    return count
