"""The life of one quorum under a producer and stock brokers: it forms, grows, shrinks, heals and moves by itself.

Processes start and stop, disks are lost and configurations are edited. No tool changes anything.
"""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import signal
import time
from typing import TYPE_CHECKING

from records.batch import batches
from records.messages.quorum import DescribeQuorumRequest
from records.metadata_log import METADATA_TOPIC
from simulations.chaos.ports import free_ports
from tests.interop.ask import ask, describe_quorum
from tests.interop.cluster import CLUSTER_ID, OURS, eventually
from tests.interop.dynamic import Dynamic
from tests.interop.kraftctl import kraftctl
from tests.interop.test_broker_joins import await_brokers
from tests.interop.test_troubles import answers
from tests.interop.traffic import Producer, consume
from tests.interop.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.interop.cluster import NodeProcess
    from tests.interop.stock import Stock

INITIAL = (1, 2, 3)
LATER = (4, 5)
SPARE = 6
STABILIZATION_MS, DEAD_AFTER_MS = 2000, 5000
# The autopilot looks every second, and other tests use the processors meanwhile.
HEALED_S = 90
TOPIC = "numbers"
RECORDS_A_SECOND, SECONDS_MAX = 100, 1000
WRITE_PAUSE_S = 0.25
READS_MAX = 3
DESCRIBED = DescribeQuorumRequest(
    topics=(
        DescribeQuorumRequest.TopicData(
            topic_name=METADATA_TOPIC,
            partitions=(DescribeQuorumRequest.TopicData.PartitionData(partition_index=0),),
        ),
    )
)


class Life(Dynamic):
    """Six controllers with empty disks, of which three run at first, and two brokers.

    listed: the ids in `controller.quorum.bootstrap.servers`. host: the controllers' advertised name.
    seconds, pauses_ms: by step, how long it took, and the longest time without a created topic.
    """

    listed = INITIAL
    host = "127.0.0.1"

    def __init__(self, root: Path, stock: Stock) -> None:
        super().__init__(root, stock)
        self.seconds: dict[str, float] = {}
        self.pauses_ms: dict[str, float] = {}
        self.plan([OURS] * SPARE, 2)

    @property
    def bootstrap_controller(self) -> str:
        return ",".join(f"{self.host}:{self.controllers[each].port}" for each in self.listed)

    def _write(self, node: NodeProcess) -> None:
        super()._write(node)
        if node.role == "broker":
            return
        settings = {
            "advertised.listeners": f"CONTROLLER://{self.host}:{node.port}",
            "kraft.quorum.bootstrap.expect": str(len(INITIAL)),
            "kraft.quorum.bootstrap.cluster.id": CLUSTER_ID,
            "kraft.autopilot.enable": "true",
            "kraft.autopilot.stabilization.ms": str(STABILIZATION_MS),
            "kraft.autopilot.dead.after.ms": str(DEAD_AFTER_MS),
            "kraft.autopilot.leave.on.stop": "true",
            "kraft.http.listener": f"127.0.0.1:{self.http_ports[node.id]}",
        }
        with node.properties.open("a") as file:
            file.write("".join(f"{key}={value}\n" for key, value in settings.items()))

    def plan(self, kinds: list[str], brokers: int) -> None:
        self.http_ports = dict(enumerate(free_ports(len(kinds)), start=1))
        super().plan(kinds, brokers)

    def start_controllers(self, *ids: int) -> None:
        for node_id in ids:
            self.controllers[node_id].start()

    def stop_controllers(self, *ids: int) -> None:
        """SIGTERM to all at the same time, as an orchestrator sends it."""
        for node_id in ids:
            self.controllers[node_id].signal(signal.SIGTERM)
        for node_id in ids:
            process = self.controllers[node_id].process
            assert process is not None
            assert process.wait(30) == 0
            self.controllers[node_id].process = None

    def move(self) -> None:
        """All controllers, which are stopped, have another name and other ports in all configurations."""
        self.host = "localhost"
        self.listed = tuple(self.voters_by_id)
        for node, port in zip(self.controllers.values(), free_ports(len(self.controllers)), strict=True):
            node.port = port
        for each in [*self.controllers.values(), *self.brokers.values()]:
            self._write(each)

    def note_voters(self) -> dict[int, tuple[bytes, str, int]]:
        """By id, the directory id, the host and the port of each voter, as the leader describes them; empty without
        a leader.
        """
        leader = self.leader()
        if not leader:
            return {}
        answer = ask(self.controllers[leader].port, DESCRIBED, 2)
        partition = answer.topics[0].partitions[0]
        if partition.error_code or partition.leader_id != leader:
            return {}
        places = {node.node_id: (node.listeners[0].host, node.listeners[0].port) for node in answer.nodes}
        voters = {each.replica_id: each.replica_directory_id for each in partition.current_voters}
        self.voters_by_id = {each: (directory, *places[each]) for each, directory in sorted(voters.items())}
        return self.voters_by_id

    def await_voters(self, *ids: int) -> None:
        eventually(lambda: tuple(self.note_voters()) == ids, f"the voters {ids}", HEALED_S)

    def observers(self) -> list[int]:
        """Their ids, as the leader names them; none without a leader."""
        leader = self.leader()
        return [each.replica_id for each in describe_quorum(self.controllers[leader].port).observers] if leader else []

    @contextlib.contextmanager
    def step(self, name: str, traffic: Traffic) -> Iterator[None]:
        """Measure a step; after it both clients go on."""
        begin, begin_counter = time.monotonic(), time.perf_counter()
        yield
        self.seconds[name] = time.monotonic() - begin
        traffic.await_progress(name)
        self.pauses_ms[name] = traffic.writer.longest_pause_ms(begin_counter, time.perf_counter())


