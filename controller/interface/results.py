"""What a handler decides: the records that will change the state, the answer, and what the answer rests on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from records.errors import ApiError, Error, error_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from controller.interface.effects import Effect
    from controller.state.partitions.bulk_changes import PartitionChanges

    # A record with its version, or many changes of partitions as columns.
    Item = tuple[Any, int] | PartitionChanges

NOTHING_PENDING = -1
ALL_PENDING = 9223372036854775807

# Kafka's bound on what one request of a user may write.
USER_RECORDS_MAX = 10_000


@dataclass(slots=True)
class Result:
    """What one request or periodic task decided; nothing of it is done yet.

    response: sent when the last record is committed, or, without records, when all below `rests_on` is.
    records: (record, version), or many changes of partitions at once, in the order of the log; all of them are
    committed, or none. atomic: False where they may be cut, if they are too many for one batch and metadata.version
    knows no transactions.
    rests_on: where nothing is written, the offset of the last uncommitted record that the answer tells of:
    `State.changed_at` gives it. NOTHING_PENDING: it tells of nothing uncommitted. ALL_PENDING, which is always right:
    whatever is uncommitted now.
    confirm: whether an answer without records needs proof that this node still leads. False for what promises nothing
    to anyone but the asker.
    applied: called with the offset of the last record, or of the last record before it where nothing is written, when
    the records are part of the state: what is not in the log, as the sessions of brokers, is changed there.
    effects: done at once, whatever becomes of the records: lines for the log, levels of this node's loggers.
    again: for a periodic task: there is more to do, run soon again.
    """

    response: Any
    records: Sequence[Item] = ()
    rests_on: int = ALL_PENDING
    confirm: bool = True
    atomic: bool = True
    applied: Callable[[int], None] | None = None
    effects: Sequence[Effect] = ()
    again: bool = False


def at_once(response: Any) -> Result:
    """A response that does not depend on the state, and so waits for no commit."""
    return Result(response, rests_on=NOTHING_PENDING, confirm=False)


def raised_text(error: ApiError) -> str | None:
    """The message that Kafka puts beside the code of an error that was raised: None where it adds nothing to it.

    An error that Kafka builds from the code alone has the stock text in this place: `error_text`.
    """
    if error.code == Error.UNKNOWN_SERVER_ERROR or error.text == error_text(error.code):
        return None
    return error.text


def check_record_count(count: int) -> None:
    """Refuse what would write more than one request may.

    Raises ApiError(POLICY_VIOLATION) for the whole request.
    """
    if count > USER_RECORDS_MAX:
        raise ApiError(Error.POLICY_VIOLATION, "Unable to perform excessively large batch operation.")
