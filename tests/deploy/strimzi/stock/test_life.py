"""The life of a cluster under Strimzi's operator: a pool of controllers of ours, stock brokers, and all that it does to
them, with records being produced throughout.
"""

from __future__ import annotations

import ssl
import sys
from typing import TYPE_CHECKING

from records.features.levels import CURRENT, KAFKA_4_3
from tests.deploy.strimzi.stock.cluster import CONTROLLER_IDS, OfflineWatch, StrimziCluster, await_true
from tests.deploy.strimzi.stock.operator import BROKERS
from tests.interop.stock import Stock
from tests.raft.network.certificates import needs_openssl
from tests.raft.security.kubernetes_api import KubernetesApi

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

OLD, NEW = Stock("4.3.1", quick=True), Stock("4.4.0", quick=True)
TOPIC, PARTITIONS = "t", 6


def certificates(cluster: StrimziCluster) -> dict[int, str]:
    """What each controller serves, by node id: the certificate in PEM."""
    return {
        node_id: ssl.get_server_certificate((address.bind, address.port))
        for node_id, address in cluster.pods.addresses.items()
    }


@needs_openssl
def test_the_life_of_a_cluster(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for stock in (OLD, NEW):
        stock.bring()
    (tmp_path / "account").mkdir()
    release = {"kraft.release": KAFKA_4_3.name}
    with (
        KubernetesApi(tmp_path / "account") as api,
        StrimziCluster(api, tmp_path, OLD, release) as cluster,
    ):
        memory: dict[str, dict[str, float]] = {}
        operator, brokers = cluster.operator, cluster.brokers

        # Render, format, start.
        for node_id in CONTROLLER_IDS:
            cluster.pods.start(node_id)
        for node_id in (10, 11):
            brokers.start(node_id)
        cluster.open()
        await_true(lambda: operator.call_on(BROKERS, "nodes")["nodes"] == [10, 11], "two brokers are registered")
        operator.call_on(BROKERS, "create", topic=TOPIC, partitions=PARTITIONS, replicas=2)
        producer = {
            **cluster.pods.client_security, "bootstrap.servers": ",".join(cluster.broker_bootstrap), "acks": "all",
            "delivery.timeout.ms": "60000", "request.timeout.ms": "5000", "reconnect.backoff.max.ms": "200",
        }  # fmt: skip
        operator.call_on(BROKERS, "produce", topic=TOPIC, config=producer)

        with OfflineWatch(cluster.pods) as watch:
            # Roll, as after a change of the Kafka resource.
            assert cluster.roll_controllers() == 3

            # Certificates are renewed: new Secrets, and all pods are rolled.
            before = certificates(cluster)
            cluster.renew_certificates()
            assert certificates(cluster) == before, "a pod reads its Secret when it starts"
            assert cluster.roll_controllers() == 3
            cluster.roll_brokers()
            after = certificates(cluster)
            assert all(after[node_id] != before[node_id] for node_id in CONTROLLER_IDS)

            # A third broker, which gets a replica and loses it again, and is unregistered.
            brokers.start(12)
            await_true(lambda: 12 in operator.call_on(BROKERS, "nodes")["nodes"], "the third broker is registered")
            for replicas in ([10, 12], [10, 11]):
                moves = [{"topic": TOPIC, "partition": 0, "replicas": replicas}]
                operator.call_on(BROKERS, "move", moves=moves)
                await_true(lambda: operator.call_on(BROKERS, "moving")["count"] == 0, "the replicas are moved")
                cluster.await_whole()
            brokers.stop(12)
            await_true(lambda: 12 not in operator.call_on(BROKERS, "nodes")["nodes"], "the third broker is fenced")
            operator.call_on(BROKERS, "unregister", id=12)
            memory["ours"] = cluster.memory_mib()

            # Kafka is upgraded: controllers, then brokers, then the level of metadata.version.
            cluster.pods.render({})
            assert cluster.roll_controllers() == 3
            brokers.stock = NEW
            cluster.roll_brokers()
            level = operator.call_on(BROKERS, "features")["finalized"]["metadata.version"]
            newest = CURRENT.latest_production
            assert level < newest
            operator.call_on(BROKERS, "update", levels={"metadata.version": newest})
            await_true(
                lambda: operator.call_on(BROKERS, "features")["finalized"]["metadata.version"] == newest, "upgraded"
            )

            # The pool moves to the JVM, and back.
            assert cluster.roll_controllers(NEW) == 3
            memory["jvm"] = cluster.memory_mib()
            cluster.await_whole()
            assert cluster.roll_controllers() == 3
            cluster.await_whole()

        produced = operator.call_on(BROKERS, "produced")

    assert (produced["failure"], produced["acknowledged"]) == ("", produced["sent"])
    assert produced["sent"] > 1000
    assert watch.most == 0, "no partition was without a leader"
    assert watch.readings > 100
    controllers = {
        kind: [mib for name, mib in found.items() if "controllers" in name] for kind, found in memory.items()
    }
    assert max(controllers["ours"]) < 100 < min(controllers["jvm"])
    with capsys.disabled():
        sys.stdout.write(f"\nresident MiB by pod: {memory}\nproduced: {produced}\n")
