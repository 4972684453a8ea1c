"""Values that each node generates: topic ids and broker epochs. A conversation has placeholders of their sizes.

A topic id is the bytes of `topic_id_of(name)`, a broker epoch those of `epoch_of(id)`. Before a frame is sent, each is
replaced by what this node gave; in what a node answers, its topic ids are replaced by the placeholders again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from records.uuids import uuid_text

if TYPE_CHECKING:
    from collections.abc import Iterator

_TOPIC = b"topic-id:"
_EPOCH = b"epoch:"
NAME_BYTES_MAX = 16 - len(_TOPIC)


def topic_id_of(name: str) -> bytes:
    """The placeholder of the id of a topic; name: of at most 7 bytes."""
    return _TOPIC + name.encode().ljust(NAME_BYTES_MAX, b"\0")


def epoch_of(broker_id: int) -> int:
    """The placeholder of the epoch of a broker."""
    return int.from_bytes(_EPOCH + broker_id.to_bytes(2, "big"), "big")


class Names:
    """The values of one node. topics: placeholder -> the ids, the newest first; epochs: placeholder -> bytes."""

    def __init__(self) -> None:
        self.topics: dict[bytes, list[bytes]] = {}
        self.epochs: dict[bytes, bytes] = {}

    def learn(self, request: Any, answer: Any) -> None:
        """Learn the names in the answer to a request."""
        match type(request).__name__:
            case "CreateTopicsRequest":
                for topic in answer.topics:
                    if any(topic.topic_id) and len(topic.name.encode()) <= NAME_BYTES_MAX:
                        known = self.topics.setdefault(topic_id_of(topic.name), [])
                        if topic.topic_id not in known:
                            known.insert(0, topic.topic_id)
            case "BrokerRegistrationRequest":
                if answer.error_code == 0 and 0 <= request.broker_id < 1 << 16:
                    placeholder = _EPOCH + request.broker_id.to_bytes(2, "big")
                    self.epochs[placeholder] = answer.broker_epoch.to_bytes(8, "big")

    def to_node(self, frame: bytes) -> bytes:
        """A frame with this node's values; placeholders without a value remain."""
        if _TOPIC in frame:
            for placeholder, ids in self.topics.items():
                frame = frame.replace(placeholder, ids[0])
        if _EPOCH in frame:
            for placeholder, epoch in self.epochs.items():
                frame = frame.replace(placeholder, epoch)
        return frame

    def from_node(self, answer: bytes) -> bytes:
        """An answer with placeholders of topic ids, in their binary form and in the text of error messages."""
        for given, placeholder in self._replaced():
            if given in answer:
                answer = answer.replace(given, placeholder)
        return answer

    def _replaced(self) -> Iterator[tuple[bytes, bytes]]:
        for placeholder, ids in self.topics.items():
            for number, given in enumerate(reversed(ids)):
                # Of several topics that had the name one after the other each has a placeholder.
                marked = placeholder[:-1] + bytes([number % 256]) if number else placeholder
                yield given, marked
                yield uuid_text(given).encode(), uuid_text(marked).encode()
