"""A tool's connection to one node: blocking, one request at a time, versions negotiated first."""

from __future__ import annotations

import socket
import time
from typing import Self

from records.codec import decode, decode_prefix, encode
from records.errors import ApiError, Error, error_name
from records.headers import RequestHeader, ResponseHeader
from records.messages.versions import ApiVersionsRequest, ApiVersionsResponse
from records.registry import response_class
from records.schema import schema_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ssl
    from typing import Any

    from raft.network.security import ClientSecurity

API_VERSIONS_KEY = 18
FRAME_BYTES_MAX = 1 << 28
# The part of a session after which the client authenticates again, as stock's clients do.
RENEWED_AT = 0.85
HINT = "a listener with TLS or SASL needs the security settings of the client"


class NotAuthenticated(ConnectionError):
    """The node and this client do not accept each other.

    code: the error that Kafka's clients have for it, None for TLS. text: the node's words.
    """

    def __init__(self, explained: str, code: Error | None, text: str) -> None:
        super().__init__(explained)
        self.code = code
        self.text = text


class Connection:
    """One TCP connection; use it as a context manager. security: None for PLAINTEXT.

    Raises OSError if the node does not answer in time, or refuses the client.
    """

    def __init__(
        self, host: str, port: int, client_id: str, seconds: float = 5.0, security: ClientSecurity | None = None
    ) -> None:
        self.socket = socket.create_connection((host, port), timeout=seconds)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.client_id = client_id
        self.correlation = 0
        self._host = host
        self._security = security
        self._log_in_at: float | None = None
        try:
            if security is not None and security.context is not None:
                self._begin_tls(security.context())
            self.versions = self._negotiate()
            if security is not None and security.mechanism is not None:
                self._log_in()
        except BaseException:
            self.socket.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def ask(self, request: Any) -> Any:
        """The response, in the newest version that both sides know.

        Raises ApiError(UNSUPPORTED_VERSION) if there is none, DecodeError, EncodeError, OSError.
        """
        schema = schema_of(type(request))
        assert schema.api_key is not None
        if self._log_in_at is not None and time.monotonic() >= self._log_in_at:
            self._log_in()
        low, high = self.versions.get(schema.api_key, (0, -1))
        known = schema.served or schema.versions
        version = min(high, known[1])
        if version < max(low, known[0]):
            text = (
                f"the node speaks versions {low} to {high} of API {schema.api_key}, this tool {known[0]} to {known[1]}"
            )
            raise ApiError(Error.UNSUPPORTED_VERSION, text)
        answer, _ = self.exchange(request, version)
        return answer

    def exchange(self, request: Any, version: int) -> tuple[Any, bytes]:
        """The response to a request in this version, and its bytes."""
        schema = schema_of(type(request))
        assert schema.api_key is not None
        flexible = schema.is_flexible(version)
        self.correlation += 1
        header = RequestHeader(
            request_api_key=schema.api_key,
            request_api_version=version,
            correlation_id=self.correlation,
            client_id=self.client_id,
        )
        data = encode(header, 2 if flexible else 1) + encode(request, version)
        self.socket.sendall(len(data).to_bytes(4, "big") + data)
        frame = self._frame()
        # The header of an ApiVersions response is always in version 0, since the client may know no other.
        header_version = 1 if flexible and schema.api_key != API_VERSIONS_KEY else 0
        answered, position = decode_prefix(ResponseHeader, header_version, frame, 0)
        if answered.correlation_id != self.correlation:
            raise ConnectionError(f"the answer is to request {answered.correlation_id}, not {self.correlation}")
        body = frame[position:]
        if schema.api_key == API_VERSIONS_KEY and body[:2] == b"\x00\x23":
            # An unsupported version is answered in version 0.
            return decode(ApiVersionsResponse, 0, body), body
        return decode(response_class(schema.api_key), version, body), body

    def _begin_tls(self, context: ssl.SSLContext) -> None:
        assert self._security is not None
        import ssl

        from raft.network.tls import explain

        try:
            self.socket = secured = context.wrap_socket(self.socket, server_hostname=self._host)
            if self._security.check_session is not None:
                self._security.check_session(secured)  # type: ignore[arg-type]  # only its cipher is read
        except (ssl.SSLError, ValueError) as error:
            raise NotAuthenticated(explain(error), None, explain(error)) from None

    def _log_in(self) -> None:
        """Authenticate, or authenticate again before the session ends (KIP-368)."""
        from raft.network.mechanisms import SaslRefused
        from records.messages.sasl import SaslAuthenticateRequest, SaslHandshakeRequest

        assert self._security is not None
        assert self._security.mechanism is not None
        name, make = self._security.mechanism
        self._log_in_at = None
        exchange = make()
        exchange.host = self._host
        shaken = self.ask(SaslHandshakeRequest(mechanism=name))
        if shaken.error_code:
            others = ", ".join(shaken.mechanisms) or "none"
            raise NotAuthenticated(
                f"SASL mechanism {name} is refused ({error_name(shaken.error_code)}); it has {others}",
                Error.UNSUPPORTED_SASL_MECHANISM,
                f"Client SASL mechanism '{name}' not enabled in the server, enabled mechanisms are "
                f"[{', '.join(shaken.mechanisms)}]",
            )
        try:
            token: bytes | None = exchange.first()
            while token is not None:
                answer = self.ask(SaslAuthenticateRequest(auth_bytes=token))
                if answer.error_code:
                    text = answer.error_message or error_name(answer.error_code)
                    explained = f"authentication with SASL mechanism {name} is refused: {text}"
                    raise NotAuthenticated(explained, Error.SASL_AUTHENTICATION_FAILED, text)
                token = exchange.answer(answer.auth_bytes)
        except SaslRefused as error:
            explained = f"authentication with SASL mechanism {name} fails: {error}"
            raise NotAuthenticated(explained, Error.SASL_AUTHENTICATION_FAILED, str(error)) from None
        if not exchange.is_complete:
            raise ConnectionError(f"it ended the exchange of SASL mechanism {name} too early")
        if answer.session_lifetime_ms > 0:
            self._log_in_at = time.monotonic() + answer.session_lifetime_ms * RENEWED_AT / 1000

    def _negotiate(self) -> dict[int, tuple[int, int]]:
        request = ApiVersionsRequest(client_software_name="kraft-quorum", client_software_version="1")
        answer, _ = self.exchange(request, 4)
        if answer.error_code == Error.UNSUPPORTED_VERSION:
            answer, _ = self.exchange(ApiVersionsRequest(), 0)
        if answer.error_code:
            raise ConnectionError(f"the node answers ApiVersions with {error_name(answer.error_code)}")
        return {key.api_key: (key.min_version, key.max_version) for key in answer.api_keys}

    def _frame(self) -> bytes:
        size = int.from_bytes(self._exactly(4), "big", signed=True)
        if not 0 <= size <= FRAME_BYTES_MAX:
            raise ConnectionError(
                f"an answer of {size} bytes: this is no Kafka listener" + ("" if self._security else f", or {HINT}")
            )
        return self._exactly(size)

    def _exactly(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            try:
                part = self.socket.recv(min(size - len(data), 1 << 20))
            except ConnectionError:
                raise
            except OSError as error:
                raise self._explain(error) from None
            if not part:
                hint = "" if self._security is not None else f" ({HINT})"
                raise ConnectionError(f"the connection ended after {len(data)} of {size} bytes{hint}")
            data += part
        return bytes(data)

    def _explain(self, error: OSError) -> OSError:
        """An error of TLS after the handshake, such as a missing certificate in TLS 1.3, with what to do about it."""
        if self._security is None or self._security.context is None:
            return error
        import ssl

        from raft.network.tls import explain

        return NotAuthenticated(explain(error), None, explain(error)) if isinstance(error, ssl.SSLError) else error
