"""A standby replays a large batch in parts, of which nobody sees one."""

from __future__ import annotations

import gc
import sys
from typing import Any

import pytest

from controller.config.node import NodeConfig
from controller.core.steps import step
from controller.interface.access import Access
from controller.interface.effects import TakeSnapshot
from controller.interface.inputs import (
    Committed,
    CommittedPart,
    LeaderChanged,
    Principal,
    Requested,
    SnapshotClosed,
    SnapshotOpened,
    Stopping,
)
from controller.rules.authorizer import StandardAuthorizer
from raft.interface.config import SnapshotId
from records.errors import Error
from records.messages.acls import CreateAclsRequest
from records.messages.cluster import DescribeClusterRequest
from records.messages.configs import DescribeConfigsRequest, IncrementalAlterConfigsRequest
from records.messages.topics import CreateTopicsRequest, DeleteTopicsRequest
from records.metadata.transactions import BeginTransactionRecord
from records.schema import default_of, replace
from records.uuids import ZERO_UUID
from tests.controller.core.test_long_steps import Long
from tests.controller.handlers.cluster_of_configs import NODE
from tests.controller.rig import Rig, new_topic

ANN, ROOT = Principal("User", "ann"), Principal("User", "root")
DESCRIBE_CLUSTER = DescribeClusterRequest(endpoint_type=2, include_cluster_authorized_operations=False)
NAMES = [f"topic-{number}" for number in range(40)]


def created(*names: str) -> CreateTopicsRequest:
    return CreateTopicsRequest(topics=tuple(map(new_topic, names)), timeout_ms=60_000, validate_only=False)


def deleted(*names: str) -> DeleteTopicsRequest:
    state = DeleteTopicsRequest.DeleteTopicState
    return DeleteTopicsRequest(topics=tuple(state(name=name, topic_id=ZERO_UUID) for name in names), timeout_ms=60_000)


def altered(*names: str) -> IncrementalAlterConfigsRequest:
    resource = IncrementalAlterConfigsRequest.AlterConfigsResource
    change = resource.AlterableConfig(name="retention.ms", config_operation=0, value="50000")
    return IncrementalAlterConfigsRequest(
        resources=tuple(resource(resource_type=2, resource_name=name, configs=(change,)) for name in names),
        validate_only=False,
    )


def allowing(*names: str) -> CreateAclsRequest:
    """ann may describe the cluster, and read these topics, but the last ACL denies the description."""
    acl = CreateAclsRequest.AclCreation
    return CreateAclsRequest(
        creations=tuple(
            acl(
                resource_type=type_, resource_name=name, resource_pattern_type=3, principal="User:ann", host="*",
                operation=operation, permission_type=permission,
            )
            for type_, name, operation, permission in (
                (4, "kafka-cluster", 8, 3), *((2, name, 3, 3) for name in names), (4, "kafka-cluster", 8, 2),
            )
        )
    )  # fmt: skip


def described(*names: str) -> DescribeConfigsRequest:
    resource = DescribeConfigsRequest.DescribeConfigsResource
    resources = tuple(resource(resource_type=2, resource_name=name, configuration_keys=None) for name in names)
    return replace(default_of(DescribeConfigsRequest), resources=resources)


class Pair:
    """An active controller, and a standby that has what was committed before the last batches."""

    def __init__(self, *requests: Any) -> None:
        self.active = secured().lead()
        self.active.brokers_as(ROOT, 1, 2, 3)
        self.standby = secured(1).follow(leader_id=3000)
        for request in requests[:-1]:
            self.active.ask(request, principal=ROOT)
        self.standby.step(Committed(self.active.log_from(0)))
        begin = self.active.end_offset
        self.active.ask(requests[-1], principal=ROOT)
        self.data = self.active.log_from(begin)

    def replay_part(self, records: int = 7) -> bool:
        """Replay a part of the last batch; returns whether records are left."""
        self.standby.step(CommittedPart(self.data, records))
        assert self.standby.controller.replay is not None
        return not self.standby.controller.replay.is_at_end

    def end(self) -> list[Any]:
        while self.replay_part():
            pass
        return self.standby.step(Committed(self.data))


def secured(node_id: int = 3000) -> Rig:
    rig = Rig(node_id=node_id, access=Access(StandardAuthorizer({"User:root"})))
    rig.controller.env.config = NodeConfig(NODE)
    return rig


@pytest.mark.parametrize(
    "requests",
    [
        (created(*NAMES),),
        (created(*NAMES), altered(*NAMES)),
        (created(*NAMES), deleted(*NAMES), created(*NAMES[:5])),
        (created(*NAMES), deleted(*NAMES[3:])),
        (allowing(*NAMES),),
    ],
)
@pytest.mark.parametrize("records", [1, 7, 1000])
def test_a_batch_in_parts_has_the_state_of_the_whole_batch(requests: tuple[Any, ...], records: int) -> None:
    pair = Pair(*requests)
    before, metrics = pair.standby.state.end_offset, pair.standby.controller.snapshots.bytes

    parts = 1
    while pair.replay_part(records):
        parts += 1
        assert pair.standby.state.end_offset == pair.standby.state.stable_end_offset == before
    pair.standby.step(Committed(pair.data))

    assert pair.standby.state.digest() == pair.active.state.digest()
    assert pair.standby.state.stable_end_offset == pair.active.state.end_offset
    assert pair.standby.controller.snapshots.bytes == metrics + len(pair.data)
    assert parts > 1 or records == 1000


