"""How a streams group tells its topology."""

from records.schema import message, struct
from records.wire import array, int8, int16, int32, nullable, string


@struct
class TopologyDescriptionNode:
    name: string
    node_type: int8
    source_topics: array[string]
    sink_topic: nullable[string] = None
    stores: array[string]
    successors: array[string]


@message(api_key=93, kind="request", versions=(0, 0), flexible=0)
class StreamsGroupTopologyDescriptionUpdateRequest:
    """Asks: StreamsGroupTopologyDescriptionUpdate."""

    @struct
    class TopologyDescription:
        @struct
        class TopologyDescriptionSubtopology:
            subtopology_id: string
            nodes: array[TopologyDescriptionNode]

        @struct
        class TopologyDescriptionGlobalStore:
            source: TopologyDescriptionNode
            processor: TopologyDescriptionNode

        subtopologies: array[TopologyDescriptionSubtopology]
        global_stores: array[TopologyDescriptionGlobalStore]

    group_id: string
    member_id: string
    topology_epoch: int32
    topology_description: TopologyDescription


@message(api_key=93, kind="response", versions=(0, 0), flexible=0)
class StreamsGroupTopologyDescriptionUpdateResponse:
    """Answers: StreamsGroupTopologyDescriptionUpdate."""

    throttle_time_ms: int32
    error_code: int16
    error_message: nullable[string] = None
