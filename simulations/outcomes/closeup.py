"""Details that a trace leaves out, for the page of one run: disks, clients, records.

`OnDetail` is called with entries like those of a trace: operations on disks as they happen, and after the run each
committed batch and each operation of a client. Traces do not contain them, because every seed would pay for them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from records.batch import read_header
from simulations.histories.linearizable import points
from simulations.histories.operations import UNKNOWN
from simulations.world.trace import OPERATION, RECORDS, Entry
from simulations.world.writes import writes_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulations.histories.models import Model
    from simulations.histories.operations import Recorder
    from simulations.world.history import History

OnDetail = Callable[[Entry], None]

# Limit of the search for the moments at which operations took effect, in configurations.
BUDGET = 50_000

TEXT_MAX = 160


def committed_batches(history: History) -> Iterator[tuple[int, int, bytes]]:
    """(end offset, epoch, bytes) of each batch of the committed log."""
    log = history.log
    for number in log.numbers:
        data = log.chains.batches[number][1]
        batch = read_header(data)
        assert batch is not None, "a chain holds whole batches"
        yield batch.last_offset + 1, batch.leader_epoch, data


def report_writes(history: History, on_detail: OnDetail) -> None:
    """Report the committed batches of a log of writes to registers."""
    for end_offset, epoch, data in committed_batches(history):
        texts = tuple(f"register {register} = write {number}" for _, register, number in writes_of(data))
        on_detail((0, RECORDS, 0, end_offset, epoch, texts or ("a control batch",)))


def report_records(
    history: History, decoded: Callable[[bytes], tuple[tuple[int, Any], ...]], on_detail: OnDetail
) -> None:
    """Report the committed batches of a metadata log."""
    for end_offset, epoch, data in committed_batches(history):
        texts = tuple(f"{offset}: {short(record)}" for offset, record in decoded(data))
        on_detail((0, RECORDS, 0, end_offset, epoch, texts or ("a control batch",)))


def report_operations(recorder: Recorder, model: Model, on_detail: OnDetail) -> None:
    """Report each operation of a client: request, answer, call and return time, and a moment at which it can have taken
    effect; None for the moment where no order explains the operation.
    """
    moments = recorder.moments
    places = points(model, recorder.operations, BUDGET)
    for number, operation in enumerate(recorder.operations):
        end = None if operation.returned is None else moments[operation.returned - 1]
        place = places.get(number)
        at = None if place is None else moments[place - 1]
        answer = "" if operation.answer is UNKNOWN else short(operation.answer)
        begin = moments[operation.invoked - 1]
        on_detail((begin, OPERATION, 0, str(operation.client), short(operation.asked), answer, end, at))


def short(value: Any) -> str:
    """A readable form of at most TEXT_MAX characters; bytes are shortened."""
    text = _words(value)
    return text if len(text) <= TEXT_MAX else text[: TEXT_MAX - 1] + "…"


def _words(value: Any) -> str:
    if isinstance(value, bytes):
        return value.hex()[:8]
    if isinstance(value, (tuple, list)):
        return " ".join(map(_words, value)) if value else "nothing"
    return str(value)
