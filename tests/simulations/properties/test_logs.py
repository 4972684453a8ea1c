"""A planted violation of each property of logs is detected."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from raft.interface.effects import Append, SaveEpochs, Truncate
from records.batch import build_batch
from simulations.world.violation import Violation
from tests.simulations.building import followers, leader, lived


def test_other_records_at_a_known_offset_and_epoch_are_detected() -> None:
    run = lived()
    follower = followers(run)[0]
    shadow = run.ledger.shadow(follower)
    epoch, end = shadow.last_epoch, shadow.end
    shadow.truncate(end - 1)
    other = build_batch([b"something else"], base_offset=shadow.end, leader_epoch=epoch, timestamp_ms=0)

    with pytest.raises(Violation, match="S04"):
        run.watch.performs(follower, Append(99, shadow.end, end, epoch, other))


def test_a_leader_without_all_committed_records_is_detected() -> None:
    run = lived()
    follower = followers(run)[0]
    run.ledger.shadow(follower).truncate(2)
    follower.replica.role = replace(leader(run).replica.role, epoch=7, leader_id=follower.node.id)

    with pytest.raises(Violation, match="S05"):
        run.watch.on_stepped(follower, "input:Answered", None, [])


def test_removing_committed_records_is_detected() -> None:
    run = lived()
    follower = followers(run)[0]
    recovered: Any = run.watch._on_recovered[0]
    logs = recovered.__self__
    logs._committed_up_to[follower.node.id] = 0  # it was not notified that they are

    with pytest.raises(Violation, match="S06"):
        run.watch.performs(follower, Truncate(99, 2))


def test_a_truncation_below_the_high_watermark_is_detected() -> None:
    run = lived()
    follower = followers(run)[0]

    with pytest.raises(Violation, match="S11"):
        run.watch.performs(follower, Truncate(99, 2))


def test_a_leader_that_truncates_is_detected() -> None:
    run = lived()

    with pytest.raises(Violation, match="S12"):
        run.watch.performs(leader(run), Truncate(99, leader(run).replica.log.end))


def test_an_append_that_leaves_a_gap_is_detected() -> None:
    run = lived()
    found = leader(run)
    end = found.replica.log.end

    with pytest.raises(Violation, match="S12"):
        run.watch.performs(found, Append(99, end + 1, end + 2, found.replica.epoch, b""))


def test_an_epoch_cache_that_differs_from_the_log_is_detected() -> None:
    run = lived()

    with pytest.raises(Violation, match="S16"):
        run.watch.performs(leader(run), SaveEpochs(((1, 0), (2, 3))))
