"""Running a verb that reads metadata: what ends it, and with which exit code."""

from __future__ import annotations

import sys

from records.plain_text import plain_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

INTERRUPTED = 130


def running(verb: str, action: Callable[[], int], interrupted: int = INTERRUPTED) -> int:
    """The exit code of the action; 1 with one line on stderr if it cannot be done.

    interrupted: the exit code after Ctrl-C.
    """
    from records.java.config_error import ConfigError
    from tools.kraftctl.points.points import NoPoint
    from tools.offline.live_directory import NoMetadata
    from tools.offline.log_file import DamagedLog

    try:
        code = action()
        sys.stdout.flush()
    except KeyboardInterrupt:
        return interrupted
    except (ConfigError, DamagedLog, NoMetadata, NoPoint, OSError) as error:
        print(f"kraftctl {verb}: {plain_text(error)}", file=sys.stderr)
        return 1
    return code
