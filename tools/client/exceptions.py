"""Exceptions of Kafka's admin client, with the names and texts that Java prints for them."""

from __future__ import annotations

import sys

from records.errors import Error, error_of, error_text, is_retriable
from tools.command_line.java_texts import Uncaught
from tools.command_line.standard_streams import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = "org.apache.kafka.common.errors"
CONFIG_EXCEPTION = "org.apache.kafka.common.config.ConfigException"
KAFKA_EXCEPTION = "org.apache.kafka.common.KafkaException"


class KafkaError(Uncaught):
    """An exception for an error code of Kafka's.

    message: of the node, a part of a line; None for the stock text of the code. is_final: whether the call that has it
    is not repeated, though the code may be one that clients repeat.
    """

    def __init__(self, code: int, message: str | None = None, *, is_final: bool = True, cause: object = None) -> None:
        error = error_of(code)
        known = error if isinstance(error, Error) else Error.UNKNOWN_SERVER_ERROR
        super().__init__(
            f"{PACKAGE}.{known.exception}",
            error_text(known) if message is None else in_message(message),
            cause,
        )
        self.code = known
        self.is_final = is_final or not is_retriable(known)


def in_message(text: object) -> str:
    """A text of a node in the message of an exception, which tools print on both streams (`one_line`)."""
    return one_line(text, sys.stdout, sys.stderr)


def no_result(text: str) -> Uncaught:
    """The exception for an answer that lacks what was asked for. text: a part of a line, with names of the node."""
    return Uncaught(f"{PACKAGE}.ApiException", in_message(text))


def timeout(message: str, cause: object = None) -> Uncaught:
    return Uncaught(f"{PACKAGE}.TimeoutException", message, cause)


def execution_exception(error: Uncaught) -> Uncaught:
    """The exception that a Java future throws where the call failed with `error`."""
    return Uncaught("java.util.concurrent.ExecutionException", str(error), error)


def not_created(text: str) -> Uncaught:
    """The exception for settings with which no client can be made."""
    return Uncaught(KAFKA_EXCEPTION, "Failed to create new KafkaAdminClient", Uncaught(CONFIG_EXCEPTION, text))


def message_and_trace(error: Uncaught) -> str:
    """What most tools print for an exception: its message, and its stack trace, here without stack frames."""
    listed = [f"\tSuppressed: {each}" for each in error.suppressed]
    lines = [str(error), *listed, *(f"Caused by: {cause}" for cause in _causes(error))]
    return "\n".join([str(error.message or "null"), *lines, "", ""])


def _causes(error: Uncaught) -> Iterator[object]:
    cause = error.cause
    while cause is not None:
        yield cause
        cause = cause.cause if isinstance(cause, Uncaught) else None
