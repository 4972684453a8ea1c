"""`python -m tests.benchmarks.convoy`: what a thread that computes, or a second loop, costs an event loop.

It prints the median and the 99th percentile of a round trip over loopback, on uvloop, without such a thread and beside
one, for switch intervals of the interpreter; and the CPU time of the loop's thread for each. Then the same of the steps
of a commit, if raft has a thread and a loop of its own, and if both cores share one: the controller takes the request,
raft appends, the controller sees the commit, the network sends the answer.
"""

from __future__ import annotations

import asyncio
import socket
import sys
import threading
import time
from typing import TYPE_CHECKING

import uvloop

from tests.benchmarks.quorum import quantile

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

TRIPS = 1000


async def measure() -> tuple[list[float], float]:
    """The times of round trips between two connections of one loop, ms, and the CPU time of each."""
    loop = asyncio.get_running_loop()
    one, other = socket.socketpair()
    one.setblocking(False)
    other.setblocking(False)
    taken = []
    begin_s = time.thread_time()
    for _ in range(TRIPS):
        begin = time.perf_counter()
        await loop.sock_sendall(one, b"x")
        await loop.sock_recv(other, 1)
        await loop.sock_sendall(other, b"x")
        await loop.sock_recv(one, 1)
        taken.append((time.perf_counter() - begin) * 1000)
    one.close()
    other.close()
    return taken, (time.thread_time() - begin_s) / TRIPS * 1000


def compute(until: threading.Event) -> None:
    while not until.is_set():
        sum(range(1000))


# Where the steps of a commit run: 0 for the loop of the controller, 1 for that of raft. With one loop: the request,
# which is appended at once; its flush; a Fetch that commits it, after which the answer leaves at once. With two, what
# one core passes to the other is a step, too.
ONE_LOOP, OWN_LOOP = (0, 0, 0), (0, 1, 1, 1, 0)


def pass_on(loops: Sequence[asyncio.AbstractEventLoop], done: asyncio.Event) -> None:
    """Run the first step of those that are left; each is woken by input from outside of its loop."""
    if len(loops) == 1:
        done.set()
    else:
        loops[1].call_soon_threadsafe(pass_on, loops[1:], done)


async def commits(
    steps: Sequence[int], other: asyncio.AbstractEventLoop, work: Callable[[], None]
) -> tuple[list[float], float]:
    """The times of commits with these steps, ms, and the CPU time of each. work: what this loop does beside them, again
    and again.
    """
    loop = asyncio.get_running_loop()
    loops = [(loop, other)[step] for step in steps]
    taken = []
    begin_s = time.process_time()
    busy_s = 0.0
    for _ in range(TRIPS):
        done = asyncio.Event()
        begin = time.perf_counter()
        loop.call_soon_threadsafe(pass_on, loops, done)
        while not done.is_set():
            work_s = time.thread_time()
            work()
            busy_s += time.thread_time() - work_s
            await asyncio.sleep(0) if work is not nothing else await done.wait()
        taken.append((time.perf_counter() - begin) * 1000)
    return taken, (time.process_time() - begin_s - busy_s) / TRIPS * 1000


def nothing() -> None:
    """No work."""


def one_slice() -> None:
    """4 ms of a long request."""
    end = time.perf_counter() + 0.004
    while time.perf_counter() < end:
        sum(range(100))


def compare_loops() -> None:
    print("\n| | commit p50 ms | p99 ms | CPU ms |\n|---|---|---|---|")
    sys.setswitchinterval(0.0005)
    for beside, work in (("", nothing), (", beside a long request in slices of 4 ms", one_slice)):
        for name, steps in (("one loop", ONE_LOOP), ("raft on a loop of its own", OWN_LOOP)):
            other = uvloop.new_event_loop()
            threading.Thread(target=other.run_forever, daemon=True).start()
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                taken, cpu_ms = runner.run(commits(steps, other, work))
            other.call_soon_threadsafe(other.stop)
            print(
                f"| {name}{beside} | {quantile(taken, 50):.3f} | {quantile(taken, 99):.2f} | {cpu_ms:.3f} |", flush=True
            )


def main() -> None:
    print("| | round trip p50 ms | p99 ms | CPU ms |\n|---|---|---|---|")
    for interval_ms in (0.0, 5.0, 0.5, 0.1):
        done = threading.Event()
        thread = threading.Thread(target=compute, args=(done,), daemon=True)
        name = "alone"
        if interval_ms:
            sys.setswitchinterval(interval_ms / 1000)
            name = f"beside a thread, switch interval {interval_ms:g} ms"
            thread.start()
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            taken, cpu_ms = runner.run(measure())
        done.set()
        print(f"| {name} | {quantile(taken, 50):.3f} | {quantile(taken, 99):.2f} | {cpu_ms:.3f} |", flush=True)
    compare_loops()


if __name__ == "__main__":
    main()