def test_no_read_is_answered_while_a_part_of_a_batch_is_in_the_state() -> None:
    pair = Pair(created(*NAMES))
    assert pair.replay_part()

    correlation = pair.standby.send(DESCRIBE_CLUSTER, principal=ROOT)
    between = correlation in pair.standby.replies
    pair.end()

    assert not between
    assert correlation in pair.standby.replies


def test_a_long_read_is_served_again_if_a_part_of_a_batch_comes_between_its_slices() -> None:
    pair = Pair(created(*NAMES), altered(*NAMES))
    long = Long(pair.standby, described(*NAMES), ROOT)
    assert long.go_on()
    pair.replay_part()

    (later,) = long.end()
    pair.end()
    again: list[Any] = step(pair.standby.controller, Requested(later.context, later.request), pair.standby.now_ms)

    results = again[0].response.results
    values = {entry.value for result in results for entry in result.configs if entry.name == "retention.ms"}
    assert values == {"50000"}


def test_the_acls_are_those_before_the_batch_until_all_of_it_is_replayed() -> None:
    pair = Pair(allowing(*NAMES))
    assert pair.replay_part()
    index = pair.standby.state.acls.index()
    assert index is not None

    between = [list(index.allowing(type_, "User:ann")) for type_ in (4, 2)]
    pair.end()
    index = pair.standby.state.acls.index()

    assert index is not None
    assert between == [[], []]
    assert [list(index.allowing(type_, "User:ann")) for type_ in (4, 2)] == [[("*", 8)], [("*", 3)]]


def test_the_last_part_and_the_next_decision_take_no_longer_for_a_large_batch_of_acls() -> None:
    def calls_at_the_end(count: int) -> int:
        pair = Pair(allowing(*(f"name-{number}" for number in range(count))))
        pair.standby.state.acls.index()
        while pair.replay_part(50):
            pass
        calls = 0

        def count_call(_frame: Any, event: str, _argument: Any) -> None:
            nonlocal calls
            calls += event in {"call", "c_call"}

        gc.disable()  # its callbacks are calls too
        sys.setprofile(count_call)
        try:
            pair.standby.step(Committed(pair.data))
            pair.standby.state.acls.index()
        finally:
            sys.setprofile(None)
            gc.enable()
        return calls

    calls_at_the_end(50)  # what is made at the first use of anything

    assert calls_at_the_end(2000) < calls_at_the_end(500) + 50


def test_no_snapshot_is_taken_of_a_part_of_a_batch() -> None:
    pair = Pair(created(*NAMES))
    pair.standby.controller.snapshots.bytes = 1 << 30
    assert pair.replay_part()

    between = pair.standby.step(Stopping())
    ended = pair.end()

    assert not any(isinstance(effect, TakeSnapshot) for effect in between)
    (taken,) = [effect for effect in ended if isinstance(effect, TakeSnapshot)]
    assert taken.id.end_offset == pair.active.state.end_offset


def test_a_snapshot_replaces_a_batch_of_which_a_part_was_replayed() -> None:
    pair = Pair(created(*NAMES))
    assert pair.replay_part()
    end_offset = pair.active.end_offset

    pair.standby.step(SnapshotOpened(SnapshotId(end_offset, 1)))
    pair.standby.step(SnapshotClosed())
    correlation = pair.standby.send(DESCRIBE_CLUSTER, principal=ROOT)

    assert pair.standby.state.end_offset == end_offset
    assert not pair.standby.state.topic_ids
    assert correlation in pair.standby.replies


def test_a_standby_answers_no_read_while_it_loads_a_snapshot() -> None:
    pair = Pair(created(*NAMES))

    pair.standby.step(SnapshotOpened(SnapshotId(pair.active.end_offset, 1)))
    correlation = pair.standby.send(DESCRIBE_CLUSTER, principal=ROOT)
    early = correlation in pair.standby.replies
    pair.standby.step(SnapshotClosed())

    assert (early, correlation in pair.standby.replies) == (False, True)


def test_a_batch_within_a_transaction_is_replayed_in_parts_too() -> None:
    pair = Pair(created(*NAMES))
    pair.standby.state.replay(BeginTransactionRecord(), pair.standby.state.end_offset)
    before = pair.standby.state.end_offset - 1
    pair.standby.state.end_offset = before

    pair.end()

    assert len(pair.standby.state.topic_ids) == len(NAMES)
    assert pair.standby.state.transaction_start == before


def test_a_controller_does_not_become_active_with_a_part_of_a_batch() -> None:
    pair = Pair(created(*NAMES))
    assert pair.replay_part()

    with pytest.raises(AssertionError, match="all that is committed was replayed"):
        pair.standby.step(LeaderChanged(9, 1, pair.active.end_offset))


def test_a_write_to_a_standby_is_refused_between_two_parts() -> None:
    pair = Pair(created(*NAMES))
    assert pair.replay_part()

    response = pair.standby.ask(created("new"), principal=ROOT)

    assert response.topics[0].error_code == Error.NOT_CONTROLLER
