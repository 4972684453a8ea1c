"""The API oracle: compares the records and responses of each active controller with the rules of the request (C21).

As with the executable specification, the first violation is reported at the end of the run: a more specific property
may fail first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.interface import effects, inputs
from controller.state.records_of import records_of
from controller.state.view import stable_view
from records.messages.brokers import BrokerHeartbeatRequest, BrokerRegistrationRequest
from records.messages.configs import DescribeConfigsRequest
from records.messages.envelope import EnvelopeResponse
from records.messages.partitions import AssignReplicasToDirsRequest
from records.messages.reassignments import ListPartitionReassignmentsRequest
from records.messages.topics import CreateTopicsRequest
from simulations.cluster.answering import READS
from simulations.cluster.metadata.image import NOBODY, Image
from simulations.cluster.metadata.member_rules import METADATA_VERSION
from simulations.cluster.rules.case import Case, is_elsewhere, is_without_data
from simulations.cluster.rules.mirror import Mirror
from simulations.cluster.rules.placement import Placing
from simulations.cluster.rules.table import RULES
from simulations.cluster.watch import ClusterWatch
from simulations.world.releases import levels_of
from simulations.world.violation import Violation

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from raft.interface.inputs import Source
    from simulations.cluster.periodic_work import PeriodicWork
    from simulations.nodes.driver import ControllerProcess

    Waiting = dict[tuple[int, int, Source], Callable[[Any], None]]

# From this version of its registration on a broker gives the epoch of its last clean shutdown.
PREVIOUS_EPOCH_SINCE = 3
# Requests that a standby answers as the active controller does.
OF_STANDBYS = (DescribeConfigsRequest, ListPartitionReassignmentsRequest)


class ApiOracle:
    """committed: the state of the log. properties: the controllers' configuration. session_ms: of brokers. cases: how
    many were checked, and standby_cases of standbys. refused: the first violation.
    """

    def __init__(
        self,
        committed: Image,
        properties: Mapping[str, str],
        cluster_id: str,
        voters: Sequence[int],
        kraft_version: int = 0,
        session_ms: int = 9_000,
    ) -> None:
        self._committed = committed
        self._session_ms = session_ms
        self._properties = properties
        self._about = (cluster_id, tuple(voters), kraft_version)
        self._mirrors: dict[int, Mirror | None] = {}  # by node
        self._waiting: Waiting = {}
        self._asked: dict[tuple[int, int], int] = {}  # by node and life: the last question whether it leads
        self._confirmed: dict[tuple[int, int], int] = {}  # the last that was answered
        self._wall: dict[tuple[int, int], int] = {}  # how far the wall clock is ahead, as the node was informed
        self._readers: dict[tuple[int, int, Source], int] = {}  # the last question before the read came
        self._placing = Placing()
        self.cases = self.standby_cases = 0
        self.refused = ""

    def on_stepped(self, process: ControllerProcess, event: inputs.Input, done: Sequence[Any]) -> None:
        """A controller took a step: check the records that it wrote."""
        if self.refused:
            return
        self._questions((process.node.id, process.life), event, done)
        if type(event) is inputs.WallClock:
            self._wall[process.node.id, process.life] = event.offset_ms
        try:
            self._look(process, event, done)
        except Violation as violation:
            self.refused = violation.text
        except LookupError as error:  # of a partition or a broker that is not there
            self.refused = f"node {process.node.id} writes of what is not there: {error!r}"

    def _look(self, process: ControllerProcess, event: inputs.Input, done: Sequence[Any]) -> None:
        node_id = process.node.id
        if not process.controller.is_active:
            self._mirrors.pop(node_id, None)
            if type(event) is inputs.Requested:
                self._standby_answers(process, event, done)
            return
        if type(event) is inputs.LeaderChanged:
            self._begins(process, event)
        mirror = self._mirrors.get(node_id)
        if mirror is None:
            return
        appended = [each.data for each in done if type(each) is effects.Append]
        by_broker = -1
        if type(event) is inputs.Requested:
            if type(event.request) is AssignReplicasToDirsRequest:
                by_broker = event.request.broker_id
            mirror.takes_as_a_whole(event.request, appended)
            if type(event.request) in RULES and mirror.is_exact:
                self._take(process, mirror, event, appended, done)
            if type(event.request) is BrokerHeartbeatRequest:
                is_done = _is_decided(mirror, event, appended, done)
                mirror.on_heartbeat(event.request, appended, process.controller.env.now_ms, is_done=is_done)
        if appended:
            ahead_ms = self._wall[process.node.id, process.life]
            mirror.check_times(appended, process.controller.env.now_ms + ahead_ms)
            request = event.request if type(event) is inputs.Requested else None
            mirror.wrote(appended, by_broker, _who_ended_well(mirror, event), request)
        if type(event) is inputs.Ticked:
            mirror.departures.on_ticked(node_id, mirror.image)

    def _standby_answers(self, process: ControllerProcess, event: inputs.Requested, done: Sequence[Any]) -> None:
        """A standby that has all that is committed describes just that."""
        for each in done if type(event.request) in OF_STANDBYS else ():
            if type(each) is not effects.Reply or each.source != event.context.source:
                continue
            is_level = process.controller.state.end_offset == self._committed.end_offset
            if is_level and not each.context.is_long and not is_elsewhere(each.response):
                request, version = each.context.request, each.context.version
                case = Case(process.node.id, self._committed, request, version, [], self._properties, *self._about)
                self.standby_cases += 1
                RULES[type(request)](case)(each.response)

    def _questions(self, life: tuple[int, int], event: inputs.Input, done: Sequence[Any]) -> None:
        """The confirmation of leadership that a read must wait for: one that was requested after the read came."""
        if type(event) is inputs.LeadershipConfirmed:
            self._confirmed[life] = event.number
        elif type(event) is inputs.Requested and type(event.request) in READS:
            self._readers[*life, event.context.source] = self._asked.get(life, 0)
        for effect in done:
            if type(effect) is effects.ConfirmLeadership:
                self._asked[life] = effect.number

    def _begins(self, process: ControllerProcess, event: inputs.LeaderChanged) -> None:
        node_id, epoch = process.node.id, process.controller.env.epoch
        known = self._mirrors.get(node_id)
        if known is not None and known.epoch == epoch:
            return
        is_whole = self._committed.end_offset == event.end_offset
        at_once = process.controller.env.partitions_at_once
        mirror = Mirror(node_id, epoch, self._committed, self._properties, self._about, at_once) if is_whole else None
        if mirror is not None:
            mirror.begin_sessions(process.controller.env.now_ms)
        self._mirrors[node_id] = mirror

    def _take(
        self, process: ControllerProcess, mirror: Mirror, event: inputs.Requested, appended: Sequence[bytes],
        done: Sequence[Any],
    ) -> None:  # fmt: skip
        source = event.context.source
        response = next((each.response for each in done if type(each) is effects.Reply and each.source == source), None)
        if event.context.is_long and type(event.request) in READS:
            return  # each entry shows the state at a time of its own
        if response is not None and is_elsewhere(response):
            return
        if any(type(each) is effects.ServeLater and each.context.source == source for each in done):
            return  # a long step that was abandoned: the request comes again
        self.cases += 1
        case = mirror.case(event.request, event.context.version, appended)
        case.levels = levels_of(process.node.release)
        case.heard = mirror.brokers_since(process.controller.env.now_ms - self._session_ms)
        self._waiting[process.node.id, process.life, source] = RULES[type(event.request)](case)
        if type(event.request) is CreateTopicsRequest:
            self._placing.on_created(case)

    def rests_on(self, node_id: int, request: Any) -> int:
        """The end of the log of an active controller on which an answer without records rests; 0 if that is unknown."""
        mirror = self._mirrors.get(node_id)
        return 0 if mirror is None else mirror.changes.end_offset(mirror.image, request)

    def replies(self, process: ControllerProcess, source: Source, response: Any) -> None:
        """A controller sends a response: check it."""
        key = process.node.id, process.life, source
        since = self._readers.pop(key, None)
        read = self._waiting.pop(key, None)
        if not process.controller.is_active or is_elsewhere(response):
            return
        is_unconfirmed = since is not None and self._confirmed.get(key[:2], 0) <= since
        if is_unconfirmed and not is_without_data(response):
            text = f"node {key[0]} answers {type(response).__name__} before a majority has confirmed its leadership"
            self.refused = self.refused or text
        # Responses in envelopes are checked on the wire.
        if read is not None and not isinstance(response, EnvelopeResponse):
            try:
                if getattr(response, "throttle_time_ms", 0):
                    raise Violation("C21", f"node {process.node.id} throttles a client: {response}")
                read(response)
            except Violation as violation:
                self.refused = self.refused or violation.text


def _is_decided(mirror: Mirror, event: inputs.Requested, appended: Sequence[bytes], done: Sequence[Any]) -> bool:
    """Whether a heartbeat was decided in this step: one that writes may have to wait for a long step."""
    broker = mirror.image.brokers.get(event.request.broker_id)
    is_refused = any(type(each) is effects.Reply and each.response.error_code for each in done)
    return not is_refused and (bool(appended) or (broker is not None and broker.leaving))


def _who_ended_well(mirror: Mirror, event: inputs.Input) -> int:
    """The broker that registers in this step after a clean shutdown (KIP-966); NOBODY if there is none."""
    if type(event) is not inputs.Requested or type(event.request) is not BrokerRegistrationRequest:
        return NOBODY
    known = mirror.image.brokers.get(event.request.broker_id)
    if known is None or event.context.version < PREVIOUS_EPOCH_SINCE:
        return NOBODY
    return event.request.broker_id if known.epoch == event.request.previous_broker_epoch else NOBODY


class CheckedWatch(ClusterWatch):
    """The watch of a cluster, with the API oracle."""

    api_oracle: ApiOracle
    periodic_work: PeriodicWork

    def on_controller_stepped(self, process: ControllerProcess, event: inputs.Input, effects: list[Any]) -> None:
        self.api_oracle.on_stepped(process, event, effects)
        self.periodic_work.on_stepped(process, event, effects)
        super().on_controller_stepped(process, event, effects)

    def compare(self, process: ControllerProcess, after: str) -> None:
        """Compare a controller's state also with the image, which shares no code with it."""
        super().compare(process, after)
        state = process.controller.state
        committed = self.log_rules.image
        if (
            state.loading
            or state.stable_end_offset != committed.end_offset
            or METADATA_VERSION not in committed.features
        ):
            return
        image = Image()
        for record, _ in records_of(stable_view(state)):
            image.apply(record)
        if not image.is_as(committed):
            text = (
                f"the state of node {process.node.id} after {after} differs from the log up to {committed.end_offset}"
            )
            raise Violation("C01", f"{text}: {image.differs_from(committed)}")
        self.periodic_work.compare_metrics(process)

    def replies(self, process: ControllerProcess, source: Source, response: Any) -> None:
        if is_without_data(response):
            self.answering.shows_nothing(process, source)
        super().replies(process, source, response)
        self.api_oracle.replies(process, source, response)
