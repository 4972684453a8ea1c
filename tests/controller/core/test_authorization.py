"""Each API is called by a sender without permissions, by one with the permission that it needs, and by a super user."""

from __future__ import annotations

from typing import Any

import pytest

from controller.core.apis import APIS, Kind
from controller.core.authorization import refusal
from controller.core.serving import write_result
from controller.interface.access import Access
from controller.interface.inputs import Principal, RequestContext, Ticked
from controller.interface.results import Result
from controller.rules.authorizer import StandardAuthorizer
from controller.state.tables.acl import CLUSTER_NAME, AclOperation, AclResourceType
from raft.interface.inputs import Source
from records.codec import encode
from records.errors import Error, error_text
from records.messages.cluster import DescribeClusterRequest
from records.messages.configs import (
    AlterConfigsRequest,
    DescribeConfigsRequest,
    IncrementalAlterConfigsRequest,
)
from records.messages.topics import CreatePartitionsRequest, CreateTopicsRequest, DeleteTopicsRequest
from records.metadata.security import AccessControlEntryRecord
from records.schema import default_of
from records.uuids import ZERO_UUID
from tests.controller.handlers.cluster_of_configs import env
from tests.controller.handlers.test_describe_configs import FILE
from tests.controller.rig import Rig, new_topic

ANN, ROOT = Principal("User", "ann"), Principal("User", "root")
TOPIC, GROUP, CLUSTER = AclResourceType.TOPIC, AclResourceType.GROUP, AclResourceType.CLUSTER
DENIED = Error.CLUSTER_AUTHORIZATION_FAILED
DESCRIBE_CLUSTER = DescribeClusterRequest(endpoint_type=2, include_cluster_authorized_operations=False)
WITH_NEEDS = sorted(key for key, api in APIS.items() if api.needs is not None)


def secured(**options: Any) -> Rig:
    return Rig(access=Access(StandardAuthorizer({"User:root"})), **options)


def grant(
    rig: Rig, operation: AclOperation, resource_type: AclResourceType = CLUSTER, name: str = CLUSTER_NAME
) -> None:
    """Ann is allowed one operation on one resource."""
    record = AccessControlEntryRecord(
        id=rig.controller.env.random.randbytes(16),
        resource_type=resource_type,
        resource_name=name,
        pattern_type=3,
        principal="User:ann",
        host="*",
        operation=operation,
        permission_type=3,
    )
    write_result(rig.controller, Result(None, [(record, 0)]))
    rig.step(Ticked())


def asked(rig: Rig, api_key: int, principal: Principal, version: int | None = None) -> Any:
    """The error that refuses a request of this API; None if it is allowed."""
    api = APIS[api_key]
    context = RequestContext(Source(1, 1), api_key, version or api.versions[1], "CONTROLLER", principal=principal)
    return refusal(rig.controller, api, context, default_of(api.request))


@pytest.mark.parametrize("api_key", WITH_NEEDS)
def test_a_sender_without_the_permission_is_refused_and_one_with_it_is_not(api_key: int) -> None:
    rig = secured().lead()
    nobody = [
        asked(rig, api_key, ANN, version) for version in range(APIS[api_key].versions[0], APIS[api_key].versions[1] + 1)
    ]
    needs = APIS[api_key].needs
    assert needs is not None
    other = AclOperation.CREATE if needs != AclOperation.CREATE else AclOperation.DELETE
    grant(rig, other)
    with_another_right = asked(rig, api_key, ANN)
    grant(rig, needs)

    assert None not in nobody
    assert with_another_right is not None
    assert (asked(rig, api_key, ANN), asked(rig, api_key, ROOT)) == (None, None)


@pytest.mark.parametrize("api_key", WITH_NEEDS)
def test_an_authorization_error_can_be_encoded_in_every_version(api_key: int) -> None:
    rig = secured().lead()
    low, high = APIS[api_key].versions

    for version in range(low, high + 1):
        answer = asked(rig, api_key, ANN, version or high)
        encode(answer, version or high)
        code = getattr(answer, "error_code", DENIED)
        assert code in (DENIED, 0), answer


def test_a_refused_request_gets_a_response_and_changes_nothing() -> None:
    rig = secured().lead()
    before = rig.end_offset

    answers = {
        key: rig.ask(default_of(api.request), principal=ANN)
        for key, api in APIS.items()
        if api.needs is not None and api.kind in (Kind.WRITE, Kind.READ)
    }

    assert rig.end_offset == before
    assert len(answers) == 18
    text = answers[57].error_message
    assert text.startswith(
        "Request Request(processor=0, connectionId=127.0.0.1-1, session=Session(User:ann,/127.0.0.1), "
    )
    assert text.endswith(" needs ALTER permission.")


