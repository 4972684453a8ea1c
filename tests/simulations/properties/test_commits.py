"""A planted violation of each property of commits is detected."""

from __future__ import annotations

from typing import Any

import pytest

from raft.interface.effects import HighWatermark, Send
from records.messages.fetch import FetchRequest
from simulations.plans.plan import Load
from simulations.world.violation import Violation
from simulations.world.writes import Replay
from tests.simulations.building import connection_to, followers, frame, leader, leave_unreplicated, live, lived


def test_a_state_machine_that_applied_something_else_is_detected() -> None:
    run = lived()
    follower = followers(run)[0]

    with pytest.raises(Violation, match="S06"):
        run.watch.on_applied(follower, follower.machine.offset, follower.machine.epoch, Replay())


def test_a_commit_on_one_disk_only_is_detected() -> None:
    run = lived()
    found = leave_unreplicated(run)

    with pytest.raises(Violation, match="S07"):
        run.watch.performs(found, HighWatermark(found.replica.log.end))


def test_a_commit_of_an_earlier_epoch_is_detected() -> None:
    run = lived()
    found = leave_unreplicated(run)
    run.watch.commits._led[found.node.id] += 1  # it was elected anew, and has written nothing since

    with pytest.raises(Violation, match="S08"):
        run.watch.performs(found, HighWatermark(found.replica.log.end))


def test_a_high_watermark_that_falls_is_detected() -> None:
    run = lived()
    follower = followers(run)[0]

    with pytest.raises(Violation, match="S09"):
        run.watch.performs(follower, HighWatermark(2))


def test_a_high_watermark_that_falls_for_others_is_detected() -> None:
    run = lived()
    found = leader(run)

    with pytest.raises(Violation, match="S09"):
        run.watch.leaves(
            connection_to(run, found), frame("FetchAnswer", 0, found.replica.epoch, found.node.id, 0, 0), True
        )


def test_a_high_watermark_within_a_batch_is_detected() -> None:
    run = lived(load=Load(every_ms=0))
    found = leader(run)
    for each in followers(run):
        each.node.pause()
    found.machine.write([1, 2, 3], 1_000_000, 0)
    live(run, 20)

    with pytest.raises(Violation, match=r"S0[78]|S10"):
        run.watch.performs(found, HighWatermark(found.replica.log.end - 1))


def test_a_fetch_offset_above_the_durable_end_is_detected() -> None:
    sent: list[tuple[Any, Send]] = []
    run = lived()
    performs = run.watch._on_performs[Send]
    performs.insert(0, lambda process, effect: sent.append((process, effect)))
    live(run, 100)
    process, effect = next(each for each in reversed(sent) if type(each[1].request) is FetchRequest)
    effect.request.topics[0].partitions[0].fetch_offset += 1

    with pytest.raises(Violation, match="S22"):
        run.watch.performs(process, effect)


def test_a_confirmed_leader_that_has_not_applied_all_is_detected() -> None:
    run = lived()
    found = leader(run)
    run.watch.on_questioned(found, 99)

    with pytest.raises(Violation, match="S23"):
        run.watch.on_confirmed(found, 99, found.replica.epoch, 2)


def test_a_leader_whose_question_is_not_answered_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    run = lived()
    monkeypatch.setattr("raft.fetch_request.emit_confirmed", lambda *_: None)
    leader(run).machine.ask()

    with pytest.raises(Violation, match=r"L05.*asked for confirmation of that, and got none"):
        live(run, 20 * leader(run).replica.config.fetch_timeout_ms)
