"""The process that forks Spark's Python workers, silent where Spark's own prints a stack and nothing is wrong.

A reader who has what it wants, as behind a limit or a count, hangs up while its worker still writes. Spark's daemon
prints that as an error, twenty lines each time, on the terminal of whoever asked. `spark.python.daemon.module` names
this one; workers of other machines must be able to import it, as they must the source.
"""

from __future__ import annotations

from typing import Any

from pyspark import daemon

_worker = daemon.worker


def worker(sock: Any, authenticated: bool) -> int:
    """As Spark's; 1, which ends the worker, where nobody reads any more."""
    try:
        return int(_worker(sock, authenticated))
    except BrokenPipeError:
        return 1


daemon.worker = worker

if __name__ == "__main__":
    daemon.manager()
