"""A copied replica is independent, and the comparison of replicas leaves out counters."""

from __future__ import annotations

import pytest

from raft.interface.inputs import Ticked
from raft.step import step
from simulations.spec.freezing import copy, frozen_replica
from simulations.spec.machines import Laboratory


def test_a_copy_changes_independently_of_its_original() -> None:
    replica = Laboratory().boot(1, None, ()).machine.replica
    before = frozen_replica(replica)
    other = copy(replica)

    step(other, Ticked(), 10_000)

    assert frozen_replica(replica) == before
    assert frozen_replica(other) != before


def test_a_copy_behaves_like_the_original() -> None:
    replica = Laboratory().boot(1, None, ()).machine.replica
    other = copy(replica)

    assert step(other, Ticked(), 10_000) == step(replica, Ticked(), 10_000)
    assert frozen_replica(other) == frozen_replica(replica)


def test_an_unknown_class_of_the_core_is_refused() -> None:
    stranger = type("Stranger", (), {"__module__": "raft.stranger"})()

    with pytest.raises(TypeError, match="Stranger is neither copied nor shared"):
        copy(stranger)
