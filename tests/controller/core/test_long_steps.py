"""Long steps: what other inputs may do between two slices of a request, and what becomes of it without leadership."""

from __future__ import annotations

import gc
import sys
from typing import TYPE_CHECKING, Any

import pytest
from greenlet import getcurrent, greenlet

from controller.config.node import NodeConfig
from controller.core.steps import step
from controller.interface.access import Access
from controller.interface.effects import Append, Noted, Reply, Requeue, ServeLater
from controller.interface.inputs import Principal, RequestContext, Requested, ReserveOffsets, Ticked, Written
from controller.rules.authorizer import StandardAuthorizer
from raft.interface.inputs import Source
from records.errors import Error
from records.messages.acls import CreateAclsRequest
from records.messages.brokers import BrokerHeartbeatRequest
from records.messages.cluster import DescribeClusterRequest
from records.messages.configs import DescribeConfigsRequest, IncrementalAlterConfigsRequest
from records.messages.quotas import AlterClientQuotasRequest
from records.messages.reassignments import AlterPartitionReassignmentsRequest
from records.messages.topics import CreatePartitionsRequest, CreateTopicsRequest, DeleteTopicsRequest
from records.metadata.transactions import BeginTransactionRecord
from records.schema import default_of, replace, schema_of
from records.uuids import ZERO_UUID
from tests.controller.handlers.cluster_of_configs import NODE
from tests.controller.rig import Rig, new_topic

if TYPE_CHECKING:
    from collections.abc import Callable

ANN, ROOT = Principal("User", "ann"), Principal("User", "root")
DESCRIBE_CLUSTER = DescribeClusterRequest(endpoint_type=2, include_cluster_authorized_operations=False)


def topics(*names: str) -> CreateTopicsRequest:
    return CreateTopicsRequest(topics=tuple(map(new_topic, names)), timeout_ms=60_000, validate_only=False)


def moves(*names: str) -> AlterPartitionReassignmentsRequest:
    topic = AlterPartitionReassignmentsRequest.ReassignableTopic
    partitions = (topic.ReassignablePartition(partition_index=0, replicas=(1,)),)
    return AlterPartitionReassignmentsRequest(topics=tuple(topic(name=name, partitions=partitions) for name in names))


class Long:
    """One long request to a rig, which stops at every pause. effects: those of its step, once it has ended."""

    def __init__(self, rig: Rig, request: Any, principal: Principal = ROOT) -> None:
        self.rig = rig
        self.effects: list[Any] | None = None
        schema = schema_of(type(request))
        assert schema.api_key is not None
        assert schema.served is not None
        self.source = Source(99, 1)
        context = RequestContext(
            self.source, schema.api_key, schema.served[1], "CONTROLLER", rig.now_ms, principal=principal, is_long=True
        )
        self.event = Requested(context, request)
        self._job = greenlet(self._run)
        rig.controller.long.switch = self._switch

    def go_on(self) -> bool:
        """Run one slice; returns whether there is another."""
        self._job.parent = getcurrent()
        self._job.switch()
        return self.effects is None

    def reach(self, phase: str) -> None:
        """Run slices until the step is in this phase."""
        while self.rig.controller.long.present is None or self.rig.controller.long.present.phase.name != phase:
            assert self.go_on(), f"it has ended before {phase}"

    def overtake(self) -> None:
        """Have another write change what the step reads, so that it is begun again, and holds the writes."""
        self.reach("OPTIMISTIC")
        self.rig.ask(topics("b"))
        self.reach("HELD")

    def end(self) -> list[Any]:
        """Run it to its end; returns its effects without notes."""
        while self.effects is None:
            self.go_on()
        return [each for each in self.effects if not isinstance(each, Noted)]

    def _switch(self) -> int:
        self._job.parent.switch()
        return self.rig.now_ms

    def _run(self) -> None:
        self.effects = step(self.rig.controller, self.event, self.rig.now_ms)


def active(**options: Any) -> Rig:
    return Rig(**options).lead().brokers(1, 2, 3)


def secured() -> Rig:
    rig = Rig(access=Access(StandardAuthorizer({"User:root"}))).lead()
    rig.brokers_as(ROOT, 1, 2, 3)
    return rig


