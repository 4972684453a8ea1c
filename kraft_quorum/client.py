"""A client of the watch service: it reconnects to any node when a stream ends (docs/watch.md).

    with Client(["controller-1:9646", "controller-2:9646"]) as client:
        for update in client.watch():
            if update.begins:
                known.clear()
            apply(update.changes)
            if not update.more:
                save(update.next_offset)

It needs grpcio and msgpack, and no other module of this project; alone, it is the distribution kraft-quorum-client, as
`kraft_quorum_client`. `kraft_quorum.aio` is the same for asyncio.
"""

from __future__ import annotations

import random
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

try:
    import grpc
    import msgpack
except ImportError as missing:
    raise ImportError(f"{__name__} needs grpcio and msgpack ({missing}): pip install grpcio msgpack") from None

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SERVICE = "kraft.v1.Metadata"
BACKOFF_S_MIN = 0.05
BACKOFF_S_MAX = 2.0
MESSAGE_BYTES_MAX = 64 << 20

OPTIONS = [
    ("grpc.max_receive_message_length", MESSAGE_BYTES_MAX),
    # Keepalive detects a node that has disappeared.
    ("grpc.keepalive_time_ms", 15_000),
    ("grpc.keepalive_timeout_ms", 5_000),
    # Each attempt resolves names, reads certificates and connects anew.
    ("grpc.use_local_subchannel_pool", 1),
]

# Codes that no retry changes: the request is wrong, or this client is not allowed.
FINAL = {
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.PERMISSION_DENIED,
    grpc.StatusCode.UNAUTHENTICATED,
    grpc.StatusCode.FAILED_PRECONDITION,
    grpc.StatusCode.UNIMPLEMENTED,
}
# Codes after which the watch starts with a new image: the log starts later, or delivered changes were aborted.
GONE = {grpc.StatusCode.OUT_OF_RANGE, grpc.StatusCode.ABORTED}


class Update(NamedTuple):
    """One message of a stream.

    kind: `image`, `changes`, or `position` if no record matched the filter. changes: maps, described in docs/watch.md.
    next_offset: where to continue after this update. more: the next update belongs to the same batch, transaction or
    image; apply all updates up to one without `more` together, and no state is ever half changed. begins: an image
    begins, and the previous state must be discarded.
    """

    kind: str
    changes: list[dict[str, Any]]
    next_offset: int
    more: bool
    begins: bool = False


class Files(NamedTuple):
    """PEM files for TLS. ca: of the authority that signed the nodes' certificates; chain and key: this client's own."""

    ca: str
    chain: str | None = None
    key: str | None = None


class WatchFailed(Exception):
    """A call failed. code: gRPC's; a retry does not change INVALID_ARGUMENT, PERMISSION_DENIED and the like."""

    def __init__(self, target: str, error: grpc.RpcError) -> None:
        self.code = error.code()
        super().__init__(f"{target}: {self.code.name}: {error.details()}")


class Progress:
    """How far a watch has come, and what is to follow from the end of a stream; the same for both clients.

    whole: where a new stream continues; None: with the image. It moves when a batch, transaction or image is complete.
    """

    def __init__(self, from_offset: int | None) -> None:
        self.whole = self._delivered = from_offset
        self._is_open = False

    def take(self, update: Update) -> Update | None:
        """The update as it is to be delivered; None if nothing in it is new."""
        if update.kind == "changes" and self._delivered is not None:
            # After an end in the middle of a batch, its first changes are sent again.
            update = update._replace(changes=[one for one in update.changes if one["offset"] >= self._delivered])
        is_new = update.kind != "changes" or bool(update.changes) or (self._is_open and not update.more)
        if is_new:
            self._is_open = update.more
        return update if is_new else None

    def passed(self, update: Update) -> None:
        """The update was delivered, or left out."""
        if not update.more:
            self.whole = update.next_offset
        self._delivered = max(update.next_offset, self._delivered or 0)

    def ended(self, code: grpc.StatusCode) -> bool:
        """A stream ended with a code that a retry may change. Whether the watch begins anew, with the image."""
        if code in GONE:
            self.whole, self._is_open = None, False
        if self.whole is None:
            self._delivered = None
        return code in GONE


