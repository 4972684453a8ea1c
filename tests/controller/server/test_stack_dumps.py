"""The file of stacks: it begins anew when half of it is used, and the signal is as before at the end."""

from __future__ import annotations

import asyncio
import os
import signal
import sys

import pytest

from controller.server import stack_dumps
from controller.server.stack_dumps import BYTES, StackDumps

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="files in memory are of Linux")


def test_a_signal_adds_the_stacks_of_all_threads() -> None:
    loop = asyncio.new_event_loop()
    dumps = StackDumps(loop)
    try:
        os.kill(os.getpid(), signal.SIGQUIT)

        text = os.pread(dumps.handle, BYTES, 0).rstrip(b"\0").decode()
    finally:
        dumps.close()
        loop.close()
    assert "in test_a_signal_adds_the_stacks_of_all_threads" in text
    assert signal.getsignal(signal.SIGQUIT) == signal.SIG_DFL


def test_the_file_begins_anew_when_half_of_it_is_used_and_never_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stack_dumps, "INTERVAL_S", 0.01)
    loop = asyncio.new_event_loop()
    dumps = StackDumps(loop)
    try:
        os.lseek(dumps.handle, BYTES // 2 + 1, os.SEEK_SET)
        with pytest.raises(PermissionError):
            os.pwrite(dumps.handle, b"x", BYTES)

        loop.run_until_complete(asyncio.sleep(0.05))

        assert os.lseek(dumps.handle, 0, os.SEEK_CUR) == 0
    finally:
        dumps.close()
        loop.close()
