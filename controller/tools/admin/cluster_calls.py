"""Calls about the cluster and its nodes: DescribeCluster, UnregisterBroker (KIP-700, KIP-919)."""

from __future__ import annotations

from controller.tools.admin.client import Call
from controller.tools.admin.exceptions import KafkaError, executed
from controller.tools.command_line.java_texts import Uncaught
from records.errors import Error
from records.messages.brokers import UnregisterBrokerRequest
from records.messages.cluster import DescribeClusterRequest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from controller.tools.admin.client import Admin

BROKERS, CONTROLLERS = 1, 2


def describe_cluster(admin: Admin, *, fenced: bool = False) -> Any:
    """The response; fenced: with the brokers that are fenced. Raises Uncaught."""
    request = DescribeClusterRequest(
        include_cluster_authorized_operations=False,
        endpoint_type=CONTROLLERS if admin.settings.at_controllers else BROKERS,
        include_fenced_brokers=fenced,
    )
    try:
        return admin.call(Call("listNodes", lambda _: request, _described))
    except Uncaught as error:
        raise executed(error) from None


def _described(response: Any) -> Any:
    if response.error_code:
        raise KafkaError(response.error_code, response.error_message)
    return response


def unregister_broker(admin: Admin, broker_id: int) -> None:
    """Raises Uncaught."""
    request = UnregisterBrokerRequest(broker_id=broker_id)
    try:
        admin.call(Call("unregisterBroker", lambda _: request, _unregistered))
    except Uncaught as error:
        raise executed(error) from None


def _unregistered(response: Any) -> None:
    if response.error_code:
        is_final = response.error_code != Error.REQUEST_TIMED_OUT
        raise KafkaError(response.error_code, response.error_message, is_final=is_final)
