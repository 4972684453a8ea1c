"""An operator's own policies: CreateTopicPolicy and AlterConfigPolicy of stock (KIP-108, KIP-133), in Python."""

from __future__ import annotations

from typing import Any

import pytest

from controller.config.plugins import Plugin
from controller.config.served import served_config
from controller.interface.policies import Policies
from controller.node.plugins import MESSAGE_LENGTH_MAX, OwnPolicy, policies_of
from kraft_quorum.plugins import ConfigChange, NewTopic, PolicyViolation
from records.errors import ApiError, Error
from records.java.config_error import ConfigError
from records.messages.configs import AlterConfigsRequest, IncrementalAlterConfigsRequest
from records.messages.topics import CreateTopicsRequest
from tests.controller.handlers.cluster_of_configs import NODE
from tests.controller.rig import Rig, new_topic

HERE = "python:tests.controller.node.test_plugins"
CREATE, ALTER = "create.topic.policy.class.name", "alter.config.policy.class.name"
Topic = CreateTopicsRequest.CreatableTopic
REFUSED = {"bad": PolicyViolation("no topic is bad"), "bare": PolicyViolation(), "own": ApiError(Error.INVALID_CONFIG)}


class Recording:
    """A policy that remembers what it was asked, and refuses some names."""

    asked: list[Any] = []  # noqa: RUF012 the node makes the object; the tests look here

    def __init__(self, config: dict[str, str]) -> None:
        self.said = config.get("own.text", "")

    def validate(self, request: Any) -> None:
        self.asked.append(request)
        name = request.topic if isinstance(request, NewTopic) else request.configs.get("retention.ms")
        if name in REFUSED:
            raise REFUSED[name]
        if name in {"fails", "5"}:
            raise ValueError(f"own text: {self.said}")


def no_policy(_config: dict[str, str]) -> object:
    return object()


def fails(_config: dict[str, str]) -> object:
    raise ValueError("two\nlines")


class Log:
    def __init__(self) -> None:
        self.lines: list[tuple[str, dict[str, Any]]] = []

    def __call__(self, event: str, **fields: Any) -> None:
        self.lines.append((event, fields))


def rig(log: Log | None = None) -> Rig:
    found = Rig().lead().brokers(0, 1)
    config = served_config(NODE | {CREATE: f"{HERE}:Recording", ALTER: f"{HERE}:Recording", "own.text": "x"})
    found.controller.env.policies = policies_of(config, log or Log())
    Recording.asked = []
    return found


def create(found: Rig, *topics: Any, **fields: Any) -> list[Any]:
    answer = found.ask(CreateTopicsRequest(topics=topics, **fields))
    return [(each.error_code, each.error_message) for each in answer.topics]


def plain(name: str, partitions: int = -1, replication: int = -1, **configs: str) -> Any:
    return Topic(
        name=name,
        num_partitions=partitions,
        replication_factor=replication,
        assignments=(),
        configs=new_topic(name, **configs).configs,
    )


def test_a_policy_is_asked_with_the_defaults_filled_in_or_with_the_assigned_replicas() -> None:
    found = rig()

    answers = create(found, plain("a", segment_ms="60000"), plain("b", 3, 2), new_topic("c", (1, 0), (0, 1)))

    assert answers == [(0, None)] * 3
    assert Recording.asked == [
        ConfigChange("TOPIC", "a", {"segment.ms": "60000"}),
        NewTopic("a", 1, 1, None, {"segment.ms": "60000"}),
        NewTopic("b", 3, 2, None, {}),
        NewTopic("c", None, None, {0: [1, 0], 1: [0, 1]}, {}),
    ]


def test_what_a_policy_refuses_has_its_text_and_other_topics_are_created() -> None:
    log = Log()
    found = rig(log)

    answers = create(found, plain("bad"), plain("bare"), plain("own"), plain("fails"), plain("good"))

    assert answers == [
        (Error.POLICY_VIOLATION, "no topic is bad"),
        (Error.POLICY_VIOLATION, None),
        (Error.INVALID_CONFIG, None),
        (Error.UNKNOWN_SERVER_ERROR, None),
        (0, None),
    ]
    assert set(found.state.topic_ids) == {"good"}
    policy = f"{CREATE}={HERE}:Recording"
    create(found, plain("fails"))
    assert log.lines == [("policy_failed", {"policy": policy, "error": "ValueError: own text: x"})]


def test_a_dry_run_asks_too_and_what_is_invalid_is_not_asked() -> None:
    found = rig()

    dry = create(found, plain("bad"), validate_only=True)
    invalid = create(found, plain("a b"), plain("c", 0), plain("d", 1, 3))

    assert dry == [(Error.POLICY_VIOLATION, "no topic is bad")]
    assert [code for code, _ in invalid] == [
        Error.INVALID_TOPIC_EXCEPTION, Error.INVALID_PARTITIONS, Error.INVALID_REPLICATION_FACTOR,
    ]  # fmt: skip
    assert Recording.asked == [NewTopic("bad", 1, 1, None, {})]


