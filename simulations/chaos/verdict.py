"""The checks of a quorum at the end of a chaos run: histories, logs, processes, progress."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING

from records.errors import ApiError
from records.wire import DecodeError
from simulations.chaos.quorum import NODES
from simulations.histories.controller_api import ControllerApi
from simulations.histories.linearizable import check
from simulations.spec.observations import contradictions
from tools.offline.log_file import LogFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from simulations.chaos.clients import History
    from simulations.chaos.quorum import Quorum
    from simulations.chaos.stock import Numbers
    from simulations.spec.observations import Observation

# A majority that can talk elects, and commits, within this; generous, as the machine may be busy.
PROGRESS_S = 10.0
FAILED, TRACEBACK = "node_failed", "Traceback (most recent call last)"


def check_progress(quorum: Quorum, history: History) -> list[str]:
    """After all faults: within `PROGRESS_S` a request is answered, and all logs are level."""
    begin = time.monotonic()
    while time.monotonic() < begin + PROGRESS_S:
        if history.last_answer > begin and _is_level(quorum):
            return []
        time.sleep(0.05)
    answered = "something was" if history.last_answer > begin else "nothing was"
    return [f"L02: {PROGRESS_S:.0f} s after all was well again {answered} answered, and logs are not level"]


def _is_level(quorum: Quorum) -> bool:
    leader = quorum.leader()
    with suppress(OSError, DecodeError, ApiError):
        description = quorum.describe(leader) if leader else None
        if description is not None:
            ends = [voter.log_end_offset for voter in description.current_voters]
            # Clients go on writing meanwhile.
            return len(ends) == len(NODES) and min(ends) >= description.high_watermark - 50
    return False


def check_history(history: History) -> list[str]:
    """C05: the answers to the clients are linearizable."""
    verdict = check(ControllerApi(), history.operations)
    return [] if verdict.is_ok else [f"C05: {verdict}"]


def check_purpose(history: History) -> list[str]:
    """Clients had successes: a history in which everything is refused is linearizable, and proves nothing."""
    if any(each.asked[0] == "create" and isinstance(each.answer, tuple) for each in history.operations):
        return []
    return ["C05: no topic was ever created by the clients"]


def check_observations(observations: Iterable[Observation]) -> list[str]:
    """KRaft's rules of roles and epochs: S01, S03, S05, S09, S14, S24."""
    return [f"SPEC: {text}" for text in contradictions(observations)]


def check_logs(quorum: Quorum) -> list[str]:
    """S04: where two logs have a batch at one offset and epoch, it is the same, and so are all before it.

    The nodes have ended, and their logs were level; the last batches may be on some of them only.
    """
    logs = {node: dict(_batches(quorum, node)) for node in NODES}
    shared_end = min(max(log, default=-1) for log in logs.values())
    wrong = []
    for node in NODES[1:]:
        first = max(min(logs[1], default=0), min(logs[node], default=0))
        one, other = ({at: what for at, what in logs[each].items() if first <= at <= shared_end} for each in (1, node))
        if one != other:
            at = min(offset for offset in one.keys() | other.keys() if one.get(offset) != other.get(offset))
            wrong.append(f"S04: at offset {at} node 1 has {one.get(at)}, node {node} has {other.get(at)}")
    return wrong


def _batches(quorum: Quorum, node: int) -> Iterator[tuple[int, tuple[int, int, int]]]:
    """Base offset -> epoch, last offset and CRC of each batch."""
    for path in sorted(quorum.log_directory(node).glob("*.log")):
        with LogFile(str(path)) as log:
            for batch in log.batches():
                yield batch.base_offset, (batch.leader_epoch, batch.last_offset, batch.crc)


def check_processes(quorum: Quorum) -> list[str]:
    """No node ended unexpectedly, and none reports a failure where it did not have to fail."""
    wrong = [f"L05: {text}" for text in quorum.died]
    for node in NODES:
        log = quorum.directory / f"node-{node}.log"
        said = log.read_text(errors="replace").splitlines()
        failed = [line for line in said if FAILED in line]
        if len(failed) > quorum.failures[node]:
            wrong.append(f"node {node} says {FAILED!r} {len(failed)} times in {log}, not {quorum.failures[node]}")
        # A node that fails says where, in the same line.
        if any(TRACEBACK in line for line in said if FAILED not in line):
            wrong.append(f"node {node} says {TRACEBACK!r} in {log}")
    return wrong


def check_numbers(numbers: Numbers) -> list[str]:
    """C16: no acknowledged record is lost, and none is there twice."""
    lost = numbers.acked - set(numbers.read)
    twice = len(numbers.read) - len(set(numbers.read))
    wrong = []
    if not numbers.acked:
        wrong.append("C16: no record was ever confirmed")
    if lost:
        wrong.append(f"C16: {len(lost)} of {len(numbers.acked)} confirmed records are lost, the first {min(lost)}")
    if twice:
        wrong.append(f"C16: {twice} of {len(numbers.read)} records are there twice")
    return wrong
