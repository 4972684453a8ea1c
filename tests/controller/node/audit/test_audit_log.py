"""Which requests have a line in the audit log, and what is in it."""

from __future__ import annotations

import json
from random import Random
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from controller.core.apis import APIS
from controller.interface import effects
from controller.interface.inputs import Disconnected, Forwarder, Principal, RequestContext
from controller.interface.refusals import error_response
from controller.node.admission import Admission
from controller.node.audit.audit_limit import BURST_BYTES
from controller.node.audit.audit_log import RESOURCES_MAX, AuditLog
from raft.interface import effects as raft_effects
from raft.interface.inputs import Source
from raft.interface.voters import History
from records.errors import ApiError, Error
from records.messages.brokers import BrokerHeartbeatRequest
from records.messages.cluster import DescribeClusterRequest
from records.messages.quorum import DescribeQuorumRequest, DescribeQuorumResponse
from records.messages.reassignments import ListPartitionReassignmentsRequest
from records.messages.topics import CreateTopicsRequest, DeleteTopicsRequest
from records.messages.versions import ApiVersionsRequest
from records.messages.voters import RemoveRaftVoterRequest, RemoveRaftVoterResponse
from records.schema import default_of, replace, schema_of
from tests.controller.rig import Rig, new_topic, registration

if TYPE_CHECKING:
    from controller.node.audit.audit_file import AuditFile

ANN = {"principal": Principal("User", "ann"), "client_id": "adminclient-1", "client_address": "10.1.2.3"}


class Kept:
    """In place of the file: the lines."""

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = []

    def put(self, line: bytes) -> None:
        assert line.endswith(b"\n")
        assert line.count(b"\n") == 1
        self.lines.append(json.loads(line))

    def take(self) -> list[dict[str, Any]]:
        found, self.lines = self.lines, []
        return found


class Audited(Rig):
    """A controller whose answers pass the audit log, as they pass it in a node."""

    def __init__(self, *requests: str, **settings: Any) -> None:
        self.kept = Kept()
        self.wall_ms = 1_795_392_000_123
        self.notes_of_audit: list[tuple[str, dict[str, Any]]] = []
        self.quorum = SimpleNamespace(voter_sets=History([(-1, None)]), epoch=7, high_watermark=100)
        self.audit = AuditLog(
            cast("AuditFile", self.kept), 1, frozenset(requests), lambda: self.wall_ms,
            lambda name, fields: self.notes_of_audit.append((name, fields)),
        )  # fmt: skip
        self.audit.begin(cast("Any", self.quorum))
        self.admission = Admission(lambda *_: None, lambda *_: None)
        self.admission.audit = self.audit
        self.performs = {
            kind: self.audit.around(kind, lambda _effect: None)
            for kind in (effects.Reply, raft_effects.Reply, effects.Append)
        }
        super().__init__(**settings)

    def step(self, event: Any) -> list[Any]:
        done = super().step(event)
        for effect in done:
            if type(effect) in self.performs:
                self.performs[type(effect)](effect)
        return done

    def to_quorum(self, request: Any, connection: int = 1) -> Source:
        """A request that goes to the quorum."""
        api = APIS[schema_of(type(request)).api_key or 0]
        source = Source(connection, 1)
        assert self.admission.wants_context(api)
        context = RequestContext(source, api.api_key, 0, "CONTROLLER", **cast("Any", ANN))
        assert self.admission.admits(api, context, request)
        return source

    def quorum_answers(self, source: Source, response: Any) -> None:
        self.performs[raft_effects.Reply](raft_effects.Reply(source, response))


def audited(*requests: str, is_auto: bool = True) -> Audited:
    """An active controller with broker 1. is_auto: whether what is written is committed at once."""
    rig = Audited(*requests).lead()
    assert isinstance(rig, Audited)
    rig.commit()
    rig.brokers(1)
    rig.auto = is_auto
    rig.kept.take()
    return rig


def outcomes(rig: Audited) -> list[tuple[str, str, list[Any]]]:
    return [
        (line["api"], line["outcome"], [(each["name"], each.get("error")) for each in line["resources"]])
        for line in rig.kept.take()
    ]


def creation(name: str, *replicas: tuple[int, ...], **configs: str) -> CreateTopicsRequest:
    return CreateTopicsRequest(topics=(new_topic(name, *(replicas or [(1,)]), **configs),))


def deletion(*names: str) -> DeleteTopicsRequest:
    state = DeleteTopicsRequest.DeleteTopicState
    return DeleteTopicsRequest(topics=tuple(state(name=name) for name in names), timeout_ms=1000)


