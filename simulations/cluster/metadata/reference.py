"""The replay of the whole committed log, and digests by which states are compared."""

from __future__ import annotations

from hashlib import blake2b
from random import Random

from controller.core.controller import Controller
from controller.core.steps import step
from controller.interface.env import Env
from controller.interface.inputs import Committed
from controller.interface.settings import Settings
from controller.state.records_of import records_of
from controller.state.state import State
from controller.state.view import View, stable_view
from records.features.levels import METADATA_VERSION
from records.frame import encode_record

Digest = tuple[bytes, str]
"""Of the records that a stable state comes to; and of its tables themselves, empty where some of that is not stable."""


def digest_of(view: View) -> bytes:
    """The digest of all records of a view, in any order of its tables."""
    if METADATA_VERSION not in view.tables["features"]:
        return b""
    encoded = sorted(encode_record(record, version) for record, version in records_of(view))
    return blake2b(b"".join(encoded), digest_size=16).digest()


def state_digest(state: State) -> tuple[int, Digest]:
    """(the offset up to which a state is stable, its digest there). The tables count beside the records, since a
    section of records that is left out would be left out on both sides.
    """
    view = stable_view(state)
    is_stable = state.end_offset == state.stable_end_offset
    return view.end_offset, (digest_of(view), state.digest() if is_stable else "")


def is_same(one: Digest, other: Digest) -> bool:
    """Whether two digests can be of one state."""
    return one[0] == other[0] and (not one[1] or not other[1] or one[1] == other[1])


class Reference:
    """A standby that replays the committed batches as far as requested. batches: the list of them, which grows.
    replays: how often it started again.
    """

    def __init__(self, batches: list[bytes]) -> None:
        self._batches = batches
        self._digests: dict[int, Digest] = {}
        self._standby = _standby()
        self._given = 0
        self.replays = 0

    def digest_at(self, end_offset: int) -> Digest:
        """Of the state as of an offset at which a committed batch ends, or a state is stable."""
        stored = self._digests.get(end_offset)
        if stored is not None:
            return stored
        if end_offset < self._standby.state.end_offset:
            self._standby = _standby()
            self._given = 0
            self.replays += 1
        batches = self._batches
        while self._given < len(batches) and self._standby.state.end_offset < end_offset:
            step(self._standby, Committed(batches[self._given]), 0)
            self._given += 1
        stable, digest = state_digest(self._standby.state)
        self._digests[end_offset] = self._digests[stable] = digest
        return digest


def _standby() -> Controller:
    return Controller(State(), Env("", 0, Random(0), Settings()))
