"""The watch of a cluster: raft's properties, and the checks of its controllers' state and responses.

C01 ReplayDeterminism, C02 AckAfterCommit, C03 NoUncommittedLeak of levels, C04 RevertExact, C08, C09 and C10 of
responses to brokers; when responses are sent is in `answering`, the rest in `log_rules`, and C05 of the history.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.interface import effects as controller_effects
from controller.interface import inputs
from controller.node.envelope import header_of
from records.codec import decode_prefix
from records.errors import ApiError, Error
from records.messages.brokers import BrokerHeartbeatRequest, BrokerRegistrationRequest
from records.messages.envelope import EnvelopeRequest
from records.messages.partitions import AlterPartitionRequest
from records.messages.reassignments import (
    AlterPartitionReassignmentsRequest,
    ElectLeadersRequest,
)
from records.messages.versions import ApiVersionsRequest
from records.registry import request_class
from records.wire import DecodeError
from simulations.cluster.answering import Answering
from simulations.cluster.metadata import answers
from simulations.cluster.metadata.history import ClusterHistory
from simulations.cluster.metadata.log_rules import LogRules
from simulations.cluster.metadata.reference import is_same, state_digest
from simulations.cluster.views import Views
from simulations.raft.watch import Watch
from simulations.world.messages import NAMES
from simulations.world.trace import DEED, MESSAGE
from simulations.world.violation import Violation

if TYPE_CHECKING:
    from collections.abc import Callable

    from raft.interface.inputs import Requested, Source
    from simulations.nodes.client import Client
    from simulations.nodes.driver import ControllerProcess
    from simulations.world.ledger import Ledger
    from simulations.world.messages import Frame
    from simulations.world.process import Connection, Process
    from simulations.world.trace import Trace
    from simulations.world.world import World

TOPIC = 2
UNCLEAN = 1
RAFT = frozenset(NAMES)
# A standby is compared with the reference once in this many steps, an active controller once in this many commits.
COMPARED_EVERY = 40


class ClusterWatch(Watch):
    """log_rules: of the committed log. session_ms: the session timeout. compared: how many states."""

    def __init__(self, world: World, ledger: Ledger, trace: Trace, session_ms: int) -> None:
        super().__init__(world, ledger, trace)
        self.log_rules = LogRules()
        self.history = ledger.history = ClusterHistory(
            ledger.chains, self.log_rules.on_committed, self.log_rules.last_settled_offset
        )
        self.session_ms = session_ms
        self._views = Views()
        self.compared = 0
        self.acknowledged_requests = 0
        self._steps: dict[int, int] = {}
        self._owed: dict[tuple[int, int, Source], int] = {}
        self.answering = Answering(ledger, self.history, self.log_rules)
        self._asked: dict[tuple[int, int, Source], tuple[Any, int]] = {}  # the request, and when it arrived
        self._asked_us = 0  # of the request that is answered now
        self._from_standby: dict[int, int] = {}  # by client's machine: the number of what it asked
        # (node, epoch, broker): (when, broker epoch)
        self._last_heartbeats: dict[tuple[int, int, int], tuple[int, int]] = {}

    # The network

    def on_asked(self, process: Process, frame: Frame, requested: Requested) -> None:
        if frame.name not in RAFT:
            request = requested.request
            self._asked[process.node.id, process.life, requested.source] = request, self.world.now
            self.answering.on_asked(process, requested.source)  # type: ignore[arg-type]
            wish = _client_request(request) if type(request) is EnvelopeRequest else request
            if type(wish) in NOTED_REQUESTS:
                NOTED_REQUESTS[type(wish)](self.log_rules, wish)
        elif frame.stamp is not None or frame.name != "Fetch":
            super().on_asked(process, frame, requested)

    def took_request(self, process: Process, frame: Frame, requested: Requested) -> None:
        if frame.name in RAFT and (frame.stamp is not None or frame.name != "Fetch"):
            super().took_request(process, frame, requested)

    def leaves(self, connection: Connection, frame: Frame, is_answer: bool) -> None:
        if connection.client.node.id in self.ledger.nodes and frame.name in RAFT:
            super().leaves(connection, frame, is_answer)
            return
        client, server = connection.client.node.id, connection.server
        other = 0 if server is None else server.node.id
        sender, target = (other, client) if is_answer else (client, other)
        self.trace.add((self.world.now, MESSAGE, sender, target, frame.name, *frame.gist))

    # Controllers

    def on_stepped(self, process: Process, name: str, event: Any, effects: list[Any]) -> None:
        super().on_stepped(process, name, event, effects)
        self._views.look(process)  # type: ignore[arg-type]
        if self.seen is not None and self.seen.of_controllers is not None:
            self.seen.of_controllers.on_raft_stepped(process, effects)

    def is_from_standby(self, client: Client) -> bool:
        """Whether the last answer to a client came from a standby."""
        return self._from_standby.pop(client.id, 0) == client.number

    def on_controller_stepped(self, process: ControllerProcess, event: inputs.Input, effects: list[Any]) -> None:
        """A controller took a step."""
        self._views.look(process)
        if self.seen is not None and self.seen.of_controllers is not None:
            self.seen.of_controllers.on_stepped(process, event, effects)
        if type(event) is inputs.Requested:
            appended = [each for each in effects if type(each) is controller_effects.Append]
            if appended:
                self._owed[process.node.id, process.life, event.context.source] = appended[-1].last_offset + 1
        elif type(event) in COMPARED:
            self._compare(process, COMPARED[type(event)], event)
        self.answering.on_stepped(process, event, effects)

    def replies(self, process: ControllerProcess, source: Source, response: Any) -> None:
        """A controller sends a response: check its contents."""
        key = (process.node.id, process.life, source)
        owed = self._owed.pop(key, None)
        request, self._asked_us = self._asked.pop(key, (None, 0))
        is_active = process.controller.is_active
        if owed is not None and (is_active or Error.NOT_CONTROLLER not in answers.errors_of(response)):
            self._is_committed(process, owed, response)
        self.answering.replies(process, source, request, response)
        if request is None:
            return
        if not is_active:
            connection = process.connections[source.connection]
            if connection.asked is not None:
                self._from_standby[connection.client.node.id] = connection.asked.number
            return
        answers.check(process.node.id, request, response)
        if type(request) in ANSWERED:
            ANSWERED[type(request)](self, process, request, response)

    def _is_committed(self, process: ControllerProcess, end_offset: int, response: Any) -> None:
        node_id = process.node.id
        self.acknowledged_requests += 1
        self.trace.add((self.world.now, DEED, node_id, "acknowledges", end_offset))
        if self.history.end < end_offset:
            text = f"node {node_id} answers {type(response).__name__}, which depends on {end_offset}"
            raise Violation("C02", f"{text}; {self.history.end} is committed")
        if self.ledger.shadow(process).at(end_offset) not in (None, self.history.chain_at.get(end_offset)):
            raise Violation("C02", f"node {node_id} answers for {end_offset}, but other records are committed there")

    def _compare(self, process: ControllerProcess, every: int, event: Any) -> None:
        """The state equals a replay of all committed records, up to where it is stable."""
        node_id = process.node.id
        steps = self._steps[node_id] = self._steps.get(node_id, 0) + 1
        if every > 1 and steps % every:
            return
        self.compare(process, type(event).__name__)

    def compare(self, process: ControllerProcess, after: str) -> None:
        """Compare a state with the log. Raises Violation if a node's stable state differs from a replay of the log."""
        state = process.controller.state
        if state.loading or state.stable_end_offset not in self.history.chain_at:
            return
        offset, digest = state_digest(state)
        self.compared += 1
        if not is_same(digest, self.history.reference.digest_at(offset)):
            text = f"the state of node {process.node.id} after {after} differs from the state of the log up to {offset}"
            raise Violation("C01", text)
        if not process.controller.is_active and state.end_offset > self.history.end:
            text = f"node {process.node.id} does not lead, but its state is at {state.end_offset}"
            raise Violation("C04", f"{text}; {self.history.end} is committed")

    # What brokers are answered

    def answers_heartbeat(self, process: ControllerProcess, request: Any, response: Any) -> None:
        if response.error_code != Error.NONE:
            return
        self.answering.heartbeat(process, request, response)
        broker = self.log_rules.image.brokers.get(request.broker_id)
        if broker is not None and request.broker_epoch < broker.epoch and self._has_record(process, broker.epoch):
            text = (
                f"node {process.node.id} takes a heartbeat of broker {request.broker_id}, epoch {request.broker_epoch}"
            )
            raise Violation("C10", f"{text}; its epoch is {broker.epoch}")
        # The contact was when it arrived; the answer may have waited for a commit, and for a pause of the process.
        moment = self._asked_us, request.broker_epoch
        self._last_heartbeats[process.node.id, process.controller.env.epoch, request.broker_id] = moment

    def _has_record(self, process: ControllerProcess, offset: int) -> bool:
        """Whether the node's own state has the record at an offset."""
        return process.controller.state.end_offset > offset

    def answers_registration(self, process: ControllerProcess, request: Any, response: Any) -> None:
        if response.error_code != Error.NONE:
            return
        key = (process.node.id, process.controller.env.epoch, request.broker_id)
        seen_us, epoch = self._last_heartbeats.pop(key, (0, -1))
        # It was decided before it was committed: what took so long is not known here, so half the time is left to it.
        if epoch in self.log_rules.ended:
            return
        if epoch not in (-1, response.broker_epoch) and self.world.now - seen_us < self.session_ms * 1000 // 2:
            text = f"node {process.node.id} registers another incarnation of broker {request.broker_id}"
            raise Violation(
                "C09", f"{text}, {(self.world.now - seen_us) // 1000} ms after a heartbeat of epoch {epoch}"
            )

    def answers_versions(self, process: ControllerProcess, _request: Any, response: Any) -> None:
        """A response has levels as of an offset, at which the log had the same."""
        if response.error_code != Error.NONE:
            return
        end = response.finalized_features_epoch + 1
        if end > self.history.end:
            text = f"node {process.node.id} answers with the levels as of {end}"
            raise Violation("C03", f"{text}; {self.history.end} is committed")
        then: dict[str, int] = next((levels for since, levels in reversed(self.log_rules.levels) if since <= end), {})
        answered = {each.name: each.max_version_level for each in response.finalized_features if each.name in then}
        if any(answered.get(name, 0) != level for name, level in then.items()):
            raise Violation(
                "C03",
                f"node {process.node.id} answers with {answered} as of {end}, but the finalized levels were {then}",
            )

    def answers_alteration(self, process: ControllerProcess, request: Any, response: Any) -> None:
        answered = {
            (bytes(topic.topic_id), each.partition_index): each
            for topic in response.topics
            for each in topic.partitions
        }
        for topic in request.topics:
            for asked in topic.partitions:
                key = bytes(topic.topic_id), asked.partition_index
                result = answered.get(key)
                if response.error_code == Error.NONE and result is not None and result.error_code == Error.NONE:
                    fits = result.partition_epoch in (asked.partition_epoch, asked.partition_epoch + 1)
                    if not fits or result.leader_epoch not in (asked.leader_epoch, asked.leader_epoch + 1):
                        text = f"node {process.node.id} answers a change of epochs {asked.leader_epoch}"
                        more = f"{asked.partition_epoch} to {result.leader_epoch}, {result.partition_epoch}"
                        raise Violation("C10", f"{text}, {more}")
                    self._check_epochs(process, key, result)
                elif result is not None and result.error_code == Error.FENCED_LEADER_EPOCH:
                    known = self.log_rules.image.partitions.get(key)
                    if known is not None and known.leader_epoch <= asked.leader_epoch:
                        text = f"node {process.node.id} refuses leader epoch {asked.leader_epoch} as stale"
                        raise Violation("C10", f"{text}; {known.leader_epoch} is committed")

    def _check_epochs(self, process: ControllerProcess, key: tuple[bytes, int], answered: Any) -> None:
        """The epochs in a response to a leader are those of the committed log."""
        known = self.log_rules.image.partitions.get(key)
        if known is None or known.epoch > answered.partition_epoch:
            return
        if known.epoch < answered.partition_epoch or known.leader_epoch != answered.leader_epoch:
            text = f"node {process.node.id} answers with epochs {answered.leader_epoch}, {answered.partition_epoch}"
            raise Violation("C08", f"{text} of {key[0].hex()[:8]}-{key[1]}; it is {known}")


