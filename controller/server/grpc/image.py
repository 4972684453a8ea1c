"""The image: all stable metadata as of one offset, as records that build it (KIP-630)."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from itertools import islice
from typing import TYPE_CHECKING

from controller.server.grpc.changes import CHUNK_BYTES_MAX, CHUNK_RECORDS_MAX, SLICE_RECORDS, Change, pack_change
from controller.server.grpc.record_trees import TYPE_NAMES, tree_of
from controller.state.records_of import records_of
from controller.state.view import stable_view

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from controller.node.node import Node
    from controller.server.grpc.time_slices import TimeSlices
    from controller.state.view import View

# Concurrent images: each copies the partitions that change while it is read, some 60 bytes each.
AT_A_TIME = 2
# Making a view is one slice. A request makes a new view if there are new changes, so that a client sees its own; but
# not before this multiple of the time that the last view took has passed.
REST = 20.0
# A view that was not requested for this time is dropped.
KEPT_S = 1.0


class Images:
    """Makes images of a node's state, a limited number at a time; further requests wait."""

    def __init__(self, node: Node, slices: TimeSlices) -> None:
        self._node = node
        self._slices = slices
        self._slots = asyncio.Semaphore(AT_A_TIME)
        self._view: View | None = None
        self._next_s = 0.0
        self._end: asyncio.TimerHandle | None = None

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Hold one of the places for reading a view."""
        async with self._slots:
            yield

    async def view(self) -> View | None:
        """A new view of the state; None if there is no state, or if the last view is too recent."""
        state, loop = self._node.controller.state, asyncio.get_running_loop()
        kept = self._view
        if kept is not None and kept.end_offset == state.stable_end_offset:
            return kept
        if loop.time() < self._next_s:
            return None
        async with self._slices.slice():
            if not state.stable_end_offset or self._node.controller.is_partial:
                return None
            begin_s = loop.time()
            view = stable_view(state)
            self._next_s = loop.time() + (loop.time() - begin_s) * REST
        if not view.metadata_version:
            return None
        # Nothing holds the view before: each change would be kept for it, too.
        if self._end is not None:
            self._end.cancel()
        self._view, self._end = view, loop.call_later(KEPT_S, self._forget, view)
        return view

    def _forget(self, view: View) -> None:
        if self._view is view:
            self._view = None

    async def chunks(self, view: View) -> AsyncIterator[tuple[list[Change], bool]]:
        """All records of a view, in parts of one message each, with whether more follow."""
        records = records_of(view)
        piece: list[Change] = []
        size = 0
        while True:
            async with self._slices.slice():
                changes = [_change(record, version) for record, version in islice(records, SLICE_RECORDS)]
            piece += changes
            size += sum(len(change.packed) for change in changes)
            if not changes:
                yield piece, False
                return
            if len(piece) >= CHUNK_RECORDS_MAX or size >= CHUNK_BYTES_MAX:
                yield piece, True
                piece, size = [], 0


def _change(record: object, version: int) -> Change:
    type_ = TYPE_NAMES[type(record).__schema__.api_key]  # type: ignore[attr-defined]
    tree, hidden = tree_of(record, version)
    return Change(type_, tree, pack_change({"type": type_, "version": version}, tree, hidden))
