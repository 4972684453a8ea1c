"""The config APIs through the whole controller: which node serves them, when it responds, and with which effects."""

from __future__ import annotations

from typing import Any

import pytest

from controller.config.node import NodeConfig
from controller.core.apis import APIS
from controller.handlers.configs import incremental_alter_configs
from controller.interface.effects import SetLogLevel
from controller.interface.loggers import Loggers
from records.codec import encode
from records.errors import Error
from records.messages.cluster import DescribeClusterRequest
from records.messages.configs import AlterConfigsRequest, DescribeConfigsRequest, IncrementalAlterConfigsRequest
from records.messages.features import UpdateFeaturesRequest
from records.messages.producer_ids import AllocateProducerIdsRequest
from records.messages.versions import ApiVersionsRequest
from records.metadata.brokers import UnregisterBrokerRecord, UnregisterControllerRecord
from records.schema import schema_of
from tests.controller.handlers.cluster_of_configs import (
    BROKER,
    LOGGER,
    NODE,
    SET,
    TOPIC,
    broker,
    context,
    controller,
    env,
    replay,
    state,
)
from tests.controller.rig import Rig

Resource = IncrementalAlterConfigsRequest.AlterConfigsResource
VERSIONS = ApiVersionsRequest(client_software_name="a", client_software_version="1")
GROUPS = UpdateFeaturesRequest(
    feature_updates=(UpdateFeaturesRequest.FeatureUpdateKey(feature="group.version", max_version_level=1),)
)


def rig(**options: Any) -> Rig:
    made = Rig(node_id=1, **options)
    made.controller.env.config = NodeConfig(NODE)
    made.controller.env.loggers = Loggers({"root": "INFO"})
    return made


def alteration(kind: int, name: str, key: str, value: str) -> IncrementalAlterConfigsRequest:
    config = Resource.AlterableConfig(name=key, config_operation=SET, value=value)
    resource = Resource(resource_type=kind, resource_name=name, configs=(config,))
    return IncrementalAlterConfigsRequest(resources=(resource,), validate_only=False)


def description(kind: int, name: str, *keys: str) -> DescribeConfigsRequest:
    resource = DescribeConfigsRequest.DescribeConfigsResource(
        resource_type=kind, resource_name=name, configuration_keys=keys
    )
    return DescribeConfigsRequest(resources=(resource,))


def codes(response: Any) -> list[int]:
    return [answer.error_code for answer in response.responses]


def levels(response: Any) -> dict[str, int]:
    return {key.name: key.max_version_level for key in response.finalized_features}


def test_a_change_is_answered_when_it_is_committed_and_described_after_that() -> None:
    leader = rig(auto=False).lead()
    leader.commit()

    changed = leader.send(alteration(BROKER, "", "num.io.threads", "5"))
    before = changed in leader.replies
    leader.commit()
    described = leader.ask(description(BROKER, "", "num.io.threads"))

    assert (before, codes(leader.replies[changed])) == (False, [Error.NONE])
    assert [entry.value for entry in described.results[0].configs] == ["5"]


def test_describe_configs_waits_for_uncommitted_changes() -> None:
    leader = rig(auto=False).lead()
    leader.commit()

    leader.send(alteration(BROKER, "", "num.io.threads", "5"))
    described = leader.send(description(BROKER, "", "num.io.threads"))
    before = described in leader.replies
    leader.commit()

    assert (before, described in leader.replies) == (False, True)


def test_api_versions_is_answered_at_once_even_if_nothing_can_be_committed() -> None:
    leader = rig(auto=False).lead()
    leader.commit()

    updated = leader.send(GROUPS)
    meanwhile = leader.ask(VERSIONS)
    leader.commit()

    assert (updated in leader.replies, levels(meanwhile)) == (True, {"metadata.version": 30})
    assert levels(leader.ask(VERSIONS)) == {"metadata.version": 30, "group.version": 1}


