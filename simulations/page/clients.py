"""Operations of clients for the drawing: their start and end, and the moment at which each took effect."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from simulations.world.trace import ASKED, DEED, OPERATION, RECORDS, STEP

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from simulations.world.trace import Entry

# The rows of a lane for concurrent operations; further ones are drawn in the last row.
ROWS_MAX = 4


class Operation(NamedTuple):
    """An operation of a client. end: when it was answered; point: when it can have taken effect; None if unknown.

    row: of its lane, so that concurrent operations do not overlap.
    """

    client: str
    asked: str
    answer: str
    begin: int
    end: int | None
    point: int | None
    row: int = 0


def operations(entries: Sequence[Entry], details: Iterable[Entry]) -> dict[str, list[Operation]]:
    """The operations of each client, in the order of their calls."""
    details = list(details)
    all_operations = []
    for begin, kind, _, *rest in details:
        if kind == OPERATION:
            client, asked, answer, end, point = rest
            all_operations.append(Operation(client, asked, answer, begin, end, point))
    all_operations += _writes(entries, details)
    lanes: dict[str, list[Operation]] = {}
    for operation in sorted(all_operations, key=lambda each: each.begin):
        lanes.setdefault(operation.client, []).append(operation)
    return {client: _in_rows(lane) for client, lane in sorted(lanes.items())}


def _writes(entries: Sequence[Entry], details: Sequence[Entry]) -> list[Operation]:
    """Writes to registers: they take effect when they are committed."""
    answer: dict[int, int] = {}  # by number of the write
    reached: list[tuple[int, int]] = []  # (time, high watermark), as it grows
    for entry in entries:
        if entry[1] == DEED and entry[3] == "acknowledges":
            answer.update((number, entry[0]) for number in entry[4:])
        elif entry[1] == STEP and (entry[7] or 0) > (reached[-1][1] if reached else 0):
            reached.append((entry[0], entry[7]))
    committed = {text.rpartition(" ")[2] for entry in details if entry[1] == RECORDS for text in entry[5]}
    writes = []
    for time, kind, _, *rest in details:
        if kind == ASKED:
            end_offset, *numbers = rest
            end = answer.get(numbers[-1])
            point = None
            if str(numbers[-1]) in committed:
                point = next((at for at, watermark in reached if watermark >= end_offset and at >= time), None)
            asked = f"write {numbers[0]}" + (f" to {numbers[-1]}" if numbers[1:] else "")
            writes.append(Operation("clients", asked, "" if end is None else "ok", time, end, point))
    return writes


def _in_rows(lane: list[Operation]) -> list[Operation]:
    free = [0] * ROWS_MAX  # when each row is free again; what was never answered gives way to what is
    placed = []
    for operation in lane:
        row = next((row for row in range(ROWS_MAX) if free[row] <= operation.begin), ROWS_MAX - 1)
        free[row] = operation.begin if operation.end is None else operation.end
        placed.append(operation._replace(row=row))
    return placed
