"""TLS sessions that clients resume: only while the certificates that were verified for them are valid.

TLS 1.3 sessions cannot be resumed here, as no tickets are issued. OpenSSL keeps those of TLS 1.2 by their ids, Python
cannot switch that off, and a client that resumes one is not verified again.
"""

from __future__ import annotations

from time import time as wall_s
from weakref import WeakSet

from raft.security.names import expires_s

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ssl
    from typing import Any

# Of OpenSSL's cache. A session leaves that cache when its first connection ends (`raft.network.tls`); Python 3.14 keeps
# it there.
SESSIONS_MAX = 20_480
# A context with more than these in its cache is replaced: each may hold 65 KiB.
CACHED_MAX = 1_024
# No context is replaced while those with open connections have more than these in their caches.
HELD_MAX = 8 * CACHED_MAX
_ENCODING_DER = 2


class Sessions:
    """The TLS 1.2 sessions of one port: those in the caches of its contexts, and of those that have a client
    certificate how long they may be resumed.
    """

    def __init__(self) -> None:
        # Those that were full, as long as they have connections: a client may keep one open to each.
        self._full: WeakSet[ssl.SSLContext] = WeakSet()
        # By the id of a session: when the first certificate of its verified chain expires, in s since 1970.
        self._ends_s: dict[bytes, int] = {}

    def is_full(self, context: ssl.SSLContext) -> bool:
        """Whether the next connection is to get a new context in place of this one, which ends with its connections."""
        if _cache_size(context) <= CACHED_MAX:
            return False
        self._full.add(context)
        return sum(map(_cache_size, self._full)) <= HELD_MAX

    def check(self, session: ssl.SSLObject) -> None:
        """Raises ValueError for a resumed session whose certificates have expired since they were verified."""
        if session.version() != "TLSv1.2" or session.getpeercert(binary_form=True) is None:
            return
        known = session.session
        assert known is not None, "the handshake is complete"
        if not session.session_reused:
            self._ends_s[known.id] = min(map(expires_s, _verified_chain(session)))
            if len(self._ends_s) > SESSIONS_MAX:
                del self._ends_s[next(iter(self._ends_s))]
        elif self._ends_s.get(known.id, 0) <= wall_s():
            raise ValueError("its certificate has expired since its TLS session began: renew it")


def _cache_size(context: ssl.SSLContext) -> int:
    return context.session_stats()["number"]


def _verified_chain(session: ssl.SSLObject) -> list[bytes]:
    """The certificates from the client's to the authority that is trusted, in DER."""
    public: Any = getattr(session, "get_verified_chain", None)  # from Python 3.13 on
    if public is not None:
        return list(public())
    inner: Any = getattr(session, "_sslobj")  # noqa: B009 - the same of Python 3.11 and 3.12, which is private there
    return [each.public_bytes(_ENCODING_DER) for each in inner.get_verified_chain()]