def test_a_standby_serves_only_its_own_loggers() -> None:
    standby = rig().lead().follow(leader_id=2)

    changed = standby.ask(alteration(LOGGER, "1", "root", "DEBUG"))
    described = standby.ask(description(BROKER, "1", "node.id"))
    refused = standby.ask(alteration(TOPIC, "orders", "segment.ms", "5"))

    assert (codes(changed), standby.others[-1]) == ([Error.NONE], SetLogLevel("root", "DEBUG"))
    assert [entry.value for entry in described.results[0].configs] == ["1"]
    assert codes(refused) == [Error.NOT_CONTROLLER]
    assert standby.ask(GROUPS).error_code == Error.NOT_CONTROLLER
    assert standby.ask(AllocateProducerIdsRequest(broker_id=1)).error_code == Error.NOT_CONTROLLER
    assert standby.ask(VERSIONS).error_code == Error.NONE
    cluster = standby.ask(DescribeClusterRequest(include_cluster_authorized_operations=False, endpoint_type=2))
    assert (cluster.error_code, cluster.controller_id) == (Error.NONE, -1)


def test_an_empty_request_succeeds_on_a_standby() -> None:
    standby = rig().lead().follow(leader_id=2)

    nothing = standby.ask(IncrementalAlterConfigsRequest(resources=(), validate_only=False))
    nothing_in_full = standby.ask(AlterConfigsRequest(resources=(), validate_only=False))

    assert (codes(nothing), codes(nothing_in_full)) == ([], [])


def test_alter_configs_writes_an_unchanged_value_of_a_node_again() -> None:
    # Brokers reload the files that a key names when its value is written again.
    leader = rig().lead()
    leader.ask(alteration(BROKER, "", "num.io.threads", "5"))
    written = leader.end_offset
    config = AlterConfigsRequest.AlterConfigsResource.AlterableConfig(name="num.io.threads", value="5")
    resource = AlterConfigsRequest.AlterConfigsResource(resource_type=BROKER, resource_name="", configs=(config,))

    changed = leader.ask(AlterConfigsRequest(resources=(resource,), validate_only=False))

    assert codes(changed) == [Error.NONE]
    assert [(record.name, record.value) for record, _ in leader.records(written)] == [("num.io.threads", "5")]


def test_a_change_lost_with_leadership_is_refused_and_undone() -> None:
    leader = rig(auto=False).lead()
    leader.commit()

    changed = leader.send(alteration(BROKER, "", "num.io.threads", "5"))
    leader.follow(leader_id=2)

    assert codes(leader.replies[changed]) == [Error.NOT_CONTROLLER]
    assert leader.ask(description(BROKER, "")).results[0].configs == ()


@pytest.mark.parametrize(
    ("registered", "unregistered"),
    [
        (broker(7), UnregisterBrokerRecord(broker_id=7, broker_epoch=107)),
        (controller(7), UnregisterControllerRecord(controller_id=7)),
    ],
)
def test_that_a_node_is_unknown_waits_for_the_commit_of_its_unregistration(registered: Any, unregistered: Any) -> None:
    found = state(registered)
    replay(found, unregistered, commit=False)

    refused = incremental_alter_configs(found, context(1), alteration(BROKER, "7", "num.io.threads", "5"), env())

    assert codes(refused.response) == [Error.BROKER_ID_NOT_REGISTERED]
    assert refused.rests_on == found.end_offset - 1


@pytest.mark.parametrize(
    "request_",
    [
        alteration(BROKER, "", "num.io.threads", "5"),
        alteration(TOPIC, "nope", "a", "5"),
        AlterConfigsRequest(resources=(), validate_only=False),
        description(BROKER, "1"),
        description(LOGGER, "1"),
        description(TOPIC, "nope"),
        VERSIONS,
        GROUPS,
        UpdateFeaturesRequest(
            feature_updates=(UpdateFeaturesRequest.FeatureUpdateKey(feature="foo", max_version_level=1),)
        ),
        AllocateProducerIdsRequest(broker_id=1),
        DescribeClusterRequest(include_cluster_authorized_operations=True),
    ],
)
def test_responses_can_be_encoded_in_each_announced_version(request_: Any) -> None:
    api = APIS[schema_of(type(request_)).api_key or -1]
    leader = rig().lead()

    for version in range(api.versions[0], api.versions[1] + 1):
        assert encode(leader.ask(request_, version), version)