class Traffic:
    """A stock producer of numbers, and a client that creates topics on the active controller."""

    def __init__(self, found: Life, producer: Producer, writer: Writer) -> None:
        self.found, self.producer, self.writer = found, producer, writer

    def await_progress(self, what: str) -> None:
        self.writer.await_progress(f"a topic is created after: {what}")
        sent = self.producer.sent
        eventually(lambda: self.written() >= sent, f"all that was produced before the end of: {what}", HEALED_S)

    def written(self) -> int:
        """How many records the brokers have on disk."""
        return max(end_offset(node.directory / f"{TOPIC}-0") for node in self.found.brokers.values())


def end_offset(partition: Path) -> int:
    log = max(partition.glob("*.log"))
    return max((batch.last_offset + 1 for batch in batches(log.read_bytes())), default=0)


@contextlib.contextmanager
def traffic_on(found: Life) -> Iterator[Traffic]:
    """Both clients, with a topic of two replicas. At the end of the block they go on still; after it all is checked."""
    found.tool(
        "topics", "--bootstrap-server", found.bootstrap, "--create", "--topic", TOPIC, "--partitions", "1",
        "--replication-factor", "2", "--config", "min.insync.replicas=1",
    )  # fmt: skip
    producer = Producer(
        found, TOPIC, RECORDS_A_SECOND * SECONDS_MAX, SECONDS_MAX,
        # The brokers are killed, one after the other, and have no leader for a while.
        "delivery.timeout.ms=300000", "max.in.flight.requests.per.connection=1",
    )  # fmt: skip
    try:
        with Writer(found, WRITE_PAUSE_S, has_brokers=True) as writer:
            traffic = Traffic(found, producer, writer)
            traffic.await_progress("the start")
            yield traffic
        assert producer.end() == 0
    finally:
        producer.kill()
    # On a machine that is slow the consumer may end before its first record.
    read: list[int] = []
    for _ in range(READS_MAX):
        read = consume(found, TOPIC, producer.sent)
        if len(read) >= producer.sent:
            break
    assert read == list(range(producer.sent))
    assert writer.missing() == []


def form(found: Life) -> None:
    """Three controllers with empty disks, and two brokers, which wait for them."""
    for broker in found.brokers.values():
        found.tool("storage", "format", "-t", CLUSTER_ID, "-c", str(broker.properties))
    begin = time.monotonic()
    found.start_controllers(*INITIAL)
    found.await_voters(*INITIAL)
    found.seconds["form"] = time.monotonic() - begin
    for broker in found.brokers.values():
        broker.start()
    await_brokers(found, len(found.brokers))


