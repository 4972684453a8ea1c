"""Bodies of control records (KIP-595, KIP-630, KIP-853)."""

from records.schema import message, since, struct
from records.wire import array, int16, int32, int64, string, uint16, uuid


@message(kind="data", versions=(0, 0), flexible=None)
class ControlRecordTypeSchema:
    """ControlRecordTypeSchema"""

    type: int16


@message(kind="data", versions=(0, 1), flexible=0)
class LeaderChangeMessage:
    """LeaderChangeMessage"""

    @struct
    class Voter:
        voter_id: int32
        voter_directory_id: uuid = since(1, default=bytes(16))

    version: int16
    leader_id: int32
    voters: array[Voter]
    granting_voters: array[Voter]


@message(kind="data", versions=(0, 0), flexible=0)
class SnapshotHeaderRecord:
    """SnapshotHeaderRecord"""

    version: int16
    last_contained_log_timestamp: int64


@message(kind="data", versions=(0, 0), flexible=0)
class SnapshotFooterRecord:
    """SnapshotFooterRecord"""

    version: int16


@message(kind="data", versions=(0, 0), flexible=0)
class KRaftVersionRecord:
    """KRaftVersionRecord"""

    version: int16
    kraft_version: int16


@message(kind="data", versions=(0, 0), flexible=0)
class VotersRecord:
    """VotersRecord"""

    @struct
    class Voter:
        @struct
        class Endpoint:
            name: string
            host: string
            port: uint16

        @struct
        class KRaftVersionFeature:
            min_supported_version: int16
            max_supported_version: int16

        voter_id: int32
        voter_directory_id: uuid
        endpoints: array[Endpoint]
        kraft_version_feature: KRaftVersionFeature

    version: int16
    voters: array[Voter]


@message(kind="data", versions=(0, 0), flexible=None)
class EndTxnMarker:
    """EndTxnMarker"""

    coordinator_epoch: int32
