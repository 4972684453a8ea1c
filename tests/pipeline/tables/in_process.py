"""A session that runs the tasks of a job one after the other in this process: what the jobs need of Spark."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Shared(NamedTuple):
    """A broadcast value."""

    value: Any

    def unpersist(self) -> None:
        """There is nothing to release."""


class Items:
    """The items of a job, and what was made of them."""

    def __init__(self, items: Sequence[Any]) -> None:
        self.items = items

    def map(self, work: Callable[[Any], Any]) -> Items:
        """As on Spark, an item and its result are pickled."""
        return Items([_copied(work(_copied(item))) for item in self.items])

    def collect(self) -> Sequence[Any]:
        return self.items


class Context:
    """A SparkContext of one core."""

    defaultParallelism = 1  # noqa: N815 - Spark's name

    def parallelize(self, items: Sequence[Any], tasks: int) -> Items:
        assert tasks >= 1
        return Items(items)

    def broadcast(self, value: Any) -> Shared:
        return Shared(_copied(value))


class Session:
    """A SparkSession that has a context alone."""

    sparkContext = Context()  # noqa: N815 - Spark's name


def _copied(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))
