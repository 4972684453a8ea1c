"""The versions that a node serves: ApiVersions (KIP-35, KIP-584)."""

from records.schema import message, since, struct, tagged_field
from records.wire import array, boolean, int16, int32, int64, nullable, string


@message(api_key=18, kind="request", versions=(0, 5), flexible=3)
class ApiVersionsRequest:
    """Asks for the requests, versions and features of the server; the first request on a connection (KIP-35, KIP-511,
    KIP-1242).

    client_software_name: letters, digits, dots and hyphens.
    client_software_version: likewise.
    cluster_id: the cluster that the client means; null where it does not say.
    node_id: the node that the client means; -1 where it does not say.
    """

    client_software_name: string = since(3, default="", ignorable=True)
    client_software_version: string = since(3, default="", ignorable=True)
    cluster_id: nullable[string] = since(5, default=None, ignorable=True)
    node_id: int32 = since(5, default=-1, ignorable=True)


@message(api_key=18, kind="response", versions=(0, 5), flexible=3)
class ApiVersionsResponse:
    """The versions of each API, the features of this node, and those that the cluster has settled on. Its header
    has version 0 always, and a version that the server lacks is answered in version 0 (KIP-35, KIP-511, KIP-584).

    api_keys: one entry for each API.
    api_key: its number.
    min_version: the least, inclusive.
    max_version: the greatest, inclusive.
    supported_features: what this node could do; up to version 3 without those whose least version is 0.
    finalized_features: what the cluster does.
    finalized_features_epoch: counts up with each change; -1 where unknown, and then finalized_features say nothing.
    max_version_level: the level that the cluster is at.
    min_version_level: the same level.
    zk_migration_ready: whether a controller can take a cluster over from ZooKeeper.
    """

    @struct
    class ApiVersion:
        api_key: int16
        min_version: int16
        max_version: int16

    @struct
    class SupportedFeatureKey:
        name: string = since(3, default="")
        min_version: int16 = since(3, default=0)
        max_version: int16 = since(3, default=0)

    @struct
    class FinalizedFeatureKey:
        name: string = since(3, default="")
        max_version_level: int16 = since(3, default=0)
        min_version_level: int16 = since(3, default=0)

    error_code: int16
    api_keys: array[ApiVersion]
    throttle_time_ms: int32 = since(1, default=0, ignorable=True)
    supported_features: array[SupportedFeatureKey] = tagged_field(0, default=(), since=3, ignorable=True)
    finalized_features_epoch: int64 = tagged_field(1, default=-1, since=3, ignorable=True)
    finalized_features: array[FinalizedFeatureKey] = tagged_field(2, default=(), since=3, ignorable=True)
    zk_migration_ready: boolean = tagged_field(3, default=False, since=3, ignorable=True)
