"""ControllerRegistration."""

import pytest

from records.errors import Error, error_text
from records.messages.controllers import ControllerRegistrationRequest
from records.metadata.brokers import RegisterControllerRecord
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
