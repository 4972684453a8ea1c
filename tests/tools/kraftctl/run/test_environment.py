"""Environment variables of a container, and the keys that they set."""

from __future__ import annotations

import pytest

from records.java.config_error import ConfigError
from tools.kraftctl.run.environment import DEFAULT_PROPERTIES, container_properties, key_of, keys_of_environment


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("KAFKA_NODE_ID", "node.id"),
        ("KAFKA_KRAFT_HTTP_LISTENER", "kraft.http.listener"),
        ("KAFKA_A__B", "a_b"),
        ("KAFKA_A___B", "a-b"),
        ("KAFKA_A____B", "a-.b"),
        ("KAFKA_A_____B", "a-_b"),
        ("KAFKA_A______B", "a--b"),
        ("KAFKA_LISTENER_NAME_KAFKA_TWO", "listener.name.kafka.two"),
    ],
)
def test_a_variable_maps_to_the_same_key_as_in_stock(name: str, key: str) -> None:
    assert key_of(name) == key


def test_only_variables_for_the_server_are_mapped() -> None:
    environment = {
        "KAFKA_NODE_ID": "3", "KAFKA_HEAP_OPTS": "-Xmx1g", "KAFKA_VERSION": "4.3.1", "KAFKA_OPTS": "x",
        "KAFKA_LOG4J_ROOT_LOGLEVEL": "WARN", "CLUSTER_ID": "x", "PATH": "/bin", "KAFKA_": "nothing",
    }  # fmt: skip

    assert keys_of_environment(environment) == {"node.id": "3"}


def test_variables_override_a_mounted_file() -> None:
    mounted = {"node.id": "1", "process.roles": "controller", "log.dirs": "/elsewhere"}

    properties = container_properties({"KAFKA_NODE_ID": "3"}, mounted)

    assert properties == {"node.id": "3", "process.roles": "controller", "log.dirs": "/elsewhere"}


def test_any_variable_disables_the_default_configuration() -> None:
    assert container_properties({"KAFKA_NODE_ID": "3"}, None) == {"node.id": "3", "log.dirs": "/var/lib/kafka/data"}


@pytest.mark.parametrize("mounted", [None, {}])
def test_without_configuration_the_node_is_a_quorum_of_one(mounted: dict[str, str] | None) -> None:
    assert container_properties({}, mounted) == {**DEFAULT_PROPERTIES, "log.dirs": "/var/lib/kafka/data"}


def test_the_level_of_stocks_root_logger_sets_the_log_level() -> None:
    environment = {"KAFKA_NODE_ID": "3", "KAFKA_LOG4J_ROOT_LOGLEVEL": "warn"}

    assert container_properties(environment, None)["kraft.log.level"] == "WARN"


def test_advertised_listeners_of_a_controller_are_refused_and_empty_ones_ignored() -> None:
    controller = {"KAFKA_PROCESS_ROLES": "controller", "KAFKA_LOG_DIRS": "/d"}

    properties = container_properties({**controller, "KAFKA_ADVERTISED_LISTENERS": ""}, None)

    assert properties == {"process.roles": "controller", "log.dirs": "/d"}
    with pytest.raises(ConfigError, match="not supported on a KRaft controller"):
        container_properties({**controller, "KAFKA_ADVERTISED_LISTENERS": "C://h:1"}, None)


def test_a_controller_that_forms_a_quorum_has_its_id_from_the_host_name_and_that_of_the_cluster() -> None:
    forms = {"KAFKA_KRAFT_QUORUM_BOOTSTRAP_EXPECT": "3", "HOSTNAME": "kraft-controller-2", "CLUSTER_ID": "abc"}

    made = container_properties(forms, None)
    given = container_properties({**forms, "KAFKA_NODE_ID": "7"}, {"kraft.quorum.bootstrap.cluster.id": "mounted"})
    others = [
        container_properties({**forms, "HOSTNAME": "c2f4e1"}, None),
        container_properties({**forms, "KAFKA_KRAFT_QUORUM_BOOTSTRAP_EXPECT": "0"}, None),
    ]

    assert (made["node.id"], made["kraft.quorum.bootstrap.cluster.id"]) == ("2", "abc")
    assert (given["node.id"], given["kraft.quorum.bootstrap.cluster.id"]) == ("7", "mounted")
    assert [properties.get("node.id") for properties in others] == [None, None]
    assert container_properties({**forms, "HOSTNAME": "pod-1.svc.example"}, None)["node.id"] == "1"


def test_an_empty_node_id_is_that_of_the_host_name() -> None:
    """A Kubernetes before 1.28 gives pods no label with their ordinal."""
    pod = {"KAFKA_NODE_ID": "", "KAFKA_PROCESS_ROLES": "controller", "HOSTNAME": "kraft-controller-2"}

    alone = container_properties(pod, None)
    mounted = container_properties(pod, {"node.id": "7"})
    elsewhere = container_properties({**pod, "HOSTNAME": "c2f4e1"}, None)

    assert [properties.get("node.id") for properties in (alone, mounted, elsewhere)] == ["2", "7", None]
