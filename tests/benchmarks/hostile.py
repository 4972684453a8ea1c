"""`python -m tests.benchmarks.hostile`: a writer beside clients that send the largest requests, ours and stock Kafka's.

Each kind runs a quorum of three with TLS and the authorizer. One client creates topics, one after the other, and a
broker sends heartbeats, while the hostile connections of a row send one request after the other. The columns are what
the writer and the broker see, the longest step of a node of ours (`kraft_longest_step_seconds`), and the new epochs
meanwhile.
"""

from __future__ import annotations

import argparse
import contextlib
import shutil
import sys
import threading
import time
import urllib.request
from itertools import count, cycle, zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple

from records.messages.acls import CreateAclsRequest, DeleteAclsRequest
from records.messages.configs import DescribeConfigsRequest, IncrementalAlterConfigsRequest
from records.messages.topics import CreatePartitionsRequest, CreateTopicsRequest, DeleteTopicsRequest
from records.messages.versions import ApiVersionsRequest
from records.uuids import ZERO_UUID
from tests.benchmarks.client import Connection, Fleet, create_topics, frame_of
from tests.benchmarks.fetches import FetchWatch
from tests.benchmarks.quorum import OURS, STOCK, Trial, quantile
from tests.controller.server.processes import free_port
from tests.interop.ask import receive
from tests.interop.secured import AUTHORIZER, stores
from tests.interop.stock import Stock
from tests.raft.network.certificates import certificate, client_context

if TYPE_CHECKING:
    from collections.abc import Callable

# The most names that our nodes take of a user, and the most records that stock takes in one request.
REFUSED_NAMES, ALLOWED_RECORDS = 99_990, 9_990
# A new topic has two records at least.
ALLOWED_TOPICS = ALLOWED_RECORDS // 2
WARM = 200
# Often, so that there are enough for a percentile.
HEARTBEAT_S = 0.02
COLUMNS = (
    "hostile", "writes", "p50 ms", "p99 ms", "longest ms", "heartbeat p99 ms", "longest step ms", "epochs", "answered",
)  # fmt: skip


class Row(NamedTuple):
    """One measurement: who sends what on how many connections; to_all: to each node in turn, else to the leader; then:
    what each connection sends after that, in turn with it.
    """

    name: str
    connections: int
    may_all: bool
    request: Callable[[int], tuple[Any, int]]
    to_all: bool = False
    then: Callable[[int], tuple[Any, int]] | None = None


class Seen(NamedTuple):
    """What the writer and the broker saw. Times in ms; served: hostile requests that were answered.

    longest_step: of the nodes; None for stock's, which do not tell it.
    """

    writes: list[float]
    heartbeats: list[float]
    longest_step: float | None
    new_epochs: int
    served: int


def names(number: int, size: int) -> list[str]:
    return [f"hostile-{number}-{index:05}" for index in range(size)]


def refused_topics(number: int) -> tuple[Any, int]:
    return create_topics(names(number, REFUSED_NAMES)), 7


def refused_deletes(number: int) -> tuple[Any, int]:
    return _deletes(names(number, REFUSED_NAMES))


def refused_partitions(number: int) -> tuple[Any, int]:
    topic = CreatePartitionsRequest.CreatePartitionsTopic
    topics = tuple(topic(name=name, count=2, assignments=None) for name in names(number, REFUSED_NAMES))
    return CreatePartitionsRequest(topics=topics, timeout_ms=60000, validate_only=False), 3


