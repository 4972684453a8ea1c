"""The process that forks Spark's Python workers; unlike Spark's own it prints no stack trace for a closed connection.

A query with a limit or a count closes the connection while the worker still writes. Spark's daemon prints that as an
error of twenty lines on the user's terminal. `spark.python.daemon.module` names this module; workers on other machines
must be able to import it, like the source.
"""

from __future__ import annotations

import os
from typing import Any

from pyspark import daemon

_worker = daemon.worker
# What a worker still has in its buffer cannot be written then either. Spark's daemon prints that too, unless it shall
# end the worker.
os.environ.setdefault("PYTHON_DAEMON_KILL_WORKER_ON_FLUSH_FAILURE", "1")


def worker(sock: Any, authenticated: bool) -> int:
    """Spark's worker; returns 1, which ends the worker, if the connection was closed."""
    try:
        return int(_worker(sock, authenticated))
    except (BrokenPipeError, ConnectionResetError):
        return 1


daemon.worker = worker

if __name__ == "__main__":
    daemon.manager()
