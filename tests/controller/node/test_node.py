"""A node that has not completed its start, and answers that cannot be written."""

from __future__ import annotations

import asyncio
import io
from typing import Any

from controller.interface.inputs import RequestContext
from controller.interface.refusals import refused
from controller.node.logs import Log
from controller.node.node import Node
from raft.inputs import Source
from records.codec import encode
from records.errors import ApiError, Error
from records.messages.configs import IncrementalAlterConfigsRequest


def test_a_disconnection_before_the_node_has_started_does_no_harm() -> None:
    async def knock() -> Node:
        node = Node(asyncio.get_running_loop(), wall_ms=lambda: 0, log=Log("json", "INFO", io.StringIO()), on_end=print)
        node.on_disconnected(1)  # a listener takes connections while the next one is being opened
        return node

    node = asyncio.run(knock())

    assert (node.failure, node.is_ending) == (None, False)


class Encoder:
    """In place of the listeners: encodes answers at version 1, as they do."""

    def __init__(self) -> None:
        self.frames: list[bytes] = []

    def reply(self, _source: Source, response: Any) -> None:
        self.frames.append(encode(response, 1))

    def disconnect(self, _source: Source, reason: str) -> None:
        raise AssertionError(reason)


def test_an_answer_with_a_text_that_cannot_be_written_is_an_unknown_error() -> None:
    one = IncrementalAlterConfigsRequest.AlterConfigsResource(resource_type=2, resource_name="foo", configs=())
    request = IncrementalAlterConfigsRequest(resources=(one,), validate_only=False)
    context = RequestContext(Source(1, 1), 44, 1, "CONTROLLER", request=request)
    response = refused(request, ApiError(Error.INVALID_REQUEST, "x" * 32_768), 1)

    async def answer(encoder: Encoder) -> None:
        node = Node(asyncio.get_running_loop(), wall_ms=lambda: 0, log=Log("json", "INFO", io.StringIO()), on_end=print)
        nothing: Any = None
        node.replies.begin(encoder, nothing, nothing)  # type: ignore[arg-type]
        node.replies.send(context.source, response, context)

    encoder = Encoder()
    asyncio.run(answer(encoder))

    assert encoder.frames == [encode(refused(request, ApiError(Error.UNKNOWN_SERVER_ERROR), 1), 1)]
