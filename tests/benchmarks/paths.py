"""`python -m tests.benchmarks.paths`: through how many files a CreateTopics of two partitions and a heartbeat pass.

A quorum of one serves each on a disk in memory, from the decoded request to the answer. Counted are the files of `raft`
and `controller` in which a function runs (`records` is left out), and the calls from one of them into another. `--list`
prints these calls.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from records.messages.brokers import BrokerHeartbeatRequest
from records.schema import default_of, replace
from tests.benchmarks.client import create_topics
from tests.controller.node.test_stop_snapshot import Seat
from tests.controller.rig import registration
from tests.raft.storage.disk import Disk

if TYPE_CHECKING:
    from types import FrameType

ROOT = Path(__file__).resolve().parents[2]
COUNTED = tuple(f"{ROOT / package}/" for package in ("raft", "controller"))


class Recorder:
    """Notes calls into other files, as a profile function of the interpreter. calls: (file, file:function)."""

    def __init__(self) -> None:
        self.files: set[str] = set()
        self.calls: list[tuple[str, str]] = []
        self._stack: list[str] = []

    def __call__(self, frame: FrameType, event: str, _value: Any) -> None:
        file = frame.f_code.co_filename
        if event not in {"call", "return"} or not file.startswith(COUNTED):
            return
        name = file.removeprefix(f"{ROOT}/")
        if event == "call":
            self.files.add(name)
            if self._stack and self._stack[-1] != name:
                self.calls.append((self._stack[-1], f"{name}:{frame.f_code.co_qualname}"))
            self._stack.append(name)
        elif self._stack:
            self._stack.pop()


async def record(seat: Seat, request: Any) -> Recorder:
    recorder = Recorder()
    sys.setprofile(recorder)
    try:
        await seat.ask(request)
    finally:
        sys.setprofile(None)
    return recorder


async def measure(root: Path) -> dict[str, Recorder]:
    """The path of each request, the second time that it is asked: the first fills caches."""
    seat = Seat(root, Disk())
    await seat.until(lambda: seat.node.controller.is_active)
    broker = await seat.ask(registration(1))
    beat = replace(
        default_of(BrokerHeartbeatRequest),
        broker_id=1,
        broker_epoch=broker.broker_epoch,
        current_metadata_offset=1 << 40,
    )
    for name in ("first", "second"):
        await seat.ask(beat)
        topics = await record(seat, create_topics([name], 2))
    heartbeat = await record(seat, beat)
    seat.node.end_now()
    return {"CreateTopics, two partitions": topics, "heartbeat without a change": heartbeat}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.paths", description=__doc__)
    parser.add_argument("--list", action="store_true", help="print each call from one file to another")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        paths = asyncio.run(measure(Path(directory)))
    for name, path in paths.items():
        print(f"{name}: {len(path.files)} files, {len(path.calls)} changes of file")
        if options.list:
            print(*(f"  {caller} -> {callee}" for caller, callee in path.calls), sep="\n")


if __name__ == "__main__":
    main()
