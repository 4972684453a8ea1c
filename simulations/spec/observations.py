"""Observations of nodes, from any source, checked against the specification: one function over plain values.

It needs no simulation: the logs and quorum-state files of real processes give the same values (see `chaos`). The
validator of simulated runs (`validator`) sees more, and checks each step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from simulations.spec.values import CANDIDATE, FOLLOWS, LEADER, NOBODY, RESIGNED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Observation(NamedTuple):
    """A node at one moment. Unknown fields are None, or "" for the role.

    life: counts the processes of this node, from 1. role: as the core reports it in `role_changed`; all changes must be
    there. leader, voted: a node's id, -1 for nobody. log_end, watermark: offsets, exclusive. source: for people: which
    line of which log.
    """

    node: int
    life: int
    epoch: int
    role: str = ""
    leader: int | None = None
    voted: int | None = None
    log_end: int | None = None
    watermark: int | None = None
    source: str = ""


def contradictions(observations: Iterable[Observation]) -> Iterator[str]:
    """The violations, as sentences. The observations of one node must be in order; those of several nodes may be mixed
    in any way, as their clocks are not used.
    """
    last: dict[int, Observation] = {}
    leaders: dict[int, Observation] = {}
    votes: dict[tuple[int, int], Observation] = {}
    marks: dict[int, Observation] = {}  # by epoch: the highest watermark that was seen in it
    elected: list[Observation] = []
    for seen in observations:
        before = last.get(seen.node)
        if before is not None:
            yield from _follows(before, seen)
        last[seen.node] = _merge(before, seen)
        if seen.leader not in (None, NOBODY):
            first = leaders.setdefault(seen.epoch, seen)
            if first.leader != seen.leader:
                yield f"two leaders of epoch {seen.epoch}: {_describe(first)}; {_describe(seen)}"
        if seen.voted not in (None, NOBODY):
            first = votes.setdefault((seen.node, seen.epoch), seen)
            if first.voted != seen.voted:
                yield f"two votes in epoch {seen.epoch}: {_describe(first)}; {_describe(seen)}"
        if seen.watermark is not None and seen.watermark > _watermark(marks.get(seen.epoch)):
            marks[seen.epoch] = seen
        if seen.role == LEADER and seen.log_end is not None and (before is None or before.role != LEADER):
            elected.append(seen)
    yield from _incomplete(elected, marks)


def _follows(before: Observation, seen: Observation) -> Iterator[str]:
    """The violations in two successive observations of a node."""
    if seen.epoch < before.epoch:
        yield f"the epoch falls: {_describe(before)}; then {_describe(seen)}"
    if seen.life < before.life:
        yield f"an earlier life after a later one: {_describe(before)}; then {_describe(seen)}"
    if seen.life != before.life:
        if seen.role == LEADER and seen.epoch == before.epoch and before.role in {LEADER, RESIGNED}:
            yield f"a leader continues in its epoch after a restart: {_describe(before)}; then {_describe(seen)}"
        return
    if seen.watermark is not None and before.watermark is not None and seen.watermark < before.watermark:
        yield f"the high watermark falls: {_describe(before)}; then {_describe(seen)}"
    if seen.watermark is not None and seen.log_end is not None and seen.watermark > seen.log_end:
        yield f"committed beyond the end of the log: {_describe(seen)}"
    if not seen.role or not before.role or (seen.role == before.role and seen.epoch == before.epoch):
        return
    if seen.role not in FOLLOWS[before.role]:
        yield f"no action leads from {before.role} to {seen.role}: {_describe(before)}; then {_describe(seen)}"
    elif not FOLLOWS[before.role][seen.role](before.epoch, seen.epoch):
        yield f"{before.role} to {seen.role} with this epoch: {_describe(before)}; then {_describe(seen)}"
    if seen.role == CANDIDATE and seen.leader not in (None, NOBODY):
        yield f"a candidate knows no leader: {_describe(seen)}"


def _incomplete(elected: list[Observation], marks: dict[int, Observation]) -> Iterator[str]:
    """Leaders whose logs were shorter than the records committed in the epochs before (LeaderCompleteness)."""
    highest: Observation | None = None
    epochs = iter(sorted(marks))
    epoch = next(epochs, None)
    for leader in sorted(elected, key=lambda seen: seen.epoch):
        while epoch is not None and epoch < leader.epoch:
            if marks[epoch].watermark > _watermark(highest):  # type: ignore[operator]
                highest = marks[epoch]
            epoch = next(epochs, None)
        if highest is not None and leader.log_end < highest.watermark:  # type: ignore[operator]
            yield f"a leader lacks what was committed before: {_describe(highest)}; {_describe(leader)}"


def _watermark(seen: Observation | None) -> int:
    return -1 if seen is None or seen.watermark is None else seen.watermark


def _merge(before: Observation | None, seen: Observation) -> Observation:
    """The known state of a node after an observation: unknown fields keep their values within a process."""
    if before is None or before.life != seen.life:
        return seen
    same = seen.epoch == before.epoch
    return seen._replace(
        role=seen.role or (before.role if same else ""),
        watermark=before.watermark if seen.watermark is None else seen.watermark,
    )


def _describe(seen: Observation) -> str:
    parts = [f"node {seen.node}, life {seen.life}, epoch {seen.epoch}"]
    parts += [
        f"{name} {value}"
        for name in ("role", "leader", "voted", "log_end", "watermark")
        if (value := getattr(seen, name)) not in (None, "")
    ]
    return ", ".join(parts) + (f" ({seen.source})" if seen.source else "")