def test_authorization_is_the_first_check_also_on_a_standby() -> None:
    rig = secured()

    assert rig.ask(default_of(APIS[46].request), principal=ANN).error_code == DENIED
    assert rig.ask(default_of(APIS[62].request), principal=ANN).error_code == DENIED
    assert rig.ask(default_of(APIS[62].request), principal=ROOT).error_code == Error.NOT_CONTROLLER


def test_a_refusal_that_waits_while_leadership_is_lost_is_answered_when_the_authorizer_fails() -> None:
    """The name is that of every user, for which StandardAuthorizer fails."""
    rig = secured(auto=False).lead()
    rig.commit()
    rig.confirms = False
    resource = AlterConfigsRequest.AlterConfigsResource(resource_type=2, resource_name="foo", configs=())
    request = AlterConfigsRequest(resources=(resource,), validate_only=False)
    waiting = rig.send(request, principal=Principal("User", "*"))
    assert waiting not in rig.replies

    rig.follow()

    assert [response.error_code for response in rig.replies[waiting].responses] == [Error.UNKNOWN_SERVER_ERROR]


def test_describe_cluster_checks_metadata_version_before_authorization() -> None:
    assert secured(metadata_version=14).lead().ask(DESCRIBE_CLUSTER, principal=ANN).error_code == 35
    assert secured(metadata_version=15).lead().ask(DESCRIBE_CLUSTER, principal=ANN).error_code == DENIED


def test_without_an_authorizer_every_request_is_allowed() -> None:
    rig = Rig().lead()

    assert [asked(rig, key, ANN) for key in WITH_NEEDS] == [None] * len(WITH_NEEDS)


def test_before_the_acls_are_loaded_only_super_users_are_served() -> None:
    rig = secured()
    rig.controller.env.access.is_ready = False

    answer = rig.ask(default_of(APIS[46].request), principal=ANN)

    assert answer.error_code == Error.UNKNOWN_SERVER_ERROR
    assert asked(rig, 52, ROOT) is None
    assert asked(rig, 52, ANN).error_code == Error.UNKNOWN_SERVER_ERROR
    assert asked(rig, 55, ANN).error_code == Error.NOT_LEADER_OR_FOLLOWER
    assert asked(rig, 80, ANN).error_code == asked(rig, 81, ANN).error_code == Error.NOT_CONTROLLER
    assert asked(rig, 58, ANN).error_code == Error.NOT_CONTROLLER
    assert asked(rig, 63, ANN).error_code == Error.NOT_CONTROLLER
    assert asked(rig, 58, ROOT) is None
    rig.lead()
    assert asked(rig, 52, ANN).error_code == DENIED


def test_a_standby_without_acls_leaves_to_the_active_controller_what_it_cannot_decide() -> None:
    rig = secured()
    rig.controller.env.access.is_ready = False

    answer = rig.ask(CreateTopicsRequest(topics=(new_topic("foo", (0,)),)), principal=ANN)

    assert [topic.error_code for topic in answer.topics] == [Error.NOT_CONTROLLER]


def test_an_acl_takes_effect_when_it_is_committed() -> None:
    rig = secured().lead()
    rig.auto = False
    grant(rig, AclOperation.ALTER)
    before = asked(rig, 60, ANN)
    rig.commit()

    assert before is not None
    assert asked(rig, 60, ANN) is None


# Per resource.


def test_creating_a_topic_needs_create_on_the_topic() -> None:
    rig = secured().lead().brokers_as(ROOT, 0)
    grant(rig, AclOperation.CREATE, TOPIC, "mine")
    grant(rig, AclOperation.CREATE, TOPIC, "seen")
    grant(rig, AclOperation.DESCRIBE_CONFIGS, TOPIC, "seen")
    request = CreateTopicsRequest(topics=tuple(new_topic(name, (0,)) for name in ("mine", "seen", "other", "x", "x")))

    answer = {each.name: each for each in rig.ask(request, principal=ANN).topics}

    found = {name: (each.error_code, each.error_message) for name, each in answer.items()}
    assert found == {
        "mine": (0, None),
        "seen": (0, None),
        "other": (Error.TOPIC_AUTHORIZATION_FAILED, "Authorization failed."),
        "x": (Error.INVALID_REQUEST, "Duplicate topic name."),
    }
    assert (answer["mine"].topic_config_error_code, answer["mine"].num_partitions, answer["mine"].configs) == (
        Error.TOPIC_AUTHORIZATION_FAILED, -1, (),
    )  # fmt: skip
    assert (answer["seen"].topic_config_error_code, answer["seen"].num_partitions) == (0, 1)
    assert answer["seen"].configs