def restart_the_brokers(found: Life) -> None:
    """One after the other, with the addresses that are in their files now.

    A broker that reaches no controller waits for minutes for its controlled shutdown, so it is killed. The last one is
    the only replica in sync until it has the new addresses too.
    """
    for broker in found.brokers.values():
        broker.kill()
        broker.start()
        eventually(lambda: answers(broker), f"broker {broker.id} is unfenced", HEALED_S)  # noqa: B023
    eventually(lambda: both_are_in_sync(found), "both brokers are in sync", HEALED_S)


def both_are_in_sync(found: Life) -> bool:
    shown = found.stock.tool("topics", "--bootstrap-server", found.bootstrap, "--describe", "--topic", TOPIC).stdout
    in_sync = re.search(r"Isr: ([\d,]+)", shown)
    return in_sync is not None and sorted(in_sync[1].split(",")) == ["101", "102"]


def test_a_quorum_forms_grows_shrinks_heals_and_moves_by_itself_under_a_producer(tmp_path: Path, stock: Stock) -> None:
    found = Life(tmp_path, stock)
    try:
        form(found)
        with traffic_on(found) as traffic:
            with found.step("grow", traffic):
                found.start_controllers(*LATER)
                found.await_voters(*INITIAL, *LATER)
            with found.step("shrink", traffic):
                found.stop_controllers(*LATER)
                found.await_voters(*INITIAL)
            assert all("voter_left" in found.controllers[each].said() for each in LATER)

            before = found.note_voters()
            wiped = found.await_leader()
            with found.step("wipe", traffic):
                found.controllers[wiped].kill()
                shutil.rmtree(found.controllers[wiped].directory)
                found.start_controllers(wiped)
                eventually(
                    lambda: {**before, **found.note_voters()}[wiped] != before[wiped], "the new directory", HEALED_S
                )
                found.await_voters(*INITIAL)
            assert {each for each in INITIAL if found.voters_by_id[each] != before[each]} == {wiped}

            found.start_controllers(SPARE)
            eventually(lambda: SPARE in found.observers(), "the spare follows", HEALED_S)
            lost = found.await_leader()
            staying = tuple(each for each in INITIAL if each != lost)
            with found.step("kill", traffic):
                found.controllers[lost].kill()
                found.await_voters(*staying, SPARE)

            with found.step("rename", traffic):
                found.stop_controllers(*staying, SPARE)
                found.move()
                begin = time.monotonic()
                found.start_controllers(*staying, SPARE)
                found.await_leader(HEALED_S)
                found.seconds["rename, elected"] = time.monotonic() - begin
                places = {("localhost", found.controllers[each].port) for each in (*staying, SPARE)}
                eventually(
                    lambda: {place[1:] for place in found.note_voters().values()} == places, "new names", HEALED_S
                )
                found.seconds["rename, in the log"] = time.monotonic() - begin
                restart_the_brokers(found)
            found.await_voters(*staying, SPARE)
        eventually(lambda: kraftctl(found, "autopilot", "state").returncode == 0, "all voters are healthy")
        the_replicas_are_equal(found, *staying, SPARE)
        report(found, traffic)
    finally:
        found.end()


def the_replicas_are_equal(found: Life, *voters: int) -> None:
    """The logs and the states of the voters and of the brokers, by their directories."""
    nodes = [*(found.controllers[each] for each in voters), *found.brokers.values()]
    options = [option for node in nodes for option in ("--directory", str(node.directory))]
    done = kraftctl(found, "quorum", "hash", "--json", *options)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = json.loads(done.stdout)["replicas"]
    assert len(rows) >= len(nodes), rows
    assert {row["result"] for row in rows} == {"equal"}


def report(found: Life, traffic: Traffic) -> None:
    print({name: round(seconds, 1) for name, seconds in found.seconds.items()})
    print({name: round(pause / 1000, 1) for name, pause in found.pauses_ms.items()})
    print(f"{traffic.producer.sent} records, {len(traffic.writer.acknowledged)} topics")
