"""The service `kraft.v1.Metadata`: Watch, Snapshot and Status (docs/watch.md)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import grpc
import msgpack

from controller.server.grpc.callers import may_watch, names_of
from controller.server.grpc.changes import Changes, Compacted, InAborted
from controller.server.grpc.filters import BadFilter
from controller.server.grpc.image import Images
from controller.server.grpc.messages import Asked, BadRequest, message
from controller.server.grpc.status import status_of
from controller.server.http.probes import ready

if TYPE_CHECKING:
    from controller.node.node import Node
    from controller.server.grpc.time_slices import Turns

NAME = "kraft.v1.Metadata"
# In the trailers: the offset with which to go on, of a watch that was ended.
RESUME_OFFSET = "kraft-resume-offset"
# In the trailers of an OUT_OF_RANGE: where the log of this node begins.
START_OFFSET = "kraft-log-start-offset"
# How often it is looked whether more is committed, while somebody waits for that. So the quorum is never stopped for
# a watcher, not even by a call.
POLL_S = 0.005
# Between two messages of all watchers together, each of which takes some 0.2 ms of the loop: who watches a busy quorum
# in a crowd is told more at a time.
PACE_S = 0.002
# A watcher for whom nothing was is told its position in such an interval: so it need not go through all of that again,
# and knows that somebody is there.
POSITION_S = 10.0
# A node that has been out of touch with the quorum for so long leaves its watchers to another: what it tells is true,
# but may be old. (Who sets `allow_stale` has it so.)
STALE_S = 5.0
TOUCH_S = 0.5

Context = Any


class Limits(NamedTuple):
    """allowed: names of those who may watch. watchers_max: streams at a time. write_s_max: how long one message may
    wait for a client to read.
    """

    allowed: tuple[str, ...]
    watchers_max: int
    write_s_max: float


class Stalled(Exception):
    """A client does not read what it is sent."""


class Metadata:
    """Serves one node's metadata. closing: done when the port closes."""

    def __init__(self, node: Node, limits: Limits, turns: Turns, closing: asyncio.Future[None]) -> None:
        self._node = node
        self._limits = limits
        self._closing = closing
        self._changes = Changes(node, turns)
        self._images = Images(node, turns)
        self._grown = asyncio.Event()
        self._poll: asyncio.TimerHandle | None = None
        self._end_offset = 0
        self._waiting = 0
        self._loop = asyncio.get_running_loop()
        self._touched_s = self._loop.time()
        self._touching = self._loop.call_later(TOUCH_S, self._touch)
        self.watchers = 0

    async def status(self, body: bytes, context: Context) -> bytes:
        await self._admit(context)
        await self._read(body, context, ("cluster_id",))
        found: bytes = msgpack.packb(status_of(self._node))
        return found

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
        if not may_watch(self._limits.allowed, names):
            who = ", ".join(names) or "nobody by name"
            self._node.note("watch_refused", {"peer": context.peer(), "client": who})
            await self._abort(
                context, grpc.StatusCode.PERMISSION_DENIED, f"the client is {who}, which kraft.grpc.allow does not name"
            )

    async def _read(self, body: bytes, context: Context, keys: tuple[str, ...]) -> Asked:
        try:
            asked = Asked(body, keys)
        except (BadRequest, BadFilter) as error:
            await self._abort(context, grpc.StatusCode.INVALID_ARGUMENT, str(error))
        own = self._node.controller.env.cluster_id
        if asked.cluster_id not in {None, own}:
            reason = f"cluster {asked.cluster_id!r} was asked for, and this node is of cluster {own!r}"
            await self._abort(context, grpc.StatusCode.FAILED_PRECONDITION, reason)
        return asked

    async def _stream(self, context: Context, asked: Asked, send: Any) -> None:
        if self.watchers >= self._limits.watchers_max:
            reason = f"{self.watchers} streams are open, as many as kraft.grpc.watchers.max allows"
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
        """The image; returns the offset it is as of."""
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
                        await self._write(context, message(fields, passed))
                    except Stalled as error:
                        await self._abort(context, grpc.StatusCode.RESOURCE_EXHAUSTED, str(error))
                await self._check_going(context, asked, None)
        return end_offset

    async def _send_changes(self, context: Context, asked: Asked, position: int) -> NoReturn:
        """Changes from `position` on, until one side ends it."""
        loop, wanted = self._loop, asked.filter
        told_s = loop.time()
        # Whether what was told last is a part of something, and whether what was read last is.
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
                        await self._write(context, self._message("changes", position, passed, more=is_within))
                        told_s, is_open = loop.time(), is_within
                if not is_within and loop.time() - told_s >= POSITION_S:
                    await self._write(context, self._message("position", position, []))
                    told_s = loop.time()
            except Compacted as error:
                reason = f"{error}: take the image, and watch from its next_offset"
                code = grpc.StatusCode.OUT_OF_RANGE
                await self._abort(context, code, reason, None, (START_OFFSET, str(error.start)))
            except InAborted as error:
                reason = f"{error}, and came to nothing: forget what came since, and watch from offset {error.start}"
                await self._abort(context, grpc.StatusCode.ABORTED, reason, error.start)
            except Stalled as error:
                # The message that waits goes before the status, so a client that reads on has it.
                reason = f"{error}; it goes on from offset {position}"
                self._node.note("watcher_cut_off", {"peer": context.peer(), "next_offset": position})
                await self._abort(context, grpc.StatusCode.RESOURCE_EXHAUSTED, reason, position)

    async def _check_going(self, context: Context, asked: Asked, position: int | None) -> None:
        """Ends the stream of a node that leaves, or is left alone."""
        if self._closing.done():
            reason = "the node is stopping"
        elif not asked.allow_stale and self._loop.time() - self._touched_s > STALE_S:
            reason = "the node is out of touch with the quorum"
        else:
            return
        await self._abort(context, grpc.StatusCode.UNAVAILABLE, f"{reason}; another goes on", position)

    def _touch(self) -> None:
        """See whether the node is in touch with the quorum, as it should be all the time."""
        if all(check.passed for check in ready(self._node, self._node.now_ms()) if check.name == "joined"):
            self._touched_s = self._loop.time()
        self._touching = self._loop.call_later(TOUCH_S, self._touch)

    def close(self) -> None:
        self._touching.cancel()

    def _message(self, kind: str, position: int, changes: list[bytes], *, more: bool = False) -> bytes:
        fields = {"kind": kind, "next_offset": position, "more": more, "end_offset": self._changes.end_offset}
        return message(fields, changes)

    async def _write(self, context: Context, body: bytes) -> None:
        """Raises Stalled."""
        try:
            # Not `wait_for`, which until 3.12 can lose that the client went away.
            async with asyncio.timeout(self._limits.write_s_max):
                await context.write(body)
        except TimeoutError:
            raise Stalled(f"the client has not read for {self._limits.write_s_max:g} s and is cut off") from None
        await asyncio.sleep(PACE_S * self.watchers)

    # Waiting.

    async def _growth(self, seconds: float) -> None:
        """Until more is committed, the port closes, or the time is over."""
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
