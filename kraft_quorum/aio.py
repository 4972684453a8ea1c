"""The client of the watch service for asyncio (docs/client.md): `kraft_quorum.client.Client` with `async` and `await`.

async with AsyncClient(["controller-1:9646", "controller-2:9646"]) as client:
    async for update in client.watch():
        ...
"""

from __future__ import annotations

import asyncio
import random
import time
from typing import TYPE_CHECKING, Any, Self

import grpc
import grpc.aio
import msgpack

from kraft_quorum.client import (
    BACKOFF_S_MAX,
    BACKOFF_S_MIN,
    FINAL,
    OPTIONS,
    SERVICE,
    Files,
    Progress,
    Update,
    WatchFailed,
    credentials_of,
    metadata_of,
    update_of,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence


class AsyncClient:
    """Calls one of several nodes of a quorum, and the next one if the call fails. Arguments are those of `Client`.

    It is used within one event loop. To end a watch, leave its loop, or cancel the task.
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
        self._channel: grpc.aio.Channel | None = None
        self.target = self._targets[0]

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connection; calls that are open fail."""
        channel, self._channel = self._channel, None
        if channel is not None:
            await channel.close()

    async def status(self, timeout_s: float = 5.0) -> dict[str, Any]:
        """The view of the first node that answers. Raises WatchFailed if none does."""
        for attempt in range(len(self._targets)):
            try:
                call = self._open().unary_unary(f"/{SERVICE}/Status", msgpack.packb, msgpack.unpackb)
                found: dict[str, Any] = await call(
                    self._request, timeout=timeout_s, metadata=metadata_of(self._token_file)
                )
            except grpc.RpcError as error:
                if error.code() in FINAL or attempt + 1 == len(self._targets):
                    raise WatchFailed(self.target, error) from None
                await self._move_on()
            else:
                return found
        raise AssertionError("unreachable")

    async def snapshot(self, wanted: dict[str, Any] | None = None) -> AsyncGenerator[Update, None]:
        """The image, once: updates of kind `image`. wanted: the filter. Raises WatchFailed if the stream breaks."""
        try:
            async for update in self._updates("Snapshot", {**self._request, "filter": wanted}):
                yield update
        except grpc.RpcError as error:
            raise WatchFailed(self.target, error) from None

    async def watch(
        self,
        from_offset: int | None = None,
        wanted: dict[str, Any] | None = None,
        *,
        allow_stale: bool = False,
        patience_s: float | None = None,
    ) -> AsyncGenerator[Update, None]:
        """Changes from an offset on, as `Client.watch` delivers them. Raises WatchFailed."""
        progress = Progress(from_offset)
        backoff_s, since_s = BACKOFF_S_MIN, time.monotonic()
        while True:
            request = {**self._request, "from_offset": progress.whole, "filter": wanted, "allow_stale": allow_stale}
            try:
                async for update in self._updates("Watch", request):
                    backoff_s, since_s = BACKOFF_S_MIN, time.monotonic()
                    delivered = progress.take(update)
                    if delivered is not None:
                        yield delivered
                    progress.passed(update)
                raise AssertionError("a watch does not end by itself")
            except grpc.RpcError as error:
                is_late = patience_s is not None and time.monotonic() - since_s > patience_s
                if error.code() in FINAL or (not progress.ended(error.code()) and is_late):
                    raise WatchFailed(self.target, error) from None
            await self._move_on()
            await asyncio.sleep(backoff_s * random.uniform(0.5, 1.0))
            backoff_s = min(backoff_s * 2, BACKOFF_S_MAX)

    async def _updates(self, method: str, request: dict[str, Any]) -> AsyncGenerator[Update, None]:
        call = self._open().unary_stream(f"/{SERVICE}/{method}", msgpack.packb, msgpack.unpackb)(
            request, metadata=metadata_of(self._token_file)
        )
        begins = True
        try:
            async for message in call:
                yield update_of(message, begins=begins)
                begins = False
        finally:
            call.cancel()

    def _open(self) -> grpc.aio.Channel:
        if self._channel is None:
            if self._tls is None:
                self._channel = grpc.aio.insecure_channel(self.target, OPTIONS)
            else:
                self._channel = grpc.aio.secure_channel(self.target, credentials_of(self._tls), OPTIONS)
        return self._channel

    async def _move_on(self) -> None:
        """Switch to the next node, with a new connection."""
        await self.close()
        self.target = self._targets[(self._targets.index(self.target) + 1) % len(self._targets)]