def altered(found: Rig, *resources: tuple[int, str, list[tuple[str, int, str | None]]], **fields: Any) -> list[Any]:
    item = IncrementalAlterConfigsRequest.AlterConfigsResource
    made = tuple(
        item(
            resource_type=kind,
            resource_name=name,
            configs=tuple(
                item.AlterableConfig(name=key, config_operation=operation, value=value)
                for key, operation, value in operations
            ),
        )
        for kind, name, operations in resources
    )
    answer = found.ask(IncrementalAlterConfigsRequest(resources=made, **{"validate_only": False, **fields}))
    return [(each.error_code, each.error_message) for each in answer.responses]


def test_a_config_policy_is_asked_of_the_new_values_of_every_kind_of_resource() -> None:
    found = rig()
    create(found, plain("t", retention_ms="7"))
    Recording.asked = []

    answers = altered(
        found,
        (2, "t", [("retention.ms", 1, None), ("cleanup.policy", 2, "compact")]),
        (4, "", [("log.retention.ms", 0, "9")]),
        (16, "m", [("interval.ms", 0, "1000")]),
        (32, "g", [("consumer.session.timeout.ms", 0, "50000")]),
        (2, "absent", [("retention.ms", 0, "1")]),
        (2, "t", []),
    )  # fmt: skip

    assert [code for code, _ in answers] == [Error.INVALID_REQUEST, 0, 0, 0, Error.UNKNOWN_TOPIC_OR_PARTITION]
    assert Recording.asked == [
        ConfigChange("BROKER", "", {"log.retention.ms": "9"}),
        ConfigChange("CLIENT_METRICS", "m", {"interval.ms": "1000"}),
        ConfigChange("GROUP", "g", {"consumer.session.timeout.ms": "50000"}),
    ]
    Recording.asked = []
    altered(found, (2, "t", [("retention.ms", 1, None), ("cleanup.policy", 2, "compact")]), validate_only=True)
    assert Recording.asked == [ConfigChange("TOPIC", "t", {"retention.ms": None, "cleanup.policy": "delete,compact"})]


def test_what_alter_configs_removes_without_naming_it_is_not_shown_to_the_policy() -> None:
    found = rig()
    create(found, plain("t", retention_ms="7", segment_ms="60000"))
    Recording.asked = []
    item = AlterConfigsRequest.AlterConfigsResource

    def replace(*configs: tuple[str, str]) -> Any:
        made = tuple(item.AlterableConfig(name=key, value=value) for key, value in configs)
        resource = item(resource_type=2, resource_name="t", configs=made)
        return found.ask(AlterConfigsRequest(resources=(resource,), validate_only=False)).responses[0]

    first, second = replace(("retention.ms", "8")), replace(("retention.ms", "bad"))

    assert (first.error_code, second.error_code) == (0, Error.INVALID_CONFIG)
    assert Recording.asked == [ConfigChange("TOPIC", "t", {"retention.ms": "8"})]
    assert found.state.configs[2, "t"] == {"retention.ms": "8"}


def test_a_refused_change_writes_nothing() -> None:
    log = Log()
    found = rig(log)
    create(found, plain("t"))

    answers = altered(found, (2, "t", [("retention.ms", 0, "5")]))

    assert answers == [(Error.UNKNOWN_SERVER_ERROR, None)]
    assert (2, "t") not in found.state.configs
    assert [name for name, _ in log.lines] == ["policy_failed"]


def test_a_long_text_is_cut() -> None:
    class Long:
        def validate(self, _request: Any) -> None:
            raise PolicyViolation("x" * 100_000)

    found = rig()
    policy = OwnPolicy(Plugin(CREATE, "m", "a"), Long(), Log())
    found.controller.env.policies = Policies(create_topic=policy)

    assert create(found, plain("t")) == [(Error.POLICY_VIOLATION, "x" * MESSAGE_LENGTH_MAX)]


@pytest.mark.parametrize("key", [CREATE, ALTER])
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("a.B", "=a.B names a Java class, which this node cannot run; remove the key, or name one of your own as py"),
        ("python:m", "=python:m names a Java class"),
        ("python:no_such_module:x", "=python:no_such_module:x cannot be loaded: ModuleNotFoundError: No module"),
        (f"{HERE}:absent", f"={HERE}:absent cannot be loaded: AttributeError"),
        (f"{HERE}:fails", f"={HERE}:fails cannot be loaded: ValueError: two lines"),
        (f"{HERE}:no_policy", f"={HERE}:no_policy cannot be used: what it made has no function validate(request)"),
    ],
)
def test_what_cannot_be_run_is_refused_in_one_line(key: str, name: str, said: str) -> None:
    with pytest.raises(ConfigError) as error:
        policies_of(served_config(NODE | {key: name}), Log())

    assert str(error.value).startswith(f"{key}{said}")
    assert "\n" not in str(error.value)


def test_without_the_keys_there_are_no_policies() -> None:
    found = policies_of(served_config(NODE | {CREATE: " "}), Log())

    assert (found.create_topic, found.alter_config) == (None, None)
