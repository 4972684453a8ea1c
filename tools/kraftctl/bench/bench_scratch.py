"""The scratch topic of `kraftctl bench`: created and deleted again and again, and deleted in the end."""

from __future__ import annotations

import time
from math import inf

from records.errors import ApiError, Error, error_name
from records.messages.topics import DeleteTopicsRequest
from tools.client.retries import Retries
from tools.kraftctl.bench.bench_measures import OVERLOAD_SAMPLES, NotMeasured, check_served, create_topic, time_call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from tools.client.connection import Connection
    from tools.kraftctl.bench.bench_measures import Target

ASK_MS = 5000
RETRY_S = 0.5
NO_ID = bytes(16)


class Scratch:
    """A topic that is created and deleted again and again. It exists, or may exist, only while `exists` is True.

    A topic is deleted by the id that its creation returned; by its name only if the connection failed before that.
    """

    def __init__(self, target: Target, name: str) -> None:
        self.target = target
        self.name = name
        self.exists = False
        self._id = NO_ID

    def check(self) -> None:
        """Check whether the topic can be created. Raises NotMeasured if the topic exists or could not be created;
        OSError, ApiError, DecodeError.
        """
        with self.target.connect() as connection:
            self._refuse(connection.ask(create_topic(self.name, validate_only=True)).topics[0])

    def rounds(
        self, count: int, seconds: float, limit_ms: float, progress: Callable[[], None]
    ) -> tuple[list[float], list[float], str]:
        """The times of each creation and each deletion, and why it ended early, empty if it did not.

        Raises NotMeasured, OSError, ApiError, DecodeError; then, and after Ctrl-C, `delete` is to be called.
        """
        created: list[float] = []
        deleted: list[float] = []
        with self.target.connect() as connection:
            end = time.perf_counter() + seconds
            while len(created) < count and time.perf_counter() < end:
                self.exists = True
                taken, answer = time_call(lambda: connection.ask(create_topic(self.name, validate_only=False)))
                self._on_created(answer.topics[0])
                created.append(taken)
                deleted.append(self._delete(connection))
                progress()
                newest = sorted([*created, *deleted][-OVERLOAD_SAMPLES:])
                if len(newest) == OVERLOAD_SAMPLES and newest[OVERLOAD_SAMPLES // 2] > limit_ms:
                    return created, deleted, f"the median of {OVERLOAD_SAMPLES} answers was above {limit_ms:g} ms"
        return created, deleted, ""

    def _on_created(self, result: Any) -> None:
        if result.error_code:
            self.exists = False
            self._refuse(result)
        self._id = getattr(result, "topic_id", NO_ID)

    def _refuse(self, result: Any) -> None:
        """Check a result. Raises NotMeasured for an error."""
        if not result.error_code:
            return
        check_served(result.error_code)
        if result.error_code == Error.TOPIC_ALREADY_EXISTS:
            raise NotMeasured(
                f"topic {self.name} exists already, and kraftctl bench would delete it; give another name"
            )
        text = getattr(result, "error_message", None) or "no message"
        hint = ""
        if result.error_code == Error.INVALID_REPLICATION_FACTOR:
            hint = " (a topic needs a registered broker that is not fenced)"
        raise NotMeasured(f"topic {self.name} cannot be created: {error_name(result.error_code)}: {text}{hint}")

    def _delete(self, connection: Connection) -> float:
        kind = DeleteTopicsRequest.DeleteTopicState
        named = kind(name=self.name, topic_id=NO_ID) if self._id == NO_ID else kind(name=None, topic_id=self._id)
        request = DeleteTopicsRequest(topics=(named,), timeout_ms=ASK_MS)
        taken, answer = time_call(lambda: connection.ask(request))
        result = answer.responses[0]
        if result.error_code not in (0, Error.UNKNOWN_TOPIC_OR_PARTITION, Error.UNKNOWN_TOPIC_ID):
            text = getattr(result, "error_message", None) or "no message"
            raise NotMeasured(f"topic {self.name} is not deleted: {error_name(result.error_code)}: {text}")
        self.exists = False
        self._id = NO_ID
        return taken

    def delete(self, targets: Sequence[Target], tries: int = 20) -> None:
        """Delete the topic if it may exist, on whichever node is active now. Raises NotMeasured if it is left."""
        said = ""
        retries = Retries(inf, RETRY_S, count_max=tries - 1)
        while True:
            for target in targets:
                if not self.exists:
                    return
                try:
                    with target.connect() as connection:
                        self._delete(connection)
                except (NotMeasured, ApiError, OSError, ValueError) as error:
                    said = str(error) or type(error).__name__
            if not self.exists:
                return
            if not retries.pause():
                raise NotMeasured(f"topic {self.name} may be left: delete it with kafka-topics --delete ({said})")
