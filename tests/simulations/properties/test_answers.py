"""A planted violation of each property of answers is detected."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from raft.interface.effects import Reply
from raft.interface.inputs import Requested, Source
from records.errors import Error
from records.messages.quorum import DescribeQuorumRequest
from records.schema import replace
from simulations.plans.plan import Load
from simulations.raft.rogue_clients import VERSIONS, draw
from simulations.world.violation import Violation
from tests.simulations.building import followers, leader, lived

if TYPE_CHECKING:
    from simulations.raft.run import Run
    from simulations.world.process import Process

SOURCE = Source(-7, 7)


def ask(run: Run, process: Process, request: Any) -> Any:
    """The answer to this request of a rogue client."""
    requested = Requested(SOURCE, request, VERSIONS[type(request)], "CONTROLLER")
    effects: list[Any] = []
    process.watch.performs, kept = lambda _process, effect: effects.append(effect), process.watch.performs  # type: ignore[method-assign]
    process.handle(requested)
    process.watch.performs = kept  # type: ignore[method-assign]
    run.watch.answers.asks(process, requested)
    return next(each for each in effects if isinstance(each, Reply))


def describe() -> DescribeQuorumRequest:
    part = DescribeQuorumRequest.TopicData.PartitionData(partition_index=0)
    return DescribeQuorumRequest(
        topics=(DescribeQuorumRequest.TopicData(topic_name="__cluster_metadata", partitions=(part,)),)
    )


def test_rogue_clients_get_the_expected_answers() -> None:
    run = lived(1500, load=Load(every_ms=20, rogue_ms=2))

    assert run.rogue_clients.asked > 500


def test_a_wrong_error_is_detected() -> None:
    run = lived()
    reply = ask(run, followers(run)[0], describe())
    part = replace(reply.response.topics[0].partitions[0], error_code=Error.UNKNOWN_SERVER_ERROR)
    reply.response = replace(reply.response, topics=(replace(reply.response.topics[0], partitions=(part,)),))

    with pytest.raises(Violation, match="S25"):
        run.watch.performs(followers(run)[0], reply)


def test_a_wrong_replica_state_in_describe_quorum_is_a_violation() -> None:
    run = lived()
    reply = ask(run, leader(run), describe())
    part = reply.response.topics[0].partitions[0]
    first = replace(part.current_voters[0], log_end_offset=part.current_voters[0].log_end_offset + 1)
    part = replace(part, current_voters=(first, *part.current_voters[1:]))
    reply.response = replace(reply.response, topics=(replace(reply.response.topics[0], partitions=(part,)),))

    with pytest.raises(Violation, match="S26"):
        run.watch.performs(leader(run), reply)


def test_a_rogue_client_that_is_never_answered_is_a_violation() -> None:
    run = lived()
    process = leader(run)
    run.watch.answers.asks(process, Requested(SOURCE, describe(), 2, "CONTROLLER"))
    run.watch.answers.wait()
    run.watch.answers.has_taken()

    with pytest.raises(Violation, match="L05"):
        run.world.run(run.world.now + 50_000)


def test_rogue_clients_send_every_kind_of_request() -> None:
    run = lived()
    rng = Random(1)

    kinds = {type(draw(rng, leader(run))) for _ in range(100)}

    assert kinds == set(VERSIONS)
