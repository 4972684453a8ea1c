"""Long steps: a request of very many entries is served in slices, between which the controller takes other inputs.

The driver runs the step of such a request (`RequestContext.is_long`) on a coroutine of its own, and resumes it until it
has ended. One is under way at a time. It goes through these phases:

    FREE        only the request and committed ACLs were looked at: nothing waits
    OPTIMISTIC  the state was read, and records may follow: nothing waits, but what others change is compared with what
                this step reads. Where they meet, it begins again, HELD
    HELD        the state was read, and inputs that write records wait
    APPLYING    a part of the records is in the state: inputs that read it wait too, so that nobody sees half a batch

So writes stay serial: the place of a step among them is where its records are applied, and until then nobody has
changed what they rest on. A step is begun again once at most.

The inputs of the quorum never wait. If this node becomes the active controller meanwhile, or stops to be it, the step
is abandoned: what it applied is reverted, and nothing was appended, because all appends leave with its end.
"""

from __future__ import annotations

from enum import IntEnum
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from controller.core.apis import APIS, Kind
from controller.interface import inputs
from controller.interface.slices import EVERYTHING, Slices

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from controller.core.apis import Api
    from controller.interface.inputs import Input, RequestContext
    from controller.interface.slices import Reads
    from controller.state.state import State

T = TypeVar("T")

BROKER_HEARTBEAT = 63
# The entries between two pauses where each of them takes some microseconds.
SPREAD = 50


class Abandoned(Exception):
    """Raised in a long step, at the end of a pause, where the step must not go on."""


class Overtaken(Exception):
    """Raised in a long step, at the end of a pause, where another input has changed what the step has read."""


class Phase(IntEnum):
    """How far a long step is; see above."""

    FREE = 0
    OPTIMISTIC = 1
    HELD = 2
    APPLYING = 3


class LongStep:
    """The step under way. is_running: whether it runs now, so that it is not between two slices; is_abandoned:
    whether it must not go on; is_again: whether it was begun a second time; reads: while it is OPTIMISTIC.
    """

    __slots__ = ("context", "is_abandoned", "is_again", "is_running", "phase", "reads")

    def __init__(self, context: RequestContext, phase: Phase) -> None:
        self.context = context
        self.phase = phase
        self.is_running = True
        self.is_abandoned = False
        self.is_again = False
        self.reads: Reads = {}


class LongSteps(Slices):
    """The long steps of one controller. present: the one under way; held: the inputs that wait for its end. set_time:
    sets the time of the controller; must_park: whether a request of an API cannot be answered from its state now.
    begun_again: how many steps were.

    switch: set by the driver: ends the slice if it has lasted long enough, and returns the time if other inputs may
    have been taken meanwhile.
    """

    __slots__ = ("_must_park", "_set_time", "_state", "begun_again", "held", "present", "switch")

    def __init__(self, state: State, set_time: Callable[[int], None], must_park: Callable[[Api], bool]) -> None:
        self._state = state
        self._set_time = set_time
        self._must_park = must_park
        self.present: LongStep | None = None
        self.held: list[Input] = []
        self.begun_again = 0
        self.switch: Callable[[], int | None] = lambda: None

    def pause(self) -> None:
        step = self.present
        if step is None or not step.is_running:
            return
        step.is_running = False
        now_ms = self.switch()
        step.is_running = True
        if now_ms is None:
            return
        self._set_time(now_ms)
        if step.is_abandoned or self._must_park(APIS[step.context.api_key]):
            raise Abandoned
        if step.phase is Phase.OPTIMISTIC and self._is_overtaken(step.reads):
            raise Overtaken

    def spread(self, entries: Iterable[T]) -> Iterable[T]:
        return entries if self.present is None else self._with_pauses(iter(entries))

    def _with_pauses(self, entries: Iterator[T]) -> Iterator[T]:
        # Few at first, so that a simulation, whose requests are small, has pauses between their entries too.
        size = 1
        while some := tuple(islice(entries, size)):
            self.pause()
            yield from some
            size = min(2 * size, SPREAD)

    def hold(self, reads: Callable[[], Reads]) -> None:
        step = self.present
        if step is None or not step.is_running or step.phase is not Phase.FREE:
            return
        if step.is_again:
            step.phase = Phase.HELD
            return
        state = self._state
        # The last two decide on the versions of the records, and on how they are written.
        step.reads = {**reads(), state.features.log: EVERYTHING, state.transaction.log: EVERYTHING}
        state.undo.noted = []
        step.phase = Phase.OPTIMISTIC

    def apply(self) -> None:
        step = self.present
        # A step that the driver runs between two slices calls this, too.
        if step is not None and step.is_running:
            assert step.phase is not Phase.FREE, "the state was read without `hold`"
            assert not self._state.undo.noted, "what others changed was not compared"
            step.phase = Phase.APPLYING
            self._state.undo.noted = None

    def begin(self, context: RequestContext) -> None:
        """Begin the step of a long request."""
        assert self.present is None, "one long step at a time"
        api = APIS[context.api_key]
        is_free = api.kind is not Kind.WRITE or api.sifts or bool(api.reads)
        self.present = LongStep(context, Phase.FREE if is_free else Phase.HELD)

    def begin_again(self) -> None:
        """Begin the step again, which was overtaken."""
        step = self.present
        assert step is not None
        assert not step.is_again, "while writes wait, nothing overtakes"
        self._state.undo.noted = None
        self.begun_again += 1
        step.is_again = True
        step.phase = Phase.FREE

    def end(self) -> list[Input]:
        """End the step; returns the inputs that waited for it, in their order."""
        self.present = None
        self._state.undo.noted = None
        held, self.held = self.held, []
        return held

    def abandon(self) -> None:
        """The step under way must not go on, where there is one: its state is not that of its beginning."""
        if self.present is not None:
            self.present.is_abandoned = True
            # From here on the state is whole.
            self.present.phase = Phase.FREE

    def must_wait(self, event: Input) -> bool:
        """Whether an input waits for the end of the long step; if so it is kept."""
        step = self.present
        if step is None or not self.holds_writes or not _waits(event, step.phase):
            return False
        self.held.append(event)
        return True

    def check_writes(self) -> None:
        """Assert that no other input writes while a long step holds the writes."""
        step = self.present
        assert step is None or step.is_running or not self.holds_writes, step and step.phase.name

    @property
    def holds_writes(self) -> bool:
        return self.present is not None and self.present.phase >= Phase.HELD

    def _is_overtaken(self, reads: Reads) -> bool:
        """Whether what was changed since the last look is among what is read."""
        noted = self._state.undo.noted
        if not noted:
            return False
        self._state.undo.noted = []
        return any(key in reads.get(part, ()) for part, key in noted)


def _waits(event: Input, phase: Phase) -> bool:
    """Whether an input waits in this phase, which is HELD or APPLYING."""
    if isinstance(event, inputs.Requested):
        api = APIS[event.context.api_key]
        if api.kind is Kind.LOCAL or event.context.api_key == BROKER_HEARTBEAT:
            # A heartbeat is served, and waits only if it would write: `controller.core.serving`.
            return False
        return api.kind is Kind.WRITE or phase is Phase.APPLYING
    return isinstance(event, inputs.Ticked | inputs.ReserveOffsets)