def refused_configs(number: int) -> tuple[Any, int]:
    return _changed_configs(names(number, REFUSED_NAMES // 2)), 1


def described_configs(number: int) -> tuple[Any, int]:
    resource = DescribeConfigsRequest.DescribeConfigsResource
    resources = tuple(
        resource(resource_type=2, resource_name=name, configuration_keys=None) for name in names(number, REFUSED_NAMES)
    )
    return DescribeConfigsRequest(resources=resources, include_synonyms=False, include_documentation=False), 4


def dry_topics(number: int) -> tuple[Any, int]:
    """The most topics that stock creates at once, as a dry run, so that the metadata stay small."""
    request, version = created_topics(number)
    return CreateTopicsRequest(topics=request.topics, timeout_ms=60000, validate_only=True), version


def created_topics(number: int) -> tuple[Any, int]:
    return create_topics(names(number, ALLOWED_TOPICS)), 7


def deleted_topics(number: int) -> tuple[Any, int]:
    return _deletes(names(number, ALLOWED_TOPICS))


def changed_configs(number: int, value: str = "50000") -> tuple[Any, int]:
    """The configs of groups; a connection changes its own ones again and again, so the metadata stay small."""
    groups = names(number, ALLOWED_RECORDS)
    return _changed_configs(groups, kind=32, key="consumer.session.timeout.ms", value=value), 1


def configs_changed_back(number: int) -> tuple[Any, int]:
    return changed_configs(number, "55000")


def created_acls(number: int) -> tuple[Any, int]:
    acl = CreateAclsRequest.AclCreation
    return (
        CreateAclsRequest(
            creations=tuple(
                acl(
                    resource_type=2, resource_name=name, resource_pattern_type=3, principal=f"User:{number}",
                    host="*", operation=3, permission_type=3,
                )
                for name in names(number, ALLOWED_RECORDS)
            )
        ),
        3,
    )  # fmt: skip


def deleted_acls(number: int) -> tuple[Any, int]:
    every = DeleteAclsRequest.DeleteAclsFilter(
        resource_type_filter=1, resource_name_filter=None, pattern_type_filter=1, principal_filter=f"User:{number}",
        host_filter=None, operation=1, permission_type=1,
    )  # fmt: skip
    return DeleteAclsRequest(filters=(every,)), 3


def _deletes(topics: list[str]) -> tuple[Any, int]:
    topic = DeleteTopicsRequest.DeleteTopicState
    states = tuple(topic(name=name, topic_id=ZERO_UUID) for name in topics)
    return DeleteTopicsRequest(topics=states, timeout_ms=60000), 6


def _changed_configs(
    resources: list[str], kind: int = 2, key: str = "retention.ms", value: str = "1000000"
) -> IncrementalAlterConfigsRequest:
    resource = IncrementalAlterConfigsRequest.AlterConfigsResource
    change = resource.AlterableConfig(name=key, config_operation=0, value=value)
    return IncrementalAlterConfigsRequest(
        resources=tuple(resource(resource_type=kind, resource_name=name, configs=(change,)) for name in resources),
        validate_only=False,
    )


ROWS = [
    Row("none", 0, may_all=False, request=refused_topics),
    Row("no rights: CreateTopics, two to each node", 6, may_all=False, request=refused_topics, to_all=True),
    Row("no rights: CreateTopics", 6, may_all=False, request=refused_topics),
    Row("no rights: DeleteTopics", 6, may_all=False, request=refused_deletes),
    Row("no rights: CreatePartitions", 6, may_all=False, request=refused_partitions),
    Row("no rights: IncrementalAlterConfigs", 6, may_all=False, request=refused_configs),
    Row("no rights: DescribeConfigs", 6, may_all=False, request=described_configs),
    Row("all rights: CreateTopics, 99,990 names", 6, may_all=True, request=refused_topics),
    Row("all rights: DescribeConfigs", 6, may_all=True, request=described_configs),
    Row("all rights: CreateTopics, 4,990 topics, dry", 8, may_all=True, request=dry_topics),
    Row(
        "all rights: CreateTopics, 4,990 topics, and DeleteTopics of them",
        8,
        may_all=True,
        request=created_topics,
        then=deleted_topics,
    ),
    Row(
        "all rights: IncrementalAlterConfigs, 9,990 groups",
        8,
        may_all=True,
        request=changed_configs,
        then=configs_changed_back,
    ),
    Row(
        "all rights: CreateAcls, 9,990, and DeleteAcls of them",
        8,
        may_all=True,
        request=created_acls,
        then=deleted_acls,
    ),
]


class Attacked(Trial):
    """A quorum with TLS and the authorizer: User:CN=client is a super user, User:CN=nobody has no rights."""

    def __init__(self, kind: str, stock: Stock) -> None:
        super().__init__(kind, stock, {
            "listener.security.protocol.map": "CONTROLLER:SSL",
            "authorizer.class.name": AUTHORIZER,
            "super.users": "User:CN=node,O=Test;User:CN=client,O=Test;User:CN=root,O=Test",
        })  # fmt: skip
        self.http_ports = [free_port() for _ in self.cluster.controllers] if kind == OURS else []
        for node, http_port in zip_longest(self.cluster.controllers.values(), self.http_ports):
            lines = {**stores(self.root, "node"), "ssl.client.auth": "required"}
            if http_port is not None:
                lines["kraft.http.listener"] = f"127.0.0.1:{http_port}"
            with node.properties.open("a") as file:
                file.write("".join(f"{key}={value}\n" for key, value in lines.items()))
        self.cluster.context = client_context(certificate("/O=Test/CN=client"))
        self.contexts = {
            may_all: client_context(certificate(f"/O=Test/CN={name}"))
            for may_all, name in ((True, "root"), (False, "nobody"))
        }
        self.numbers = count()

    def measure(self, row: Row, seconds: float) -> Seen:
        """Run one row for so many seconds."""
        fleet = Fleet(self.cluster, [11], HEARTBEAT_S)
        port = self.leader.port
        ports = [node.port for node in self.cluster.controllers.values()] if row.to_all else [port]
        writer = Connection(port, context=self.cluster.context)
        for _ in range(WARM):
            self._commit(writer)
        done = threading.Event()
        served = [0] * row.connections
        requests = [request for request in (row.request, row.then) if request is not None]
        # Before anything is measured: it takes this process some 100 ms each.
        frames_of = [[frame_of(*request(index)) for request in requests] for index in range(row.connections)]
        fleet.forget()

        def attack(index: int) -> None:
            frames = cycle(frames_of[index])
            opened = Connection(ports[index % len(ports)], 60, self.contexts[row.may_all])
            # A handshake ends when the first request was read, and takes no more than 32 KiB until then.
            opened.ask(ApiVersionsRequest(client_software_name="hostile", client_software_version="1"), 3)
            connection = opened.socket
            with contextlib.suppress(OSError):
                while not done.is_set():
                    connection.sendall(next(frames))
                    receive(connection)
                    served[index] += 1
            connection.close()

        attackers = [threading.Thread(target=attack, args=(index,), daemon=True) for index in range(row.connections)]
        for thread in attackers:
            thread.start()
        writes = []
        with FetchWatch(port, self.cluster.context) as watch:
            end = time.perf_counter() + seconds
            while time.perf_counter() < end:
                writes.append(self._commit(writer))
            done.set()
        longest = max(map(longest_step_ms, self.http_ports), default=None)
        heartbeats = [ms for broker in fleet.brokers.values() for ms in broker.latencies_ms]
        for thread in attackers:
            thread.join(60)
        writer.close()
        fleet.end()
        return Seen(writes, heartbeats, longest, watch.new_epochs, sum(served))

    def _commit(self, connection: Connection) -> float:
        begin = time.perf_counter()
        answer = connection.ask(create_topics([f"t-{next(self.numbers)}"]), 7)
        assert answer.topics[0].error_code == 0, answer
        return (time.perf_counter() - begin) * 1000


def longest_step_ms(http_port: int) -> float:
    """What a node tells of its longest step, in ms."""
    with urllib.request.urlopen(f"http://127.0.0.1:{http_port}/metrics", timeout=30) as answer:
        lines = answer.read().decode().splitlines()
    (found,) = [line for line in lines if line.startswith("kraft_longest_step_seconds ")]
    return float(found.split()[1]) * 1000


def line(row: Row, seen: Seen) -> str:
    writes, heartbeats = seen.writes, seen.heartbeats
    figures = [
        f"{len(writes):,}", f"{quantile(writes, 50):.1f}", f"{quantile(writes, 99):.1f}", f"{max(writes):.0f}",
        f"{quantile(heartbeats, 99):.1f}", "–" if seen.longest_step is None else f"{seen.longest_step:.0f}",
        str(seen.new_epochs), f"{seen.served:,}",
    ]  # fmt: skip
    return f"| {row.name} | {' | '.join(figures)} |"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.hostile", description=__doc__)
    parser.add_argument("--seconds", type=float, default=10, help="of each row (default 10)")
    parser.add_argument("--only", choices=[OURS, STOCK], action="append", help="one kind (repeatable)")
    parser.add_argument("--connections", type=int, help="hostile ones of each row but the first (default: the row's)")
    parser.add_argument("--rows", default="", help="those whose name contains this, and the first one")
    options = parser.parse_args()
    # Many threads of this process read answers: the writer and the broker must not wait for them.
    sys.setswitchinterval(0.0005)
    stock = Stock("4.3.1")
    kinds = options.only or ([OURS, STOCK] if shutil.which("java") and shutil.which("mvn") else [OURS])
    if STOCK in kinds:
        stock.bring()
    for kind in kinds:
        print(f"\n{kind}\n\n| {' | '.join(COLUMNS)} |")
        print("|---|" + "---|" * (len(COLUMNS) - 1))
        for row in ROWS:
            if options.rows not in row.name and row.connections:
                continue
            if options.connections is not None and row.connections:
                row = row._replace(connections=options.connections)
            trial = Attacked(kind, stock)
            try:
                trial.start()
                print(line(row, trial.measure(row, options.seconds)), flush=True)
            except (AssertionError, OSError) as error:
                print(f"| {row.name} | {type(error).__name__}: {str(error)[:120]} |", flush=True)
            finally:
                trial.end()


if __name__ == "__main__":
    main()
