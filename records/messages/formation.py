"""QuorumFormation, by which controllers with empty disks find each other; Kafka has no such API.

No controller that has a metadata log serves it, so ApiVersions of a quorum names Kafka's APIs alone.
"""

from records.schema import message, struct
from records.wire import array, int16, int32, string, uint16, uuid


@message(api_key=32000, kind="request", versions=(0, 0), flexible=0)
class QuorumFormationRequest:
    """Asks a controller which initial controllers it has saved."""


@message(api_key=32000, kind="response", versions=(0, 0), flexible=0)
class QuorumFormationResponse:
    """Says who a controller with an empty disk is, and which initial controllers it has saved.

    expect: `kraft.quorum.bootstrap.expect`.
    cluster_id: `kraft.quorum.bootstrap.cluster.id`, empty if it is not set.
    controller: this controller; host and port are those of its first listener, as advertised.
    saved: empty if it has saved none.
    """

    @struct
    class InitialController:
        node_id: int32
        directory_id: uuid
        host: string
        port: uint16

    error_code: int16
    expect: int32
    cluster_id: string
    controller: InitialController
    saved: array[InitialController]
