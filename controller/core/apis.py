"""The table of the served APIs, one row an API: its versions, its handler, and the operation that a caller needs.

What all rows share (the check of the role, waiting for the commit, deadlines, Envelope) is done around the handler, in
`controller.core.serving`. ApiVersions announces exactly the APIs of this table.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from controller.handlers import (
    brokers,
    client_quotas,
    cluster,
    configs,
    controllers,
    describe_configs,
    directories,
    elections,
    features,
    heartbeats,
    isr,
    partition_creation,
    producer_ids,
    reassignments,
    topic_deletion,
    topics,
    versions,
)
from controller.handlers.security import acls, delegation_tokens, sasl, scram
from controller.handlers.unserved import refuse_unserved
from controller.state.tables.acl import AclOperation
from records.features.levels import RELEASES
from records.messages.acls import CreateAclsRequest, DeleteAclsRequest, DescribeAclsRequest
from records.messages.brokers import BrokerHeartbeatRequest, BrokerRegistrationRequest, UnregisterBrokerRequest
from records.messages.cluster import DescribeClusterRequest
from records.messages.configs import AlterConfigsRequest, DescribeConfigsRequest, IncrementalAlterConfigsRequest
from records.messages.controllers import ControllerRegistrationRequest, UnregisterControllerRequest
from records.messages.elections import BeginQuorumEpochRequest, EndQuorumEpochRequest, VoteRequest
from records.messages.envelope import EnvelopeRequest
from records.messages.features import UpdateFeaturesRequest
from records.messages.fetch import FetchRequest
from records.messages.fetch_snapshot import FetchSnapshotRequest
from records.messages.partitions import AlterPartitionRequest, AssignReplicasToDirsRequest
from records.messages.producer_ids import AllocateProducerIdsRequest
from records.messages.quorum import DescribeQuorumRequest
from records.messages.quotas import AlterClientQuotasRequest
from records.messages.reassignments import (
    AlterPartitionReassignmentsRequest,
    ElectLeadersRequest,
    ListPartitionReassignmentsRequest,
)
from records.messages.sasl import SaslAuthenticateRequest, SaslHandshakeRequest
from records.messages.scram import AlterUserScramCredentialsRequest, DescribeUserScramCredentialsRequest
from records.messages.tokens import (
    CreateDelegationTokenRequest,
    DescribeDelegationTokenRequest,
    ExpireDelegationTokenRequest,
    RenewDelegationTokenRequest,
)
from records.messages.topics import CreatePartitionsRequest, CreateTopicsRequest, DeleteTopicsRequest
from records.messages.versions import ApiVersionsRequest
from records.messages.voters import AddRaftVoterRequest, RemoveRaftVoterRequest, UpdateRaftVoterRequest
from records.schema import schema_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from controller.interface.env import Env
    from controller.interface.inputs import RequestContext
    from controller.interface.results import Result
    from controller.state.state import State
    from records.features.levels import Release

    Handler = Callable[[State, RequestContext, Any, Env], Result]


class Kind(Enum):
    """How an API is served.

    WRITE: by the active controller alone, which sees what is not yet committed.
    READ: by any controller. A standby answers from committed state; the active one confirms first that it still leads.
    LOCAL: by any controller at once, from its own configuration and stable state.
    RAFT: by the quorum (`raft`).
    ENVELOPE: the node unwraps it and serves the request inside (`controller.node.envelope`).
    """

    WRITE = "write"
    READ = "read"
    LOCAL = "local"
    RAFT = "raft"
    ENVELOPE = "envelope"


@dataclass(slots=True, frozen=True)
class Api:
    """One row. versions: announced, inclusive, those of Kafka 4.4.

    handler: None for the APIs of the quorum. needs: the operation on the cluster that a caller must be allowed; None
    where the handler checks the resources that the request names, or nothing is needed. check_level: raises the error
    that an unauthorized caller gets while metadata.version is too low for the API. forwardable: whether a
    broker may send it in an Envelope. deadline: how many ms a request may wait before its handler runs; None for no
    limit.
    allowed: raises ApiError where the configuration does not allow the API; called first, on any controller.
    idle: the response to a request that leaves nothing to do, None for other requests; asked where the request cannot
    be served, on a standby or after its deadline. is_local: whether a request concerns this node alone, so that a
    standby serves it. arrived: called before all further checks on the active controller. late: called for a request
    that waited too long. unreadable: why Kafka does not parse a request that this node has parsed; None if it does.
    sifts: whether the handler first looks at the request and the ACLs alone, and then calls `Slices.hold`. reads: the
    tables that the answer and the records rest on, where those are all. Other writes hold all writes from the beginning
    (`controller.core.long_steps`).
    """

    request: type[Any]
    versions: tuple[int, int]
    kind: Kind
    handler: Handler | None
    needs: AclOperation | None = None
    check_level: Callable[[State, Env], None] | None = None
    forwardable: bool = False
    deadline: Callable[[Any, Env], int] | None = None
    allowed: Callable[[RequestContext, Env], None] | None = None
    idle: Callable[[State, RequestContext, Any, Env], Any] | None = None
    is_local: Callable[[State, RequestContext, Any, Env], bool] | None = None
    arrived: Callable[[State, Any, Env], None] | None = None
    late: Callable[[State, Any, Env], None] | None = None
    unreadable: Callable[[Any], str | None] | None = None
    sifts: bool = False
    reads: tuple[str, ...] = ()

    @property
    def api_key(self) -> int:
        key = schema_of(self.request).api_key
        assert key is not None
        return key


def table(*rows: Api) -> dict[int, Api]:
    """The rows by API key."""
    return {row.api_key: row for row in rows}


def request_timeout(request: Any, _env: Env) -> int:
    """The timeout that the client gives in the request."""
    timeout_ms: int = request.timeout_ms
    return timeout_ms


def half_heartbeat(_request: Any, env: Env) -> int:
    """Half the heartbeat interval: after that time the broker is about to send the next heartbeat."""
    return env.settings.broker_heartbeat_interval_ms // 2


def api_versions(state: State, context: RequestContext, request: ApiVersionsRequest, env: Env) -> Result:
    """ApiVersions, for the APIs of the tables below."""
    return versions.api_versions(state, context, request, env, served_versions(env.release))


ALTER, DESCRIBE, CLUSTER_ACTION = AclOperation.ALTER, AclOperation.DESCRIBE, AclOperation.CLUSTER_ACTION
ALTER_CONFIGS = AclOperation.ALTER_CONFIGS
WRITE, READ, LOCAL, RAFT, ENVELOPE = Kind.WRITE, Kind.READ, Kind.LOCAL, Kind.RAFT, Kind.ENVELOPE


# fmt: off
APIS = table(
    # request, versions, kind, handler, needs
    # The APIs of the quorum, and Envelope.
    Api(FetchRequest, (4, 18), RAFT, None, CLUSTER_ACTION),
    Api(FetchSnapshotRequest, (0, 1), RAFT, None, CLUSTER_ACTION),
    Api(VoteRequest, (0, 2), RAFT, None, CLUSTER_ACTION),
    Api(BeginQuorumEpochRequest, (0, 1), RAFT, None, CLUSTER_ACTION),
    Api(EndQuorumEpochRequest, (0, 1), RAFT, None, CLUSTER_ACTION),
    Api(DescribeQuorumRequest, (0, 2), RAFT, None, DESCRIBE, forwardable=True),
    Api(AddRaftVoterRequest, (0, 1), RAFT, None, ALTER, forwardable=True),
    Api(RemoveRaftVoterRequest, (0, 0), RAFT, None, ALTER, forwardable=True),
    Api(UpdateRaftVoterRequest, (0, 0), RAFT, None, CLUSTER_ACTION),
    Api(EnvelopeRequest, (0, 0), ENVELOPE, None, CLUSTER_ACTION),
    # Versions and controllers.
    Api(ApiVersionsRequest, (0, 5), LOCAL, api_versions),
    Api(SaslHandshakeRequest, (0, 1), LOCAL, sasl.handshake),
    Api(SaslAuthenticateRequest, (0, 2), LOCAL, sasl.authenticate),
    Api(DescribeClusterRequest, (0, 2), READ, cluster.describe_cluster, ALTER, check_level=cluster.check_level),
    # Brokers and controllers.
    Api(BrokerRegistrationRequest, (0, 4), WRITE, brokers.register_broker, CLUSTER_ACTION),
    Api(BrokerHeartbeatRequest, (0, 2), WRITE, heartbeats.heartbeat, CLUSTER_ACTION,
        deadline=half_heartbeat, arrived=heartbeats.record_contact, late=heartbeats.touch_late),
    Api(UnregisterBrokerRequest, (0, 0), WRITE, brokers.unregister_broker, ALTER, forwardable=True),
    Api(ControllerRegistrationRequest, (0, 0), WRITE, controllers.register_controller, CLUSTER_ACTION),
    Api(UnregisterControllerRequest, (0, 0), WRITE, controllers.unregister_controller, ALTER, forwardable=True),
    # Partitions.
    Api(AlterPartitionRequest, (2, 3), WRITE, isr.alter_partition, CLUSTER_ACTION, idle=isr.idle),
    Api(AssignReplicasToDirsRequest, (0, 0), WRITE, directories.assign_replicas, CLUSTER_ACTION),
    Api(ElectLeadersRequest, (0, 2), WRITE, elections.elect_leaders, ALTER, forwardable=True,
        deadline=request_timeout, idle=elections.idle),
    Api(AlterPartitionReassignmentsRequest, (0, 1), WRITE, reassignments.alter_reassignments, ALTER, forwardable=True,
        deadline=request_timeout, idle=reassignments.idle),
    Api(ListPartitionReassignmentsRequest, (0, 0), READ, reassignments.list_reassignments, DESCRIBE, forwardable=True),
    # Topics. What a caller must be allowed depends on the topics.
    Api(CreateTopicsRequest, (2, 7), WRITE, topics.create_topics, forwardable=True,
        deadline=request_timeout, idle=topics.idle, sifts=True),
    Api(DeleteTopicsRequest, (1, 6), WRITE, topic_deletion.delete_topics, forwardable=True,
        deadline=request_timeout, allowed=topic_deletion.check_allowed, idle=topic_deletion.idle, sifts=True),
    Api(CreatePartitionsRequest, (0, 3), WRITE, partition_creation.create_partitions, forwardable=True,
        deadline=request_timeout, idle=partition_creation.idle, sifts=True),
    # Configurations, features and producer ids.
    Api(IncrementalAlterConfigsRequest, (0, 1), WRITE, configs.incremental_alter_configs, forwardable=True,
        is_local=configs.is_local, sifts=True),
    Api(AlterConfigsRequest, (0, 2), WRITE, configs.alter_configs, forwardable=True,
        is_local=configs.is_local, sifts=True),
    Api(DescribeConfigsRequest, (1, 4), READ, describe_configs.describe_configs),
    Api(UpdateFeaturesRequest, (0, 2), WRITE, features.update_features, ALTER, forwardable=True),
    Api(AllocateProducerIdsRequest, (0, 0), WRITE, producer_ids.allocate_producer_ids, CLUSTER_ACTION,
        forwardable=True),
    Api(AlterClientQuotasRequest, (0, 1), WRITE, client_quotas.alter_client_quotas, ALTER_CONFIGS, forwardable=True,
        idle=client_quotas.idle, reads=("quotas",)),
    # ACLs, credentials and tokens. Brokers serve the two that are `unserved`; stock's controllers announce them too.
    Api(DescribeAclsRequest, (1, 3), READ, acls.describe_acls, DESCRIBE, unreadable=acls.unreadable),
    Api(CreateAclsRequest, (1, 3), WRITE, acls.create_acls, ALTER, forwardable=True, is_local=acls.is_local,
        unreadable=acls.unreadable, reads=("acls",)),
    Api(DeleteAclsRequest, (1, 3), WRITE, acls.delete_acls, ALTER, forwardable=True, is_local=acls.is_local,
        unreadable=acls.unreadable, reads=("acls",)),
    Api(AlterUserScramCredentialsRequest, (0, 0), WRITE, scram.alter_user_scram_credentials, ALTER, forwardable=True,
        idle=scram.idle, reads=("scram",)),
    Api(DescribeUserScramCredentialsRequest, (0, 0), LOCAL, refuse_unserved),
    Api(CreateDelegationTokenRequest, (1, 3), WRITE, delegation_tokens.create_token, forwardable=True,
        idle=delegation_tokens.create_refusal),
    Api(RenewDelegationTokenRequest, (1, 2), WRITE, delegation_tokens.renew_token, forwardable=True,
        idle=delegation_tokens.renew_refusal),
    Api(ExpireDelegationTokenRequest, (1, 2), WRITE, delegation_tokens.expire_token, forwardable=True,
        idle=delegation_tokens.expire_refusal),
    Api(DescribeDelegationTokenRequest, (1, 3), LOCAL, refuse_unserved),
)
# fmt: on

# API key -> least and greatest version.
SERVED_VERSIONS = {api_key: api.versions for api_key, api in APIS.items()}
_OF_RELEASES = {
    release.name: {
        api_key: (least, release.api_versions.get(api_key, greatest))
        for api_key, (least, greatest) in SERVED_VERSIONS.items()
        if api_key not in release.lacks
    }
    for release in RELEASES.values()
}


def served_versions(release: Release) -> dict[int, tuple[int, int]]:
    """The APIs that a node of this release serves, each with its least and greatest version."""
    return _OF_RELEASES[release.name]
