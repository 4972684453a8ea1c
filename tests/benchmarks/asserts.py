"""`python -m tests.benchmarks.asserts`: what the asserts of the product cost.

It prints the CPU time of a CreateTopics of two partitions, from the decoded request to the answer on a disk in memory,
and the share of it that the asserts take. They take less than what two runs differ by, so it is calculated from
processes in which each assert is made many times: the least mean of 20 requests, of several processes of each kind in
turn.
"""

from __future__ import annotations

import ast
import asyncio
import gc
import subprocess
import sys
import tempfile
import time
from importlib.machinery import PathFinder, SourceFileLoader
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import CodeType, ModuleType

PRODUCT = ("records", "raft", "controller")
ROUNDS = 60
REQUESTS = 20
PROCESSES = 7
TIMES = 41


class Repeated(ast.NodeTransformer):
    """Makes each assert TIMES times."""

    def visit_Assert(self, node: ast.Assert) -> list[ast.stmt]:
        return [node] * TIMES


class RepeatedLoader(SourceFileLoader):
    """Neither reads nor writes a cache."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        tree = Repeated().visit(ast.parse(self.get_data(path)))
        return compile(tree, path, "exec", dont_inherit=True)


class RepeatedFinder:
    """Finds the modules of the product."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None, _target: ModuleType | None = None) -> ModuleSpec | None:
        if name.partition(".")[0] not in PRODUCT:
            return None
        spec: Any = PathFinder.find_spec(name, path)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = RepeatedLoader(name, spec.origin)
        return spec


async def measure(root: Path) -> float:
    """The least mean CPU time of a request, in microseconds."""
    # Only now, since the asserts are repeated where a module is imported.
    from records.messages.brokers import BrokerHeartbeatRequest
    from records.schema import default_of, replace
    from tests.benchmarks.client import create_topics
    from tests.controller.node.test_stop_snapshot import Seat
    from tests.controller.rig import registration
    from tests.raft.storage.disk import Disk

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
    if sys.argv[1:2] == ["--once"]:
        if sys.argv[2] != "1":
            sys.meta_path.insert(0, RepeatedFinder)  # type: ignore[arg-type]
        with tempfile.TemporaryDirectory() as directory:
            print(asyncio.run(measure(Path(directory))))
        return
    least = dict.fromkeys((1, TIMES), float("inf"))
    for _ in range(PROCESSES):
        for times, before in list(least.items()):
            command = [sys.executable, "-m", "tests.benchmarks.asserts", "--once", str(times)]
            least[times] = min(before, float(subprocess.run(command, capture_output=True, check=True).stdout))
    cost = (least[TIMES] - least[1]) / (TIMES - 1)
    print(f"CreateTopics: {least[1]:.1f} us, with each assert {TIMES} times {least[TIMES]:.1f} us")
    print(f"the asserts take {cost:.2f} us, {cost / least[1]:.1%}")


if __name__ == "__main__":
    main()
