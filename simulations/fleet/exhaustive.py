"""A scope that is too large for one process: searched in parts, each by a machine of the fleet.

A part is the same scope in which only one node may crash, and only one node's messages may get lost, where the scope
allows one crash, one loss. What happens in the whole happens in one of its parts; what is in several is counted once,
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
    """What all parts together came to. parts: of each, what it found; states: distinct ones, over all of them."""

    parts: list[Found]
    states: int

    @property
    def is_whole(self) -> bool:
        return all(part.is_whole for part in self.parts)


def parts_of(scope: Scope) -> list[Scope]:
    """Scopes that come to the same states together. A second crash, or loss, may be another node's, so there are no
    parts by that.
    """
    crashes = NODES if scope.crashes == 1 and not scope.crash_of else (scope.crash_of,)
    losses = NODES if scope.losses == 1 and not scope.lose_of else (scope.lose_of,)
    return [scope._replace(crash_of=crash, lose_of=lose) for crash, lose in product(crashes, losses)]


def search_parts(scope: Scope, states_max: int, *, master: str, out: Path) -> Whole:
    """Search all parts of a scope by a fleet. states_max: of each part. out: where the table stays, a new directory.

    Raises ValueError where there is no Spark.
    """
    parts = parts_of(scope)
    run(master, len(parts), len(parts), searcher(parts, states_max), schema(), out)
    return whole_of(out)


@cache
def schema() -> Any:
    """Of the table: a row for each state of a part; and one of the part itself, where `found` is what it came to."""
    import pyarrow as pa

    return pa.schema([("part", pa.int32()), ("fingerprint", pa.int64()), ("found", pa.string())])


def searcher(parts: list[Scope], states_max: int) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """What a machine does with the numbers of its parts."""

    def work(numbers: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in numbers:
            for number in batch.column(0).to_pylist():
                seen: set[int] = set()
                found = search(parts[number], states_max, seen=seen)
                yield from batches_of(number, found, seen)

    return work


def batches_of(number: int, found: Found, seen: set[int]) -> Iterator[pa.RecordBatch]:
    """The rows of one part."""
    import pyarrow as pa

    yield pa.record_batch([[number], [None], [json.dumps(found._asdict())]], schema=schema())
    while seen:
        some = [seen.pop() for _ in range(min(ROWS, len(seen)))]
        yield pa.record_batch([[number] * len(some), some, [None] * len(some)], schema=schema())


def whole_of(directory: Path) -> Whole:
    """What a table says."""
    import pyarrow.dataset

    table = pyarrow.dataset.dataset(str(directory), schema=schema())
    told = table.to_table(["part", "found"], filter=pyarrow.dataset.field("found").is_valid()).sort_by("part")
    parts = []
    for text in told.column("found").to_pylist():
        fields = json.loads(text)
        parts.append(Found(**{**fields, "path": tuple(fields["path"])}))
    return Whole(parts, states_in([directory]))


def states_in(directories: Sequence[Path]) -> int:
    """How many distinct states some tables have together."""
    import pyarrow as pa
    import pyarrow.compute
    import pyarrow.dataset

    tables = [pyarrow.dataset.dataset(str(each), schema=schema()).to_table(["fingerprint"]) for each in directories]
    found: int = pyarrow.compute.count_distinct(pa.concat_tables(tables).column(0), mode="only_valid").as_py()
    return found
