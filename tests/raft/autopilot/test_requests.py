"""A step of the autopilot is an ordinary request of KIP-853 or KIP-1312."""

from __future__ import annotations

from raft.autopilot.report import Kind, Step
from raft.autopilot.requests import request_of
from raft.interface.config import Endpoint, ReplicaKey
from records.messages.controllers import UnregisterControllerRequest
from records.messages.voters import AddRaftVoterRequest, RemoveRaftVoterRequest

KEY = ReplicaKey(4, b"4" * 16)


def test_a_node_is_added_with_its_endpoints() -> None:
    step = Step(Kind.ADD, KEY, "it is level", (Endpoint("CONTROLLER", "c4", 9093),))

    assert request_of(step, "q", 700) == AddRaftVoterRequest(
        cluster_id="q", timeout_ms=700, voter_id=4, voter_directory_id=KEY.directory_id,
        listeners=(AddRaftVoterRequest.Listener(name="CONTROLLER", host="c4", port=9093),), ack_when_committed=True,
    )  # fmt: skip


def test_a_voter_is_removed_by_its_directory_id_and_a_ghost_unregistered() -> None:
    assert request_of(Step(Kind.REMOVE, KEY, "it is dead"), "q", 700) == RemoveRaftVoterRequest(
        cluster_id="q", voter_id=4, voter_directory_id=KEY.directory_id
    )
    assert request_of(Step(Kind.UNREGISTER, KEY, "it is gone"), "q", 700) == UnregisterControllerRequest(
        controller_id=4
    )
