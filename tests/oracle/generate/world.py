"""What the generators share: the rng, the known names, and choices that depend on our controller's state."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from records.uuids import uuid_text
from tests.oracle.commands import ANONYMOUS, CLIENT, Request
from tests.oracle.ours import supported

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from tests.oracle.ours import Ours

BROKERS = (0, 1, 2, 3, 4, 17)
NAMES = ("foo", "bar", "a.b", "a_b", "x")
MANY_BROKERS = (*BROKERS, 5, 6, 7, 8, 16, 18, 20, 32, 33, 34)
USERS = ("alice", "bob", "carol")
ADMIN = ("User", "admin")
# None is for the controller alone: a node reads null as an empty id.
CLIENTS = ("oracle", "other", "", None, "x" * 300)
PROTOCOLS = ("SASL_SSL", "SASL_SSL", "SASL_PLAINTEXT", "SSL", "PLAINTEXT")


def directory(broker_id: int, number: int = 0) -> str:
    """The id of a log directory of a broker."""
    return uuid_text(b"dir-" + bytes([number]) + b"-----" + broker_id.to_bytes(6, "big"))


def incarnation(broker_id: int, number: int) -> str:
    return uuid_text(b"inc-" + bytes([number]) + b"-----" + broker_id.to_bytes(6, "big"))


class World:
    """The rng, and ours as it is now. racks: of its brokers. repeats: whether a request may name a thing twice.

    careful: whether to leave out values that lead to a known difference at once, so that the sequence goes on.
    has_users: whether requests come from several users, which an authorizer distinguishes. unstable: whether levels of
    features are supported that are not for production.
    """

    def __init__(
        self,
        rng: Random,
        ours: Ours,
        metadata_version: int,
        *,
        careful: bool = False,
        has_users: bool = False,
        unstable: bool = False,
    ) -> None:
        self.rng = rng
        self.careful = careful
        self.has_users = has_users
        # A sequence in which all come from the super user reaches the same states as one without an authorizer.
        self.others = rng.choice((0.05, 0.3, 0.7)) if has_users else 0.0
        self.ours = ours
        self.metadata_version = metadata_version
        # Where all are in one rack, nothing depends on the order in which racks draw their random numbers.
        self.racks = (None, "a", "b") if rng.random() < 0.15 else (None,)
        # Few sequences name one partition twice in a request.
        self.repeats = rng.random() < 0.05
        # The features that brokers support, by name, as a range of levels.
        self.features = supported(unstable=unstable)
        # Seldom so many that a partition has more replicas than the smallest hash table of Java has room for.
        self.brokers = BROKERS if rng.random() < 0.97 else MANY_BROKERS
        self.other_clients = rng.random() < 0.15

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    @property
    def has_many_brokers(self) -> bool:
        return len(self.brokers) > len(BROKERS)

    def pick(self, items: Sequence[Any]) -> Any:
        return self.rng.choice(items)

    def request(self, api_key: int, low: int, high: int, body: dict[str, Any]) -> Request:
        """A request in some version, mostly the newest."""
        version = high if self.chance(0.7) else self.rng.randint(low, high)
        client_id = self.pick(CLIENTS) if self.other_clients else CLIENT
        if not self.has_users:
            return Request(api_key, version, body, client_id=client_id)
        # Brokers are super users mostly, or there would be none in the cluster.
        others = 0.02 if api_key in (62, 63) else self.others
        sender = self.sender() if self.chance(others) else ADMIN
        return Request(api_key, version, body, sender, client_id=client_id)

    def sender(self) -> tuple[str, str]:
        """A principal that is no super user."""
        return (
            ("User", self.pick(USERS))
            if self.chance(0.9)
            else self.pick((ANONYMOUS, ("Group", "alice"), ("User", "*")))
        )

    def secure(self, request: Request) -> Request:
        """The request, mostly from an authenticated user."""
        request = replace(request, protocol=self.pick(PROTOCOLS), forwarded=self.chance(0.15))
        if not self.has_users and self.chance(0.9):
            request = replace(request, principal=("User", self.pick(USERS)))
        return replace(request, by_token=True) if self.chance(0.03) else request

    # Brokers.

    def registered(self) -> list[int]:
        return sorted(self.ours.state.brokers)

    def broker(self) -> int:
        """A broker, mostly a registered one."""
        there = self.registered()
        if there and self.chance(0.93):
            return int(self.pick(there))
        return int(self.pick((*self.brokers, 9, -1)))

    def heartbeating(self) -> int:
        """A broker, rarely an unregistered one: Kafka tracks each contact, and checks one at a time."""
        there = self.registered()
        return int(self.pick(there)) if there and self.chance(0.99) else int(self.pick((*self.brokers, 9, -1)))

    def epoch_of(self, broker_id: int) -> Any:
        """A reference to the broker's epoch, rarely a wrong one."""
        text = f"$broker_epoch({broker_id})"
        return text if self.chance(0.96) else self.pick((f"{text}-1", f"{text}+1000", -1))

    def some_brokers(self, low: int, high: int) -> list[int]:
        """Different brokers, mostly registered ones."""
        there = self.registered() if self.chance(0.93) else list(self.brokers)
        there = there or list(self.brokers)
        found = self.rng.sample(there, min(len(there), self.rng.randint(low, high)))
        if self.chance(0.03) and found:
            found.append(self.pick((found[0], -1, 9)))
        return found

    # Topics.

    def topics(self) -> list[str]:
        return sorted(self.ours.state.topic_ids)

    def topic(self) -> str:
        """A topic, mostly an existing one."""
        there = self.topics()
        if there and self.chance(0.93):
            return str(self.pick(there))
        return str(self.pick((*NAMES, "gone")))

    def partition_of(self, name: str) -> int:
        """A partition, mostly an existing one."""
        topic = self.ours.state.topic(name)
        count = 0 if topic is None else topic.partition_count()
        if count and self.chance(0.96):
            return self.rng.randrange(count)
        return int(self.pick((count, 7, -1)))

    def partitions_of(self, name: str, count: int) -> list[int]:
        """Partitions of one topic, rarely with a repetition."""
        found = [self.partition_of(name) for _ in range(count)]
        return found if self.repeats else list(dict.fromkeys(found))

    def some_topics(self, count: int) -> list[str]:
        """Topics, rarely with a repetition."""
        found = [self.topic() for _ in range(count)]
        return found if self.repeats else list(dict.fromkeys(found))

    def partition(self) -> tuple[str, int]:
        name = self.topic()
        return name, self.partition_of(name)
