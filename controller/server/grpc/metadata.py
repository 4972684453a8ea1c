"""The service `kraft.v1.Metadata`: Watch, Snapshot and Status (docs/watch.md)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import grpc
import msgpack

from controller.server.grpc.bodies import Form, in_form
from controller.server.grpc.callers import authorization_of, names_of
from controller.server.grpc.changes import Changes, Compacted, InAborted
from controller.server.grpc.filters import BadFilter
from controller.server.grpc.image import Images
from controller.server.grpc.messages import Asked, BadRequest, message
from controller.server.grpc.status import status_of
from controller.server.http.probes import ready
from raft.network.security import NoteLimit

if TYPE_CHECKING:
    from controller.node.node import Node
    from controller.security.edges import EdgeSecurity
    from controller.server.grpc.time_slices import TimeSlices

NAME = "kraft.v1.Metadata"
# Trailer: the offset from which to continue an ended watch.
RESUME_OFFSET = "kraft-resume-offset"
# Trailer of OUT_OF_RANGE: the log start offset of this node.
START_OFFSET = "kraft-log-start-offset"
# The interval for checking whether more is committed, while a watcher waits. So the commit path does no work for
# watchers, not even a call.
POLL_S = 0.005
# The minimum time between two messages, of all watchers together; each takes some 0.2 ms of the loop. With many
# watchers of a busy quorum, each message has more changes.
PACE_S = 0.002
# The interval of position messages if no record matches a filter: a watcher can resume from there, and sees that the
# node is alive.
POSITION_S = 10.0
# A node without contact to the quorum for this time ends its streams, so that clients use another node: its data is
# true, but may be old. `allow_stale` accepts that.
STALE_S = 5.0
TOUCH_S = 0.5

Context = Any


class Limits(NamedTuple):
    """watchers_max: concurrent streams. write_s_max: how long one message may wait for a client to read."""

    watchers_max: int
    write_s_max: float


class Stalled(Exception):
    """A client does not read."""


class Metadata:
    """Serves one node's metadata. closing: done when the port closes."""

    def __init__(
        self, node: Node, limits: Limits, security: EdgeSecurity, slices: TimeSlices, closing: asyncio.Future[None]
    ) -> None:
        self._node = node
        self._limits = limits
        self._security = security
        self._closing = closing
        self._changes = Changes(node, slices)
        self._images = Images(node, slices)
        self._grown = asyncio.Event()
        self._poll: asyncio.TimerHandle | None = None
        self._end_offset = 0
        self._waiting = 0
        self._loop = asyncio.get_running_loop()
        self._touched_s = self._loop.time()
        self._touching = self._loop.call_later(TOUCH_S, self._touch)
        self._note_limit = NoteLimit(self._loop.time)
        self.watchers = 0

    async def status(self, body: bytes, context: Context) -> bytes:
        await self._admit(context)
        asked = await self._read(body, context, ("cluster_id",))
        return in_form(asked.form, msgpack.packb(status_of(self._node)))

    async def snapshot(self, body: bytes, context: Context) -> None:
        await self._admit(context)
        asked = await self._read(body, context, ("allow_stale", "cluster_id", "filter"))
        await self._stream(context, asked, self._send_image)

    async def watch(self, body: bytes, context: Context) -> None:
        await self._admit(context)
        asked = await self._read(body, context, ("allow_stale", "cluster_id", "filter", "from_offset"))
        await self._stream(context, asked, self._send_all)

    # Before a stream.

    async def _admit(self, context: Context) -> None:
        names = names_of(context.auth_context())
        client = ", ".join(names) or "unnamed"
        if not self._security.has_name(names):
            self._note_refused(context, client, "kraft.grpc.allow does not list it")
            await self._abort(
                context, grpc.StatusCode.PERMISSION_DENIED, f"the client is {client}; kraft.grpc.allow does not list it"
            )
        if not self._security.has_sent_token(authorization_of(context.invocation_metadata())):
            self._note_refused(context, client, "it sends no token of kraft.grpc.token.path")
            await self._abort(
                context, grpc.StatusCode.UNAUTHENTICATED,
                "the metadata need `authorization: Bearer TOKEN`, with a token of the node's kraft.grpc.token.path",
            )  # fmt: skip

    def _note_refused(self, context: Context, client: str, reason: str) -> None:
        """A line for a caller that is refused, once a minute for each host and reason."""
        peer = context.peer()
        omitted = self._note_limit.passes(peer.rpartition(":")[0], client, reason)
        if omitted is not None:
            fields = {"peer": peer, "client": client, "reason": reason}
            self._node.note("watch_refused", fields | {"omitted": omitted} if omitted else fields)

    async def _read(self, body: bytes, context: Context, keys: tuple[str, ...]) -> Asked:
        try:
            asked = Asked(body, keys)
        except (BadRequest, BadFilter) as error:
            await self._abort(context, grpc.StatusCode.INVALID_ARGUMENT, str(error))
        own = self._node.controller.env.cluster_id
        if asked.cluster_id not in {None, own}:
            reason = f"the request is for cluster {asked.cluster_id!r}, but this node belongs to cluster {own!r}"
            await self._abort(context, grpc.StatusCode.FAILED_PRECONDITION, reason)
        return asked

    async def _stream(self, context: Context, asked: Asked, send: Any) -> None:
        if self.watchers >= self._limits.watchers_max:
            reason = f"{self.watchers} streams are open, the limit of kraft.grpc.watchers.max"
            await self._abort(context, grpc.StatusCode.RESOURCE_EXHAUSTED, reason)
        self.watchers += 1
        try:
            await send(context, asked)
        finally:
            self.watchers -= 1

    # Streams.

    async def _send_all(self, context: Context, asked: Asked) -> None:
        position = asked.from_offset
        await self._check_going(context, asked, position)
        if position is None:
            position = await self._send_image(context, asked)
        await self._send_changes(context, asked, position)

    async def _send_image(self, context: Context, asked: Asked) -> int:
        """Send the image; returns its offset."""
        async with self._images.slot():
            while (view := await self._images.view()) is None:
                await self._check_going(context, asked, None)
                await asyncio.sleep(POLL_S)
            end_offset = view.end_offset
            async for changes, more in self._images.chunks(view):
                passed = [one.packed for one in changes if asked.filter.passes(one.type, one.tree)]
                if passed or not more:
                    fields = {"kind": "image", "next_offset": end_offset, "more": more}
                    try:
                        await self._write(context, asked.form, message(fields, passed))
                    except Stalled as error:
                        await self._abort(context, grpc.StatusCode.RESOURCE_EXHAUSTED, str(error))
                await self._check_going(context, asked, None)
        return end_offset

    async def _send_changes(self, context: Context, asked: Asked, position: int) -> NoReturn:
        """Send changes from `position` on, until one side ends the stream."""
        loop, wanted = self._loop, asked.filter
        sent_s = loop.time()
        # Whether the last message sent, and the last chunk read, is part of a batch or transaction that continues.
        is_open = is_within = False
        while True:
            await self._check_going(context, asked, position)
            try:
                chunk = await self._changes.after(position)
                if chunk is None:
                    await self._growth(TOUCH_S)
                else:
                    passed = [one.packed for one in chunk.changes if wanted.passes(one.type, one.tree)]
                    position, is_within = chunk.end, chunk.more
                    if passed or (is_open and not is_within):
                        await self._write(
                            context, asked.form, self._message("changes", position, passed, more=is_within)
                        )
                        sent_s, is_open = loop.time(), is_within
                if not is_within and loop.time() - sent_s >= POSITION_S:
                    await self._write(context, asked.form, self._message("position", position, []))
                    sent_s = loop.time()
            except Compacted as error:
                reason = f"{error}: read the image, and watch from its next_offset"
                code = grpc.StatusCode.OUT_OF_RANGE
                await self._abort(context, code, reason, None, (START_OFFSET, str(error.start)))
            except InAborted as error:
                reason = f"{error} and was aborted: discard its changes, and watch from offset {error.start}"
                await self._abort(context, grpc.StatusCode.ABORTED, reason, error.start)
            except Stalled as error:
                # The waiting message is sent before the status, so a client that continues to read gets it.
                reason = f"{error}; resume from offset {position}"
                self._node.note("watcher_cut_off", {"peer": context.peer(), "next_offset": position})
                await self._abort(context, grpc.StatusCode.RESOURCE_EXHAUSTED, reason, position)

    async def _check_going(self, context: Context, asked: Asked, position: int | None) -> None:
        """End the stream if the node stops or has no contact with the quorum."""
        if self._closing.done():
            reason = "the node is stopping"
        elif not asked.allow_stale and self._loop.time() - self._touched_s > STALE_S:
            reason = "the node has no contact with the quorum"
        else:
            return
        await self._abort(context, grpc.StatusCode.UNAVAILABLE, f"{reason}; use another node", position)

    def _touch(self) -> None:
        """Record when the node was last in contact with the quorum."""
        if all(check.passed for check in ready(self._node, self._node.now_ms()) if check.name == "joined"):
            self._touched_s = self._loop.time()
        self._touching = self._loop.call_later(TOUCH_S, self._touch)

    def close(self) -> None:
        self._touching.cancel()

    def _message(self, kind: str, position: int, changes: list[bytes], *, more: bool = False) -> bytes:
        fields = {"kind": kind, "next_offset": position, "more": more, "end_offset": self._changes.end_offset}
        return message(fields, changes)

    async def _write(self, context: Context, form: Form, body: bytes) -> None:
        """Raises Stalled."""
        try:
            # Not `wait_for`, which before Python 3.12 can lose a cancellation by the client.
            async with asyncio.timeout(self._limits.write_s_max):
                await context.write(in_form(form, body))
        except TimeoutError:
            raise Stalled(f"the client has not read for {self._limits.write_s_max:g} s") from None
        await asyncio.sleep(PACE_S * self.watchers)

    # Waiting.

    async def _growth(self, seconds: float) -> None:
        """Wait until more is committed, the port closes, or the time is over."""
        if self._poll is None:
            self._end_offset = self._changes.end_offset
            self._grown.clear()
            self._poll = self._loop.call_later(POLL_S, self._look)
        self._waiting += 1
        try:
            async with asyncio.timeout(seconds):
                await self._grown.wait()
        except TimeoutError:
            return
        finally:
            self._waiting -= 1

    def _look(self) -> None:
        self._poll = None
        if not self._waiting:
            return
        if self._changes.end_offset != self._end_offset or self._closing.done():
            self._grown.set()
        else:
            self._poll = self._loop.call_later(POLL_S, self._look)

    async def _abort(
        self, context: Context, code: grpc.StatusCode, text: str, resume: int | None = None, *trailers: tuple[str, str]
    ) -> NoReturn:
        if resume is not None:
            trailers = (*trailers, (RESUME_OFFSET, str(resume)))
        await context.abort(code, text, trailers)
        raise AssertionError("aborted")
