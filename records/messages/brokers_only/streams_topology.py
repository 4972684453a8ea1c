"""The topology of a streams group."""

from records.schema import message, struct
from records.wire import array, int8, int16, int32, nullable, string


@struct
class TopologyDescriptionNode:
    """A node of a topology: a source, a processor or a sink."""

    name: string
    node_type: int8
    source_topics: array[string]
    sink_topic: nullable[string] = None
    stores: array[string]
    successors: array[string]


@message(api_key=93, kind="request", versions=(0, 0), flexible=0)
class StreamsGroupTopologyDescriptionUpdateRequest:
    """A Streams client gives the coordinator its topology in full (KIP-1331).

    topology_epoch: of the topology described.
    topology_description: the topology; null where the client has none to give.
    node_type: source, processor or sink.
    sink_topic: the topic that a sink writes; null for others, or chosen record by record.
    stores: names of its state stores.
    successors: names of the nodes behind it.
    global_stores: stores that every process keeps in full.
    processor: the node that fills the store.
    global_stores.source: the node that reads its topic.
    """

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
    """Says whether the coordinator took the description."""

    throttle_time_ms: int32
    error_code: int16
    error_message: nullable[string] = None
