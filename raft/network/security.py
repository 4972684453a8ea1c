"""The security of a listener or of outgoing connections, as the node passes it to `Server` and `Channels`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Mapping

    from raft.network.mechanisms import ClientMechanism, ServerMechanism

LIMIT_S = 60.0
EVENTS_MAX = 100
_KEPT = 1000


@dataclass(frozen=True, slots=True)
class Sasl:
    """SASL of one listener. mechanisms: those that are enabled, in their order, each with the function that makes an
    exchange.

    reauth_ms: how long a session may last before the client must authenticate again, by mechanism; 0 for no limit.
    failure_delay_ms: the delay of the answer to a failed authentication. bytes_max: of a request before authentication.
    identity_of: from an authenticated name, and whether a delegation token authenticated it, to the identity. wall_ms:
    the wall clock, for the expiry of tokens.
    """

    mechanisms: Mapping[str, Callable[[], ServerMechanism]]
    reauth_ms: Mapping[str, int]
    failure_delay_ms: int
    bytes_max: int
    identity_of: Callable[[str, bool], Any]
    wall_ms: Callable[[], int]


@dataclass(frozen=True, slots=True)
class ListenerSecurity:
    """The security of one listener. context: the present TLS context, None without TLS; check_session: raises
    ValueError for a TLS session that is not allowed; identity_of: from a TLS session to the identity, None without a
    certificate; raises ValueError when no rule matches. sasl: None without SASL.
    """

    context: Callable[[], ssl.SSLContext] | None = None
    check_session: Callable[[ssl.SSLObject], None] | None = None
    identity_of: Callable[[ssl.SSLObject], Any] | None = None
    sasl: Sasl | None = None


@dataclass(frozen=True, slots=True)
class ClientSecurity:
    """The security of outgoing connections. context, check_session: as above; mechanism: the name of the SASL
    mechanism, and the function that makes an exchange; None without SASL.
    """

    context: Callable[[], ssl.SSLContext] | None = None
    check_session: Callable[[ssl.SSLObject], None] | None = None
    mechanism: tuple[str, Callable[[], ClientMechanism]] | None = None


class NoteLimit:
    """Lets the same event through once a minute, so that a client that retries does not fill the log; and no more than
    EVENTS_MAX in a minute altogether, so that one that gives another name each time does not.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        """now: a clock, in s."""
        self._now = now
        self._seen: dict[tuple[str, ...], tuple[float, int]] = {}
        self._began_at = now()
        self._passed = 0  # since then

    def passes(self, *key: str) -> int | None:
        """None to leave the event out, else how many of the same were left out since the last."""
        now = self._now()
        if now - self._began_at >= LIMIT_S:
            self._began_at, self._passed = now, 0
        last = self._seen.get(key)
        if (last is not None and now - last[0] < LIMIT_S) or self._passed >= EVENTS_MAX:
            if last is not None:
                self._seen[key] = (last[0], last[1] + 1)
            return None
        self._passed += 1
        self._seen.pop(key, None)
        if len(self._seen) >= _KEPT:
            del self._seen[next(iter(self._seen))]
        self._seen[key] = (now, 0)
        return 0 if last is None else last[1]
