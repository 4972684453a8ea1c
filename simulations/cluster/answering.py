"""When the responses of controllers may be sent, and when they must be: requests are observed from their arrival on.

C03: a response shows only committed records outside of open transactions, and no part of a batch. C05: it shows all
records that were committed when the request came, and a standby none older than it has shown. L05: waiting requests are
answered when leadership ends; reads when a standby has a stable state, or a majority has had time to confirm a leader.
L08: a broker that requests controlled shutdown may stop.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.interface import effects, inputs
from records.errors import Error
from records.messages.cluster import DescribeClusterRequest
from records.messages.configs import DescribeConfigsRequest
from records.messages.reassignments import ListPartitionReassignmentsRequest
from simulations.world.violation import Violation

if TYPE_CHECKING:
    from collections.abc import Callable

    from raft.interface.inputs import Source
    from simulations.cluster.metadata.history import ClusterHistory
    from simulations.cluster.metadata.log_rules import LogRules
    from simulations.nodes.driver import ControllerProcess
    from simulations.world.ledger import Ledger

# Standbys answer these too, and an active controller after a majority has confirmed its leadership.
READS = {DescribeConfigsRequest, DescribeClusterRequest, ListPartitionReassignmentsRequest}
NOTHING_LISTED = ()
# A read waits for the question of leadership that is under way, and for its own.
ROUNDS_MAX = 3

Life = tuple[int, int]
"""A process: id of its node, and its number on that node."""


class Answering:
    """Called by `ClusterWatch`; raises Violation. rests_on: of an active controller and a request, the end of the log
    that a response without records shows, as the simulation's own mirror of that log has it.
    """

    rests_on: Callable[[int, Any], int]

    def __init__(self, ledger: Ledger, history: ClusterHistory, log_rules: LogRules) -> None:
        self._ledger = ledger
        self._history = history
        self._log_rules = log_rules
        self._committed: dict[tuple[Life, Source], int] = {}  # how much was, when something was asked
        self._shown: dict[tuple[Life, Source], int] = {}
        self._waits: dict[Life, dict[Source, type]] = {}  # what was asked
        # By read: how often all that was written until the time before was committed, and where the log ended then.
        self._rounds: dict[tuple[Life, Source], tuple[int, int]] = {}
        self._told: dict[int, int] = {}  # by node: where the state ended that it showed last as a standby
        self._active: set[Life] = set()
        self._has_read_all: set[Life] = set()  # those that have read all that was committed at their start
        self._loading: set[Life] = set()
        # By node, its epoch, broker and its epoch: up to where that one has read, and from where on it was leaving.
        self._read: dict[tuple[int, int, int, int], int] = {}
        self._registrations: dict[tuple[int, int, int, int], object] = {}  # as they were at the last heartbeat
        self._leaving: dict[tuple[int, int, int, int], int] = {}

    def on_asked(self, process: ControllerProcess, source: Source) -> None:
        """A request came over the network."""
        self._committed[(process.node.id, process.life), source] = self._history.end

    def on_stepped(self, process: ControllerProcess, event: inputs.Input, done: list[Any]) -> None:
        """A controller took a step. If it is no longer active, it answers all waiting requests but reads, which may
        wait for its state as a standby.
        """
        life = process.node.id, process.life
        waits = self._waits.setdefault(life, {})
        is_active = process.controller.is_active
        if type(event) is inputs.Requested:
            source = event.context.source
            # What a node asks of itself comes over no network, and what waited for a long step may come when its
            # connection is closed.
            if (life, source) in self._committed and source.connection in process.connections:
                waits[source] = type(event.request)
            if is_active and not any(type(each) is effects.Append for each in done):
                self._shown[life, source] = self.rests_on(process.node.id, event.request)
        elif type(event) is inputs.Disconnected:
            for source in [each for each in waits if each.connection in event.connections]:
                del waits[source]
        for each in done:
            # It comes again as a request, or is answered when its answer is encoded.
            if type(each) is effects.ServeLater or (type(each) is effects.Reply and each.context.is_long):
                waits.pop(each.context.source, None)
            if type(each) is effects.Reply and not is_active:
                self._is_whole(process, each)
        self._has_changed(life, event)
        if is_active:
            self._active.add(life)
            self._has_read_all.add(life)
            if type(event) is inputs.HighWatermark:
                self._are_answered_in_time(process, waits, event.offset)
            return
        answered = {each.source for each in done if type(each) is effects.Reply}
        # Between two parts of a batch it answers none.
        is_whole = process.controller.replay is None and process.controller.state.transaction_start < 0
        if is_whole and life in self._has_read_all - self._loading:
            for source, request in waits.items():
                if source not in answered and request in READS and source.connection in process.connections:
                    text = f"node {life[0]} may answer reads after {type(event).__name__}, but does not"
                    raise Violation("L05", f"{text} answer a waiting {request.__name__}")
        if life in self._active:
            self._active.remove(life)
            for source, request in waits.items():
                if source not in answered and request not in READS:
                    text = f"node {life[0]} lost leadership with {type(event).__name__}, and answers all requests"
                    raise Violation("L05", f"{text} except a waiting {request.__name__}")

    def _is_whole(self, process: ControllerProcess, reply: effects.Reply) -> None:
        """A standby answers a read from its state, which is between two batches."""
        request = reply.context.request
        if type(request) in READS and process.controller.replay is not None:
            text = f"node {process.node.id} answers {type(request).__name__} from a part of a batch"
            raise Violation("C03", f"{text}; its state ends at {process.controller.state.end_offset}")

    def _are_answered_in_time(self, process: ControllerProcess, waits: dict[Source, type], committed: int) -> None:
        """An active controller answers a read within the rounds of two questions of leadership: what is written after a
        question is not committed before a majority has answered it.
        """
        life, end = (process.node.id, process.life), process.replica.log.end
        for source, request in waits.items():
            if request not in READS or source.connection not in process.connections:
                continue
            rounds, mark = self._rounds.get((life, source), (0, end))
            if committed > mark:
                rounds, mark = rounds + 1, end
            self._rounds[life, source] = rounds, mark
            if rounds > ROUNDS_MAX:
                text = f"node {life[0]} has a waiting {request.__name__} since before {rounds} rounds of commits"
                raise Violation("L05", f"{text}; it leads, and answers it not")

    def _has_changed(self, life: Life, event: inputs.Input) -> None:
        """Note whether a standby has a state that it may show."""
        if type(event) is inputs.CaughtUp:
            self._has_read_all.add(life)
        elif type(event) is inputs.SnapshotOpened:
            self._loading.add(life)
        elif type(event) is inputs.SnapshotClosed:
            self._loading.discard(life)

    def shows_nothing(self, process: ControllerProcess, source: Source) -> None:
        """The next response shows no state."""
        self._shown.pop(((process.node.id, process.life), source), None)

    def replies(self, process: ControllerProcess, source: Source, request: Any, response: Any) -> None:
        """A response is sent. An active controller shows the state at the time of the request; a standby shows its
        present state.
        """
        life = process.node.id, process.life
        self._waits.get(life, {}).pop(source, None)
        self._rounds.pop((life, source), None)
        seen = self._shown.pop((life, source), 0)
        committed = self._committed.pop((life, source), 0)
        is_active = process.controller.is_active
        if not is_active:
            seen = self._shows_in_order(process, response) if type(request) in READS else 0
        settled = self._settled_end(process) if seen else 0
        if seen > settled:
            text = f"node {life[0]} answers {type(response).__name__} from its state at {seen - 1}"
            raise Violation("C03", f"{text}; the log is committed up to {settled}")
        if is_active and type(request) in READS and getattr(request, "topics", None) != NOTHING_LISTED:
            chain = self._ledger.shadow(process)
            if process.replica.log.end < committed or chain.at(committed) not in (
                None, self._history.chain_at.get(committed),
            ):  # fmt: skip
                text = f"node {life[0]} answers {type(response).__name__} as the active controller"
                raise Violation("C05", f"{text}, but lacks records; {committed} was committed at the request")

    def _shows_in_order(self, process: ControllerProcess, response: Any) -> int:
        """A standby answers a read from the whole of its state. Returns where that ends. Raises Violation if it is
        older than what this standby has shown, even before it started again.
        """
        end, node_id = process.controller.state.end_offset, process.node.id
        if getattr(response, "error_code", Error.NONE) in (Error.NOT_CONTROLLER, Error.UNKNOWN_SERVER_ERROR):
            return 0
        results = getattr(response, "results", ())
        if results and all(each.error_code == Error.POLICY_VIOLATION for each in results):
            return 0  # more is asked than is described, whatever the state is
        if end < self._told.get(node_id, 0):
            text = f"node {node_id} answers {type(response).__name__} from its state at {end}"
            raise Violation("C05", f"{text}; it has answered from {self._told[node_id]}")
        self._told[node_id] = end
        return end

    def _settled_end(self, process: ControllerProcess) -> int:
        """The offset up to which a controller's state is committed and outside of open transactions."""
        return self._log_rules.last_settled_offset(min(process.controller.state.end_offset, self._history.end))

    def heartbeat(self, process: ControllerProcess, request: Any, response: Any) -> None:
        """A heartbeat was handled. A broker in controlled shutdown that leads nothing may stop when all active brokers
        have read that it shuts down.
        """
        state = process.controller.state
        node = process.node.id, process.controller.env.epoch
        key = (*node, request.broker_id, request.broker_epoch)
        # After a changed registration the controller does not know how far the broker is, until its next heartbeat.
        registration = _find_registration(state, request.broker_id)
        is_as_known = self._registrations.get(key) == registration
        self._registrations[key] = registration
        self._read[key] = request.current_metadata_offset if is_as_known else -1
        if not request.want_shut_down or response.is_fenced or response.error_code != Error.NONE:
            return
        partitions = state.partitions
        in_steps = process.controller.env.partitions_at_once < partitions.count
        if in_steps or any(len(partitions.get(row).isr) > 1 for row in partitions.in_isr(request.broker_id).tolist()):
            # It leaves its ISRs in steps; the others have to read the last of them.
            self._leaving.pop(key, None)
            return
        began = self._leaving.setdefault(key, state.end_offset)
        if (
            response.should_shut_down
            or state.end_offset == began
            or len(state.partitions.rows_led_by(request.broker_id))
        ):
            return
        serving = [(each.broker_id, each.epoch) for each in state.brokers.values() if each.is_active]
        if all(
            self._read.get((*node, *each), -1) >= began
            and self._registrations.get((*node, *each)) == _find_registration(state, each[0])
            for each in serving
        ):
            text = f"node {node[0]} keeps broker {request.broker_id} in the controlled shutdown of {began}; it leads"
            raise Violation("L08", f"{text} no partition, and all other brokers have read up to there")


def _find_registration(state: Any, broker_id: int) -> tuple[object, object]:
    """The registration of a broker, and the offset at which it registered last."""
    return state.brokers.get(broker_id), state.registration_offsets.get(broker_id)