def kinds(effects: list[Any]) -> list[type]:
    return [type(each) for each in effects]


def test_a_long_write_appends_and_is_applied_as_one_batch() -> None:
    rig = active()
    long = Long(rig, topics("a", "b", "c"))

    effects = long.end()

    assert kinds(effects) == [Append]
    assert sorted(rig.state.topic_ids) == ["a", "b", "c"]
    assert rig.state.end_offset == rig.controller.env.next_offset == effects[0].last_offset + 1


def test_the_records_of_a_long_write_come_after_those_that_others_wrote_meanwhile() -> None:
    rig = active()
    long = Long(rig, topics("a", "b"))
    long.reach("OPTIMISTIC")

    rig.ask(topics("c"))
    written = rig.end_offset
    (append,) = long.end()

    assert append.base_offset == written
    assert long.event.context.written == Written(rig.epoch, written, append.last_offset)


def test_a_write_waits_for_the_end_of_a_long_write_and_is_then_given_again() -> None:
    rig = active()
    long = Long(rig, topics("a", "b"))
    long.overtake()

    correlation = rig.send(topics("c"))
    between = sorted(rig.state.topic_ids)
    effects = long.end()

    assert correlation not in rig.replies
    assert between == ["b"]
    assert kinds(effects) == [Append, Requeue]
    assert [each.request for each in effects[1].events] == [topics("c")]
    assert rig.controller.long.held == []


def test_a_request_whose_sender_may_do_nothing_holds_up_no_write() -> None:
    rig = secured()
    long = Long(rig, topics("a", "b"), principal=ANN)
    assert long.go_on()

    created = rig.ask(topics("c"), principal=ROOT).topics[0].error_code
    effects = long.end()

    assert created == Error.NONE
    assert kinds(effects) == [Reply]
    assert {each.error_code for each in effects[0].response.topics} == {Error.TOPIC_AUTHORIZATION_FAILED}


def test_a_read_is_served_between_two_slices_until_a_part_of_the_records_is_in_the_state() -> None:
    rig = active()
    long = Long(rig, topics("a", "b"))
    long.overtake()
    while_held = rig.send(DESCRIBE_CLUSTER)
    long.reach("APPLYING")

    while_applying = rig.send(DESCRIBE_CLUSTER)
    effects = long.end()

    assert while_held in rig.replies
    assert while_applying not in rig.replies
    assert [each.request for each in effects[1].events] == [DESCRIBE_CLUSTER]


def test_heartbeats_and_commits_never_wait() -> None:
    rig = active(auto=True)
    rig.auto = False
    written = rig.send(topics("before"))
    long = Long(rig, topics("a", "b"))
    long.reach("APPLYING")

    rig.commit()
    fenced = rig.heartbeat(2).is_fenced

    assert rig.replies[written].topics[0].error_code == Error.NONE
    assert fenced is False


def test_a_heartbeat_that_would_write_waits() -> None:
    rig = active()
    long = Long(rig, topics("a", "b"))
    long.overtake()

    correlation = rig.heartbeat_unanswered(2, want_fence=True)
    effects = long.end()

    assert correlation not in rig.replies
    assert [type(each.request) for each in effects[1].events] == [BrokerHeartbeatRequest]
    assert not rig.state.brokers[2].fenced


def test_no_broker_is_fenced_and_no_task_is_due_while_writes_wait() -> None:
    rig = active()
    long = Long(rig, topics("a", "b"))
    long.overtake()
    rig.now_ms += 1_000_000

    due_ms, effects = rig.deadline_ms, rig.step(Ticked())

    assert due_ms is None
    assert effects == []
    assert kinds(long.end()) == [Append, Requeue]


def test_offsets_are_left_to_a_control_batch_only_after_a_long_write() -> None:
    rig = active()
    long = Long(rig, topics("a", "b"))
    long.overtake()
    long.reach("APPLYING")
    reserve = ReserveOffsets(rig.epoch, 1)

    meanwhile = rig.step(reserve)
    append, requeue = long.end()

    assert meanwhile == []
    assert append.base_offset == rig.end_offset
    assert requeue == Requeue([reserve])