def test_describing_configs_needs_describe_configs_on_the_resource_and_no_more() -> None:
    rig = secured().lead().brokers_as(ROOT, 0)
    rig.create_as(ROOT, "seen", (0,))
    rig.create_as(ROOT, "other", (0,))
    rig.controller.env.config = env(FILE).config
    grant(rig, AclOperation.DESCRIBE_CONFIGS, TOPIC, "seen")
    resource = DescribeConfigsRequest.DescribeConfigsResource
    wanted = tuple(resource(resource_type=2, resource_name=name, configuration_keys=None) for name in ("other", "seen"))

    answer = rig.ask(DescribeConfigsRequest(resources=wanted), principal=ANN)

    # As in stock, those that were denied are last.
    found = [(each.resource_name, each.error_code, bool(each.configs)) for each in answer.results]
    assert found == [("seen", 0, True), ("other", Error.TOPIC_AUTHORIZATION_FAILED, False)]


def test_create_on_the_cluster_allows_creating_every_topic() -> None:
    rig = secured().lead().brokers_as(ROOT, 0)
    grant(rig, AclOperation.CREATE)

    answer = rig.ask(CreateTopicsRequest(topics=(new_topic("foo", (0,)),)), principal=ANN)

    assert [each.error_code for each in answer.topics] == [0]


def test_a_standby_refuses_topics_that_may_not_be_created() -> None:
    answer = secured().ask(CreateTopicsRequest(topics=(new_topic("foo", (0,)),)), principal=ANN)

    assert [each.error_code for each in answer.topics] == [Error.TOPIC_AUTHORIZATION_FAILED]


def test_a_hidden_topic_and_a_missing_one_get_the_same_error() -> None:
    rig = secured().lead().brokers_as(ROOT, 0)
    ids = {name: rig.create_as(ROOT, name, (0,)) for name in ("hidden", "described", "mine")}
    grant(rig, AclOperation.DESCRIBE, TOPIC, "described")
    grant(rig, AclOperation.DELETE, TOPIC, "mine")
    state = DeleteTopicsRequest.DeleteTopicState
    by_id = tuple(state(name=None, topic_id=ids[name]) for name in ("hidden", "described"))
    by_name = tuple(state(name=name, topic_id=ZERO_UUID) for name in ("hiddenX", "absent", "mine"))

    answer = rig.ask(DeleteTopicsRequest(topics=by_id + by_name, timeout_ms=1000), principal=ANN)

    text, code = error_text(29), Error.TOPIC_AUTHORIZATION_FAILED
    assert sorted(((e.name, e.topic_id), e.error_code, e.error_message) for e in answer.responses if e.name) == sorted([
        (("described", ids["described"]), code, text),
        (("hiddenX", ZERO_UUID), code, text),
        (("absent", ZERO_UUID), code, text),
        (("mine", ids["mine"]), 0, None),
    ])  # fmt: skip
    assert [(e.topic_id, e.error_code, e.error_message) for e in answer.responses if e.name is None] == [
        (ids["hidden"], code, text)
    ]


def test_adding_partitions_needs_alter_on_the_topic() -> None:
    rig = secured().lead().brokers_as(ROOT, 0)
    for name in ("mine", "other"):
        rig.create_as(ROOT, name, (0,))
    grant(rig, AclOperation.ALTER, TOPIC, "mine")
    item = CreatePartitionsRequest.CreatePartitionsTopic
    topics = tuple(item(name=name, count=2, assignments=None) for name in ("mine", "other", "absent"))

    answer = rig.ask(CreatePartitionsRequest(topics=topics, timeout_ms=1000, validate_only=False), principal=ANN)

    assert {e.name: (e.error_code, e.error_message) for e in answer.results} == {
        "mine": (0, None),
        "other": (Error.TOPIC_AUTHORIZATION_FAILED, None),
        "absent": (Error.TOPIC_AUTHORIZATION_FAILED, None),
    }


@pytest.mark.parametrize("kinds", [(2, 32), (32, 2)])
def test_the_decision_on_a_topic_is_not_that_on_a_group_of_the_same_name(kinds: tuple[int, int]) -> None:
    rig = secured().lead().brokers_as(ROOT, 0)
    rig.create_as(ROOT, "same", (0,))
    grant(rig, AclOperation.ALTER_CONFIGS, TOPIC, "same")
    item = IncrementalAlterConfigsRequest.AlterConfigsResource
    resources = tuple(item(resource_type=kind, resource_name="same", configs=()) for kind in kinds)

    answer = rig.ask(IncrementalAlterConfigsRequest(resources=resources, validate_only=False), principal=ANN)

    found = {each.resource_type: each.error_code for each in answer.responses}
    assert found == {2: 0, 32: Error.GROUP_AUTHORIZATION_FAILED}


