"""`python -m tests.benchmarks.audit`: what the audit log costs, off and on, of the controller's own CPU.

The first figure is of the audit log alone: the CPU of the loop's thread for each line. The second is of a quorum of
one: the CPU of its process for each CreateTopics, one client asking without pause; off and on take turns.
"""

from __future__ import annotations

import argparse
import contextlib
import statistics
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from controller.interface.inputs import Principal, RequestContext, Written
from controller.node.audit.audit_file import AuditFile
from controller.node.audit.audit_log import REFUSED, AuditLog
from raft.interface.inputs import Source
from records.messages.topics import CreateTopicsRequest, CreateTopicsResponse
from tests.benchmarks.client import Connection, Fleet, create_topics
from tests.benchmarks.processes import cpu_s
from tests.interop.cluster import OURS, Cluster

if TYPE_CHECKING:
    from tests.interop.stock import Stock

WARM = 300


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.audit", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="quorums of each kind (default 3)")
    parser.add_argument("--commits", type=int, default=2000, help="in each round (default 2000)")
    options = parser.parse_args()
    print(f"a line: {line_us(5000):.1f} µs of the loop's thread")
    found: dict[bool, list[float]] = {False: [], True: []}
    for _ in range(options.rounds):
        for is_on, all_of_it in found.items():
            all_of_it.append(commit_us(options.commits, is_on=is_on))
    for is_on, all_of_it in found.items():
        each = ", ".join(f"{us:.0f}" for us in sorted(all_of_it))
        print(f"a commit, audit log {'on' if is_on else 'off'}: {statistics.median(all_of_it):.0f} µs of CPU ({each})")


def line_us(count: int) -> float:
    """The CPU for a line of a CreateTopics of one topic, in µs."""
    request_item, result = CreateTopicsRequest.CreatableTopic, CreateTopicsResponse.CreatableTopicResult
    topic = request_item(name="orders", num_partitions=1, replication_factor=1, assignments=(), configs=())
    made = result(name="orders", topic_id=bytes(range(16)), error_code=0, error_message=None, configs=())
    context = RequestContext(
        Source(1, 1), 19, 7, "CONTROLLER", principal=Principal("User", "ann"), client_address="10.1.2.3",
        client_id="adminclient-1", request=CreateTopicsRequest(topics=(topic,)), written=Written(7, 1, 2),
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as root:
        file = AuditFile(f"{root}/audit.log", 16 << 20, 10, lambda *_: None)
        audit = AuditLog(file, 1, frozenset({REFUSED}), lambda: int(time.time() * 1000), lambda *_: None)
        audit.begin(cast("Any", SimpleNamespace()))
        begin = time.thread_time()
        for _ in range(count):
            audit.on_answer(context, CreateTopicsResponse(topics=(made,)))
        taken = time.thread_time() - begin
        file.close()
        assert file.lost == 0
    return taken / count * 1_000_000


def commit_us(count: int, *, is_on: bool) -> float:
    """The CPU of a controller for each CreateTopics, in µs."""
    with tempfile.TemporaryDirectory() as root:
        settings = {"kraft.audit.log": f"{root}/audit.log"} if is_on else {}
        cluster = Cluster(Path(root), cast("Stock", None), settings=settings)
        cluster.plan([OURS], 0)
        cluster.format()
        cluster.start()
        try:
            cluster.await_leader()
            node = cluster.controllers[1]
            fleet = fleet_of(cluster)
            connection = Connection(node.port)
            begin = 0.0
            for number in range(WARM + count):
                if number == WARM:
                    begin = cpu_s(node)
                answer = connection.ask(create_topics([f"t-{number}"]), 7)
                assert answer.topics[0].error_code == 0, answer
            taken = cpu_s(node) - begin
            connection.close()
            fleet.end()
        finally:
            cluster.end()
        return taken / count * 1_000_000


def fleet_of(cluster: Cluster) -> Fleet:
    """One broker, as soon as the controller registers it."""
    for _ in range(200):
        with contextlib.suppress(OSError, AssertionError):
            return Fleet(cluster, [11])
        time.sleep(0.1)
    raise AssertionError("no broker was registered")


if __name__ == "__main__":
    main()
