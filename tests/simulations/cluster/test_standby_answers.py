"""A standby that has all that is committed describes just that."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from controller.interface import effects, inputs
from controller.interface.inputs import RequestContext
from raft.interface.inputs import Source
from records.messages.reassignments import ListPartitionReassignmentsRequest, ListPartitionReassignmentsResponse
from simulations.cluster.api_oracle import ApiOracle
from tests.simulations.cluster.test_rules import image, partition

LIST = ListPartitionReassignmentsRequest(topics=None, timeout_ms=1)
NONE = ListPartitionReassignmentsResponse(throttle_time_ms=0, error_code=0, error_message=None, topics=())


def refusal(end_offset: int, **fields: Any) -> str:
    """What is wrong with a standby that lists no reassignment, and whose state ends at an offset."""
    committed = image(partition(**fields))
    committed.end_offset = 9
    oracle = ApiOracle(committed, {}, "cluster", (1, 2, 3))
    controller = SimpleNamespace(is_active=False, state=SimpleNamespace(end_offset=end_offset))
    process: Any = SimpleNamespace(node=SimpleNamespace(id=2), life=1, controller=controller)
    context = RequestContext(Source(1, 1), 46, 0, "CONTROLLER", request=LIST)
    oracle.on_stepped(process, inputs.Requested(context, LIST), [effects.Reply(context.source, NONE, context)])
    return oracle.refused


def test_a_standby_that_has_all_lists_each_reassignment() -> None:
    assert refusal(9) == ""
    assert "the reassignments" in refusal(9, adding=(103,))


def test_a_standby_that_is_behind_may_list_others() -> None:
    assert refusal(8, adding=(103,)) == ""
