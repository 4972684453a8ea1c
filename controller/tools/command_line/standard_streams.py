"""The standard streams of a tool: UTF-8 in any locale, in the order written, no traceback when a pipe is closed."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def running(run: Callable[[list[str]], int]) -> int:
    """Run a tool with the arguments of this process; returns the exit code, 130 after Ctrl-C."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # it was closed before the tool started
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115
        # Names of files may hold any byte, and are printed unchanged.
        getattr(sys, name).reconfigure(encoding="utf-8", errors="surrogateescape")
    try:
        code = run(sys.argv[1:])
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_output()  # the reader closed the pipe (`| head`)
        return 0
    except OSError as error:
        _drop_output()
        complain(f"The output cannot be written: {error.strerror}\n")
        return 1
    except KeyboardInterrupt:
        return 130
    return code


def _drop_output() -> None:
    """Discard buffered output, so that Python's exit does not fail to write it again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def complain(text: str) -> None:
    """Flush stdout, then write to stderr."""
    sys.stdout.flush()
    sys.stderr.write(text)
    sys.stderr.flush()
