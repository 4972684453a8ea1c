"""Conversations from a seed: all APIs in all versions, well-formed and malformed, single and pipelined."""

from __future__ import annotations

import struct
from random import Random
from typing import TYPE_CHECKING

from controller.core.apis import served_versions
from records.codec import encode
from records.features.levels import CURRENT
from records.headers import RequestHeader, request_header_version
from records.messages.envelope import EnvelopeRequest
from records.registry import APIS, request_class
from records.schema import schema_of
from records.wire import EncodeError
from tests.oracle.release import KAFKA
from tests.oracle.wire.answers import asked
from tests.oracle.wire.conversation import Conversation, framed
from tests.oracle.wire.values import Values

if TYPE_CHECKING:
    from collections.abc import Callable

API_VERSIONS, ENVELOPE, FETCH_SNAPSHOT = 18, 58, 59
# Changes of voters are compared at the level of the replica.
VOTERS = (80, 81, 82)
SERVED_VERSIONS = {key: versions for key, versions in served_versions(KAFKA).items() if key not in VOTERS}
# What changes the state comes most often.
OFTEN = (19, 19, 19, 20, 37, 44, 44, 33, 32, 32, 45, 46, 43, 56, 63, 63, 62, 57, 58, 18)
# Requests of the quorum are not changed bit by bit: an epoch that is not the nodes' would begin an election.
QUORUM = (1, 52, 53, 54, 59)
CONVERSATIONS = 40
SHORTEST_TIMEOUT_MS = 60_000


def sequence(seed: int) -> list[Conversation]:
    """The conversations of a seed, in order. The first ones register brokers and create topics."""
    maker = Maker(Random(seed))
    return [maker.beginning(), *(maker.conversation() for _ in range(CONVERSATIONS))]


