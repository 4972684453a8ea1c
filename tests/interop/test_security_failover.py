"""A secured cluster at work: ACLs in force while the leader fails, certificates are renewed and sessions expire."""

from __future__ import annotations

import re
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Consumer, Producer

from tests.interop.cluster import OURS, STOCK, eventually
from tests.interop.secured import ADMIN, ANN, MECHANISM, PASSWORDS, REAUTH_MS, secured
from tests.raft.network.certificates import authority, needs_openssl

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.interop.cluster import NodeProcess
    from tests.interop.secured import Secured
    from tests.interop.stock import Stock

pytestmark = needs_openssl
TOPIC_AUTHORIZATION_FAILED = 29


def client(found: Secured, user: str, **settings: Any) -> dict[str, Any]:
    """The settings of librdkafka."""
    common = {
        "bootstrap.servers": found.bootstrap, "security.protocol": found.protocol, "log_level": 0,
        "ssl.ca.location": str(authority() / "ca.pem"), **settings,
    }  # fmt: skip
    if found.protocol == "SSL":
        pem = found.client(user)["ssl.keystore.location"]
        return {**common, "ssl.certificate.location": pem, "ssl.key.location": pem}
    return {**common, "sasl.mechanism": MECHANISM, "sasl.username": user, "sasl.password": PASSWORDS[user]}


class Writer:
    """Ann writes 0, 1, 2 … to a topic, until stopped."""

    def __init__(self, found: Secured, topic: str) -> None:
        self._producer = Producer(client(found, ANN, **{"enable.idempotence": True}))
        self._topic = topic
        self._stopping = threading.Event()
        self.acknowledged: list[int] = []
        self.failed: list[Any] = []
        self._thread = threading.Thread(target=self._write)
        self._thread.start()

    def _write(self) -> None:
        number = 0
        while not self._stopping.wait(0.01):
            self._producer.produce(self._topic, str(number), on_delivery=self._delivered)
            self._producer.poll(0)
            number += 1
        self._producer.flush(60)

    def _delivered(self, error: Any, record: Any) -> None:
        if error is None:
            self.acknowledged.append(int(record.value()))
        else:
            self.failed.append(error)

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join()


def written(found: Secured, topic: str, count: int) -> list[int]:
    """All numbers in a topic, as ann reads them."""
    consumer = Consumer(client(found, ANN, **{"group.id": "ann-group", "auto.offset.reset": "earliest"}))
    consumer.subscribe([topic])
    read: list[int] = []

    def whole() -> bool:
        read.extend(int(record.value()) for record in consumer.consume(1000, 1.0) if not record.error())
        return len(read) >= count

    eventually(whole, f"{count} records", 60)
    consumer.close()
    return read


def tool(found: Secured, user: str, name: str, *arguments: str) -> str:
    return found.tool(name, "--bootstrap-server", found.bootstrap, "--command-config", found.asked(user), *arguments)


def status(found: Secured) -> dict[str, str]:
    """What kafka-metadata-quorum says of the quorum, asked of the controllers."""
    text = found.tool(
        "metadata-quorum", "--bootstrap-controller", found.bootstrap_controller, "--command-config",
        found.asked(ADMIN), "describe", "--status",
    )  # fmt: skip
    return dict(re.findall(r"^(\w+):\s+(.*)$", text, re.MULTILINE))


def says(found: Secured, is_so: Callable[[dict[str, str]], bool]) -> bool:
    """Whether the status is so; False where the tool fails."""
    try:
        return is_so(status(found))
    except AssertionError:
        # It gives up after 60 s where it was sent to a killed controller, and at once where it was sent to one that has
        # just started and does not know the SCRAM credentials yet.
        return False


def fail_over(found: Secured) -> NodeProcess:
    """Kill the active controller; returns it when another leads."""
    led = int(status(found)["LeaderId"])
    node = found.controllers[led]
    node.kill()

    eventually(lambda: says(found, lambda now: int(now["LeaderId"]) not in {-1, led}), "another leader", seconds=150)
    return node


@pytest.mark.parametrize(
    ("protocol", "kinds"),
    [("SASL_SSL", [OURS, OURS, OURS]), ("SSL", [OURS, OURS, STOCK])],
    ids=["SCRAM", "client certificates, one voter stock"],
)
def test_acls_hold_and_nothing_is_lost_through_failover_renewal_and_expiry(
    tmp_path: Path, stock: Stock, protocol: str, kinds: list[str]
) -> None:
    with secured(tmp_path, stock, kinds, protocol=protocol) as found:
        ann = found.principal(ANN)
        tool(found, ADMIN, "topics", "--create", "--topic", "numbers", "--partitions", "3")
        tool(found, ADMIN, "acls", "--add", "--allow-principal", ann, "--producer", "--consumer", "--topic", "numbers",
             "--group", "ann-group")  # fmt: skip
        writer = Writer(found, "numbers")
        eventually(lambda: len(writer.acknowledged) > 50, "ann writes")

        # New certificates for all; the broker gets its own by a config that our controllers forward.
        found.renew("controller", 2)
        found.renew("broker", 2)
        tool(found, ADMIN, "configs", "--alter", "--entity-type", "brokers", "--entity-name", "101", "--add-config",
             f"listener.name.client.ssl.keystore.location={found.root / 'broker.pem'}")  # fmt: skip
        killed = fail_over(found)
        killed.start()
        eventually(lambda: says(found, lambda now: 0 <= int(now["MaxFollowerLag"]) <= 3), "three level voters")
        tool(found, ADMIN, "topics", "--create", "--topic", "after", "--partitions", "2")

        # The sessions of before have expired since; clients that continue have authenticated again.
        time.sleep(REAUTH_MS / 1000)
        fail_over(found).start()
        count = len(writer.acknowledged)
        eventually(lambda: len(writer.acknowledged) > count + 50, "ann writes on")
        writer.stop()
        assert writer.failed == []
        assert sorted(set(written(found, "numbers", len(writer.acknowledged)))) == sorted(writer.acknowledged)

        # What is taken away is gone, on the broker and on the controllers.
        refused = stock.tool("topics", "--bootstrap-server", found.bootstrap, "--command-config", found.asked(ANN),
                             "--create", "--topic", "anns")  # fmt: skip
        assert "TopicAuthorizationException" in refused.stdout + refused.stderr
        tool(found, ADMIN, "acls", "--remove", "--force", "--topic", "numbers")
        eventually(lambda: denied(found), "ann may write no more")

        everything = "".join(node.said() for node in found.controllers.values() if node.kind == OURS)
        assert "keystore_renewed" in everything
        assert "authorization_denied" in everything
        assert "its session has expired" not in everything


def denied(found: Secured) -> bool:
    codes: list[int] = []
    producer = Producer(client(found, ANN, **{"message.timeout.ms": 5000}))
    producer.produce("numbers", b"x", on_delivery=lambda error, _: codes.append(error.code() if error else 0))
    producer.flush(30)
    return codes == [TOPIC_AUTHORIZATION_FAILED]
