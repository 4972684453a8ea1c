"""DescribeCluster, as a controller answers it."""

from __future__ import annotations

from typing import Any

import pytest

from controller.handlers.cluster import describe_cluster
from records.errors import ApiError, Error
from records.messages.cluster import DescribeClusterRequest, DescribeClusterResponse
from tests.controller.handlers.cluster_of_configs import context, controller, env, level, replay, state
from tests.controller.rig import Rig, levels

CONTROLLERS = DescribeClusterRequest(include_cluster_authorized_operations=False, endpoint_type=2)


def described(found: Any, request: DescribeClusterRequest = CONTROLLERS, version: int = 2, **changes: Any) -> Any:
    return describe_cluster(found, context(version), request, env(None, **changes)).response


def test_only_controllers_with_the_listener_of_the_request_are_listed() -> None:
    found = state(controller(2), controller(1), controller(3, listener="OTHER"))

    node = DescribeClusterResponse.DescribeClusterBroker
    assert described(found, last_leader_id=2) == DescribeClusterResponse(
        throttle_time_ms=0,
        error_code=Error.NONE,
        endpoint_type=2,
        cluster_id="cluster-id",
        controller_id=2,
        brokers=(node(broker_id=1, host="host-1", port=9001), node(broker_id=2, host="host-2", port=9002)),
    )


def test_an_unlisted_active_controller_is_not_named() -> None:
    assert described(state(controller(2)), last_leader_id=3).controller_id == -1
    assert described(state(controller(2)), last_leader_id=-1).controller_id == -1


@pytest.mark.parametrize("leader", [2, 3000])
def test_during_an_election_the_last_active_controller_is_named(leader: int) -> None:
    """Stock's Admin, told that there is none, does not ask again before its request times out."""
    rig = Rig(bootstrap=[*levels(), (controller(2), 0), (controller(3000), 0)]).lead()
    if leader == 2:
        rig.follow(2)

    rig.follow(None)
    asked = rig.send(CONTROLLERS)

    assert rig.replies[asked].controller_id == leader


def test_without_an_authorizer_everything_is_allowed() -> None:
    asked = DescribeClusterRequest(include_cluster_authorized_operations=True, endpoint_type=2)

    assert described(state(), asked).cluster_authorized_operations == 8096
    assert described(state()).cluster_authorized_operations == -(1 << 31)


@pytest.mark.parametrize(
    ("endpoint_type", "version", "code", "text"),
    [
        (1, 2, Error.MISMATCHED_ENDPOINT_TYPE,
         "The request was sent to an endpoint of type CONTROLLER, but we wanted an endpoint of type BROKER"),
        (1, 0, Error.INVALID_REQUEST,
         "The request was sent to an endpoint of type CONTROLLER, but we wanted an endpoint of type BROKER"),
        (7, 1, Error.UNSUPPORTED_ENDPOINT_TYPE, "Unsupported endpoint type 7"),
    ],
)  # fmt: skip
def test_a_request_for_other_nodes_is_refused(endpoint_type: int, version: int, code: Error, text: str) -> None:
    asked = DescribeClusterRequest(include_cluster_authorized_operations=False, endpoint_type=endpoint_type)

    answer = described(state(), asked, version)

    assert (answer.error_code, answer.error_message, answer.brokers) == (code, text, ())


def test_before_controllers_register_they_cannot_be_described() -> None:
    with pytest.raises(ApiError) as error:
        described(state(metadata_version=14))

    assert error.value.code is Error.UNSUPPORTED_VERSION
    assert error.value.text == "Direct-to-controller communication is not supported with the current MetadataVersion."


def test_the_response_waits_for_the_uncommitted_level_from_which_on_there_is_one() -> None:
    found = state(metadata_version=14)
    replay(found, level("metadata.version", 15), commit=False)

    assert describe_cluster(found, context(2), CONTROLLERS, env()).rests_on == found.end_offset - 1


def test_the_response_waits_for_uncommitted_registrations() -> None:
    found = state()
    replay(found, controller(2), commit=False)

    assert describe_cluster(found, context(2), CONTROLLERS, env()).rests_on == found.end_offset - 1
