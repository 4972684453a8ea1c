"""DescribeCluster, as a controller answers it (KIP-700, KIP-919)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.interface.results import Result
from controller.rules.permissions import allows
from controller.state.tables.acl import CLUSTER_NAME, AclOperation, AclResourceType
from records.errors import ApiError, Error
from records.features.record_versions import CONTROLLER_REGISTRATION
from records.messages.cluster import DescribeClusterResponse

if TYPE_CHECKING:
    from controller.interface.env import Env
    from controller.interface.inputs import RequestContext
    from controller.state.state import State
    from records.messages.cluster import DescribeClusterRequest

# Types of endpoints.
BROKERS = 1
CONTROLLERS = 2
ENDPOINT_TYPES = {BROKERS: "BROKER", CONTROLLERS: "CONTROLLER"}

# All operations on a cluster: in an answer they are one bit each, by their codes.
NOT_ASKED = -(1 << 31)
OPERATIONS = (
    AclOperation.CREATE,
    AclOperation.ALTER,
    AclOperation.DESCRIBE,
    AclOperation.CLUSTER_ACTION,
    AclOperation.DESCRIBE_CONFIGS,
    AclOperation.ALTER_CONFIGS,
    AclOperation.IDEMPOTENT_WRITE,
)


def check_level(state: State, env: Env) -> None:
    """Raises ApiError(UNSUPPORTED_VERSION) below metadata.version 3.7-IV0, where controllers do not register."""
    if state.metadata_version == 0 and env.release.hides_levels:
        raise ApiError(
            Error.UNSUPPORTED_VERSION,
            "There is no finalized MetadataVersion, so direct-to-controller communication is not supported.",
        )
    if state.metadata_version < CONTROLLER_REGISTRATION:
        raise ApiError(
            Error.UNSUPPORTED_VERSION,
            "Direct-to-controller communication is not supported with the current MetadataVersion.",
        )


def describe_cluster(state: State, context: RequestContext, request: DescribeClusterRequest, env: Env) -> Result:
    """DescribeCluster: the controllers, with their endpoints on the listener of the request, and the active one.

    During an election it names the last active one. A client that gets none does not ask again until its metadata is
    too old (stock's Admin: 5 minutes), so its requests time out; it asks again after NOT_CONTROLLER, or where it cannot
    connect.

    Raises ApiError(UNSUPPORTED_VERSION): see `check_level`.
    """
    rests_on = max(state.controllers.last_change(), state.features.last_change())
    check_level(state, env)
    refusal = _refusal(context, request)
    if refusal is not None:
        return Result(refusal, rests_on=rests_on)
    operations = NOT_ASKED
    if request.include_cluster_authorized_operations:
        operations = allowed_operations(state, context, env)
    nodes = tuple(
        DescribeClusterResponse.DescribeClusterBroker(broker_id=controller_id, host=endpoint.host, port=endpoint.port)
        for controller_id in sorted(state.controllers)
        if (endpoint := state.controllers[controller_id].listeners.get(context.listener)) is not None
    )
    is_listed = any(node.broker_id == env.last_leader_id for node in nodes)
    response = DescribeClusterResponse(
        throttle_time_ms=0,
        error_code=Error.NONE,
        endpoint_type=CONTROLLERS,
        cluster_id=env.cluster_id,
        controller_id=env.last_leader_id if is_listed else -1,
        brokers=nodes,
        cluster_authorized_operations=operations,
    )
    return Result(response, rests_on=rests_on)


def allowed_operations(state: State, context: RequestContext, env: Env) -> int:
    """The operations on the cluster that the sender is allowed, as bits; 0 for one that may not describe it."""
    cluster = AclResourceType.CLUSTER
    if not allows(state, context, env, AclOperation.DESCRIBE, cluster, CLUSTER_NAME):
        return 0
    return sum(
        1 << operation
        for operation in OPERATIONS
        if allows(state, context, env, operation, cluster, CLUSTER_NAME, log_denied=False, log_allowed=False)
    )


def _refusal(context: RequestContext, request: DescribeClusterRequest) -> DescribeClusterResponse | None:
    """The response to a request for nodes other than controllers; None if it asks for controllers."""
    wanted = ENDPOINT_TYPES.get(request.endpoint_type)
    if request.endpoint_type == CONTROLLERS:
        return None
    if wanted is None:
        code, text = Error.UNSUPPORTED_ENDPOINT_TYPE, f"Unsupported endpoint type {request.endpoint_type}"
    else:
        code = Error.MISMATCHED_ENDPOINT_TYPE
        text = f"The request was sent to an endpoint of type CONTROLLER, but we wanted an endpoint of type {wanted}"
    # Version 0 has neither error code.
    if context.version == 0:
        code = Error.INVALID_REQUEST
    return DescribeClusterResponse(throttle_time_ms=0, error_code=code, error_message=text, cluster_id="", brokers=())
