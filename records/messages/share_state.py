"""State of share groups, between brokers (KIP-932)."""

from records.schema import message, since, struct
from records.wire import array, int8, int16, int32, int64, nullable, string, uuid


@message(api_key=83, kind="request", versions=(0, 0), flexible=0)
class InitializeShareGroupStateRequest:
    """Asks: InitializeShareGroupState."""

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
    """Answers: InitializeShareGroupState."""

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
    """Asks: ReadShareGroupState."""

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
    """Answers: ReadShareGroupState."""

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
    """Asks: WriteShareGroupState."""

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
    """Answers: WriteShareGroupState."""

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
    """Asks: DeleteShareGroupState."""

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
    """Answers: DeleteShareGroupState."""

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
    """Asks: ReadShareGroupStateSummary."""

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
    """Answers: ReadShareGroupStateSummary."""

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