def test_after_lost_leadership_nothing_was_appended_and_the_request_is_served_again() -> None:
    for phase in ("OPTIMISTIC", "HELD", "APPLYING"):
        rig = active()
        long = Long(rig, topics("a", "b"))
        if phase == "HELD":
            long.overtake()
        before = rig.state.digest()
        long.reach(phase)

        rig.follow(leader_id=1)
        at_the_change = rig.state.digest()
        effects = long.end()

        assert at_the_change == before
        assert kinds(effects) == [ServeLater]
        assert rig.state.digest() == before


def test_a_request_that_is_served_again_on_a_standby_is_answered_not_controller() -> None:
    rig = active()
    long = Long(rig, topics("a"))
    long.reach("OPTIMISTIC")
    rig.follow(leader_id=1)
    (later,) = long.end()

    effects: list[Any] = step(rig.controller, Requested(later.context, later.request), rig.now_ms)

    assert [each.response.topics[0].error_code for each in effects] == [Error.NOT_CONTROLLER]


def test_a_leader_that_becomes_leader_again_keeps_what_it_wrote_but_not_a_part_of_a_batch() -> None:
    rig = active()
    rig.auto = False
    rig.send(topics("kept"))
    long = Long(rig, topics("a", "b"))
    long.reach("APPLYING")
    long.go_on()

    rig.lead()
    effects = long.end()

    assert kinds(effects) == [ServeLater]
    assert sorted(rig.state.topic_ids) == ["kept"]
    assert rig.state.end_offset == rig.controller.env.next_offset == rig.end_offset


def test_a_standby_that_becomes_active_writes_though_a_long_request_is_being_refused() -> None:
    rig = Rig().follow(leader_id=1)
    long = Long(rig, moves("a", "b"))
    long.reach("HELD")

    rig.lead()
    at_the_change = rig.state.end_offset
    effects = long.end()

    assert at_the_change > 0
    assert kinds(effects) == [ServeLater]


def test_a_standby_answers_a_long_read_later_if_a_transaction_is_opened_meanwhile() -> None:
    rig = active().follow(leader_id=1)
    resource = DescribeConfigsRequest.DescribeConfigsResource
    resources = tuple(
        resource(resource_type=2, resource_name=name, configuration_keys=None) for name in ("a", "b", "c")
    )
    request = replace(default_of(DescribeConfigsRequest), resources=resources)
    rig.controller.env.config = NodeConfig(NODE)
    long = Long(rig, request)
    assert long.go_on()
    rig.state.replay(BeginTransactionRecord(), rig.state.end_offset)

    (later,) = long.end()
    again = step(rig.controller, Requested(later.context, later.request), rig.now_ms)

    assert type(later) is ServeLater
    assert again == []
    assert [context for context, _ in rig.controller.parked] == [later.context]


def test_a_standby_parks_few_long_reads_and_refuses_the_others() -> None:
    rig = active().follow(leader_id=1)
    rig.state.replay(BeginTransactionRecord(), rig.state.end_offset)
    request = replace(default_of(DescribeConfigsRequest), resources=())
    contexts = [
        RequestContext(Source(number, 1), 32, 4, "CONTROLLER", rig.now_ms, is_long=number < 6) for number in range(7)
    ]

    answers = [step(rig.controller, Requested(context, request), rig.now_ms) for context in contexts]

    assert [context for context, _ in rig.controller.parked] == [*contexts[:4], contexts[6]]
    assert [kinds(each) for each in answers] == [[], [], [], [], [Reply], [Reply], []]


def test_a_refused_deletion_never_holds_the_writes() -> None:
    rig = secured()
    state = DeleteTopicsRequest.DeleteTopicState
    names = tuple(state(name=f"t-{index}", topic_id=ZERO_UUID) for index in range(150))
    long = Long(rig, DeleteTopicsRequest(topics=names, timeout_ms=60_000), ANN)

    phases = set()
    while long.go_on():
        assert rig.controller.long.present is not None
        phases.add(rig.controller.long.present.phase.name)
    effects = long.end()

    assert phases == {"FREE"}
    assert {result.error_code for result in effects[0].response.responses} == {Error.TOPIC_AUTHORIZATION_FAILED}


def created(names: list[str]) -> CreateTopicsRequest:
    return topics(*names)


def created_wide(names: list[str]) -> CreateTopicsRequest:
    """Half as many topics, of 5 partitions: they go by columns."""
    return replace(topics(), topics=tuple(replace(new_topic(name), num_partitions=5) for name in names[::2]))


