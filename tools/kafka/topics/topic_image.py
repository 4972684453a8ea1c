"""What kafka-topics shows of topics where it is given controllers: they do not serve Metadata, so their log is read."""

from __future__ import annotations

from tools.client.exceptions import timeout
from tools.client.live_quorum import LiveQuorum
from tools.client.quorum import NoLeader
from tools.kafka.topics.topic_reader import (
    DEFAULT_LIMIT,
    INTERNAL,
    ListedTopic,
    PartitionInfo,
    TopicInfo,
    shown_order,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tools.client.admin import Admin
    from tools.offline.image import Image, Topic


class ImageReader:
    """Reads topics from the committed metadata of the leader, once. Raises Uncaught if none answers in time."""

    def __init__(self, admin: Admin) -> None:
        settings = admin.settings
        quorum = LiveQuorum(list(settings.addresses), settings.client_id, settings.api_timeout, settings.security)
        try:
            with quorum:
                self.image: Image = quorum.update()
        except NoLeader as error:
            raise timeout(str(error)) from None

    def list_topics(self) -> list[ListedTopic]:
        """All topics, internal ones too."""
        return [
            ListedTopic(topic.name, topic_id, topic.name in INTERNAL) for topic_id, topic in self.image.topics.items()
        ]

    def live_brokers(self) -> set[int]:
        """The ids of the brokers that are not fenced."""
        return {number for number, broker in self.image.brokers.items() if not broker.fenced}

    def describe(self, names: Sequence[str], limit: int = DEFAULT_LIMIT) -> list[TopicInfo]:
        """These topics, in the order in which stock shows them. limit: there are no responses to limit."""
        del limit
        return [self._describe_topic(self.image.topics[self.image.topic_ids[name]]) for name in shown_order(names)]

    def describe_by_id(self, topic_id: bytes) -> list[TopicInfo]:
        """The topic with this id."""
        return [self._describe_topic(self.image.topics[topic_id])]

    def _describe_topic(self, topic: Topic) -> TopicInfo:
        live = self.live_brokers()
        partitions = [
            PartitionInfo(
                index,
                partition.leader if partition.leader in live else None,
                partition.replicas,
                partition.isr,
                partition.elr,
                partition.last_known_elr,
            )
            for index, partition in sorted(topic.partitions.items())
        ]
        return TopicInfo(topic.name, topic.topic_id, partitions)
