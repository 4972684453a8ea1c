"""Images of the state for watchers."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

from controller.interface.inputs import Committed, CommittedPart
from controller.server.grpc.image import Images
from controller.server.grpc.time_slices import TimeSlices
from records.messages.topics import CreateTopicsRequest
from tests.controller.rig import Rig, new_topic

if TYPE_CHECKING:
    from controller.node.node import Node


def test_there_is_no_image_while_a_part_of_a_batch_is_in_the_state() -> None:
    active = Rig().lead().brokers(1, 2, 3)
    standby = Rig(node_id=1).follow(leader_id=3000)
    standby.step(Committed(active.log_from(0)))
    before = active.end_offset
    topics = tuple(map(new_topic, ("a", "b", "c")))
    active.ask(CreateTopicsRequest(topics=topics, timeout_ms=60_000, validate_only=False))
    data = active.log_from(before)
    standby.step(CommittedPart(data, 1))

    async def look() -> list[int | None]:
        images = Images(cast("Node", SimpleNamespace(controller=standby.controller)), TimeSlices())
        found = [await images.view()]
        while standby.controller.replay is not None and not standby.controller.replay.is_at_end:
            standby.step(CommittedPart(data, 1))
        standby.step(Committed(data))
        found.append(await images.view())
        return [None if view is None else view.end_offset for view in found]

    assert asyncio.run(look()) == [None, active.end_offset]
