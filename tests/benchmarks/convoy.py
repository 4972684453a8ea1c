"""`python -m tests.benchmarks.convoy`: what a thread that computes costs an event loop beside it.

It prints the median and the 99th percentile of a round trip over loopback, on uvloop, without such a thread and beside
one, for switch intervals of the interpreter; and the CPU time of the loop's thread for each.
"""

from __future__ import annotations

import asyncio
import socket
import sys
import threading
import time

import uvloop

from tests.benchmarks.quorum import quantile

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


if __name__ == "__main__":
    main()