class Client:
    """Calls one of several nodes of a quorum, and the next one if the call fails.

    targets: `host:port` of their watch services. tls: None for plain text. cluster_id: None for any; calls to a node of
    another cluster fail. token_file: a file whose first line is a bearer token, read for each call; None for none.
    """

    def __init__(
        self,
        targets: Sequence[str],
        *,
        tls: Files | None = None,
        cluster_id: str | None = None,
        token_file: str | None = None,
    ) -> None:
        assert not isinstance(targets, str), "targets must be a list"
        assert targets, "targets must not be empty"
        self._targets = list(targets)
        self._tls = tls
        self._token_file = token_file
        self._request: dict[str, Any] = {} if cluster_id is None else {"cluster_id": cluster_id}
        self._channel: grpc.Channel | None = None
        self._closed = threading.Event()
        self.target = self._targets[0]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End all calls; may be called from any thread. A watch then ends without an error."""
        self._closed.set()
        self._drop()

    def status(self, timeout_s: float = 5.0) -> dict[str, Any]:
        """The view of the first node that answers. Raises WatchFailed if none does."""
        for attempt in range(len(self._targets)):
            try:
                call = self._open().unary_unary(f"/{SERVICE}/Status", msgpack.packb, msgpack.unpackb)
                found: dict[str, Any] = call(self._request, timeout=timeout_s, metadata=metadata_of(self._token_file))
            except grpc.RpcError as error:
                if error.code() in FINAL or attempt + 1 == len(self._targets):
                    raise WatchFailed(self.target, error) from None
                self._move_on()
            else:
                return found
        raise AssertionError("unreachable")

    def snapshot(self, wanted: dict[str, Any] | None = None) -> Iterator[Update]:
        """The image, once: updates of kind `image`. wanted: the filter. Raises WatchFailed if the stream breaks."""
        try:
            yield from self._updates("Snapshot", {**self._request, "filter": wanted})
        except grpc.RpcError as error:
            raise WatchFailed(self.target, error) from None

    def watch(
        self,
        from_offset: int | None = None,
        wanted: dict[str, Any] | None = None,
        *,
        allow_stale: bool = False,
        patience_s: float | None = None,
    ) -> Iterator[Update]:
        """Changes from an offset on, each once and without gaps, until the client is closed. The image comes first if
        the offset is None, or if the log no longer has the records after it.

        wanted: the filter. allow_stale: also use a node that is cut off from the quorum. patience_s: how long to retry
        while no node answers; None for no limit. Raises WatchFailed.
        """
        progress = Progress(from_offset)
        backoff_s, since_s = BACKOFF_S_MIN, time.monotonic()
        while True:
            request = {**self._request, "from_offset": progress.whole, "filter": wanted, "allow_stale": allow_stale}
            try:
                for update in self._updates("Watch", request):
                    backoff_s, since_s = BACKOFF_S_MIN, time.monotonic()
                    delivered = progress.take(update)
                    if delivered is not None:
                        yield delivered
                    progress.passed(update)
                raise AssertionError("a watch does not end by itself")
            except (grpc.RpcError, ValueError) as error:
                if self._closed.is_set():
                    return
                if not isinstance(error, grpc.RpcError):
                    raise
                is_late = patience_s is not None and time.monotonic() - since_s > patience_s
                if error.code() in FINAL or (not progress.ended(error.code()) and is_late):
                    raise WatchFailed(self.target, error) from None
            self._move_on()
            if self._closed.wait(backoff_s * random.uniform(0.5, 1.0)):
                return
            backoff_s = min(backoff_s * 2, BACKOFF_S_MAX)

    def _updates(self, method: str, request: dict[str, Any]) -> Iterator[Update]:
        call = self._open().unary_stream(f"/{SERVICE}/{method}", msgpack.packb, msgpack.unpackb)(
            request, metadata=metadata_of(self._token_file)
        )
        begins = True
        try:
            for message in call:
                yield update_of(message, begins=begins)
                begins = False
        finally:
            call.cancel()

    def _open(self) -> grpc.Channel:
        if self._channel is None:
            if self._tls is None:
                self._channel = grpc.insecure_channel(self.target, OPTIONS)
            else:
                self._channel = grpc.secure_channel(self.target, credentials_of(self._tls), OPTIONS)
        return self._channel

    def _drop(self) -> None:
        channel, self._channel = self._channel, None
        if channel is not None:
            channel.close()

    def _move_on(self) -> None:
        """Switch to the next node, with a new connection."""
        self._drop()
        self.target = self._targets[(self._targets.index(self.target) + 1) % len(self._targets)]


def update_of(message: dict[str, Any], *, begins: bool) -> Update:
    """A message of a stream. begins: whether it is the first."""
    kind = message["kind"]
    return Update(kind, message["changes"], message["next_offset"], message["more"], begins and kind == "image")


def metadata_of(token_file: str | None) -> list[tuple[str, str]]:
    """The token as gRPC sends it. Raises OSError, and ValueError for a file without one."""
    if token_file is None:
        return []
    lines = Path(token_file).read_text().split()
    if not lines:
        raise ValueError(f"{token_file} has no token")
    return [("authorization", f"Bearer {lines[0]}")]


def credentials_of(files: Files) -> grpc.ChannelCredentials:
    """The PEM files as gRPC takes them. Raises OSError."""
    return grpc.ssl_channel_credentials(
        Path(files.ca).read_bytes(),
        None if files.key is None else Path(files.key).read_bytes(),
        None if files.chain is None else Path(files.chain).read_bytes(),
    )
