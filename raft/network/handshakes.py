"""The unfinished TLS handshakes of a server: few steps per iteration of the loop, limited in number and time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raft.network.connection import peer_text

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from raft.network.security import ListenerSecurity
    from raft.network.tls import TlsConnection

HANDSHAKE_S_MAX = 10.0
# How long a client whose handshake has begun may be silent while others wait to begin theirs: many times the round trip
# to any client. With 1,024 under way, 2,048 a second may be stalled before another has to wait: as many as use up the
# CPU with their first steps.
SILENT_S_MAX = 0.5
# What the clients of all of them may have sent together. A hello has some 500 bytes, and a client's certificates some
# thousands; OpenSSL holds about twice what was sent, and 40 KiB for each besides.
HELD_BYTES_MAX = 16 << 20


class Handshakes:
    """All unfinished handshakes.

    A step with a private key takes about a millisecond of CPU. One step is done in each iteration of the loop, so that
    the quorum's Fetches wait for one step, not for a thousand. More are done for as long as `share_s` says: a server
    gives them the time that requests took since the last steps, so that those of very many clients do not starve them.

    When all brokers connect at once, most of them wait for these steps: that must not end any, or they would all try
    again, and their steps be done in vain. So a handshake begins, and takes memory, with its first step; at most
    `handshakes_max` have begun, and are completed first. Of those that have not, the newest begins first: a node of the
    quorum that connects later does not wait for all others. One that has begun makes way for it when its client has
    been silent for SILENT_S_MAX.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        handshakes_max: int,
        note: Callable[[str, str, str, str], None],
        seconds_max: float = HANDSHAKE_S_MAX,
        open_max: Callable[[], int] | None = None,
        clock: Callable[[], float] | None = None,
        share_s: Callable[[], float] = lambda: 0.0,
    ) -> None:
        """note: takes event, listener, peer and reason. seconds_max: how long a client may take, from the connection on
        or from the first step on. open_max: how many connections there may be, with those whose handshake has not
        begun; one more ends the oldest. None: `handshakes_max`. clock: s, for the time that steps take; None for the
        loop's. share_s: how long the steps of one iteration may take, in s; one is done in any case.
        """
        self._loop = loop
        self._handshakes_max = handshakes_max
        self._open_max = open_max or (lambda: handshakes_max)
        self._note = note
        self._clock = clock or loop.time
        self._share_s = share_s
        self._open: dict[TlsConnection, asyncio.TimerHandle] = {}
        self._seconds_max = seconds_max
        # Those that have begun, and when the last step of each was done; in this order.
        self._begun: dict[TlsConnection, float] = {}
        # The next step of each that has one, in the order in which they came; a connection that ends leaves none.
        self._steps: dict[TlsConnection, Callable[[], None]] = {}
        self._first_steps: dict[TlsConnection, Callable[[], None]] = {}
        self._is_due = False
        self._place: asyncio.TimerHandle | None = None  # when one that has begun may have to make way
        self._held = 0

    def __len__(self) -> int:
        return len(self._open)

    def make(
        self, listener: str, security: ListenerSecurity, inner: Callable[[TlsConnection], asyncio.Protocol]
    ) -> TlsConnection:
        """The protocol of a new connection."""
        from raft.network.tls import TlsConnection

        assert security.context is not None

        def on_done(tls: TlsConnection, reason: str | None) -> None:
            timer = self._open.pop(tls, None)
            if timer is not None:
                timer.cancel()
            self._steps.pop(tls, None)
            self._first_steps.pop(tls, None)
            self._begun.pop(tls, None)
            self._held -= tls.received
            if reason is not None:
                note(tls, reason)
            self._run_soon()

        def note(tls: TlsConnection, reason: str) -> None:
            self._note("handshake_failed", listener, peer_text(tls), reason)

        made = TlsConnection(
            self._loop, security.context(), inner,
            hostname=None, server_side=True, schedule=lambda step: self._schedule(made, step),
            on_started=self._on_started, on_done=on_done, check=security.check_session, note=note, on_held=self._hold,
        )  # fmt: skip
        return made

    def close(self) -> None:
        """End all of them."""
        for tls in list(self._open):
            tls.abort()

    def _on_started(self, tls: TlsConnection) -> None:
        self._open[tls] = self._loop.call_later(self._seconds_max, self._end_late, tls)
        if len(self._open) > self._open_max():
            oldest = next(iter(self._open))
            oldest.fail(f"{len(self._open)} handshakes are not done, and this one is the oldest")

    def _end_late(self, tls: TlsConnection) -> None:
        if tls in self._steps or tls in self._first_steps:  # this side is late
            self._open[tls] = self._loop.call_later(self._seconds_max, self._end_late, tls)
        else:
            tls.fail(f"the handshake is not done within {self._seconds_max:g} s")

    def _hold(self, size: int) -> None:
        """Bytes have come; the one that holds most ends when all together hold too many."""
        self._held += size
        if self._held > HELD_BYTES_MAX:
            largest = max(self._open, key=lambda one: one.received)
            largest.fail(f"unfinished handshakes hold {self._held} bytes, most of them this one")

    def _schedule(self, tls: TlsConnection, step: Callable[[], None]) -> None:
        (self._steps if tls in self._begun else self._first_steps)[tls] = step
        self._run_soon()

    def _run_soon(self) -> None:
        if (self._steps or self._first_steps) and not self._is_due:
            self._is_due = True
            self._loop.call_soon(self._run)

    def _run(self) -> None:
        self._is_due = False
        end_s = self._clock() + self._share_s()
        step = self._next_step()
        try:
            while step is not None:
                step()
                if self._clock() >= end_s:
                    break
                step = self._next_step()
        finally:
            if step is not None:  # otherwise the next step comes, or finds a place, by itself
                self._run_soon()

    def _next_step(self) -> Callable[[], None] | None:
        if self._steps:
            tls = next(iter(self._steps))
            step = self._steps.pop(tls)
        elif self._first_steps and self._has_place():
            tls, step = self._first_steps.popitem()
        else:
            return None
        self._begun.pop(tls, None)
        self._begun[tls] = self._loop.time()
        return step

    def _has_place(self) -> bool:
        """Whether one more may begin; ends one that must make way. No step of those that have begun is left."""
        if len(self._begun) < self._handshakes_max:
            return True
        silent = next(iter(self._begun))
        left_s = self._begun[silent] + SILENT_S_MAX - self._loop.time()
        if left_s > 0:
            if self._place is None:
                self._place = self._loop.call_later(left_s, self._look_for_place)
            return False
        silent.fail(f"{len(self._begun)} handshakes are under way, and the client of this one was silent for longest")
        return True

    def _look_for_place(self) -> None:
        self._place = None
        self._run_soon()
