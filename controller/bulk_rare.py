"""Writing what few partitions have, for many rows at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from controller.columns import Rare

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from controller.columns import Columns
    from controller.partitions import Rows

# The fields of records, by their names there, that are kept in `Columns.rare`.
RARE = (
    "eligible_leader_replicas", "last_known_elr", "leader_recovery_state", "removing_replicas", "adding_replicas",
)  # fmt: skip


def write_rare(columns: Columns, rows: Rows, fields: dict[str, NDArray[Any]]) -> None:
    """Write what few partitions have, as far as `fields` carry it. Those that come to the same share it in memory."""
    rare = columns.rare
    numbers = rows.tolist()
    # What a record says as one flat tuple of ints: quick to make, and to look up.
    widths = {name: 1 if fields[name].ndim == 1 else fields[name].shape[1] for name in RARE if name in fields}
    words = _words([fields[name] for name in widths], len(rows))
    if columns.flags[rows].any():
        formers = [rare.get(row, _NOTHING) for row in numbers]
        # Formers are shared too, so each is known by its identity.
        sorts = {(id(former), said): (former, said) for former, said in zip(formers, words, strict=True)}
        results = {sort: _changed(former, widths, said) for sort, (former, said) in sorts.items()}
        now = [results[id(former), said] for former, said in zip(formers, words, strict=True)]
    else:
        fresh = {said: _changed(_NOTHING, widths, said) for said in set(words)}
        now = [fresh[said] for said in words]
    flags = np.fromiter([flags for _, flags in now], np.uint8, len(rows))
    columns.flags[rows] = flags
    rare.update(zip(numbers, [value for value, _ in now], strict=True))
    for row in rows[flags == 0].tolist():
        del rare[row]


def _words(columns: list[NDArray[Any]], count: int) -> list[tuple[int, ...]]:
    """Row by row what the columns say, matrices position by position."""
    positions: list[list[int]] = []
    for column in columns:
        positions += [column.tolist()] if column.ndim == 1 else column.T.tolist()
    return list(zip(*positions, strict=True)) if positions else [()] * count


def _changed(former: Rare, widths: dict[str, int], said: tuple[int, ...]) -> tuple[Rare, int]:
    """What a row has after a record that says `said`, and its flags. widths: how many of those ints each field has."""
    lists: dict[str, tuple[int, ...]] = {}
    start = 0
    for name, width in widths.items():
        lists[name] = said[start : start + width]
        start += width
    recovery_state = lists.get("leader_recovery_state")
    now = Rare(
        lists.get("removing_replicas", former.removing),
        lists.get("adding_replicas", former.adding),
        lists.get("eligible_leader_replicas", former.elr),
        lists.get("last_known_elr", former.last_known_elr),
        former.recovery_state if recovery_state is None else recovery_state[0],
    )
    return now, now.flags()


_NOTHING = Rare()
