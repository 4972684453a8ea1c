"""The registration of this node: when it is sent, and how often; ControllerRegistrationManagerTest's cases."""

from random import Random

import pytest

from controller.core.own_registration import OwnRegistration
from controller.core.serving import write_result
from controller.interface.effects import SendToActive
from controller.interface.inputs import LeaderChanged, SendAnswered
from controller.interface.results import Result
from raft.interface.config import Endpoint
from records.errors import Error
from records.messages.controllers import ControllerRegistrationRequest, ControllerRegistrationResponse
from records.metadata.brokers import UnregisterControllerRecord
from tests.controller.rig import Rig

INCARNATION = bytes([5]) * 16
OK = ControllerRegistrationResponse(throttle_time_ms=0, error_code=0, error_message=None)
REFUSED = ControllerRegistrationResponse(
    throttle_time_ms=0, error_code=Error.NOT_CONTROLLER, error_message="No controller appears to be active."
)


def rig(**fields):
    registration = OwnRegistration(
        3000, INCARNATION, [(Endpoint("CONTROLLER", "c0", 9093), 0)], {"metadata.version": (7, 30)}, Random(1)
    )
    return Rig(
        registration=registration,
        metadata_max_idle_interval_ms=0,
        unclean_leader_election_interval_ms=0,
        auto_leader_rebalance_enable=False,
        **fields,
    )


def test_the_active_controller_registers_with_itself():
    r = rig().lead()

    (sent,) = r.sent()
    assert sent == SendToActive(
        1,
        ControllerRegistrationRequest(
            controller_id=3000,
            incarnation_id=INCARNATION,
            zk_migration_ready=False,
            listeners=(
                ControllerRegistrationRequest.Listener(name="CONTROLLER", host="c0", port=9093, security_protocol=0),
            ),
            features=(
                ControllerRegistrationRequest.Feature(
                    name="metadata.version", min_supported_version=7, max_supported_version=30
                ),
            ),
        ),
    )
    response = r.ask(sent.request)
    r.step(SendAnswered(sent.number, response))
    r.tick(60_000)
    assert r.sent() == [sent]
    assert r.state.controllers[3000].listeners["CONTROLLER"] == ("c0", 9093, 0)


def test_no_registration_is_sent_without_a_leader_or_below_3_7():
    unled = rig()
    old = rig(metadata_version=14).lead()

    unled.tick(60_000)
    old.tick(60_000)

    assert (unled.sent(), old.sent()) == ([], [])


def test_the_registration_of_another_incarnation_is_replaced():
    from tests.controller.handlers.test_controllers import request

    r = rig().lead()
    r.step(SendAnswered(1, None))
    r.ask(request(controller_id=3000, incarnation_id=bytes([6]) * 16))

    r.tick(200)

    assert len(r.sent()) == 2


@pytest.mark.parametrize("answer", [None, REFUSED])
def test_a_failed_registration_is_retried_with_growing_delays(answer):
    r = rig().lead()

    waits = []
    for _ in range(14):
        before = len(r.sent())
        r.step(SendAnswered(r.sent()[-1].number, answer))
        assert len(r.sent()) == before
        waits.append(r.deadline_ms - r.now_ms)
        r.tick(waits[-1])
        assert len(r.sent()) == before + 1

    assert all(0.97 * 100 * 2**n <= wait <= 1.03 * 100 * 2**n for n, wait in enumerate(waits[:10]))
    assert all(wait == 120_000 for wait in waits[11:])
    assert len(r.noted("controller_registration_failed")) == 14


def test_the_delays_begin_anew_after_a_success():
    r = rig().lead()
    for _ in range(6):
        r.step(SendAnswered(r.sent()[-1].number, None))
        r.tick(r.deadline_ms - r.now_ms)
    r.step(SendAnswered(r.sent()[-1].number, OK))
    r.tick(5000)

    r.step(SendAnswered(r.sent()[-1].number, None))

    assert 97 <= r.deadline_ms - r.now_ms <= 103


def test_a_registration_without_a_response_times_out():
    r = rig().lead()

    r.tick(4999)
    assert len(r.sent()) == 1
    r.tick(200)

    assert len(r.sent()) == 2
    r.step(SendAnswered(1, OK))
    assert r.noted("controller_registration_failed")[0]["reason"] == "no answer came"


def test_a_registration_is_sent_to_a_new_leader_at_once():
    r = rig().lead()
    for _ in range(6):
        r.step(SendAnswered(r.sent()[-1].number, None))
        r.tick(r.deadline_ms - r.now_ms)
    r.step(SendAnswered(r.sent()[-1].number, None))
    before = len(r.sent())

    r.step(LeaderChanged(9, 7))

    assert len(r.sent()) == before + 1


def test_a_registration_whose_record_is_lost_is_sent_again():
    r = rig().lead()
    r.step(SendAnswered(1, OK))

    r.tick(4999)
    assert len(r.sent()) == 1
    r.tick(1)
    assert len(r.sent()) == 2


def test_a_registration_that_was_removed_is_sent_again():
    r = rig().lead()
    r.step(SendAnswered(1, r.ask(r.sent()[0].request)))
    r.tick(60_000)
    assert len(r.sent()) == 1

    # The active controller refuses its own id: the record is one of an earlier leader.
    write_result(r.controller, Result(None, [(UnregisterControllerRecord(controller_id=3000), 0)]))
    r.tick()

    assert len(r.sent()) == 2
