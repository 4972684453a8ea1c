"""`python -m tests.benchmarks.raft_steps`: what the steps of raft cost per commit in a quorum of three, as JSON, in µs.

The world of tests/raft drives three replicas in one process; a commit is one batch of 200 bytes. For each kind of input
the lower quartile of its steps counts, times how many there were: other work on the machine is in few of them.
"""

from __future__ import annotations

import json
from collections import defaultdict
from importlib import import_module
from time import perf_counter_ns
from typing import Any

# Its name `step` is replaced by one that takes the time.
worlds: Any = import_module("tests.raft.world")
COMMITS = 1000
WARM_UP = 100


def measure(commits: int) -> float:
    spent: dict[str, list[int]] = defaultdict(list)
    step = worlds.step

    def timed(replica: Any, event: Any, now_ms: int) -> Any:
        begin = perf_counter_ns()
        effects = step(replica, event, now_ms)
        message = getattr(event, "request", None) or getattr(event, "response", None)
        spent[f"{type(event).__name__} {type(message).__name__}"].append(perf_counter_ns() - begin)
        return effects

    world = worlds.World(3).boot()
    world.elect()
    for number in range(WARM_UP + commits):
        if number == WARM_UP:
            worlds.step = timed
        leader = world.leader
        assert leader is not None
        leader.propose(bytes(200))
        world.run(4)
    worlds.step = step
    total = sum(sorted(times)[len(times) // 4] * len(times) for times in spent.values())
    return total / commits / 1000


if __name__ == "__main__":
    print(json.dumps(measure(COMMITS)))
