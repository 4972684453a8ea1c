"""Wall clocks of single processes, by libfaketime. The machine's clock is not changed."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

# Where shm_open and sem_open of this system put what they make.
SHARED_MEMORY = Path("/dev/shm")  # noqa: S108
# libfaketime's names of a process's shared memory and semaphore.
NAME = re.compile(r"(?:sem\.)?faketime_(?:shm|sem)_([0-9]+)")


def library() -> str | None:
    """The path of libfaketime; None if it is not installed."""
    return next((str(path) for path in Path("/usr/lib").glob("*/faketime/libfaketime.so.1")), None)


def environment(library_path: str, clock: Path) -> dict[str, str]:
    """What gives a process the wall clock that `move` sets in this file. Monotonic clocks stay as they are."""
    return {
        "LD_PRELOAD": library_path,
        "FAKETIME_TIMESTAMP_FILE": str(clock),
        "FAKETIME_CACHE_DURATION": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        # Its remedy for an old glibc lets each wait of a thread for the interpreter end at once: a node, which has 64
        # threads, then needs 20 s for its start in place of 2 s.
        "FAKETIME_FORCE_MONOTONIC_FIX": "0",
    }


def move(clock: Path, hours: int) -> None:
    """Set the clock this far ahead of the machine's."""
    # By a rename: a partly written file would be an invalid time.
    new = clock.with_suffix(".new")
    new.write_text(f"{hours * 3600:+d}\n")
    new.replace(clock)


def remove_leftovers(directory: Path = SHARED_MEMORY) -> None:
    """Remove what libfaketime left of processes that no longer exist.

    A killed process leaves its shared memory, whose name is its process id. A later process with the same id would
    end at once: "In ft_shm_create(), shm_open failed: File exists".
    """
    for path in directory.glob("*faketime_*"):
        name = NAME.fullmatch(path.name)
        if name and not _exists(int(name[1])):
            # Another run on this machine may have removed it, and another user's is not ours to remove.
            with suppress(FileNotFoundError, PermissionError):
                path.unlink()


class Clocks:
    """A wall clock for each node, in a file of its own below the directory. Raises OSError without libfaketime."""

    def __init__(self, directory: Path, nodes: Iterable[int]) -> None:
        path = library()
        if path is None:
            raise FileNotFoundError("libfaketime is not installed: apt-get install faketime")
        self._library = path
        self._files = {node: directory / f"node-{node}.clock" for node in nodes}
        for node in self._files:
            self.move(node, 0)

    def move(self, node: int, hours: int) -> None:
        """Set the node's clock this far ahead of the machine's; the node has the new time within a second."""
        move(self._files[node], hours)

    def environment(self, node: int) -> dict[str, str]:
        """For the node's next process. Call this before each start: it makes room for the process's id."""
        remove_leftovers()
        return environment(self._library, self._files[node])


def _exists(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
