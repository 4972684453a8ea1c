"""Calls about the cluster and its nodes: DescribeCluster, UnregisterBroker, UnregisterController (KIP-919)."""

from __future__ import annotations

from records.errors import Error
from records.messages.brokers import UnregisterBrokerRequest
from records.messages.cluster import DescribeClusterRequest
from records.messages.controllers import UnregisterControllerRequest
from tools.client.admin import ENDPOINT_CONTROLLERS, Call
from tools.client.exceptions import KafkaError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tools.client.admin import Admin

ENDPOINT_BROKERS = 1


def describe_cluster(admin: Admin, *, fenced: bool = False) -> Any:
    """The response; fenced: with the brokers that are fenced. Raises Uncaught."""
    request = DescribeClusterRequest(
        include_cluster_authorized_operations=False,
        endpoint_type=ENDPOINT_CONTROLLERS if admin.settings.at_controllers else ENDPOINT_BROKERS,
        include_fenced_brokers=fenced,
    )
    return admin.result(Call("listNodes", lambda _: request, _check_description))


def _check_description(response: Any) -> Any:
    if response.error_code:
        raise KafkaError(response.error_code, response.error_message)
    return response


def unregister_broker(admin: Admin, broker_id: int) -> None:
    """Remove the registration of a broker. Raises Uncaught where the node refuses it."""
    request = UnregisterBrokerRequest(broker_id=broker_id)
    admin.result(Call("unregisterBroker", lambda _: request, _check_unregistration))


def unregister_controller(admin: Admin, controller_id: int) -> None:
    """Raises Uncaught."""
    request = UnregisterControllerRequest(controller_id=controller_id)
    admin.result(Call("unregisterController", lambda _: request, _check_unregistration))


def _check_unregistration(response: Any) -> None:
    if response.error_code:
        is_final = response.error_code != Error.REQUEST_TIMED_OUT
        raise KafkaError(response.error_code, response.error_message, is_final=is_final)
