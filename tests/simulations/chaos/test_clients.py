"""Which answers to reads count in the history of a chaos run."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest

from simulations.chaos.clients import Reads
from simulations.histories.operations import UNKNOWN

if TYPE_CHECKING:
    from simulations.chaos.quorum import Quorum

READ = ("read", "orders")
WRITE = ("delete", "orders", None)


class Leading:
    """The epochs in which nodes say that they lead."""

    def __init__(self, **epochs: int) -> None:
        self.epochs = {int(name[1:]): epoch for name, epoch in epochs.items()}

    def leading_epoch(self, node: int) -> int:
        return self.epochs.get(node, -1)


def reads(quorum: Leading) -> Reads:
    made = Reads(cast("Quorum", quorum))
    made.on_connected(1)
    return made


def test_a_read_counts_after_a_write_in_the_same_epoch() -> None:
    made = reads(Leading(n1=5))
    assert made.admit(WRITE, "missing") == "missing"
    assert made.may_count
    assert made.admit(READ, ()) == ()


@pytest.mark.parametrize("answer", [UNKNOWN, None], ids=["write without an answer", "no write"])
def test_a_leader_that_has_not_answered_a_write_may_not_have_replayed_its_log(answer: object) -> None:
    made = reads(Leading(n1=5))
    if answer is UNKNOWN:
        assert made.admit(WRITE, answer) is UNKNOWN
    assert not made.may_count
    assert made.admit(READ, "missing") is UNKNOWN


@pytest.mark.parametrize("epoch", [-1, 6], ids=["no longer the leader", "elected again"])
def test_a_read_in_another_epoch_does_not_count(epoch: int) -> None:
    quorum = Leading(n1=5)
    made = reads(quorum)
    made.admit(WRITE, "ok")
    quorum.epochs[1] = epoch
    assert made.admit(READ, "missing") is UNKNOWN


def test_a_new_connection_needs_a_write_again() -> None:
    quorum = Leading(n1=5, n2=6)
    made = reads(quorum)
    made.admit(WRITE, "ok")
    made.on_connected(2)
    assert not made.may_count
    assert made.admit(READ, ()) is UNKNOWN


def test_a_node_that_did_not_lead_when_it_was_connected_answers_no_read() -> None:
    made = reads(Leading())
    made.admit(WRITE, "ok")
    assert made.admit(READ, ()) is UNKNOWN
