"""The stacks of a process: of one whose loop hangs too; a process without the handler gets no signal."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from controller.server.stack_dumps import BYTES
from tools.kraftctl.debug import process_stacks
from tools.kraftctl.debug.process_stacks import NoStacks, dump_file, stacks_of

if TYPE_CHECKING:
    from collections.abc import Iterator

linux = pytest.mark.skipif(sys.platform != "linux", reason="files in memory, and /proc")

HANGS = """
import asyncio, os, sys
from controller.server.stack_dumps import StackDumps

def this_function_never_ends():
    print("hangs", flush=True)
    while True:
        pass

async def main():
    dumps = StackDumps(asyncio.get_running_loop())
    os.lseek(dumps.handle, int(sys.argv[1]), os.SEEK_SET)
    this_function_never_ends()

asyncio.run(main())
"""


@pytest.fixture
def hanging(request: pytest.FixtureRequest) -> Iterator[int]:
    """The id of a process that hangs. The parameter: up to where its file is used."""
    with subprocess.Popen(
        [sys.executable, "-c", HANGS, str(getattr(request, "param", 0))], stdout=subprocess.PIPE
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"hangs\n"
            yield process.pid
        finally:
            process.kill()


@linux
def test_the_stacks_of_a_node_whose_loop_hangs_are_read(hanging: int) -> None:
    first, second = stacks_of(hanging), stacks_of(hanging)

    assert "in this_function_never_ends" in first
    assert "in main" in first
    assert second.count("most recent call first") == first.count("most recent call first")


@linux
@pytest.mark.parametrize("hanging", [BYTES - 100], indirect=True)
def test_many_signals_do_not_make_the_file_grow_or_end_the_process(
    hanging: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_stacks, "WAIT_S", 1.0)
    with pytest.raises(NoStacks, match="its file is full"):  # noqa: PT012 - it is full after some signals
        for _ in range(200):
            stacks_of(hanging)

    assert Path(f"/proc/{hanging}/fd/{dump_file(hanging)}").stat().st_size == BYTES
    os.kill(hanging, 0)


@linux
def test_a_process_without_the_handler_gets_no_signal() -> None:
    with subprocess.Popen(["sleep", "30"]) as process:
        with pytest.raises(NoStacks, match="no node of kraft-quorum"):
            stacks_of(process.pid)
        assert process.poll() is None
        process.kill()
