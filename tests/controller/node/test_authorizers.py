"""The authorizer that a configuration names."""

from __future__ import annotations

from typing import Any

import pytest

from controller.config.node import NodeConfig
from controller.interface.access import Action
from controller.interface.inputs import Principal
from controller.node.authorizers import access_of
from controller.rules.authorizer import StandardAuthorizer
from controller.state.tables.acl import AclOperation, AclResourceType
from records.errors import ApiError, Error
from records.java.config_error import ConfigError
from tests.controller.handlers.cluster_of_configs import NODE

STANDARD = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
HERE = "python:tests.controller.node.test_authorizers"
ASKED = Action(Principal("User", "ann"), "h", "C", 19, AclOperation.READ, AclResourceType.TOPIC, "t")


class Own:
    """An authorizer of the operator: ann is allowed, cat makes it fail."""

    def __init__(self, config: dict[str, str]) -> None:
        self.name = config["own.name"]

    def decide(self, action: Action, _acls: Any) -> Any:
        if action.principal.name == "cat":
            raise ValueError("no cats")
        return action.principal.name == self.name, "by name"


def not_an_authorizer(_config: dict[str, str]) -> object:
    return object()


def config(**changes: str) -> NodeConfig:
    return NodeConfig(NODE | {key.replace("_", "."): value for key, value in changes.items()})


def test_the_standard_authorizer_reads_stocks_keys() -> None:
    found = access_of(
        config(
            authorizer_class_name=STANDARD,
            super_users=" User:a;;User:b ;",
            allow_everyone_if_no_acl_found=" TRUE",
            early_start_listeners="CONTROLLER",
        )
    )

    assert found is not None
    assert isinstance(found.authorizer, StandardAuthorizer)
    assert found.authorizer.super_users == {"User:a", "User:b"}
    assert found.authorizer.allows_without_acls
    assert found.early_start_listeners == {"CONTROLLER"}
    assert found.authorizer.takes_cidr


def test_the_standard_authorizer_takes_no_ranges_of_hosts_on_a_node_of_4_3() -> None:
    found = access_of(config(authorizer_class_name=STANDARD, kraft_release="4.3"))

    assert found is not None
    assert isinstance(found.authorizer, StandardAuthorizer)
    assert not found.authorizer.takes_cidr


def test_without_the_authorizer_key_everything_is_allowed() -> None:
    assert access_of(config()) is None


def test_an_operators_authorizer_decides() -> None:
    lines: list[tuple[str, dict[str, str]]] = []
    found = access_of(
        config(authorizer_class_name=f"{HERE}:Own", own_name="ann"), lambda name, **fields: lines.append((name, fields))
    )
    assert found is not None

    assert found.authorizer.decide(ASKED, None) == (True, "by name")
    assert not found.authorizer.decide(ASKED._replace(principal=Principal("User", "bob")), None).allowed
    for _ in range(2):
        with pytest.raises(ApiError) as error:
            found.authorizer.decide(ASKED._replace(principal=Principal("User", "cat")), None)
        assert error.value.code is Error.UNKNOWN_SERVER_ERROR
    assert lines == [("authorizer_failed", {"authorizer": f"{HERE}:Own", "error": "ValueError: no cats"})]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("a.B", "authorizer.class.name=a.B cannot be run here; this node runs org.apache"),
        ("python:m", "authorizer.class.name=python:m cannot be run here"),
        ("python:no_such_module:x", "authorizer.class.name=python:no_such_module:x cannot be loaded: ModuleNotFound"),
        (f"{HERE}:absent", f"authorizer.class.name={HERE}:absent cannot be loaded: AttributeError"),
        (f"{HERE}:Own", f"authorizer.class.name={HERE}:Own cannot be loaded: KeyError"),
        (
            f"{HERE}:not_an_authorizer",
            f"authorizer.class.name={HERE}:not_an_authorizer cannot be used: what it made has no function decide(",
        ),
    ],
)
def test_an_authorizer_that_cannot_be_loaded_is_refused_in_one_line(name: str, said: str) -> None:
    with pytest.raises(ConfigError) as error:
        access_of(config(authorizer_class_name=name))

    assert str(error.value).startswith(said)
    assert "\n" not in str(error.value)


def test_a_super_user_needs_a_principal_type() -> None:
    with pytest.raises(ConfigError, match="expected a string in format principalType:principalName but got ann"):
        access_of(config(authorizer_class_name=STANDARD, super_users="ann"))