def deleted(names: list[str]) -> DeleteTopicsRequest:
    state = DeleteTopicsRequest.DeleteTopicState
    return DeleteTopicsRequest(topics=tuple(state(name=name, topic_id=ZERO_UUID) for name in names), timeout_ms=60_000)


def grown(names: list[str]) -> CreatePartitionsRequest:
    topic = CreatePartitionsRequest.CreatePartitionsTopic
    asked = tuple(topic(name=name, count=2, assignments=None) for name in names)
    return CreatePartitionsRequest(topics=asked, timeout_ms=60_000, validate_only=False)


def altered(names: list[str], kind: int = 2, key: str = "retention.ms") -> IncrementalAlterConfigsRequest:
    resource = IncrementalAlterConfigsRequest.AlterConfigsResource
    change = resource.AlterableConfig(name=key, config_operation=0, value="50000")
    resources = tuple(resource(resource_type=kind, resource_name=name, configs=(change,)) for name in names)
    return IncrementalAlterConfigsRequest(resources=resources, validate_only=False)


def altered_groups(names: list[str]) -> IncrementalAlterConfigsRequest:
    return altered(names, 32, "consumer.session.timeout.ms")


def described(names: list[str]) -> DescribeConfigsRequest:
    resource = DescribeConfigsRequest.DescribeConfigsResource
    resources = tuple(resource(resource_type=2, resource_name=name, configuration_keys=None) for name in names)
    return replace(default_of(DescribeConfigsRequest), resources=resources)


def limited(names: list[str]) -> AlterClientQuotasRequest:
    entry = AlterClientQuotasRequest.EntryData
    op = entry.OpData(key="producer_byte_rate", value=1000.0, remove=False)
    entries = tuple(
        entry(entity=(entry.EntityData(entity_type="user", entity_name=name),), ops=(op,)) for name in names
    )
    return AlterClientQuotasRequest(entries=entries, validate_only=False)


def allowing(names: list[str]) -> CreateAclsRequest:
    acl = CreateAclsRequest.AclCreation
    return CreateAclsRequest(
        creations=tuple(
            acl(
                resource_type=2, resource_name=name, resource_pattern_type=3, principal="User:x", host="*", operation=3,
                permission_type=3,
            )
            for name in names
        )
    )  # fmt: skip


class Stretches:
    """The most calls of functions between two pauses of a long step: what it does there, without a clock."""

    def __init__(self, request: Any, principal: Principal) -> None:
        rig = secured()
        rig.controller.env.config = NodeConfig(NODE)
        self.longest = self._calls = 0
        schema = schema_of(type(request))
        assert schema.api_key is not None
        assert schema.served is not None
        context = RequestContext(
            Source(99, 1), schema.api_key, schema.served[1], "CONTROLLER", rig.now_ms, principal=principal, is_long=True
        )
        rig.controller.long.switch = self._switch
        gc.disable()  # its callbacks are calls too
        sys.setprofile(self._count)
        try:
            step(rig.controller, Requested(context, request), rig.now_ms)
        finally:
            sys.setprofile(None)
            gc.enable()
        self._switch()

    def _count(self, _frame: Any, event: str, _argument: Any) -> None:
        if event in {"call", "c_call"}:
            self._calls += 1

    def _switch(self) -> None:
        self.longest = max(self.longest, self._calls)
        self._calls = 0


@pytest.mark.parametrize(
    ("ask", "principal"),
    [
        *((ask, ANN) for ask in (created, deleted, grown, altered, described, allowing, limited)),
        *(
            (ask, ROOT)
            for ask in (created, created_wide, deleted, grown, altered, altered_groups, described, allowing, limited)
        ),
    ],
)
def test_what_is_done_between_two_pauses_does_not_grow_with_the_request(
    ask: Callable[[list[str]], Any], principal: Principal
) -> None:
    small, large = ([f"name-{index}" for index in range(size)] for size in (1100, 3300))
    Stretches(ask(small[:300]), principal)  # what is made at the first use of anything

    longest = [Stretches(ask(names), principal).longest for names in (small, large)]

    assert longest[1] < longest[0] + 300
    assert longest[1] < 2500
