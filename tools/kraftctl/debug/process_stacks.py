"""The stacks of a running node's threads: asked for by SIGQUIT, read through `/proc` (`controller/server`)."""

from __future__ import annotations

import os
import re
import signal
import time

from controller.server.stack_dumps import BYTES, NAME

# pathlib costs 10 ms
# ruff: noqa: PTH115, PTH123, PTH208

WAIT_S = 3.0
QUIET_S = 0.2
_LOOK_S = 0.02


class NoStacks(Exception):
    """Why there is no dump; one line."""


def stacks_of(process: int) -> str:
    """The stacks now. Raises NoStacks for a process that has no handler: the signal would end it."""
    handle = dump_file(process)
    if not _catches(process, signal.SIGQUIT):
        raise NoStacks(f"process {process} does not catch SIGQUIT; it was not sent")
    before = _position(process, handle)
    os.kill(process, signal.SIGQUIT)
    began_s = changed_s = time.monotonic()
    now = before
    while True:
        time.sleep(_LOOK_S)
        reached = _position(process, handle)
        if reached != now:
            now, changed_s = reached, time.monotonic()
        elif now != before and time.monotonic() - changed_s > QUIET_S:
            break
        if time.monotonic() - began_s > WAIT_S:
            break
    if now == before:
        raise NoStacks(f"process {process} wrote no stacks within {WAIT_S:g} s: it is stopped, or its file is full")
    start = before if now > before else 0  # it began anew at the start of the file
    with open(f"/proc/{process}/fd/{handle}", "rb") as file:
        file.seek(start)
        return file.read(min(now - start, BYTES)).decode(errors="replace")


def dump_file(process: int) -> int:
    """The number of its file of stacks. Raises NoStacks."""
    folder = f"/proc/{process}/fd"
    try:
        numbers = os.listdir(folder)
    except OSError as error:
        raise NoStacks(f"{folder}: {error.strerror}; run this as the user of the node, or as root") from None
    for number in numbers:
        try:
            link = os.readlink(f"{folder}/{number}")
        except OSError:
            continue  # closed meanwhile
        if link.startswith(f"/memfd:{NAME}"):
            return int(number)
    raise NoStacks(f"process {process} has no file of stacks: it is no node of kraft-quorum, or an older one")


def _catches(process: int, number: int) -> bool:
    with open(f"/proc/{process}/status") as file:
        match = re.search(r"^SigCgt:\s*([0-9a-f]+)$", file.read(), re.MULTILINE)
    return match is not None and bool(int(match[1], 16) >> (number - 1) & 1)


def _position(process: int, handle: int) -> int:
    """Up to where a process has written to a file."""
    with open(f"/proc/{process}/fdinfo/{handle}") as file:
        match = re.search(r"^pos:\s*(\d+)$", file.read(), re.MULTILINE)
    return 0 if match is None else int(match[1])
