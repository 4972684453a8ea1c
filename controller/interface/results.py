"""What a handler returns: the records that will change the state, the response, and the offset that the response rests
on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from records.errors import ApiError, Error, error_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from controller.interface.effects import Effect
    from controller.state.partitions.bulk_changes import PartitionChanges
    from controller.state.partitions.first_partitions import FirstPartitions

    # A record with its version, many changes of partitions as columns, or the partitions of a new topic.
    Item = tuple[Any, int] | PartitionChanges | FirstPartitions

NOTHING_PENDING = -1
ALL_PENDING = 9223372036854775807

# Kafka's limit on the records of one request of a user.
USER_RECORDS_MAX = 10_000


@dataclass(slots=True)
class Result:
    """The outcome of one request or periodic task; nothing of it is done yet.

    response: sent when the last record is committed, or, without records, when all below `rests_on` is.
    records: (record, version), or many partitions or changes at once, in the order of the log; all of them are
    committed, or none. atomic: False where they may be split, if they are too many for one batch and metadata.version
    knows no transactions.
    rests_on: if there are no records, the offset of the last uncommitted record that the response shows:
    `State.change_offset` gives it. NOTHING_PENDING: it shows nothing uncommitted. ALL_PENDING, which is always correct:
    it may show anything that is uncommitted now.
    confirm: whether a response without records needs proof that this node still leads. False for a response on which
    nobody but the sender relies.
    applied: called when the records are part of the state, with the offset of the last one, or without records of the
    last record before: it changes what is not in the log, such as sessions of brokers.
    kraft_version: the level to which control records are to raise kraft.version, before the records; None for none.
    effects: done at once, even if the records are lost: events for the log, levels of this node's loggers.
    again: for a periodic task: there is more to do, run soon again.
    """

    response: Any
    records: Sequence[Item] = ()
    rests_on: int = ALL_PENDING
    confirm: bool = True
    atomic: bool = True
    applied: Callable[[int], None] | None = None
    kraft_version: int | None = None
    effects: Sequence[Effect] = ()
    again: bool = False


def at_once(response: Any) -> Result:
    """A response that does not depend on the state, and therefore waits for no commit."""
    return Result(response, rests_on=NOTHING_PENDING, confirm=False)


def raised_text(error: ApiError) -> str | None:
    """The message that Kafka sends with the code of an error that was raised: None if it equals the text of the code.

    For an error that Kafka builds from the code alone, use the text of the code: `error_text`.
    """
    if error.code == Error.UNKNOWN_SERVER_ERROR or error.text == error_text(error.code):
        return None
    return error.text


def check_record_count(count: int) -> None:
    """Check that a request writes no more records than one request may.

    Raises ApiError(POLICY_VIOLATION) for the whole request.
    """
    if count > USER_RECORDS_MAX:
        raise ApiError(Error.POLICY_VIOLATION, "Unable to perform excessively large batch operation.")
