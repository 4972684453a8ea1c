"""The view of the quorum by a leader, a follower and a node without a leader; and values that it never shows."""

from __future__ import annotations

import json

from controller.config.node import NodeConfig
from controller.server.http.quorum import SHOWN_MAX, cluster_view, config_view, quorum_view
from records.hidden_text import HIDDEN
from tests.controller.config.values.test_addresses import NODE
from tests.controller.rig import Rig
from tests.controller.server.http.bundle import reading_of
from tests.raft.building import active, batch, fetch_response, follower, unattached


def test_a_leader_shows_the_offset_of_each_voter() -> None:
    bench = active(epoch=2)
    bench.now += 70

    view = quorum_view(reading_of(bench, Rig().lead()))

    end = bench.replica.log.end
    assert view["node"]["role"] == "leader"
    assert view["node"]["is_active_controller"]
    assert [
        (v["id"], v["is_leader"], v["end_offset"], v["lag"], v["fetched_ago_ms"]) for v in view["quorum"]["voters"]
    ] == [
        (1, True, end, 0, None),
        (2, False, end, 0, 70),
        (3, False, end, 0, 70),
    ]
    assert (view["quorum"]["epoch"], view["quorum"]["high_watermark"]) == (2, end)
    assert (view["state"]["metadata_version"], view["state"]["metadata_version_name"]) == (30, "4.3-IV0")


def test_a_follower_shows_its_own_lag_and_not_that_of_others() -> None:
    bench = follower()
    bench.answer(bench.last_send(), fetch_response(1, 2, records=batch(0, 1, 5), high_watermark=9))

    view = quorum_view(reading_of(bench, Rig()))
    voters = {voter["id"]: voter for voter in view["quorum"]["voters"]}

    assert (voters[1]["end_offset"], voters[1]["lag"]) == (5, 9)
    assert "lag" not in voters[2]
    assert voters[2]["is_leader"]
    assert (view["log"]["end_offset"], view["state"]["behind_records"]) == (5, 9)
    assert view["quorum"]["observers"] == []


def test_there_is_a_view_without_a_leader() -> None:
    view = quorum_view(reading_of(unattached(epoch=7), Rig()))

    assert (view["quorum"]["epoch"], view["quorum"]["leader_id"], view["quorum"]["high_watermark"]) == (7, None, None)
    assert [voter["id"] for voter in view["quorum"]["voters"]] == [1, 2, 3]
    assert not all(check["ok"] for check in view["checks"])
    json.dumps(view, allow_nan=False)


def test_the_view_has_brokers_and_unhealthy_partitions() -> None:
    rig = Rig().lead().brokers(1, 2, 3)
    rig.create("a", (1, 2), (2, 3))
    rig.create("b", (3,))
    rig.now_ms += 400
    rig.fence(3)
    bench = active()
    bench.now = rig.now_ms + 100

    view = cluster_view(reading_of(bench, rig))

    assert [(b["id"], b["state"], b["heard_ago_ms"], b["leads"]) for b in view["brokers"]] == [
        (1, "active", 500, 1),
        (2, "active", 500, 1),
        (3, "fenced", 100, 0),
    ]
    assert view["offline"]["count"] == 1
    assert [(one["topic"], one["partition"]) for one in view["offline"]["shown"]] == [("b", 0)]
    assert [(one["topic"], one["partition"]) for one in view["under_replicated"]["shown"]] == [("a", 1)]
    json.dumps(view, allow_nan=False)


def test_the_last_heartbeat_of_a_broker_whose_session_expired_is_shown() -> None:
    rig = Rig().lead().brokers(1, 2)
    sessions = rig.controller.env.sessions
    assert sessions is not None
    sessions.forget_contact(2, rig.state.brokers[2].epoch)
    bench = active()
    bench.now = rig.now_ms + 9000

    view = cluster_view(reading_of(bench, rig))

    assert [(b["id"], b["heard_ago_ms"]) for b in view["brokers"]] == [(1, 9000), (2, 9000)]


def test_a_long_list_is_truncated_and_its_length_shown() -> None:
    rig = Rig().lead().brokers(1)
    rig.create("a", *[(1,)] * (SHOWN_MAX + 50))
    rig.fence(1)

    offline = cluster_view(reading_of(active(), rig))["offline"]

    assert (offline["count"], len(offline["shown"])) == (SHOWN_MAX + 50, SHOWN_MAX)


def test_secrets_and_unknown_keys_are_not_shown() -> None:
    config = NodeConfig(
        {
            **NODE,
            "ssl.keystore.password": "s3cret",
            "listener.name.controller.plain.sasl.jaas.config": "s3cret",
            "my.plugin.token": "s3cret",
            "config.providers": "env",
            "config.providers.env.class": "org.apache.kafka.common.config.provider.EnvVarConfigProvider",
            "ssl.cipher.suites": "${env:SUITES}",
            "sasl.oauthbearer.jwks.endpoint.url": "https://kraft:s3cret@idp.example.org/jwks?key=s3cret",
        },
        {"SUITES": "s3cret"},
    )

    shown = config_view(config)

    assert "s3cret" not in json.dumps(shown)
    assert shown["ssl.keystore.password"] == shown["my.plugin.token"] == HIDDEN
    assert shown["sasl.oauthbearer.jwks.endpoint.url"] == "https://[hidden]@idp.example.org/jwks?[hidden]"
    assert shown["node.id"] == "1"
