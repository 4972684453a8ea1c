"""Stock's kafka-configs and ours print the same about one quorum of ours with a stock broker."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from tests.interop.cluster import CLUSTER_ID, OURS, eventually
from tests.interop.dynamic import Dynamic, format_node
from tests.interop.test_stock_tools import Pair, create
from tests.interop.tools.stock_calls import StockCalls

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.interop.stock import Stock
    from tests.interop.test_stock_tools import Said

# The release whose texts our tools have.
pytestmark = pytest.mark.parametrize("stock", ["4.4.0"], indirect=True, scope="session")
BROKER = 101
# Each is done before the comparisons, by our tool.
BEFORE = (
    "--alter --topic t --add-config retention.ms=5000,cleanup.policy=[compact,delete]",
    "--alter --broker 101 --add-config log.cleaner.threads=2",
    "--alter --broker-defaults --add-config log.retention.ms=9000",
    "--alter --user ann --add-config SCRAM-SHA-256=[iterations=8192,password=secret]",
    "--alter --user ann --add-config SCRAM-SHA-512=[password=secret]",
    "--alter --user bob --add-config producer_byte_rate=1024,consumer_byte_rate=2048,request_percentage=1e9",
    "--alter --user-defaults --add-config controller_mutation_rate=0.001",
    "--alter --client c1 --add-config producer_byte_rate=12345678",
    "--alter --client-defaults --add-config request_percentage=200",
    "--alter --user bob --client c1 --add-config request_percentage=100",
    "--alter --user bob --client-defaults --add-config request_percentage=50",
    "--alter --ip 127.0.0.1 --add-config connection_creation_rate=100",
    "--alter --ip-defaults --add-config connection_creation_rate=1000",
    "--alter --client-metrics m1 --add-config interval.ms=60000,metrics=[a,b],match=[client_id=x]",
    "--alter --group g1 --add-config consumer.session.timeout.ms=50000",
)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory, stock: Stock) -> Iterator[Pair]:
    root = tmp_path_factory.mktemp("configs")
    found = Dynamic(root, stock)
    with StockCalls(stock) as calls:
        try:
            found.plan([OURS], 1)
            format_node(found, 1, "--standalone")
            found.tool("storage", "format", "-t", CLUSTER_ID, "-c", str(found.brokers[BROKER].properties))
            found.start()
            found.await_leader()
            made = Pair(found, calls, {"DIR": str(root)})
            create(made)
            (root / "configs").write_text("retention.ms=6000\nsegment.ms=7000\n")
            for given in BEFORE:
                said = made.ours("configs", f"SERVER {given}")
                assert said.exit == 0, (given, said)
            settle(made)
            yield made
        finally:
            found.end()


def settle(made: Pair) -> None:
    """Wait until the broker has what the controller has committed: a marker, which is committed last."""
    level = str(100 + time.monotonic_ns() % 3_000_000)
    marked = made.ours("configs", f"SERVER --alter --client-metrics marker --add-config interval.ms={level}")
    assert marked.exit == 0, marked

    def is_there() -> bool:
        return level in made.ours("configs", "SERVER --describe --client-metrics marker").stdout

    eventually(is_there, "the broker has the committed metadata")


ENTITIES = (
    "--topic t", "--topic u", "--topic absent", "--entity-type topics", "--broker 101", "--broker 7",
    "--entity-type brokers", "--broker-defaults", "--broker-logger 101", "--entity-type users", "--user ann",
    "--user bob", "--user absent", "--user-defaults", "--entity-type clients", "--client c1", "--client absent",
    "--client-defaults", "--user bob --client c1", "--user bob --client-defaults", "--user-defaults --client c1",
    "--entity-type users --entity-type clients", "--entity-type users --entity-name bob --entity-type clients",
    "--entity-type ips", "--ip 127.0.0.1", "--ip-defaults", "--ip 127.0.0.2", "--entity-type client-metrics",
    "--client-metrics m1", "--client-metrics absent", "--entity-type groups", "--group g1", "--group absent",
)  # fmt: skip
READS = (
    *(f"SERVER --describe {entity}" for entity in ENTITIES),
    *(f"SERVER --describe --all {entity}" for entity in ENTITIES if entity != "--broker 7"),
    *(f"CONTROLLER --describe {entity}" for entity in ENTITIES),
    *(f"CONTROLLER --describe --all {entity}" for entity in ("--topic t", "--topic absent", "--broker-defaults")),
    "CONTROLLER --describe --broker 1",
    "CONTROLLER --describe --broker-logger 1",
    "CONTROLLER --describe --broker 1 --all",
)


@pytest.mark.parametrize("given", READS)
def test_the_same_command_prints_the_same(pair: Pair, given: str) -> None:
    assert pair.ours("configs", given) == pair.stock("configs", given)


CHANGES = (
    ("--alter --topic t --add-config segment.ms=5,max.message.bytes=7", 0),
    ("--alter --topic t --add-config max.message.bytes=8 --delete-config segment.ms", 0),
    ("--describe --topic t", 0),
    ("--alter --topic t --delete-config max.message.bytes", 0),
    ("--alter --topic t --delete-config nothing", 0),
    ("--alter --topic t --add-config retention.ms=x", 1),
    ("--alter --topic t --add-config nothing=x", 1),
    ("--alter --topic absent --add-config retention.ms=1", 1),
    ("--alter --topic u --add-config-file DIR/configs", 0),
    ("--describe --topic u", 0),
    ("--alter --topic u --delete-config retention.ms,segment.ms", 0),
    ("--alter --broker 101 --add-config log.cleaner.threads=x", 1),
    ("--alter --broker 101 --add-config node.id=3", 1),
    ("--alter --broker 101 --add-config num.io.threads=9", 0),
    ("--alter --broker 101 --delete-config num.io.threads", 0),
    ("--alter --broker-defaults --add-config num.io.threads=9", 0),
    ("--describe --broker-defaults", 0),
    ("--alter --broker-defaults --delete-config num.io.threads", 0),
    ("--alter --broker-logger 101 --add-config root=WARN", 0),
    ("--alter --broker-logger 101 --add-config root=NOTHING", 1),
    ("--alter --broker-logger 101 --delete-config root", 1),
    ("--alter --broker-logger 101 --add-config nothing=DEBUG --delete-config nothing.else", 1),
    ("--alter --broker-logger 101 --add-config root=INFO", 0),
    ("--alter --user zoe --add-config SCRAM-SHA-256=[iterations=4096,password=x]", 0),
    ("--describe --user zoe", 0),
    ("--alter --user zoe --delete-config SCRAM-SHA-512", 1),
    ("--alter --user zoe --delete-config SCRAM-SHA-256", 0),
    ("--alter --user zoe --delete-config SCRAM-SHA-256", 1),
    ("--alter --user zoe --add-config SCRAM-SHA-256=[iterations=99999,password=x]", 1),
    ("--alter --user zoe --delete-config producer_byte_rate", 1),
    ("--alter --user zoe --add-config producer_byte_rate=-1", 1),
    ("--alter --user zoe --add-config producer_byte_rate=1.5", 1),
    ("--alter --user zoe --add-config producer_byte_rate=1", 0),
    ("--describe --user zoe", 0),
    ("--alter --user zoe --delete-config producer_byte_rate", 0),
    ("--alter --ip 127.0.0.3 --add-config connection_creation_rate=1", 0),
    ("--alter --ip 127.0.0.3 --delete-config connection_creation_rate", 0),
    ("--alter --client-metrics m2 --add-config interval.ms=5", 1),
    ("--alter --client-metrics m2 --add-config interval.ms=500", 0),
    ("--alter --client-metrics m2 --delete-config interval.ms", 0),
    ("--alter --group g2 --add-config consumer.session.timeout.ms=1", 1),
    ("--alter --group g2 --add-config consumer.heartbeat.interval.ms=6000", 0),
    ("--describe --group g2", 0),
    ("--alter --group g2 --delete-config consumer.heartbeat.interval.ms", 0),
)


def test_the_same_changes_print_the_same(pair: Pair) -> None:
    said: dict[str, list[tuple[str, Said]]] = {"stock": [], "ours": []}
    for who, call in (("stock", pair.stock), ("ours", pair.ours)):
        for given, _ in CHANGES:
            said[who].append((given, call("configs", f"SERVER {given}")))
            settle(pair)

    # Ours hides what may be a secret where an error repeats the arguments.
    shown = [(given, without_secrets(answer)) for given, answer in said["stock"]]
    assert said["ours"] == shown
    assert [(given, answer.exit) for given, answer in said["ours"]] == list(CHANGES)


def without_secrets(said: Said) -> Said:
    """With the value of a SCRAM credential hidden in the echo of the arguments."""
    first, end, rest = said.stderr.partition("\n")
    if "password=" not in first:
        return said
    return said._replace(stderr=f"{first.partition('=')[0]}=[hidden]'{end}{rest}")
