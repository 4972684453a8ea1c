"""The quorum's own Fetches, as the leader sees them, while something else happens."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Self

from records.messages.quorum import DescribeQuorumRequest
from tests.benchmarks.client import Connection

if TYPE_CHECKING:
    from ssl import SSLContext

EVERY_S = 0.01


class FetchWatch:
    """A context manager that asks a leader, on a connection of its own, when each follower last sent a Fetch.

    ages_ms: how long each follower had sent none, at each answer, by the clock of this machine. epochs: those that were
    seen, of which a missed Fetch adds one.
    """

    def __init__(self, port: int, context: SSLContext | None) -> None:
        self.ages_ms: list[float] = []
        self.epochs: set[int] = set()
        self._connection = Connection(port, context=context)
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()
        self._connection.close()

    @property
    def new_epochs(self) -> int:
        """Epochs that began meanwhile."""
        return len(self.epochs) - 1

    def _watch(self) -> None:
        while not self._done.wait(EVERY_S):
            found = self._connection.ask(described(), 2).topics[0].partitions[0]
            now_ms = time.time() * 1000
            self.epochs.add(found.leader_epoch)
            self.ages_ms.extend(
                now_ms - each.last_fetch_timestamp
                for each in found.current_voters
                if each.replica_id != found.leader_id
            )


def described() -> DescribeQuorumRequest:
    partition = DescribeQuorumRequest.TopicData.PartitionData(partition_index=0)
    topic = DescribeQuorumRequest.TopicData(topic_name="__cluster_metadata", partitions=(partition,))
    return DescribeQuorumRequest(topics=(topic,))
