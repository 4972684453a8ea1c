"""`kafka-configs --describe`: which configs are asked for together, and what is printed before an error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from records.errors import Error
from tools.client.exceptions import KafkaError
from tools.client.settings import settings_of
from tools.command_line.java_texts import Uncaught
from tools.kafka.configs import config_describe
from tools.kafka.configs import config_list_calls as lists
from tools.kafka.configs.config_arguments import Entities
from tools.kafka.configs.config_calls import ConfigEntry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tools.kafka.configs.config_calls import ConfigResource, Described


class Admin:
    settings = settings_of("127.0.0.1:1", None, {})


@pytest.fixture(name="asked")
def _asked(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The names of each DescribeConfigs, whose answers refuse `refused`."""
    names: list[list[str]] = []

    def describe_configs(_admin: Any, resources: Sequence[ConfigResource], **_: Any) -> Described:
        names.append([resource.name for resource in resources])
        entry = ConfigEntry("retention.ms", "5", config_describe.DYNAMIC["topics"], is_sensitive=False, synonyms=())
        error = KafkaError(Error.TOPIC_AUTHORIZATION_FAILED, "No")
        return {resource: error if resource.name == "refused" else (entry,) for resource in resources}

    monkeypatch.setattr(config_describe, "describe_configs", describe_configs)
    monkeypatch.setattr(lists, "topic_names", lambda _: ["b", "refused", "a"])
    monkeypatch.setattr(lists, "node_ids", lambda _: [2, 1])
    return names


def test_entities_that_one_node_knows_are_asked_for_together(asked: list[list[str]]) -> None:
    admin: Any = Admin()

    config_describe.describe(admin, Entities(["brokers"], []), everything=True)
    with pytest.raises(Uncaught):
        config_describe.describe(admin, Entities(["topics"], []), everything=True)

    assert asked == [["2"], ["1"], [""], ["b", "refused", "a"]]


def test_what_was_described_before_a_refusal_is_printed(
    asked: list[list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    admin: Any = Admin()

    with pytest.raises(Uncaught, match="TopicAuthorizationException: No"):
        config_describe.describe(admin, Entities(["topics"], []), everything=False)

    assert capsys.readouterr().out == (
        "Dynamic configs for topic b are:\n"
        "  retention.ms=5 sensitive=false synonyms={}\n"
        "Dynamic configs for topic refused are:\n"
    )
    assert len(asked) == 1


def test_groups_come_before_those_that_have_only_configs(
    monkeypatch: pytest.MonkeyPatch, asked: list[list[str]]
) -> None:
    admin: Any = Admin()
    monkeypatch.setattr(lists, "group_ids", lambda _: ["g3", "g1", "g2", "g4", "g5"])
    monkeypatch.setattr(lists, "resource_names", lambda *_: ["g0", "g1"])

    config_describe.describe(admin, Entities(["groups"], []), everything=True)

    assert asked == [["g3", "g1", "g2", "g4", "g5", "g0"]]
