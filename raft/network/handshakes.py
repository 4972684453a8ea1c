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
# What the clients of all of them may have sent together. A hello has some 500 bytes, and a client's certificates some
# thousands; OpenSSL holds about twice what was sent, and 40 KiB for each besides.
HELD_BYTES_MAX = 8 << 20


class Handshakes:
    """All unfinished handshakes.

    A step with a private key takes about a millisecond of CPU. One step is done in each iteration of the loop, so that
    the quorum's Fetches wait for one step, not for a thousand. When there are more than `handshakes_max`, the oldest
    ends.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        handshakes_max: int,
        note: Callable[[str, str, str, str], None],
        seconds_max: float = HANDSHAKE_S_MAX,
    ) -> None:
        """note: takes event, listener, peer and reason. seconds_max: how long a handshake may take."""
        self._loop = loop
        self._handshakes_max = handshakes_max
        self._note = note
        self._open: dict[TlsConnection, asyncio.TimerHandle] = {}
        self._seconds_max = seconds_max
        # The next step of each that has one, in the order in which they came; a connection that ends leaves none.
        self._steps: dict[TlsConnection, Callable[[], None]] = {}
        self._is_due = False
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
            self._held -= tls.received
            if reason is not None:
                note(tls, reason)

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
        late = f"the handshake is not done within {self._seconds_max:g} s"
        self._open[tls] = self._loop.call_later(self._seconds_max, tls.fail, late)
        if len(self._open) > self._handshakes_max:
            oldest = next(iter(self._open))
            oldest.fail(f"{len(self._open)} handshakes are under way, and this one is the oldest")

    def _hold(self, size: int) -> None:
        """Bytes have come; the one that holds most ends when all together hold too many."""
        self._held += size
        if self._held > HELD_BYTES_MAX:
            largest = max(self._open, key=lambda one: one.received)
            largest.fail(f"unfinished handshakes hold {self._held} bytes, most of them this one")

    def _schedule(self, tls: TlsConnection, step: Callable[[], None]) -> None:
        self._steps[tls] = step
        self._run_soon()

    def _run_soon(self) -> None:
        if self._steps and not self._is_due:
            self._is_due = True
            self._loop.call_soon(self._run)

    def _run(self) -> None:
        self._is_due = False
        if self._steps:
            step = self._steps.pop(next(iter(self._steps)))
            try:
                step()
            finally:
                self._run_soon()
