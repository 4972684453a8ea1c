"""TLS on a connection: a protocol for the loop's transport, and a transport for the protocol above it."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

HANDSHAKE_BYTES_MAX = 32 << 10
READ_BYTES = 256 << 10

_HANDSHAKE, _ALERT = 22, 21  # the first byte of a TLS record

_NO_TRUST = "add the authority that signed it to ssl.truststore"
# The reason that OpenSSL gives -> what it means here and what to do.
_REASONS = {
    "PEER_DID_NOT_RETURN_A_CERTIFICATE": (
        "it sends no certificate, and ssl.client.auth=required here: give it an ssl.keystore"
    ),
    "TLSV13_ALERT_CERTIFICATE_REQUIRED": "it demands a certificate: set ssl.keystore here",
    "TLSV1_ALERT_UNKNOWN_CA": (
        "it does not trust our certificate: add the authority that signed ours to its ssl.truststore"
    ),
    "SSLV3_ALERT_CERTIFICATE_EXPIRED": "it says that our certificate has expired: renew the one in ssl.keystore",
    "SSLV3_ALERT_CERTIFICATE_UNKNOWN": (
        "it refuses our certificate: check that its ssl.truststore holds the authority, and that the certificate is "
        "valid and made for the name that it connects to"
    ),
    "SSLV3_ALERT_BAD_CERTIFICATE": (
        "it refuses our certificate: check the one in ssl.keystore, and the ssl.truststore of the other side"
    ),
    "SSLV3_ALERT_HANDSHAKE_FAILURE": (
        "it ended the handshake: compare ssl.cipher.suites, ssl.enabled.protocols and ssl.client.auth of both sides"
    ),
    "NO_SHARED_CIPHER": "no cipher suite is enabled on both sides: compare ssl.cipher.suites",
    "UNSUPPORTED_PROTOCOL": "no TLS version is enabled on both sides: compare ssl.enabled.protocols",
    "TLSV1_ALERT_PROTOCOL_VERSION": "no TLS version is enabled on both sides: compare ssl.enabled.protocols",
    "WRONG_VERSION_NUMBER": "it does not speak TLS: compare the security protocols of both sides",
}


def explain(error: ssl.SSLError | ValueError) -> str:
    """One line about a TLS error and what to do. It contains no secret."""
    if isinstance(error, ssl.SSLCertVerificationError):
        text = str(error.verify_message).rstrip(".")
        lowered = text.lower()
        if "expired" in lowered or "not yet valid" in lowered:
            return f"its certificate is not valid now ({text}): renew it, and compare the clocks"
        if "mismatch" in lowered:
            return (
                f"its certificate is for another name ({text}): connect to a name that the certificate has, "
                "or set ssl.endpoint.identification.algorithm to nothing"
            )
        return f"its certificate is not trusted ({text}): {_NO_TRUST}"
    reason = getattr(error, "reason", None) or str(error) or type(error).__name__
    return _REASONS.get(reason, f"TLS failed: {reason}")


def acknowledge(transport: Any) -> None:
    """Acknowledge what has come at once, not up to 40 ms later with the next answer.

    Without session tickets a server sends nothing after the client's Finished, and a client that sends small segments
    only when the previous ones are acknowledged (Nagle) would hold back its first request until then.
    """
    sock = transport.get_extra_info("socket")
    is_inet = sock is not None and sock.family in {socket.AF_INET, socket.AF_INET6}
    if is_inet and hasattr(socket, "TCP_QUICKACK"):  # Linux
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)


class TlsFailed(OSError):
    """A handshake failed; the text says why, and what to do."""


class TlsConnection(asyncio.Protocol):
    """One TLS connection. `inner` begins when the handshake is complete, and gets this object as its transport.

    schedule: calls the given function soon, once for each step of the handshake: a step takes a millisecond of CPU, and
    many must not run in one iteration of the loop. on_started: the connection was made; on_done: called once, with None
    when the handshake is complete, or with the reason when it failed. check: raises ValueError for a complete session
    that is not allowed. note: takes the reason when TLS fails after the handshake. on_held: takes the number of bytes
    when some have come during the handshake. received: how many have.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        context: ssl.SSLContext,
        inner: Callable[[TlsConnection], asyncio.Protocol],
        *,
        hostname: str | None,
        server_side: bool,
        schedule: Callable[[Callable[[], None]], None],
        on_started: Callable[[TlsConnection], None],
        on_done: Callable[[TlsConnection, str | None], None],
        check: Callable[[ssl.SSLObject], None] | None = None,
        note: Callable[[TlsConnection, str], None] | None = None,
        on_held: Callable[[int], None] | None = None,
    ) -> None:
        self.is_open = False
        self._loop = loop
        self._incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()
        # A server makes it with the first step: it takes more memory than a client that has sent nothing should.
        self._make_session: Callable[[], ssl.SSLObject] | None = lambda: context.wrap_bio(
            self._incoming, self._outgoing, server_side, hostname
        )
        self.session: ssl.SSLObject
        if not server_side:
            self._begin_session()
        self._inner_of = inner
        self._inner: Any = None
        self._server_side = server_side
        self._schedule = schedule
        self._on_started = on_started
        self._on_done = on_done
        self._check = check
        self._note = note
        self._on_held = on_held
        self._raw: Any = None
        self.received = 0
        self._is_done = False  # on_done was called
        self._is_step_due = False
        self._is_closing = False
        self._is_read_paused = False
        self._is_stuck = False  # the peer reads nothing of what was written

    # Called by the loop's transport.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._raw = transport
        self._on_started(self)
        if not self._server_side:
            self._handshake()

    def data_received(self, data: bytes) -> None:
        if self._is_closing:
            return
        if self.is_open:
            self._incoming.write(data)
            self._read()
            return
        if not self.received and data[0] not in {_HANDSHAKE, _ALERT}:
            side = "the client" if self._server_side else "the server"
            self.fail(f"{side} does not speak TLS: set its security.protocol to SSL or SASL_SSL, or ours to PLAINTEXT")
            return
        self.received += len(data)
        if self.received > HANDSHAKE_BYTES_MAX:
            self.fail(f"its handshake has more than {HANDSHAKE_BYTES_MAX} bytes")
            return
        self._incoming.write(data)
        if not self._is_step_due:
            self._is_step_due = True
            self._schedule(self._handshake)
        if self._on_held is not None:
            self._on_held(len(data))

    def eof_received(self) -> bool | None:
        return None  # the loop closes the transport; Kafka's own clients send no close_notify either

    def pause_writing(self) -> None:
        if self._inner is not None:
            self._inner.pause_writing()
        if self._server_side and not self.is_closing():
            # TLS answers by itself, such as to key updates: a peer that reads no answers is not read from either.
            self._is_stuck = True
            self._raw.pause_reading()

    def resume_writing(self) -> None:
        if self._is_stuck:
            self._is_stuck = False
            if not self._is_read_paused:
                self.resume_reading()
        if self._inner is not None:
            self._inner.resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._is_closing = True
        self._end_handshake("it closed the connection during the handshake")
        if self._inner is not None:
            self._inner.connection_lost(exc)

    # The handshake.

    def _begin_session(self) -> None:
        if self._make_session is not None:
            self.session = self._make_session()
            self._make_session = None

    def _handshake(self) -> None:
        self._is_step_due = False
        if self._is_closing or self.is_open:
            return
        self._begin_session()
        try:
            self.session.do_handshake()
            if self._check is not None:
                self._check(self.session)
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            self._flush()
            return
        except (ssl.SSLError, ValueError) as error:
            self._flush()  # the alert
            self.fail(explain(error))
            return
        self._flush()
        if self._server_side:
            acknowledge(self._raw)
        self.is_open = True
        self._end_handshake(None)
        self._inner = self._inner_of(self)
        self._inner.connection_made(self)
        self._read()

    def fail(self, reason: str) -> None:
        """End a connection whose handshake is not complete."""
        self._end_handshake(reason)
        self._is_closing = True
        self._raw.close()

    def _end_handshake(self, reason: str | None) -> None:
        if not self._is_done:
            self._is_done = True
            self._on_done(self, reason)

    # Called by the protocol above, as on any transport.

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if self._is_closing:
            return
        view = memoryview(data)
        while view:
            view = view[self.session.write(view) :]
        self._flush()

    def get_write_buffer_size(self) -> int:
        return int(self._raw.get_write_buffer_size())

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        self._raw.set_write_buffer_limits(high=high, low=low)

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self._raw.get_extra_info(name, default)

    def is_closing(self) -> bool:
        return self._is_closing or bool(self._raw.is_closing())

    def pause_reading(self) -> None:
        self._is_read_paused = True
        self._raw.pause_reading()

    def resume_reading(self) -> None:
        self._is_read_paused = False
        if not (self._is_stuck or self.is_closing()):
            self._raw.resume_reading()
            self._loop.call_soon(self._read)

    def close(self) -> None:
        """Close when all bytes were sent, with a close_notify.

        A server sends none over TLS 1.2: OpenSSL would keep the session, up to 65 KiB with a large certificate, for a
        client that may resume it; without one the session ends with the connection. Frames and HTTP answers have
        lengths, so a client knows that they are whole.
        """
        if not self._is_closing:
            if self.is_open and not (self._server_side and self.session.version() == "TLSv1.2"):
                with contextlib.suppress(ssl.SSLError):
                    self.session.unwrap()
                self._flush()
            self._is_closing = True
            self._raw.close()

    def abort(self) -> None:
        self._is_closing = True
        self._raw.abort()

    # Bytes.

    def _read(self) -> None:
        while not (self._is_closing or self._is_read_paused or self._is_stuck):
            if not self._incoming.pending and not self.session.pending():
                break  # the next read would only raise SSLWantReadError, which costs as much as a read
            try:
                data = self.session.read(READ_BYTES)
            except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
                break
            except ssl.SSLError as error:
                self._flush()
                if self._note is not None:
                    self._note(self, explain(error))
                self.abort()
                return
            if not data:  # close_notify
                self.close()
                return
            self._inner.data_received(data)
        if not self._is_closing:
            self._flush()  # a session ticket, an answer to a key update

    def _flush(self) -> None:
        if self._outgoing.pending:
            self._raw.write(self._outgoing.read())
