"""The autopilot of a node: while it is the active controller, it looks once a second, and asks for the next step.

A step is a request of the node to itself, served as one of a client: AddRaftVoter and RemoveRaftVoter by raft,
UnregisterController by the controller, each with its line of the audit log.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.config.keys.own import AUTOPILOT_DRAINED, AUTOPILOT_PAUSED
from controller.config.values.zones import ZONES, parse_zones
from controller.core.apis import APIS
from controller.interface import inputs
from controller.state.tables.configs import BROKER
from raft.autopilot.autopilot import Autopilot
from raft.autopilot.report import Kind
from raft.autopilot.requests import request_of
from raft.autopilot.view import Rules, view_of
from raft.interface import inputs as raft_inputs
from raft.interface.config import Endpoint
from raft.interface.inputs import Source
from raft.state.roles import Leader
from records.errors import error_name
from records.features.record_versions import CONTROLLER_UNREGISTRATION
from records.uuids import uuid_text

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Mapping

    from controller.config.node import NodeConfig
    from controller.core.controller import Controller
    from controller.node.admission import Admission
    from controller.node.logging.logs import Log
    from raft.autopilot.report import Report, Step
    from raft.autopilot.view import View
    from raft.state.replica import Replica

LOOK_S = 1.0
# The connection number in the source of its requests. Those of clients are positive, and 0 is `LoopbackRequests`.
AUTOPILOT_CONNECTION = -1
CLIENT_ID = "kraft-autopilot"
# Of an int32. Python refuses to read a number of thousands of digits.
ID_DIGITS_MAX = 10


def drained_ids(configs: Mapping[str, str]) -> frozenset[int]:
    """The ids of the controllers that are drained, by the dynamic configs of all nodes. Other texts are ignored."""
    keys = (key for key, value in configs.items() if key.startswith(AUTOPILOT_DRAINED) and _is_true(value))
    ids = (key.removeprefix(AUTOPILOT_DRAINED) for key in keys)
    return frozenset(int(each) for each in ids if each.isascii() and each.isdigit() and len(each) <= ID_DIGITS_MAX)


def _is_true(value: str) -> bool:
    return value.strip().lower() == "true"


def rules_of(config: NodeConfig | None, fetch_timeout_ms: int) -> Rules:
    """The rules in a node's configuration; without one the autopilot is off."""
    if config is None:
        return Rules(live_ms=fetch_timeout_ms)
    return Rules(
        enabled=config.flag("kraft.autopilot.enable"),
        live_ms=fetch_timeout_ms,
        stabilization_ms=config.number("kraft.autopilot.stabilization.ms"),
        dead_after_ms=config.number("kraft.autopilot.dead.after.ms"),
        voters_max=config.number("kraft.autopilot.voters.max"),
        zones=parse_zones(tuple(config.list(ZONES))),
    )


