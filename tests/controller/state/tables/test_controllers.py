from __future__ import annotations

import pytest

from controller.state.state import ReplayError
from controller.state.tables.brokers import Endpoint, VersionRange
from controller.state.tables.controllers import Controller
from records.metadata.brokers import RegisterControllerRecord, UnregisterControllerRecord
from records.schema import replace
from tests.controller.state.tables.replaying import state_of

ENDPOINT = RegisterControllerRecord.ControllerEndpoint(name="C", host="h", port=9093, security_protocol=1)
FEATURE = RegisterControllerRecord.ControllerFeature(
    name="kraft.version", min_supported_version=0, max_supported_version=1
)
REGISTER = RegisterControllerRecord(
    controller_id=3000,
    incarnation_id=b"i" * 16,
    zk_migration_ready=False,
    end_points=(ENDPOINT,),
    features=(FEATURE,),
)


def test_a_controller_can_register_again():
    state = state_of(REGISTER, replace(REGISTER, incarnation_id=b"j" * 16))

    expected = Controller(3000, b"j" * 16, False, {"C": Endpoint("h", 9093, 1)}, {"kraft.version": VersionRange(0, 1)})
    assert state.controllers == {3000: expected}


def test_a_controller_can_be_unregistered_once():
    unregister = UnregisterControllerRecord(controller_id=3000)

    assert state_of(REGISTER, unregister).controllers == {}
    with pytest.raises(ReplayError, match="controller 3000 is not registered"):
        state_of(REGISTER, unregister, unregister)


def test_an_unknown_security_protocol_is_refused():
    with pytest.raises(ReplayError, match="listener C: there is no security protocol 7"):
        state_of(replace(REGISTER, end_points=(replace(ENDPOINT, security_protocol=7),)))
