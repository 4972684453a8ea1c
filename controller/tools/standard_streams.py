"""The standard streams of a tool: UTF-8 whatever the locale, in the order written, no trace when a reader leaves."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def running(run: Callable[[list[str]], int]) -> int:
    """Run a tool with the arguments of this process; the exit code, 130 after Ctrl-C."""
    for stream in (sys.stdout, sys.stderr):
        # Names of files may hold any byte, and come out as they are.
        stream.reconfigure(encoding="utf-8", errors="surrogateescape")  # type: ignore[union-attr]
    try:
        code = run(sys.argv[1:])
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has seen enough (`| head`). What is still buffered must not fail at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130
    return code


def complain(text: str) -> None:
    """Write to stderr, behind what was written to stdout before."""
    sys.stdout.flush()
    sys.stderr.write(text)
    sys.stderr.flush()