def test_a_change_has_a_line_when_it_is_committed_and_not_before() -> None:
    rig = audited(is_auto=False)
    first = rig.end_offset

    rig.send(creation("orders", (1,), (1,), **{"retention.ms": "1000"}), 7, **ANN)
    assert rig.kept.take() == []
    rig.commit()

    (line,) = rig.kept.take()
    topic_id = line["resources"][0].pop("id")
    assert len(topic_id) == 22
    assert line == {
        "time": "2026-11-23T00:00:00.123Z",
        "format": 1,
        "node_id": 1, "api": "CreateTopics", "version": 7, "principal": "User:ann", "client_id": "adminclient-1",
        "client_address": "10.1.2.3", "listener": "CONTROLLER", "outcome": "committed", "epoch": rig.epoch,
        "first_offset": first, "last_offset": rig.end_offset - 1,
        "resources": [{"type": "topic", "name": "orders", "partitions": 2, "configs": ["retention.ms"]}],
    }  # fmt: skip


def test_a_change_whose_client_disconnects_before_the_commit_has_a_line() -> None:
    rig = audited(is_auto=False)

    rig.send(creation("orders"), 7, connection=5, **ANN)
    rig.step(Disconnected({5}))
    rig.commit()

    assert outcomes(rig) == [("CreateTopics", "committed", [("orders", None)])]


def test_a_change_whose_leader_is_deposed_has_an_unknown_outcome_and_its_offsets() -> None:
    rig = audited(is_auto=False)
    first, epoch = rig.end_offset, rig.epoch

    rig.send(creation("orders"), 7, **ANN)
    rig.follow()

    (line,) = rig.kept.take()
    assert (line["outcome"], line["epoch"], line["first_offset"]) == ("unknown", epoch, first)


@pytest.mark.parametrize("seed", range(20))
def test_each_request_that_wrote_records_has_one_line_whatever_happens_to_client_and_leader(seed: int) -> None:
    rng = Random(seed)
    rig = audited("refused", is_auto=False)
    wrote: list[tuple[int, int, int]] = []
    for number in range(200):
        action = rng.random()
        if action < 0.6:
            first, name = rig.end_offset, f"t-{rng.randrange(10)}"
            request, version = (creation(name), 7) if rng.random() < 0.5 else (deletion(name), 6)
            rig.send(request, version, connection=1 + number % 3)
            if rig.end_offset > first:
                wrote.append((rig.epoch, first, rig.end_offset - 1))
        elif action < 0.75:
            rig.commit(rng.randint(rig.state.committed_end_offset, rig.end_offset))
        elif action < 0.95:
            rig.step(Disconnected({rng.randint(1, 3)}))
        else:
            rig.follow()
            rig.lead()
            rig.commit()
    rig.follow()

    found = [line for line in rig.kept.take() if "first_offset" in line]
    ranges = [(line["epoch"], line["first_offset"], line["last_offset"]) for line in found]
    assert sorted(ranges) == wrote
    assert {line["outcome"] for line in found} == {"committed", "unknown"}


def test_a_request_that_is_refused_in_part_has_the_error_of_each_resource() -> None:
    rig = audited("refused")
    rig.ask(creation("orders"), 7)
    rig.kept.take()

    rig.ask(deletion("orders", "missing"), 6, **ANN)
    rig.ask(deletion("missing"), 6, **ANN)

    assert outcomes(rig) == [
        ("DeleteTopics", "committed", [("missing", "UNKNOWN_TOPIC_OR_PARTITION"), ("orders", None)]),
        ("DeleteTopics", "refused", [("missing", "UNKNOWN_TOPIC_OR_PARTITION")]),
    ]


def test_refusals_are_left_out_if_they_are_not_wanted() -> None:
    rig = audited()

    rig.ask(deletion("missing"), 6, **ANN)

    assert outcomes(rig) == []


def test_a_request_that_only_validates_says_so() -> None:
    rig = audited()

    rig.ask(replace(creation("orders"), validate_only=True), 7, **ANN)

    (line,) = rig.kept.take()
    assert (line["validate_only"], line["outcome"]) == (True, "done")
    assert "first_offset" not in line


def test_the_outcome_is_that_of_all_resources_and_the_line_names_the_first_ones() -> None:
    rig = audited("refused")
    rig.ask(creation("orders"), 7)
    rig.kept.take()
    topics = [new_topic(name, (1,)) for name in (*(f"new-{number:03}" for number in range(RESOURCES_MAX)), "orders")]

    rig.ask(CreateTopicsRequest(topics=tuple(topics), validate_only=True), 7, **ANN)

    (line,) = rig.kept.take()
    assert [each["name"] for each in line["resources"]] == [topic.name for topic in topics[:-1]]
    assert (line["outcome"], {each.get("error") for each in line["resources"]}) == ("refused", {None})


