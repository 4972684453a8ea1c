"""What a running controller of stock Kafka serves to Prometheus in a pod: a pod of ours serves the same, or there is a
reason.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from tests.deploy.strimzi.scrape import scrape_pod
from tests.deploy.strimzi.series import Series, series_in, stored_series
from tests.raft.network.certificates import needs_openssl

if TYPE_CHECKING:
    from pathlib import Path

OF_THE_JVM = "of the Java machine"
OF_THE_EXPORTER = "of the Java program that serves the metrics"
OF_JAVA_SOCKETS = "of Java's network threads; kraft_connections has the connections of this node's listeners"
OF_CLIENTS = "of Java's network client; kafka_server_raft…channel…metrics has the requests and bytes of the quorum"
BY_REQUEST = "times by kind of request; ours are of all together: eventqueuetimems and eventqueueprocessingtimems"
OF_BROKERS = "always 0 on a controller, which has no partitions of topics and no clients that produce or fetch"
# Of names that no pod of ours serves: the beginning of a name -> why.
LEFT_OUT = {
    "jvm_": OF_THE_JVM, "jmx_": OF_THE_EXPORTER, "kafka_server_app_info_": OF_THE_JVM,
    "kafka_server_kafka_metrics_count": OF_THE_JVM, "kafka_server_controllerserver_yammer_metrics_count": OF_THE_JVM,
    "kafka_network_acceptor_": OF_JAVA_SOCKETS, "kafka_network_processor_": OF_JAVA_SOCKETS,
    "kafka_network_requestchannel_": OF_JAVA_SOCKETS, "kafka_network_socketserver_": OF_JAVA_SOCKETS,
    "kafka_server_socket_server_metrics_": OF_JAVA_SOCKETS,
    "kafka_server_kafkarequesthandlerpool_": "one thread serves all: …controllereventmanager_avgidleratio",
    "kafka_server_raftchannelmetrics_": OF_CLIENTS, "kafka_server_raft_channel_metrics_": OF_CLIENTS,
    "kafka_server_registration_metrics_": OF_CLIENTS, "kafka_network_requestmetrics_": BY_REQUEST,
    "kafka_server_brokertopicmetrics_": OF_BROKERS, "kafka_server_delayedoperationpurgatory_": OF_BROKERS,
    "kafka_server_fetch_queue_size": OF_BROKERS, "kafka_server_produce_queue_size": OF_BROKERS,
    "kafka_server_request_": OF_BROKERS, "kafka_server_controllermutation_queue_size": OF_BROKERS,
    "kafka_server_node_metrics_": "levels that this release supports: kafka-features describe",
    "kafka_log_log_retentionsizein": "how full the log is of its retention: always 0, as it has no such limit",
    "kafka_log_logflushstats_": "flushes of Java's log; kraft_commit_latency_seconds has the time to a commit",
}  # fmt: skip
# Of what is served in another form: the type here, and why.
OTHER_KINDS = {"kafka_server_raftmetrics_current_state": ("gauge", "stock's has no type; the value is 1 in both")}
SERVED_OF_LEFT_OUT = {
    f"kafka_server_raft{name}"
    for part in ("request", "response", "outgoing_byte", "incoming_byte")
    for name in (f"channelmetrics_{part}_total", f"_channel_metrics_{part}")
}


def reason(series: Series) -> str | None:
    """Why it is not served; None for one that is to be."""
    if series.name in SERVED_OF_LEFT_OUT:
        return None
    if series.name.endswith("_created"):
        return "when the program began to count: of the program"
    return next((why for start, why in LEFT_OUT.items() if series.name.startswith(start)), None)


@needs_openssl
@pytest.mark.parametrize("naming", ["exporter", "reporter"])
def test_each_series_of_a_stock_controller_is_served_or_has_its_reason(tmp_path: Path, naming: str) -> None:
    stock = stored_series(naming)
    expected = {
        each._replace(kind=OTHER_KINDS[each.name][0]) if each.name in OTHER_KINDS else each
        for each in stock
        if reason(each) is None
    }

    found = series_in(scrape_pod(tmp_path, naming))

    assert sorted(expected - found) == []
    assert [each for each in found if reason(each) is not None] == [], "no reason is needed"
    of_the_quorum = Counter(each.name.split("_")[1] for each in expected)
    assert of_the_quorum["controller"] >= 30, of_the_quorum
    assert of_the_quorum["server"] >= 40, of_the_quorum


def test_each_reason_is_needed() -> None:
    names = [each.name for naming in ("exporter", "reporter") for each in stored_series(naming)]

    assert [start for start in LEFT_OUT if not any(name.startswith(start) for name in names)] == []
