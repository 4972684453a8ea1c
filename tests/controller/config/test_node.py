"""A node's configuration is accepted or refused as by stock, with stock's texts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from controller.config.keys import server
from controller.config.node import NodeConfig
from records.features.levels import KAFKA_4_3, KAFKA_4_4
from records.java.config_error import ConfigError

if TYPE_CHECKING:
    from controller.config.values.listeners import Endpoint
    from records.features.levels import Release

DATA = Path(__file__).parents[2] / "data" / "kafka-configs"

NODE = {
    "process.roles": "controller",
    "node.id": "1",
    "listeners": "CONTROLLER://127.0.0.1:9093",
    "controller.listener.names": "CONTROLLER",
    "controller.quorum.voters": "1@127.0.0.1:9093",
    "log.dirs": "/data/1",
}

# Texts that differ from stock's, and why.
OURS = {
    # Stock fails when it binds the port.
    "CONTROLLER://h:-1": "port -1 of CONTROLLER://h:-1 is not within 0 to 65535",
    # Stock uses the working directory.
    'metadata.log.dir": ""': "metadata.log.dir must not be empty",
    # Stock's text is "/ by zero".
    'log.cleaner.threads": "0"': "log.cleaner.threads must not be 0",
    # The order of Scala's HashSet.
    "5@h:1,4@h:1,3@h:1": "controller.quorum.voters=HashSet(2, 3, 4, 5, 6, 7)",
}


def node(**changes: str) -> NodeConfig:
    return NodeConfig(NODE | {key.replace("_", "."): value for key, value in changes.items()})


def endpoints(found: tuple[Endpoint, ...]) -> str:
    return ",".join(
        f"{endpoint.name}|{endpoint.protocol}|{'null' if endpoint.host is None else endpoint.host}|{endpoint.port}"
        for endpoint in found
    )


def answer(given: dict[str, str]) -> list[str]:
    try:
        config = NodeConfig(given)
    except ConfigError as error:
        return ["error", error.exception, error.text]
    advertised = endpoints(config.advertised_listeners)
    return ["ok", endpoints(config.listeners), advertised, config.metadata_log_dir, str(config.node_id)]


def is_newer(case: dict[str, Any]) -> bool:
    """Whether a file has keys that 4.3.1 does not know: it ignores them, and ours checks them."""
    return any((key := server.KEYS.get(name)) is not None and key.since for name in case["set"])


@pytest.mark.parametrize("release", [KAFKA_4_3, KAFKA_4_4], ids=lambda release: release.name)
def test_stock_accepts_and_refuses_the_same_files_with_the_same_texts(release: Release) -> None:
    different = []
    for line in (DATA / "nodes.jsonl").read_text().splitlines():
        case = json.loads(line)
        given = {key: value for key, value in (NODE | case["set"]).items() if key not in case["unset"]}
        if is_newer(case) and release is KAFKA_4_3:
            continue
        ours = answer({"kraft.release": release.name, **given})
        wanted = case.get("answer_4_3", case["answer"]) if release is KAFKA_4_3 else case["answer"]
        departs = next((text for mark, text in OURS.items() if mark in line), None)
        if departs is not None:
            assert departs in ours[2]
        elif ours != wanted:
            different.append((line, ours))

    assert different == []


def test_every_listed_difference_from_stock_is_tested() -> None:
    lines = (DATA / "nodes.jsonl").read_text()

    assert [mark for mark in OURS if mark not in lines] == []


def test_an_unknown_key_is_a_warning_that_suggests_a_similar_key() -> None:
    unknown = {"controller.quorum.voter": "x", "zookeeper.connect": "h:2181", "kraft.log.levl": "INFO"}

    config = NodeConfig(NODE | unknown)

    said = "{} is not a known configuration key{}; it is ignored"
    assert config.warnings == [
        said.format("controller.quorum.voter", " (did you mean controller.quorum.voters?)"),
        said.format("zookeeper.connect", ""),
        said.format("kraft.log.levl", " (did you mean kraft.log.level?)"),
    ]


def test_broker_id_is_deprecated_from_4_4_on() -> None:
    text = "The 'broker.id' configuration is deprecated and will be removed in Apache Kafka 5.0. Please use 'node.id' "

    assert node(broker_id="1").warnings == [f"{text}instead."]
    assert node(broker_id="1", kraft_release="4.3").warnings == []
    with pytest.raises(ConfigError, match=r"^You must set `node\.id` to the same value as `broker\.id`\.$"):
        node(broker_id="2", kraft_release="4.3")


def test_a_heartbeat_interval_near_the_session_timeout_is_a_warning() -> None:
    config = node(broker_heartbeat_interval_ms="5000")

    assert [text.split(" must")[0] for text in config.warnings] == ["broker.heartbeat.interval.ms (5000 ms)"]


def test_appends_do_not_linger_unless_configured() -> None:
    assert node().append_linger_ms == 0
    assert node(controller_quorum_append_linger_ms="25").append_linger_ms == 25


def test_our_own_keys_are_checked() -> None:
    with pytest.raises(ConfigError, match=r"Invalid value xml for configuration kraft\.log\.format"):
        node(kraft_log_format="xml")


def test_a_node_is_that_of_the_newest_release_or_of_the_one_that_is_set() -> None:
    assert node().release is KAFKA_4_4
    assert node(kraft_release="4.4").release is KAFKA_4_4
    assert node(kraft_release="4.3").release is KAFKA_4_3
    with pytest.raises(ConfigError, match=r"^Invalid value 4\.5 for configuration kraft\.release: .*4\.3, 4\.4"):
        node(kraft_release="4.5")


def test_a_previewed_release_adds_its_rules_to_those_of_the_release() -> None:
    previewed = node(kraft_preview_release="4.5")

    assert (previewed.release, previewed.asks_new_endpoints) == (KAFKA_4_4, True)
    assert not node().asks_new_endpoints
    assert not node(kraft_preview_release="4.4").asks_new_endpoints


def test_a_release_that_was_previewed_stays_valid_and_no_other_can_be() -> None:
    assert node(kraft_preview_release="").release is KAFKA_4_4
    assert node(kraft_preview_release="4.4").release is KAFKA_4_4
    assert node(kraft_preview_release="4.4", kraft_release="4.3").release is KAFKA_4_3
    for other in ("4.6", "4.4.0", "4.3"):
        with pytest.raises(
            ConfigError, match=rf"^Invalid value {other} for configuration kraft\.preview\.release: .*4"
        ):
            node(kraft_preview_release=other)


def test_a_secret_is_not_shown() -> None:
    config = NodeConfig(NODE | {"ssl.keystore.password": "hush", "delegation.token.secret.key": "hush"})

    assert "hush" not in repr(config)
    assert "hush" not in "".join(config.warnings)


FORMS = {"controller_quorum_voters": "", "kraft_quorum_bootstrap_expect": "3"}
SERVERS = {"controller_quorum_bootstrap_servers": "c1:1,c2:1,c3:1"}


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"controller_quorum_bootstrap_servers": "c1:1,c2:1"}, "has 2: name the 3 controllers"),
        # One of them that is silent may belong to a quorum while the other three form another.
        ({"controller_quorum_bootstrap_servers": "c1:1,c2:1,c3:1,c4:1"}, "has 4: name the 3 controllers"),
        ({**SERVERS, "controller_quorum_voters": "1@c1:1"},
         "makes a quorum with dynamic voters; remove controller.quorum.voters"),
        ({**SERVERS, "process_roles": "broker,controller",
          "listeners": "CONTROLLER://127.0.0.1:9093,PLAINTEXT://127.0.0.1:9092"}, "whose only role is controller"),
        ({**SERVERS, "metadata_log_dir": "/data/2"}, "is for controllers with one directory"),
        ({**SERVERS, "log_dirs": "/data/1,/data/2"}, "is for controllers with one directory"),
    ],
)  # fmt: skip
def test_a_quorum_forms_only_from_exactly_its_controllers(changes: dict[str, str], text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        node(**{**FORMS, **changes})


def test_a_controller_that_forms_a_quorum_is_told_to_join_by_itself() -> None:
    key = "controller.quorum.auto.join.enable"

    assert any(key in warning for warning in node(**FORMS, **SERVERS).warnings)
    for either in ("controller_quorum_auto_join_enable", "kraft_autopilot_enable"):
        assert not any(key in each for each in node(**FORMS, **SERVERS, **{either: "true"}).warnings)


def test_voters_leave_only_where_an_autopilot_adds_them_again() -> None:
    leaves = {"kraft_autopilot_leave_on_stop": "true"}

    with pytest.raises(ConfigError, match=r"leave.on.stop=true needs kraft.autopilot.enable=true"):
        node(**leaves)

    assert node(**leaves, kraft_autopilot_enable="true").flag("kraft.autopilot.leave.on.stop")


def test_a_voter_that_leaves_does_not_join_again_by_itself() -> None:
    leaves = {"kraft_autopilot_leave_on_stop": "true", "kraft_autopilot_enable": "true"}

    with pytest.raises(ConfigError, match=r"leave.on.stop=true needs controller.quorum.auto.join.enable=false"):
        node(**leaves, controller_quorum_auto_join_enable="true")