def test_a_standby_writes_nothing_about_changes() -> None:
    rig = audited("refused", "reads")
    rig.follow()

    rig.ask(creation("orders"), 7, **ANN)

    assert outcomes(rig) == []


def test_reads_have_lines_only_if_they_are_wanted() -> None:
    request = default_of(ListPartitionReassignmentsRequest)
    with_reads, without = audited("reads"), audited("refused")

    for rig in (with_reads, without):
        rig.ask(request, 0, **ANN)
        rig.ask(replace(default_of(DescribeClusterRequest), endpoint_type=2), 1, **ANN)
        rig.ask(default_of(ApiVersionsRequest), 4, **ANN)

    assert outcomes(with_reads) == [("ListPartitionReassignments", "done", []), ("DescribeCluster", "done", [])]
    assert outcomes(without) == []


def test_a_broker_has_lines_for_what_it_changed_and_not_for_each_heartbeat() -> None:
    rig = audited("refused")

    rig.heartbeat(1)
    rig.heartbeat(1, broker_epoch=99)
    rig.fence(1)

    assert outcomes(rig) == [("BrokerHeartbeat", "committed", [("1", None)])]


def test_a_broker_that_is_not_authorized_has_a_line() -> None:
    rig = audited("refused")
    request = default_of(BrokerHeartbeatRequest)
    error = ApiError(Error.CLUSTER_AUTHORIZATION_FAILED)

    context = RequestContext(Source(1, 1), 63, 2, "CONTROLLER")
    rig.admission.refuse(context, request, error_response(request, error, 2))

    (line,) = rig.kept.take()
    assert (line["outcome"], line["error"]) == ("refused", "CLUSTER_AUTHORIZATION_FAILED")


def test_a_forwarded_request_has_the_client_and_the_broker() -> None:
    rig = audited()

    forwarder = Forwarder(Principal("User", "broker"), "10.0.0.9")
    rig.ask(creation("orders"), 7, forwarded=True, forwarder=forwarder, **ANN)

    (line,) = rig.kept.take()
    assert (line["principal"], line["client_address"], line["forwarder"]) == (
        "User:ann", "10.1.2.3", {"principal": "User:broker", "address": "10.0.0.9"},
    )  # fmt: skip


def test_a_node_that_registers_itself_has_no_principal() -> None:
    rig = audited()

    rig.ask(registration(2), 4, is_own=True)

    (line,) = rig.kept.take()
    assert (line["principal"], line["client_address"], line["node_id"]) == (None, None, 1)


@pytest.mark.parametrize(("high_watermark", "outcome"), [(43, "committed"), (42, "unknown")])
def test_a_removed_voter_has_the_offset_of_the_new_voter_set(high_watermark: int, outcome: str) -> None:
    rig = audited()
    request = RemoveRaftVoterRequest(cluster_id=None, voter_id=3, voter_directory_id=bytes(16))

    source = rig.to_quorum(request)
    rig.admission.drop({1})  # the connection is closed, and the change goes on
    rig.quorum.voter_sets.add(42, None)
    rig.quorum.high_watermark = high_watermark
    rig.quorum_answers(source, RemoveRaftVoterResponse(throttle_time_ms=0, error_code=0, error_message=None))

    (line,) = rig.kept.take()
    assert (line["api"], line["outcome"], line["epoch"], line["first_offset"], line["last_offset"]) == (
        "RemoveRaftVoter", outcome, 7, 42, 42,
    )  # fmt: skip


def test_a_voter_that_is_not_removed_has_no_offset() -> None:
    rig = audited("refused")
    request = RemoveRaftVoterRequest(cluster_id=None, voter_id=3, voter_directory_id=bytes(16))

    rig.quorum.voter_sets.add(42, None)  # of an earlier change
    refusal = RemoveRaftVoterResponse(throttle_time_ms=0, error_code=Error.VOTER_NOT_FOUND, error_message="x")
    rig.quorum_answers(rig.to_quorum(request), refusal)

    (line,) = rig.kept.take()
    assert (line["outcome"], line["error"], "first_offset" in line) == ("refused", "VOTER_NOT_FOUND", False)