class Maker:
    """Makes conversations with one rng."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.values = Values(rng)
        self._correlation = 0

    def beginning(self) -> Conversation:
        api_keys = (62, 63, 19) * 3
        return Conversation(tuple(framed(self.request(key, SERVED_VERSIONS[key][1])) for key in api_keys))

    def conversation(self) -> Conversation:
        kinds: list[tuple[float, Callable[[], Conversation]]] = [
            (0.62, self._plain), (0.08, self._changed), (0.08, self._header), (0.05, self._cut),
            (0.09, self._envelopes), (0.02, self._sizes), (0.03, self._trailing), (0.03, self._versions),
        ]  # fmt: skip
        while True:
            made = self.rng.choices([make for _, make in kinds], [weight for weight, _ in kinds])[0]()
            if not any(has_short_timeout(frame[4:]) for frame in made.frames):
                return made

    # Requests.

    def request(self, api_key: int = 0, version: int = -1) -> bytes:
        """A well-formed request without its length."""
        while not api_key:
            api_key = self.rng.choice(OFTEN if self.rng.random() < 0.6 else tuple(SERVED_VERSIONS))
        if api_key == ENVELOPE:
            return self.envelope()
        if version < 0:
            low, high = SERVED_VERSIONS[api_key]
            version = high if self.rng.random() < 0.6 else self.rng.randint(low, high)
        return self.header(api_key, version) + self.body(api_key, version)

    def body(self, api_key: int, version: int) -> bytes:
        cls = request_class(api_key)
        while True:
            try:
                return encode(self.values.message(cls, version), version)
            except EncodeError:
                continue  # the version cannot carry one of the values

    def header(self, api_key: int, version: int, header_version: int = -1) -> bytes:
        self._correlation += 1
        if header_version < 0:
            header_version = request_header_version(request_class(api_key), version)
        client_id = self.rng.choice(("w", "w", "w", "w", None, "", "client ä", "x" * 200))
        header = RequestHeader(
            request_api_key=api_key,
            request_api_version=version,
            correlation_id=self._correlation if self.rng.random() < 0.97 else self.rng.choice((0, -1, -(1 << 31))),
            client_id=client_id,
        )
        return encode(header, header_version)

    def envelope(self) -> bytes:
        """An envelope with a request in it, which may be changed."""
        inner = self.rng.choice((19, 20, 37, 44, 33, 45, 46, 43, 57, 49, 51, 30, 31, 55, 64, 38, 67, 67, 0))
        if inner:
            data = self.request(inner)
        else:
            data = self.request(self.rng.choice([key for key in SERVED_VERSIONS if key not in (ENVELOPE, *QUORUM)]))
        roll = self.rng.random()
        if roll < 0.06:
            data = self._damaged(data)
        elif roll < 0.09:
            data = data[: self.rng.randrange(len(data))]
        elif roll < 0.12:
            data += self.rng.randbytes(self.rng.randint(1, 9))
        elif roll < 0.14:
            data = self._odd_start() + data[4:]
        message = EnvelopeRequest(
            request_data=data,
            request_principal=self.values.principal(),
            client_host_address=self.values.address(),
        )
        return self.header(ENVELOPE, 0) + encode(message, 0)

    def _damaged(self, data: bytes) -> bytes:
        """A few bytes after the API key and version changed, removed or inserted."""
        made = bytearray(data)
        for _ in range(self.rng.choice((1, 1, 2, 4))):
            at = self.rng.randrange(4, len(made) + 1) if len(made) > 4 else len(made)
            match self.rng.randrange(4):
                case 0 if at < len(made):
                    made[at] ^= 1 << self.rng.randrange(8)
                case 1 if at < len(made):
                    made[at] = self.rng.choice((0, 1, 0x7F, 0x80, 0xFF))
                case 2:
                    made[at:at] = self.rng.choice((b"\0", b"\xff", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\1a"))
                case _:
                    del made[at : at + self.rng.randint(1, 4)]
        return bytes(made)

    def _odd_start(self) -> bytes:
        """An API key with a version that it does not have."""
        api_key = self.rng.choice((*SERVED_VERSIONS, *APIS, -1, 95, 1000, 32767, -32768))
        if self.rng.random() < 0.3:
            version = self.rng.choice((-1, -32768, 32767, 100))
        else:
            high = schema_of(request_class(api_key)).versions[1] if api_key in APIS else 1
            version = self.rng.randint(0, high + 1)
        return struct.pack(">hh", api_key, version)

    # Conversations.

    def _plain(self) -> Conversation:
        """Pipelined requests."""
        return Conversation(tuple(framed(self.request()) for _ in range(self.rng.choice((1, 1, 2, 3, 6)))))

    def _envelopes(self) -> Conversation:
        return Conversation(tuple(framed(self.envelope()) for _ in range(self.rng.choice((1, 1, 2)))))

    def _between(self, frame: bytes) -> Conversation:
        """A frame between well-formed ones."""
        before = [framed(self.request()) for _ in range(self.rng.choice((0, 0, 1, 2)))]
        after = [framed(self.request())] if self.rng.random() < 0.3 else []
        return Conversation((*before, frame, *after))

    def _changed(self) -> Conversation:
        """A request of which some bytes are changed."""
        while True:
            data = self.request()
            if int.from_bytes(data[:2], "big") not in QUORUM:
                return self._between(framed(self._damaged(data)))

    def _header(self) -> Conversation:
        """A request with another API key or version, or with a header of another version."""
        roll = self.rng.random()
        if roll < 0.4:
            start = self._odd_start()
            data = start + self.request()[4:] if start[:2] not in QUORUM_STARTS else start
        elif roll < 0.7:
            api_key = self.rng.choice([key for key in SERVED_VERSIONS if key not in QUORUM])
            version = self.rng.randint(*SERVED_VERSIONS[api_key])
            other = 3 - request_header_version(request_class(api_key), version)
            data = self.header(api_key, version, other) + self.body(api_key, version)
        elif roll < 0.85:
            # Tagged fields in the header: unknown ones, the same twice, of a length that is not there.
            api_key = self.rng.choice([key for key in SERVED_VERSIONS if key not in QUORUM])
            version = SERVED_VERSIONS[api_key][1]
            head = self.header(api_key, version)
            if request_header_version(request_class(api_key), version) == 2:
                tags = (
                    b"\1\0\1x",
                    b"\1\x63\0",
                    b"\2\1\0\1\0",
                    b"\2\2\0\1\0",
                    b"\1\0\x7f",
                    b"\xff\xff\xff\xff\x0f" if KAFKA is CURRENT else b"\0",
                    b"\x80\0",
                )
                head = head[:-1] + self.rng.choice(tags)
            data = head + self.body(api_key, version)
        else:
            # The client id has a length that does not fit.
            data = self.request()
            data = data[:8] + struct.pack(">h", self.rng.choice((-2, -1, 0, 1, 30000, 32767))) + data[10:]
            if int.from_bytes(data[:2], "big") in QUORUM:
                data = data[:10]
        return self._between(framed(data))

    def _cut(self) -> Conversation:
        """A body that ends too early, in a frame that is whole, or a frame that is cut off."""
        data = self.request()
        cut = data[: self.rng.randrange(len(data))]
        if self.rng.random() < 0.5:
            return self._between(framed(cut))
        frames = tuple(framed(self.request()) for _ in range(self.rng.choice((0, 1))))
        whole = framed(data)
        return Conversation(frames, whole[: self.rng.randrange(1, len(whole))])

    def _trailing(self) -> Conversation:
        """Bytes after the body."""
        return self._between(framed(self.request() + self.rng.randbytes(self.rng.choice((1, 1, 4, 100)))))

    def _sizes(self) -> Conversation:
        """A frame with no bytes, with a negative length, or with a length above every limit."""
        size = self.rng.choice((0, 1, 2, 7, -1, -(1 << 31), (1 << 31) - 1, 104_857_601))
        body = self.rng.randbytes(max(size, 0)) if size < 10 else b""
        return self._between(struct.pack(">i", size) + body)

    def _versions(self) -> Conversation:
        """ApiVersions, also in versions that are not served."""
        version = self.rng.choice((0, 1, 2, 3, 3, 4, 4, 5, 6, 100, 32767, -1, -32768))
        low, high = schema_of(request_class(API_VERSIONS)).versions
        known = version if low <= version <= high else 3
        data = self.header(API_VERSIONS, known) + self.body(API_VERSIONS, known)
        return self._between(framed(data[:2] + struct.pack(">h", version) + data[4:]))


def has_short_timeout(data: bytes) -> bool:
    """Whether a request has a timeout that may or may not pass before it is done: such as changed bytes make it."""
    message = asked(data).message
    if isinstance(message, EnvelopeRequest):
        message = asked(message.request_data).message
    return 0 < getattr(message, "timeout_ms", 0) < SHORTEST_TIMEOUT_MS


QUORUM_STARTS = {struct.pack(">h", key) for key in QUORUM}
