"""The unfinished TLS handshakes of a server: few steps per iteration of the loop, limited in number and time."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from raft.network.connection import peer_text

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from raft.network.security import ListenerSecurity
    from raft.network.tls import TlsConnection

HANDSHAKE_S_MAX = 10.0


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
    ) -> None:
        """note: takes event, listener, peer and reason."""
        self._loop = loop
        self._handshakes_max = handshakes_max
        self._note = note
        self._open: dict[TlsConnection, asyncio.TimerHandle] = {}
        self._steps: deque[Callable[[], None]] = deque()

    def __len__(self) -> int:
        return len(self._open)

    def make(
        self, listener: str, security: ListenerSecurity, inner: Callable[[TlsConnection], asyncio.Protocol]
    ) -> TlsConnection:
        """The protocol of a new connection."""
        from raft.network.tls import TlsConnection

        assert security.context is not None

        def done(tls: TlsConnection, reason: str | None) -> None:
            timer = self._open.pop(tls, None)
            if timer is not None:
                timer.cancel()
            if reason is not None:
                note(tls, reason)

        def note(tls: TlsConnection, reason: str) -> None:
            self._note("handshake_failed", listener, peer_text(tls), reason)

        return TlsConnection(
            self._loop, security.context(), inner,
            hostname=None, server_side=True, schedule=self._schedule, on_started=self._started, on_done=done,
            check=security.check_session, note=note,
        )  # fmt: skip

    def close(self) -> None:
        """End all of them."""
        for tls in list(self._open):
            tls.abort()

    def _started(self, tls: TlsConnection) -> None:
        late = f"the handshake is not done within {HANDSHAKE_S_MAX:.0f} s"
        self._open[tls] = self._loop.call_later(HANDSHAKE_S_MAX, tls.fail, late)
        if len(self._open) > self._handshakes_max:
            oldest = next(iter(self._open))
            oldest.fail(f"{len(self._open)} handshakes are under way, and this one is the oldest")

    def _schedule(self, step: Callable[[], None]) -> None:
        self._steps.append(step)
        if len(self._steps) == 1:
            self._loop.call_soon(self._run)

    def _run(self) -> None:
        self._steps[0]()
        self._steps.popleft()
        if self._steps:
            self._loop.call_soon(self._run)
