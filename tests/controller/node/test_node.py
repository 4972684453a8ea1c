"""Answers that cannot be written."""

from __future__ import annotations

from typing import Any

from controller.interface.inputs import RequestContext
from controller.interface.refusals import error_response
from controller.node.replies import Replies
from raft.interface.inputs import Source
from records.codec import encode
from records.errors import ApiError, Error
from records.messages.configs import IncrementalAlterConfigsRequest


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
    response = error_response(request, ApiError(Error.INVALID_REQUEST, "x" * 32_768), 1)

    nothing: Any = None
    encoder, replies = Encoder(), Replies()
    replies.begin(encoder, {}, nothing)  # type: ignore[arg-type]
    replies.send(context.source, response, context)

    assert encoder.frames == [encode(error_response(request, ApiError(Error.UNKNOWN_SERVER_ERROR), 1), 1)]
