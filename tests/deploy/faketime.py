"""Processes with a wall clock of their own, by libfaketime. The machine's clock is not changed."""

from __future__ import annotations

import os
import re
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

SHARED_MEMORY = Path("/dev/shm")
# libfaketime's names of a process's shared memory and semaphore.
NAME = re.compile(r"(?:sem\.)?faketime_(?:shm|sem)_([0-9]+)")


def library() -> str | None:
    """The path of libfaketime; None if it is not installed."""
    return next((str(path) for path in Path("/usr/lib").glob("*/faketime/libfaketime.so.1")), None)


@contextmanager
def clock_of_its_own(clock: Path) -> Iterator[None]:
    """Give each process that is started in this block the wall clock that `move` sets in this file.

    Skips the test if libfaketime is not installed.
    """
    path = library()
    if path is None:
        pytest.skip("libfaketime is not installed: apt-get install faketime")
    move(clock, 0)
    remove_leftovers()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LD_PRELOAD", path)
        patch.setenv("FAKETIME_TIMESTAMP_FILE", str(clock))
        patch.setenv("FAKETIME_CACHE_DURATION", "1")
        patch.setenv("FAKETIME_DONT_FAKE_MONOTONIC", "1")
        yield
    remove_leftovers()


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


def _exists(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
