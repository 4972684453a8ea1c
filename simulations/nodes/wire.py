"""The messages of brokers, admin clients and controllers on the simulated network, beside those of the quorum."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.core.apis import APIS, Kind
from records.registry import response_class
from simulations.world import messages
from simulations.world.connections import Network
from simulations.world.messages import ANSWERS, KINDS
from simulations.world.releases import common_controller_versions, common_versions

if TYPE_CHECKING:
    from simulations.world.messages import Gist
    from simulations.world.process import Connection

# Names of these messages, requests and answers, for faults to choose from.
NAMES: list[str] = []
VERSIONS: dict[type, int] = {}


def _request_gist(request: Any) -> Gist:
    return tuple(getattr(request, name) for name in ("broker_id", "broker_epoch") if hasattr(request, name))


def _answer_gist(response: Any) -> Gist:
    return (int(response.error_code),) if hasattr(response, "error_code") else ()


def _make_known() -> None:
    """Register all APIs of the controller with the network."""
    for api_key, api in APIS.items():
        if api.kind is Kind.ENVELOPE or (api.kind is Kind.RAFT and api.request in KINDS):
            continue
        answer = response_class(api_key)
        assert answer is not None, f"{api.request.__name__} has no answer"
        name = api.request.__name__.removesuffix("Request")
        KINDS[api.request] = messages.Kind(name, _request_gist, ("broker", "epoch"))
        KINDS[answer] = messages.Kind(f"{name}Answer", _answer_gist, ("error",))
        ANSWERS[api.request] = answer
        VERSIONS[api.request] = api.versions[1]
        NAMES.extend((name, f"{name}Answer"))


_make_known()


class ClusterNetwork(Network):
    """Connections that also carry the controller's own APIs, each in the newest common version."""

    def _ready(self, connection: Connection) -> None:
        if connection.is_wanted and not connection.client.is_dead:
            assert connection.server is not None, "the server has answered"
            releases = connection.client.node.release, connection.server.node.release
            connection.versions = {**common_versions(*releases), **common_controller_versions(VERSIONS, *releases)}
            connection.client.when_awake(connection.channel.ready, connection)