class AutopilotTask:
    """report: of the newest look; None while this node is not the active controller. steps: how many were made.

    failed_steps: how many were refused, or not answered before leadership was lost.
    """

    def __init__(
        self,
        replica: Replica,
        controller: Controller,
        admission: Admission,
        *,
        log: Log,
        now_ms: Callable[[], int],
        to_raft: Callable[[raft_inputs.Input], None],
        to_controller: Callable[[inputs.Input], None],
    ) -> None:
        self.rules = rules_of(controller.env.config, _live_ms(replica))
        self.report: Report | None = None
        self.steps = self.failed_steps = 0
        self._replica, self._controller, self._admission = replica, controller, admission
        self._log, self._now_ms = log, now_ms
        self._to_raft, self._to_controller = to_raft, to_controller
        self._role: Leader | None = None  # of the leadership in which _autopilot began
        self._autopilot: Autopilot | None = None
        self._number = 0
        self._asked: tuple[int, Autopilot, Step] | None = None
        self._timer: asyncio.TimerHandle | None = None

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Look once a second, where the autopilot is enabled; else only when it is asked."""
        if not self.rules.enabled:
            return

        def tick() -> None:
            self._timer = loop.call_later(LOOK_S, tick)
            self.look()

        self._timer = loop.call_later(LOOK_S, tick)

    def close(self) -> None:
        """Look no more."""
        if self._timer is not None:
            self._timer.cancel()

    @property
    def is_paused(self) -> bool:
        """Whether the whole quorum's autopilot is paused, by the metadata."""
        return _is_true(self._configs.get(AUTOPILOT_PAUSED, ""))

    @property
    def _configs(self) -> Mapping[str, str]:
        """The dynamic configs of all nodes."""
        configs: Mapping[str, str] = self._controller.state.configs.get((BROKER, ""), {})
        return configs

    def look(self) -> None:
        """Make a report, if this node is the active controller, and ask for its step."""
        role = self._replica.role
        if not isinstance(role, Leader) or not self._controller.is_active or self._replica.shutting_down:
            self._role = self._autopilot = self.report = None
            return
        if role is not self._role or self._autopilot is None:
            self._role, self._autopilot = role, Autopilot(self.rules)
        now_ms = self._now_ms()
        self.report = self._autopilot.look(self._view(role, now_ms))
        if self.report.step is not None:
            self._ask(self._autopilot, self.report.step)

    def on_answer(self, source: Source, response: Any) -> None:
        """The step was made, or refused."""
        if self._asked is None or self._asked[0] != source.correlation:
            return
        _, autopilot, step = self._asked
        self._asked = None
        is_done = not response.error_code
        autopilot.end(self._now_ms(), is_done=is_done)
        if is_done:
            self.steps += 1
            self._log("autopilot_step_done", step=step.kind.value, node=step.key.id)
            return
        self.failed_steps += 1
        self._log(
            "autopilot_step_failed", step=step.kind.value, node=step.key.id, error=error_name(response.error_code),
            text=getattr(response, "error_message", None) or "",
        )  # fmt: skip

    def _view(self, role: Leader, now_ms: int) -> View:
        state = self._controller.state
        controllers = {
            controller.controller_id: tuple(
                Endpoint(name.upper(), each.host, each.port) for name, each in controller.listeners.items()
            )
            for controller in state.controllers.values()
        }
        return view_of(
            self._replica, role, controllers, now_ms, is_paused=self.is_paused,
            can_unregister=state.metadata_version >= CONTROLLER_UNREGISTRATION,
            drained=drained_ids(self._configs),
        )  # fmt: skip

    def _ask(self, autopilot: Autopilot, step: Step) -> None:
        self._number += 1
        self._log(
            "autopilot_step", step=step.kind.value, node=step.key.id, directory=uuid_text(step.key.directory_id),
            reason=step.reason,
        )  # fmt: skip
        autopilot.begin(step)
        self._asked = (self._number, autopilot, step)
        request = request_of(step, self._replica.config.cluster_id, self._replica.config.request_timeout_ms)
        if step.kind is Kind.UNREGISTER:
            self._to_controller(inputs.Requested(self._context(AUTOPILOT_CONNECTION, self._number, request), request))
        else:
            self.ask_itself(AUTOPILOT_CONNECTION, self._number, request)

    def ask_itself(self, connection: int, number: int, request: Any) -> None:
        """Have the replica of this node serve a request. The source of its answer is `connection` and `number`."""
        context = self._context(connection, number, request)
        if self._admission.audit is not None:
            self._admission.audit.on_request(APIS[context.api_key], context, request)
        self._to_raft(raft_inputs.Requested(context.source, request, context.version, context.listener))

    def _context(self, connection: int, number: int, request: Any) -> inputs.RequestContext:
        api = APIS[type(request).__schema__.api_key]
        return inputs.RequestContext(
            Source(connection, number), api.api_key, api.versions[1], self._replica.config.listener, self._now_ms(),
            client_id=CLIENT_ID, is_own=True,
        )  # fmt: skip


def _live_ms(replica: Replica) -> int:
    """A live replica fetches at least once in this time, also where nothing is written: the leader answers it then."""
    return max(replica.config.fetch_timeout_ms, 2 * replica.config.fetch_wait_max_ms)
