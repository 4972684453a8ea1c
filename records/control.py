"""Bodies of control records (KIP-595, KIP-630, KIP-853)."""

from records.schema import message, since, struct
from records.wire import array, int16, int32, int64, string, uint16, uuid


@message(kind="data", versions=(0, 0), flexible=None)
class ControlRecordTypeSchema:
    """The key of a control record, after two bytes of its version (KIP-98).

    type: 0 abort, 1 commit, 2 leader change, 3 snapshot header, 4 snapshot footer, 5 kraft.version, 6 voters.
    """

    type: int16


@message(kind="data", versions=(0, 1), flexible=0)
class LeaderChangeMessage:
    """A voter became leader; the first record of its epoch (KIP-595, KIP-853).

    voters: all voters.
    granting_voters: the voters that granted their vote.
    """

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
    """The first record of a snapshot (KIP-630).

    last_contained_log_timestamp: of the last batch that the snapshot covers, in ms since 1970.
    """

    version: int16
    last_contained_log_timestamp: int64


@message(kind="data", versions=(0, 0), flexible=0)
class SnapshotFooterRecord:
    """The last record of a snapshot: a snapshot with it is complete (KIP-630)."""

    version: int16


@message(kind="data", versions=(0, 0), flexible=0)
class KRaftVersionRecord:
    """The quorum's kraft.version (KIP-853).

    kraft_version: 0 voters from the configuration, 1 voters from the log.
    """

    version: int16
    kraft_version: int16


@message(kind="data", versions=(0, 0), flexible=0)
class VotersRecord:
    """The voters of the quorum from here on (KIP-853).

    voters: all of them, each with its directory.
    endpoints: where the voter listens.
    kraft_version_feature: the levels of kraft.version that it supports.
    """

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
    """The value of the control record that ends a transaction, after two bytes of its version (KIP-98).

    coordinator_epoch: of the coordinator's partition of __transaction_state.
    """

    coordinator_epoch: int32