def _client_request(envelope: EnvelopeRequest) -> Any:
    """The request that a client sent through a broker; None if it cannot be read."""
    data = envelope.request_data
    try:
        header, position = header_of(data)
        return decode_prefix(request_class(header.request_api_key), header.request_api_version, data, position)[0]
    except (ApiError, DecodeError):
        return None


def _isr_changes(log_rules: LogRules, request: Any) -> None:
    for topic in request.topics:
        for each in topic.partitions:
            members = {(member.broker_id, member.broker_epoch) for member in each.new_isr_with_epochs}
            log_rules.on_isr_requested((bytes(topic.topic_id), each.partition_index), each.partition_epoch, members)


def _reassigns(log_rules: LogRules, request: Any) -> None:
    for topic in request.topics:
        for each in topic.partitions:
            if each.replicas is not None:
                log_rules.on_reassignment_requested(topic.name, each.partition_index, set(each.replicas))


def _heartbeats(log_rules: LogRules, request: Any) -> None:
    log_rules.on_heartbeat(request.broker_id, request.broker_epoch, request.current_metadata_offset)


def _registers(log_rules: LogRules, request: Any) -> None:
    log_rules.on_registration_requested(bytes(request.incarnation_id), request.previous_broker_epoch)


def _elects(log_rules: LogRules, request: Any) -> None:
    if request.election_type == UNCLEAN:
        if request.topic_partitions is None:
            log_rules.unclean_election_requested_for_all()
        for topic in request.topic_partitions or ():
            for partition in topic.partitions:
                log_rules.on_unclean_election_requested(topic.topic, partition)


NOTED_REQUESTS: dict[type, Callable[[LogRules, Any], None]] = {
    BrokerHeartbeatRequest: _heartbeats,
    BrokerRegistrationRequest: _registers,
    AlterPartitionRequest: _isr_changes,
    AlterPartitionReassignmentsRequest: _reassigns,
    ElectLeadersRequest: _elects,
}


COMPARED: dict[type, int] = {
    inputs.LeaderChanged: 1,
    inputs.SnapshotClosed: 1,
    inputs.Committed: COMPARED_EVERY,
    inputs.HighWatermark: COMPARED_EVERY,
}

ANSWERED: dict[type, Callable[[ClusterWatch, ControllerProcess, Any, Any], None]] = {
    BrokerHeartbeatRequest: ClusterWatch.answers_heartbeat,
    BrokerRegistrationRequest: ClusterWatch.answers_registration,
    AlterPartitionRequest: ClusterWatch.answers_alteration,
    ApiVersionsRequest: ClusterWatch.answers_versions,
}
