"""The autopilot of a node: which requests it makes of steps, what it reads from the state, and where answers go."""

from __future__ import annotations

from copy import copy
from types import SimpleNamespace
from typing import Any

from controller.config.keys.own import AUTOPILOT_DRAINED, AUTOPILOT_PAUSED
from controller.interface import inputs
from controller.node.autopilot_task import AUTOPILOT_CONNECTION, AutopilotTask, drained_ids
from controller.state.tables.configs import BROKER
from controller.state.tables.controllers import Controller
from raft.autopilot.report import Kind, Step
from raft.autopilot.requests import request_of
from raft.autopilot.view import Rules
from raft.interface import inputs as raft_inputs
from records.errors import Error
from records.messages.controllers import UnregisterControllerRequest
from records.messages.voters import AddRaftVoterRequest, RemoveRaftVoterRequest, RemoveRaftVoterResponse
from tests.raft.building import CLUSTER, Bench, endpoint, fetch_request, key
from tests.raft.changing import leading

RULES = Rules(enabled=True, live_ms=2000, stabilization_ms=3000, dead_after_ms=5000, voters_max=5)


class Setting:
    """Voter 1 of a quorum leads, and its task looks once a second; the other replicas fetch until they are down."""

    def __init__(self, *voters: int, observers: tuple[int, ...] = ()) -> None:
        self.bench: Bench = leading(*voters)
        self.others = [*voters[1:], *observers]
        self.down: set[int] = set()
        self.configs: dict[Any, Any] = {}
        self.controllers = {
            each: Controller(each, b"", False, {"CONTROLLER": SimpleNamespace(host=f"c{each}", port=9093)}, {})  # type: ignore[dict-item]
            for each in (1, *self.others)
        }
        state = SimpleNamespace(configs=self.configs, controllers=self.controllers, metadata_version=33)
        self.controller = controller = SimpleNamespace(state=state, is_active=True, env=SimpleNamespace(config=None))
        self.asked: list[Any] = []
        self.events: list[tuple[str, dict[str, Any]]] = []
        log: Any = lambda name, **fields: self.events.append((name, fields))  # noqa: E731
        self.audited: list[Any] = []
        audit = SimpleNamespace(on_request=lambda _api, context, request: self.audited.append((context, request)))
        admission: Any = SimpleNamespace(audit=audit)
        self.task = AutopilotTask(
            self.bench.replica, controller, admission, log=log, now_ms=lambda: self.bench.now,
            to_raft=self.asked.append, to_controller=self.asked.append,
        )  # fmt: skip
        self.task.rules = RULES

    def run(self, seconds: int) -> None:
        for _ in range(seconds):
            self.bench.now += 1000
            for node in self.others:
                if node not in self.down:
                    self.bench.ask(fetch_request(2, node, self.bench.replica.log.end, 2, max_wait_ms=0))
            self.task.look()


def test_an_observer_that_is_level_is_added_by_a_request_of_the_node_to_itself() -> None:
    setting = Setting(1, 2, observers=(3,))

    setting.run(8)

    (asked,) = setting.asked
    assert asked == raft_inputs.Requested(
        asked.source,
        AddRaftVoterRequest(
            cluster_id=CLUSTER, timeout_ms=setting.bench.replica.config.request_timeout_ms, voter_id=3,
            voter_directory_id=key(3).directory_id,
            listeners=(AddRaftVoterRequest.Listener(name="CONTROLLER", host="c3", port=9093),), ack_when_committed=True,
        ),
        1,
        setting.bench.replica.config.listener,
    )  # fmt: skip
    assert asked.source.connection == AUTOPILOT_CONNECTION
    ((context, audited),) = setting.audited
    assert (context.client_id, context.is_own, audited) == ("kraft-autopilot", True, asked.request)
    assert setting.task.report is not None
    assert setting.task.report.held_by == ("the last step is under way: add 3",)


