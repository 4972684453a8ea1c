"""The process that forks Spark's Python workers; unlike Spark's own it prints no stack trace for a closed connection.

A query with a limit or a count closes the connection while the worker still writes. Spark's daemon prints that as an
error of twenty lines on the user's terminal. `spark.python.daemon.module` names this module; workers on other machines
must be able to import it, like the source.
"""

from __future__ import annotations

from typing import Any

from pyspark import daemon

_worker = daemon.worker


def worker(sock: Any, authenticated: bool) -> int:
    """Spark's worker; returns 1, which ends the worker, if the connection was closed."""
    try:
        return int(_worker(sock, authenticated))
    except BrokenPipeError:
        return 1


daemon.worker = worker

if __name__ == "__main__":
    daemon.manager()
