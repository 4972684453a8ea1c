"""ControllerRegistration and UnregisterController."""

import pytest

from records.errors import Error, error_text
from records.messages.controllers import ControllerRegistrationRequest, UnregisterControllerRequest
from records.metadata.brokers import RegisterControllerRecord, UnregisterControllerRecord
from tests.controller.rig import Rig


def request(**fields):
    listener = ControllerRegistrationRequest.Listener(name="CONTROLLER", host="c1", port=9093, security_protocol=0)
    feature = ControllerRegistrationRequest.Feature(
        name="metadata.version", min_supported_version=7, max_supported_version=30
    )
    given = {
        "controller_id": 3001,
        "incarnation_id": bytes([5]) * 16,
        "zk_migration_ready": True,
        "listeners": (listener,),
        "features": (feature,),
    }
    return ControllerRegistrationRequest(**{**given, **fields})


def test_each_controller_registration_writes_a_record():
    rig = Rig().lead()
    before = rig.end_offset

    responses = [rig.ask(request()) for _ in range(2)]

    record = RegisterControllerRecord(
        controller_id=3001,
        incarnation_id=bytes([5]) * 16,
        zk_migration_ready=False,
        end_points=(
            RegisterControllerRecord.ControllerEndpoint(name="CONTROLLER", host="c1", port=9093, security_protocol=0),
        ),
        features=(
            RegisterControllerRecord.ControllerFeature(
                name="metadata.version", min_supported_version=7, max_supported_version=30
            ),
        ),
    )
    assert [(r.error_code, r.error_message) for r in responses] == [(0, "")] * 2
    assert rig.records(before) == [(record, 0)] * 2


@pytest.mark.parametrize(
    ("metadata_version", "fields", "error"),
    [
        (14, {}, Error.UNSUPPORTED_VERSION),
        (
            30,
            {"listeners": (ControllerRegistrationRequest.Listener(name="X", host="h", port=1, security_protocol=9),)},
            Error.INVALID_REGISTRATION,
        ),
    ],
)
def test_an_invalid_registration_is_refused(metadata_version, fields, error):
    rig = Rig(metadata_version=metadata_version).lead()
    before = rig.end_offset

    response = rig.ask(request(**fields))

    assert (response.error_code, response.error_message) == (error, error_text(error))
    assert rig.end_offset == before


def test_a_registered_controller_is_unregistered_by_one_record():
    rig = Rig(metadata_version=33).lead()
    rig.ask(request())
    before = rig.end_offset

    responses = [rig.ask(UnregisterControllerRequest(controller_id=3001)) for _ in range(2)]

    assert [(r.error_code, r.error_message) for r in responses] == [
        (Error.NONE, ""),
        (Error.CONTROLLER_ID_NOT_REGISTERED, "Controller ID 3001 is not currently registered."),
    ]
    assert rig.records(before) == [(UnregisterControllerRecord(controller_id=3001), 0)]
    assert 3001 not in rig.state.controllers


# Answers of Kafka 4.4.0's QuorumController, in the order of its checks.
@pytest.mark.parametrize(
    ("metadata_version", "node_id", "error", "text"),
    [
        (33, 3000, Error.INVALID_REQUEST, "Controller cannot unregister itself while it is active."),
        (30, 3000, Error.INVALID_REQUEST, "Controller cannot unregister itself while it is active."),
        (
            32,
            3001,
            Error.UNSUPPORTED_VERSION,
            "The current MetadataVersion is too old to support controller unregistration.",
        ),
        (33, -1, Error.CONTROLLER_ID_NOT_REGISTERED, "Controller ID -1 is not currently registered."),
    ],
)
def test_an_unregistration_is_refused(metadata_version, node_id, error, text):
    rig = Rig(metadata_version=metadata_version).lead()
    rig.ask(request())
    before = rig.end_offset

    response = rig.ask(UnregisterControllerRequest(controller_id=node_id))

    assert (response.error_code, response.error_message) == (error, text)
    assert rig.end_offset == before


def test_the_refusal_of_an_unknown_id_waits_for_the_unregistration_that_it_rests_on():
    rig = Rig(metadata_version=33).lead()
    rig.ask(request())
    rig.auto = False

    first, second = (rig.send(UnregisterControllerRequest(controller_id=3001)) for _ in range(2))
    early = set(rig.replies)
    rig.commit()

    assert not {first, second} & early
    assert rig.replies[first].error_code == Error.NONE
    assert rig.replies[second].error_code == Error.CONTROLLER_ID_NOT_REGISTERED