DENIED_TEXTS = {
    (2, "other"): (29, error_text(29)),
    (32, "g"): (30, error_text(30)),
    (4, ""): (31, error_text(31)),
    (16, "m"): (31, error_text(31)),
}


@pytest.mark.parametrize("cls", [IncrementalAlterConfigsRequest, AlterConfigsRequest])
def test_altering_configs_needs_alter_configs(cls: Any) -> None:
    rig = secured().lead().brokers_as(ROOT, 0)
    rig.create_as(ROOT, "mine", (0,))
    grant(rig, AclOperation.ALTER_CONFIGS, TOPIC, "mine")
    item = cls.AlterConfigsResource
    resources = tuple(item(resource_type=t, resource_name=n, configs=()) for t, n in [(2, "mine"), *DENIED_TEXTS])

    answer = rig.ask(cls(resources=resources, validate_only=False), principal=ANN)
    alone = Rig(access=Access(StandardAuthorizer())).ask(cls(resources=resources[1:], validate_only=False))

    expected = {**DENIED_TEXTS, (2, "mine"): (0, None)}
    assert {(e.resource_type, e.resource_name): (e.error_code, e.error_message) for e in answer.responses} == expected
    assert {e.error_code for e in alone.responses} == {29, 30, 31}


def test_setting_logger_levels_needs_cluster_action() -> None:
    rig = secured().lead()
    item = IncrementalAlterConfigsRequest.AlterConfigsResource
    resource = item(resource_type=8, resource_name="3000", configs=())

    answer = rig.ask(IncrementalAlterConfigsRequest(resources=(resource,), validate_only=False), principal=ANN)
    grant(rig, AclOperation.CLUSTER_ACTION)
    allowed = rig.ask(IncrementalAlterConfigsRequest(resources=(resource,), validate_only=False), principal=ANN)

    assert [(e.error_code, e.error_message) for e in answer.responses] == [(31, error_text(31))]
    assert [e.error_code for e in allowed.responses] == [0]


def test_describe_cluster_returns_the_allowed_operations() -> None:
    rig = secured(metadata_version=30).lead()
    grant(rig, AclOperation.ALTER)
    request = DescribeClusterRequest(endpoint_type=2, include_cluster_authorized_operations=True)

    some = rig.ask(request, principal=ANN).cluster_authorized_operations
    every = rig.ask(request, principal=ROOT).cluster_authorized_operations

    # ALTER implies DESCRIBE.
    assert (some, every) == (1 << 7 | 1 << 8, 0b1111110100000)


def test_a_denial_is_in_the_audit_log_once() -> None:
    rig = secured().lead()
    rig.notes.clear()

    rig.ask(CreateTopicsRequest(topics=(new_topic("foo", (0,)),)), principal=ANN)

    assert rig.noted("authorization_denied") == [
        {
            "principal": "User:ann",
            "operation": "CREATE",
            "host": "127.0.0.1",
            "resource": "Topic:LITERAL:foo",
            "request": "CreateTopics",
            "rule": "DefaultDeny",
        }
    ]


NAMES = tuple(f"t-{index}" for index in range(150))


def test_a_large_request_without_any_right_is_denied_by_one_look_with_one_line() -> None:
    rig = secured().lead()
    access = rig.controller.env.access
    assert access is not None
    asked_names: list[str] = []
    decide = access.authorizer.decide

    def watched(action: Any, acls: Any) -> Any:
        asked_names.append(action.resource_name)
        return decide(action, acls)

    access.authorizer = StandardAuthorizer({"User:root"})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(StandardAuthorizer, "decide", lambda _self, action, acls: watched(action, acls))
        rig.notes.clear()
        answer = rig.ask(CreateTopicsRequest(topics=tuple(new_topic(name) for name in NAMES)), principal=ANN)

    assert [topic.error_code for topic in answer.topics] == [Error.TOPIC_AUTHORIZATION_FAILED] * len(NAMES)
    assert asked_names == [CLUSTER_NAME]
    assert rig.noted("authorization_denied") == [
        {
            "principal": "User:ann",
            "operation": "CREATE",
            "host": "127.0.0.1",
            "resource": "Topic:LITERAL:t-0",
            "request": "CreateTopics",
            "rule": "NoAclAllows",
            "more": 149,
        }
    ]


def test_a_large_request_with_one_right_is_decided_name_by_name() -> None:
    rig = secured().lead()
    grant(rig, AclOperation.CREATE, TOPIC, "t-7")

    answer = rig.ask(CreateTopicsRequest(topics=tuple(new_topic(name) for name in NAMES)), principal=ANN)

    codes = {topic.name: topic.error_code for topic in answer.topics}
    denied = {name for name, code in codes.items() if code == Error.TOPIC_AUTHORIZATION_FAILED}
    assert denied == set(NAMES) - {"t-7"}
