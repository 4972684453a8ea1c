"""State of share groups, between brokers (KIP-932)."""

from records.schema import message, since, struct
from records.wire import array, int8, int16, int32, int64, nullable, string, uuid


@message(api_key=83, kind="request", versions=(0, 0), flexible=0)
class InitializeShareGroupStateRequest:
    """A group coordinator has the state of share partitions set up (KIP-932).

    start_offset: where delivery starts; -1 not known yet.
    """

    @struct
    class InitializeStateData:
        @struct
        class PartitionData:
            partition: int32
            state_epoch: int32
            start_offset: int64

        topic_id: uuid
        partitions: array[PartitionData]

    group_id: string
    topics: array[InitializeStateData]


@message(api_key=83, kind="response", versions=(0, 0), flexible=0)
class InitializeShareGroupStateResponse:
    """Says for each share partition whether its state is set up."""

    @struct
    class InitializeStateResult:
        @struct
        class PartitionResult:
            partition: int32
            error_code: int16
            error_message: nullable[string] = None

        topic_id: uuid
        partitions: array[PartitionResult]

    results: array[InitializeStateResult]


@message(api_key=84, kind="request", versions=(0, 0), flexible=0)
class ReadShareGroupStateRequest:
    """A leader asks for the state of share partitions (KIP-932).

    leader_epoch: the leader's own.
    """

    @struct
    class ReadStateData:
        @struct
        class PartitionData:
            partition: int32
            leader_epoch: int32

        topic_id: uuid
        partitions: array[PartitionData]

    group_id: string
    topics: array[ReadStateData]


@message(api_key=84, kind="response", versions=(0, 0), flexible=0)
class ReadShareGroupStateResponse:
    """Gives the state of share partitions.

    start_offset: everything before it is done; -1 not known yet.
    state_batches: what became of ranges from there on.
    delivery_state: 0 available, 2 acknowledged, 4 archived.
    """

    @struct
    class ReadStateResult:
        @struct
        class PartitionResult:
            @struct
            class StateBatch:
                first_offset: int64
                last_offset: int64
                delivery_state: int8
                delivery_count: int16

            partition: int32
            error_code: int16
            error_message: nullable[string] = None
            state_epoch: int32
            start_offset: int64
            state_batches: array[StateBatch]

        topic_id: uuid
        partitions: array[PartitionResult]

    results: array[ReadStateResult]


@message(api_key=85, kind="request", versions=(0, 1), flexible=0)
class WriteShareGroupStateRequest:
    """A leader has the state of share partitions written (KIP-932, KIP-1226).

    leader_epoch: the leader's own.
    start_offset: everything before it is done; -1 unchanged.
    delivery_complete_count: from the start offset on, how many records are done; -1 unknown.
    state_batches: what became of ranges.
    delivery_state: 0 available, 2 acknowledged, 4 archived.
    """

    @struct
    class WriteStateData:
        @struct
        class PartitionData:
            @struct
            class StateBatch:
                first_offset: int64
                last_offset: int64
                delivery_state: int8
                delivery_count: int16

            partition: int32
            state_epoch: int32
            leader_epoch: int32
            start_offset: int64
            delivery_complete_count: int32 = since(1, default=-1, ignorable=True)
            state_batches: array[StateBatch]

        topic_id: uuid
        partitions: array[PartitionData]

    group_id: string
    topics: array[WriteStateData]


@message(api_key=85, kind="response", versions=(0, 1), flexible=0)
class WriteShareGroupStateResponse:
    """Says for each share partition whether its state is written."""

    @struct
    class WriteStateResult:
        @struct
        class PartitionResult:
            partition: int32
            error_code: int16
            error_message: nullable[string] = None

        topic_id: uuid
        partitions: array[PartitionResult]

    results: array[WriteStateResult]


@message(api_key=86, kind="request", versions=(0, 0), flexible=0)
class DeleteShareGroupStateRequest:
    """A group coordinator has the state of share partitions deleted (KIP-932)."""

    @struct
    class DeleteStateData:
        @struct
        class PartitionData:
            partition: int32

        topic_id: uuid
        partitions: array[PartitionData]

    group_id: string
    topics: array[DeleteStateData]


@message(api_key=86, kind="response", versions=(0, 0), flexible=0)
class DeleteShareGroupStateResponse:
    """Says for each share partition whether its state is gone."""

    @struct
    class DeleteStateResult:
        @struct
        class PartitionResult:
            partition: int32
            error_code: int16
            error_message: nullable[string] = None

        topic_id: uuid
        partitions: array[PartitionResult]

    results: array[DeleteStateResult]


@message(api_key=87, kind="request", versions=(0, 1), flexible=0)
class ReadShareGroupStateSummaryRequest:
    """A group coordinator asks where share partitions start (KIP-932, KIP-1226).

    leader_epoch: the leader's, as far as it is known; -1 unknown.
    """

    @struct
    class ReadStateSummaryData:
        @struct
        class PartitionData:
            partition: int32
            leader_epoch: int32

        topic_id: uuid
        partitions: array[PartitionData]

    group_id: string
    topics: array[ReadStateSummaryData]


@message(api_key=87, kind="response", versions=(0, 1), flexible=0)
class ReadShareGroupStateSummaryResponse:
    """The start offsets of share partitions, without the ranges.

    start_offset: everything before it is done; -1 not known yet.
    delivery_complete_count: from the start offset on, how many records are done; -1 unknown.
    """

    @struct
    class ReadStateSummaryResult:
        @struct
        class PartitionResult:
            partition: int32
            error_code: int16
            error_message: nullable[string] = None
            state_epoch: int32
            leader_epoch: int32
            start_offset: int64
            delivery_complete_count: int32 = since(1, default=-1, ignorable=True)

        topic_id: uuid
        partitions: array[PartitionResult]

    results: array[ReadStateSummaryResult]
