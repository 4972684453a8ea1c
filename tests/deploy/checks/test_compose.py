"""The compose file is valid by the published schema, and each node accepts the environment of its service."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from controller.config.node import NodeConfig
from controller.config.served import check_served
from tools.kraftctl.run.environment import container_properties, keys_of_environment

COMPOSE = Path(__file__).parents[3] / "deploy" / "compose" / "compose.yaml"
CONTROLLERS = ["controller-1", "controller-2", "controller-3"]


@pytest.fixture(name="services", scope="module")
def _services() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(COMPOSE.read_text())["services"]
    return found


def test_it_is_valid_by_the_schema_of_compose() -> None:
    command = ["check-jsonschema", "--builtin-schema", "vendor.compose-spec", str(COMPOSE)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr


def test_there_are_three_controllers_and_a_stock_broker(services: dict[str, Any]) -> None:
    assert sorted(services) == ["broker", *CONTROLLERS]
    assert services["broker"]["image"] == "apache/kafka:4.3.1"
    # A new quorum is at a level that this broker supports.
    assert {services[name]["environment"]["KAFKA_KRAFT_RELEASE"] for name in CONTROLLERS} == {"4.3"}
    assert {services[name]["image"] for name in CONTROLLERS} == {"kraft-quorum:0.1.0"}
    assert (COMPOSE.parent / services["controller-1"]["build"]["context"] / "Dockerfile").exists()


@pytest.mark.parametrize("name", CONTROLLERS)
def test_each_node_accepts_the_configuration_of_its_controller_service(services: dict[str, Any], name: str) -> None:
    service = services[name]

    config = NodeConfig(container_properties(service["environment"], None))

    check_served(config)
    assert config.warnings == []
    assert config.node_id == int(name[-1])
    assert config.bootstrap_servers == tuple((other, config.controller_listeners[0].port) for other in CONTROLLERS)
    assert not config.voters
    assert config.number("kraft.quorum.bootstrap.expect") == len(CONTROLLERS)
    assert service["volumes"] == [f"{name}:{config.metadata_log_dir}"]
    assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])


def test_the_broker_is_configured_for_these_controllers(services: dict[str, Any]) -> None:
    environment = services["broker"]["environment"]

    config = NodeConfig(keys_of_environment(environment))
    controller = services["controller-1"]["environment"]

    assert config.process_roles == ("broker",)
    assert config.warnings == []
    for name in ("CLUSTER_ID", "KAFKA_CONTROLLER_QUORUM_BOOTSTRAP_SERVERS", "KAFKA_CONTROLLER_LISTENER_NAMES"):
        assert environment[name] == controller[name]
    assert str(config.node_id) not in {services[name]["environment"]["KAFKA_NODE_ID"] for name in CONTROLLERS}
