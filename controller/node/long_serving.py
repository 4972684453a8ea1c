"""A long request on its way through the node: decoded on the thread, served in slices, encoded on the thread. An
AlterPartition is served in parts instead (`controller.node.request_parts`).

`controller.node.long_requests` decides when each begins.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from controller.core.apis import APIS, CLUSTER_ACTION
from controller.core.authorization import is_allowed
from controller.core.steps import step as controller_step
from controller.interface import inputs
from controller.interface.refusals import alternatives
from controller.node.envelope import request_in, seal
from controller.node.long_requests import BROKERS, LongRequests, Waiting
from controller.node.request_bounds import entries_max
from controller.node.request_parts import ALTER_PARTITION, PART_SIZE, Parts
from raft.interface.inputs import Source
from raft.network.requests import BadRequest, decode_request
from records.errors import ApiError
from records.wire import EncodeError

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import Callable, Iterable

    from controller.core.controller import Controller
    from controller.interface.effects import Effect
    from controller.interface.inputs import RequestContext
    from controller.node.admission import Admission
    from controller.node.envelope import Forwarded
    from controller.node.long_thread import Executor
    from controller.node.replies import Replies
    from raft.network.requests import Incoming
    from raft.network.server import Server
    from records.headers import RequestHeader


# The connection number in the source of a part, which the node asks of itself.
PARTS_CONNECTION = -3


class LongServing:
    """The long requests of one node. queue: those that wait; part_size: the partitions of a part. perform: does the
    effects of a step, before any other step is taken; fail: ends the node.
    """

    def __init__(
        self,
        loop: AbstractEventLoop,
        executor: Executor,
        controller: Controller,
        server: Server,
        admission: Admission,
        replies: Replies,
        *,
        now_ms: Callable[[], int],
        perform: Callable[[inputs.Requested, list[Effect]], None],
        fail: Callable[[BaseException], None],
    ) -> None:
        self.queue = LongRequests(loop, executor)
        self.part_size = PART_SIZE
        # By the number in the source of a part: its request, and its place among the parts.
        self._parts: dict[int, tuple[RequestContext, Parts, int]] = {}
        self._part_number = 0
        self._executor = executor
        self._controller = controller
        self._server = server
        self._admission = admission
        self._replies = replies
        self._now_ms = now_ms
        self._perform = perform
        self._fail = fail
        controller.long.switch = lambda: now_ms() if executor.pause() else None

    # Called on the loop.

    def take(self, incoming: Incoming, context: RequestContext) -> None:
        """A request that the server did not decode."""
        self._add(context, len(incoming.frame), lambda: decode_readable(incoming, entries_max(context)))

    def take_forwarded(self, forwarded: Forwarded) -> None:
        """A request in an envelope."""
        self._add(forwarded.context, len(forwarded.data), lambda: request_in(forwarded, entries_max(forwarded.context)))

    def take_decoded(self, context: RequestContext, request: Any) -> None:
        """A request that asks for much in few bytes, or that is served once more."""
        self._add(context, 0, lambda: request)

    def on_part_answer(self, source: Source, response: Any) -> None:
        """A part was answered, and the request when it was the last one."""
        context, parts, number = self._parts.pop(source.correlation)
        if parts.answer(number, response):
            self._replies.send(context.source, parts, context)

    def answer(self, context: RequestContext, response: Any, header: RequestHeader | None) -> None:
        """Send an answer, or those to parts as one. header: of the request in an envelope; None where it is in none."""
        encode = self._server.encoder(context.source)
        self.queue.add_answer(lambda: self._submit(context, lambda: self._encode(context, response, header, encode)))

    def drop(self, connection: int) -> None:
        self.queue.drop(connection)

    def close(self) -> None:
        self.queue.close()

    def _add(self, context: RequestContext, size: int, decode: Callable[[], Any]) -> None:
        api = APIS[context.api_key]
        context.is_long = True
        if api.needs is CLUSTER_ACTION:
            with suppress(ApiError):
                context.is_broker = is_allowed(self._controller, api, context)
        self._queue(context, size, lambda: self._serve(context, decode))

    def _queue(self, context: RequestContext, size: int, job: Callable[[], None], *, goes_on: bool = False) -> None:
        source = context.source
        self.queue.add(
            Waiting(
                turn_of(context), source.connection, size,
                begin=lambda: self._submit(context, job),
                drop=lambda reason: self._server.disconnect(source, reason),
                goes_on=goes_on,
            )
        )  # fmt: skip

    def _submit(self, context: RequestContext, job: Callable[[], None]) -> None:
        """Run a job on the thread, and have the queue go on when it has ended."""

        def run() -> None:
            begin_s = self._executor.clock()
            try:
                job()
            except Exception as error:  # whatever it is, the node is wrong and must stop
                fault = error
                self._executor.call(lambda: self._fail(fault))
            taken_s = self._executor.clock() - begin_s
            self._executor.call(lambda: self.queue.on_done(turn_of(context), taken_s))

        self._executor.submit(run)

    # Called on the thread.

    def _serve(self, context: RequestContext, decode: Callable[[], Any]) -> None:
        executor, source = self._executor, context.source
        try:
            request = context.request = decode()
        except BadRequest as error:
            reason = str(error)
            executor.call(lambda: self._server.disconnect(source, reason))
        except ApiError as error:
            code = error.code
            executor.call(lambda: self._replies.refuse_envelope(source, code))
        else:
            if context.api_key == ALTER_PARTITION:
                self._serve_part(context, Parts(request, self.part_size))
            else:
                event = inputs.Requested(context, request)
                executor.take_turns(
                    lambda: controller_step(self._controller, event, self._now_ms()),
                    lambda effects, error: self._fail(error) if error else self._perform(event, effects),
                )

    def _serve_part(self, context: RequestContext, parts: Parts) -> None:
        """Serve the next part in one step, and queue the one after it."""

        def work() -> tuple[inputs.Requested, list[Effect]] | None:
            if parts.left is None:
                return None  # an answer to an earlier part, which waited for a commit, has ended the request
            self._part_number += 1
            source = Source(PARTS_CONNECTION, self._part_number)
            self._parts[self._part_number] = context, parts, len(parts.taken)
            now_ms = self._now_ms()
            part = replace(context, source=source, is_long=False, arrived_ms=now_ms)
            event = inputs.Requested(part, parts.take())
            return event, controller_step(self._controller, event, now_ms)

        def then(done: Any, error: BaseException | None) -> None:
            if error is not None:
                self._fail(error)
                return
            if done is None:
                return
            self._perform(*done)
            # A client that is gone sends again what it still wants.
            if parts.left is not None and self._server.encoder(context.source) is not None:
                self._queue(context, 0, lambda: self._serve_part(context, parts), goes_on=True)

        self._executor.take_turns(work, then)

    def _encode(
        self, context: RequestContext, response: Any, header: RequestHeader | None, encode: Callable[[Any], Any] | None
    ) -> None:
        executor, source = self._executor, context.source
        is_joined = isinstance(response, Parts)
        if is_joined:
            response = response.join()
        if encode is not None:
            executor.call(self._sending(source, encode, alternatives(response, context), header))
        audit = self._admission.audit
        # Each part has a line of its own.
        if not is_joined and audit is not None and (line := audit.line(context, response)) is not None:
            executor.call(lambda: audit.file.put(line))

    def _sending(
        self, source: Source, encode: Callable[[Any], Any], responses: Iterable[Any], header: RequestHeader | None
    ) -> Callable[[], None]:
        """Encode the first response that can be encoded; returns what sends it."""
        server, reason = self._server, ""
        for each in responses:
            try:
                answer = encode(each if header is None else seal(header, each))
            except EncodeError as error:
                reason = f"the answer cannot be written: {error}"
            else:
                return lambda: server.send(source, answer)
        return lambda: server.disconnect(source, reason)


def turn_of(context: RequestContext) -> str:
    """The name under which a request waits."""
    return BROKERS if context.is_broker else str(context.principal)


def decode_readable(incoming: Incoming, limit: int) -> Any:
    """The message of a request. Raises BadRequest where it has more entries than the limit, or Kafka cannot read it."""
    request = decode_request(incoming, limit)
    unreadable = APIS[incoming.api_key].unreadable
    if unreadable is not None and (reason := unreadable(request)) is not None:
        raise BadRequest(reason)
    return request