def test_a_change_of_voters_that_is_answered_with_an_error_may_yet_be_committed() -> None:
    rig = audited()
    request = RemoveRaftVoterRequest(cluster_id=None, voter_id=3, voter_directory_id=bytes(16))

    source = rig.to_quorum(request)
    rig.quorum.voter_sets.add(142, None)
    rig.quorum.epoch = 8  # another leader
    refusal = RemoveRaftVoterResponse(throttle_time_ms=0, error_code=Error.NOT_LEADER_OR_FOLLOWER, error_message="x")
    rig.quorum_answers(source, refusal)

    (line,) = rig.kept.take()
    assert (line["outcome"], line["error"], line["epoch"], line["first_offset"]) == (
        "unknown", "NOT_LEADER_OR_FOLLOWER", 7, 142,
    )  # fmt: skip


def test_a_read_of_the_quorum_whose_client_disconnects_is_forgotten() -> None:
    rig = audited("reads")
    response = default_of(DescribeQuorumResponse)

    rig.quorum_answers(rig.to_quorum(default_of(DescribeQuorumRequest)), response)
    dropped = rig.to_quorum(default_of(DescribeQuorumRequest), connection=9)
    rig.admission.drop({9})
    rig.quorum_answers(dropped, response)

    assert outcomes(rig) == [("DescribeQuorum", "done", [])]
    assert not rig.admission.wants_context(APIS[1])  # Fetch


def test_long_names_and_many_resources_are_cut() -> None:
    rig = audited("refused")

    rig.ask(deletion("x" * 30_000, *map(str, range(300))), 6, **(ANN | {"client_id": "\n\x9b" + "y" * 3000}))

    (line,) = rig.kept.take()
    assert (len(line["resources"]), line["more_resources"]) == (RESOURCES_MAX, 301 - RESOURCES_MAX)
    assert line["resources"][0]["name"] == "x" * 256 + "… (30000 characters)"
    assert line["client_id"] == "\n\x9b" + "y" * 254 + "… (3002 characters)"


def test_refusals_of_one_principal_do_not_replace_the_log_and_are_counted() -> None:
    rig = audited("refused")
    many = deletion(*(f"{number:0250}" for number in range(RESOURCES_MAX)))
    sizes = []
    for _ in range(5_200):  # in 91 s
        rig.wall_ms += 17
        rig.ask(many, 6, **ANN)
        sizes.append(sum(len(json.dumps(line)) for line in rig.kept.take()))

    assert BURST_BYTES < sum(sizes) < 1.3 * BURST_BYTES
    left_out = sizes.count(0)
    rig.ask(creation("new"), 7, **ANN)
    (change,) = rig.kept.take()
    assert (change["outcome"], change["omitted"] <= left_out, change["omitted"] > 0) == ("committed", True, True)
    rig.ask(deletion("other"), 6, **(ANN | {"principal": Principal("User", "bob")}))
    (line,) = rig.kept.take()
    assert (line["principal"], line["outcome"], line.get("omitted")) == ("User:bob", "refused", None)


def test_changes_are_written_however_many_there_are() -> None:
    rig = audited("refused")
    config = {"cleanup.policy": "compact"}
    for number in range(100):
        rig.ask(deletion("x" * 30_000), 6, **ANN)
        rig.audit._limit.spend("User:ann", BURST_BYTES)
        rig.ask(creation(f"topic-{number}", **config), 7, **ANN)

    assert [line["outcome"] for line in rig.kept.take()].count("committed") == 100


def test_a_line_that_cannot_be_made_is_noted_and_stops_nothing() -> None:
    rig = audited()

    context = RequestContext(Source(1, 1), 19, 7, "CONTROLLER", request=default_of(CreateTopicsRequest))
    rig.audit.on_answer(context, SimpleNamespace(error_code=0, topics=[None]))

    ((name, fields),) = rig.notes_of_audit
    assert (rig.kept.take(), name, fields["api"]) == ([], "audit_line_failed", "CreateTopics")


def test_the_failure_of_a_line_quotes_nothing_of_the_request() -> None:
    class Request:
        @property
        def topics(self) -> object:
            raise ValueError("no topic is named 'hush'")

    rig = audited()
    context = RequestContext(Source(1, 1), 19, 7, "CONTROLLER", request=Request())

    rig.audit.on_answer(context, SimpleNamespace(error_code=0, topics=[]))

    ((name, fields),) = rig.notes_of_audit
    line_number = Request.topics.fget.__code__.co_firstlineno + 2  # type: ignore[attr-defined]
    assert (name, fields) == (
        "audit_line_failed", {"api": "CreateTopics", "error": "ValueError", "line": line_number},
    )  # fmt: skip