def test_a_voter_that_is_silent_is_removed_and_the_answer_ends_the_step() -> None:
    setting = Setting(1, 2, 3, 4)

    setting.run(3)
    setting.down = {4}
    setting.run(8)
    (asked,) = setting.asked
    refused = RemoveRaftVoterResponse(throttle_time_ms=0, error_code=Error.REQUEST_TIMED_OUT, error_message="late")
    setting.task.on_answer(asked.source, refused)
    setting.task.on_answer(asked.source, refused)  # no answer comes twice; a second one would change nothing

    assert asked.request == RemoveRaftVoterRequest(
        cluster_id=CLUSTER, voter_id=4, voter_directory_id=key(4).directory_id
    )
    assert (setting.task.steps, setting.task.failed_steps) == (0, 1)
    assert [name for name, _ in setting.events] == ["autopilot_step", "autopilot_step_failed"]
    setting.run(6)
    assert len(setting.asked) == 2
    done = RemoveRaftVoterResponse(throttle_time_ms=0, error_code=Error.NONE, error_message=None)
    setting.task.on_answer(setting.asked[1].source, done)
    assert (setting.task.steps, setting.task.failed_steps) == (1, 1)


def test_the_metadata_pauses_it_and_names_the_drained() -> None:
    paused, drained = Setting(1, 2, observers=(3,)), Setting(1, 2, observers=(3,))
    paused.configs[(BROKER, "")] = {AUTOPILOT_PAUSED: "true"}
    drained.configs[(BROKER, "")] = {f"{AUTOPILOT_DRAINED}7": "true", f"{AUTOPILOT_DRAINED}3": "true"}

    paused.run(10)
    drained.run(10)

    assert (paused.asked, drained.asked) == ([], [])
    assert paused.task.is_paused
    assert drained.task.report is not None
    assert [node.reason for node in drained.task.report.nodes if node.key == key(3)] == [
        "it is drained: the dynamic config kraft.autopilot.drained.3 names it"
    ]


def test_a_registration_without_a_node_goes_by_the_controller() -> None:
    setting = Setting(1, 2)
    setting.controllers[9] = setting.controllers[2]._replace(controller_id=9)

    setting.run(8)

    (asked,) = setting.asked
    assert isinstance(asked, inputs.Requested)
    assert asked.request == UnregisterControllerRequest(controller_id=9)
    assert asked.context.is_own
    assert asked.context.client_id == "kraft-autopilot"


def test_a_node_that_shuts_down_or_does_not_lead_has_no_report() -> None:
    setting = Setting(1, 2, observers=(3,))
    setting.run(2)
    before = setting.task.report

    setting.bench.replica.shutting_down = True
    setting.task.look()
    shutting_down = setting.task.report
    setting.bench.replica.shutting_down, setting.controller.is_active = False, False
    setting.task.look()

    assert before is not None
    assert shutting_down is setting.task.report is None


def test_a_new_leadership_begins_anew() -> None:
    setting = Setting(1, 2, observers=(3,))

    setting.run(3)
    setting.bench.replica.role = copy(setting.bench.replica.role)
    setting.run(3)

    assert setting.asked == []


def test_an_answer_to_another_request_ends_no_step() -> None:
    setting = Setting(1, 2, observers=(3,))
    setting.run(8)
    (asked,) = setting.asked
    done = RemoveRaftVoterResponse(throttle_time_ms=0, error_code=Error.NONE, error_message=None)

    setting.task.on_answer(asked.source._replace(correlation=asked.source.correlation - 1), done)

    assert setting.task.steps == 0


def test_steps_have_the_endpoints_of_the_observer() -> None:
    bench = leading(1, 2)

    request = request_of(Step(Kind.ADD, key(5), "", (endpoint(5),)), bench.replica.config.cluster_id, 2000)

    assert [(each.name, each.host, each.port) for each in request.listeners] == [tuple(endpoint(5))]


def test_only_an_id_whose_config_is_true_is_drained() -> None:
    texts = {"4": "true", "5": " TRUE", "6": "false", "x": "true", "-1": "true", "٣": "true", "": "true"}
    texts["1" * 5000] = "true"

    assert drained_ids({f"{AUTOPILOT_DRAINED}{each}": value for each, value in texts.items()}) == {4, 5}
