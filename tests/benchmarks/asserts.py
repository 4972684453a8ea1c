"""`python -m tests.benchmarks.asserts`: what the asserts of the product cost.

It prints the CPU time of a CreateTopics of two partitions, from the decoded request to the answer on a disk in memory,
with asserts and without (`-O`): of several processes, one after the other in turn, the least mean of 20 requests.
"""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from records.messages.brokers import BrokerHeartbeatRequest
from records.schema import default_of, replace
from tests.benchmarks.client import create_topics
from tests.controller.node.test_stop_snapshot import Seat
from tests.controller.rig import registration
from tests.raft.storage.disk import Disk

ROUNDS = 60
REQUESTS = 20
PROCESSES = 7


async def measure(root: Path) -> float:
    """The least mean CPU time of a request, in microseconds."""
    seat = Seat(root, Disk())
    await seat.until(lambda: seat.node.controller.is_active)
    broker = await seat.ask(registration(1))
    empty = default_of(BrokerHeartbeatRequest)
    await seat.ask(replace(empty, broker_id=1, broker_epoch=broker.broker_epoch, current_metadata_offset=1 << 40))
    means = []
    for number in range(ROUNDS):
        requests = [create_topics([f"topic-{number}-{each}"], 2) for each in range(REQUESTS)]
        gc.disable()
        begin = time.thread_time()
        for request in requests:
            await seat.ask(request)
        means.append((time.thread_time() - begin) / REQUESTS * 1e6)
        gc.enable()
    seat.node.end_now()
    return min(means)


def main() -> None:
    if sys.argv[1:] == ["--once"]:
        with tempfile.TemporaryDirectory() as directory:
            print(asyncio.run(measure(Path(directory))))
        return
    least = dict.fromkeys(("", "-O"), float("inf"))
    for _ in range(PROCESSES):
        for option, before in list(least.items()):
            command = [sys.executable, *option.split(), "-m", "tests.benchmarks.asserts", "--once"]
            least[option] = min(before, float(subprocess.run(command, capture_output=True, check=True).stdout))
    share = least[""] / least["-O"] - 1
    print(f"CreateTopics: {least['']:.1f} us with asserts, {least['-O']:.1f} us without: {share:+.1%}")


if __name__ == "__main__":
    main()
