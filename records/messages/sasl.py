"""SASL handshake and authentication (KIP-43, KIP-152)."""

from records.schema import message, since
from records.wire import array, blob, int16, int64, nullable, string


@message(api_key=17, kind="request", versions=(0, 1), flexible=None)
class SaslHandshakeRequest:
    """Asks: SaslHandshake."""

    mechanism: string


@message(api_key=17, kind="response", versions=(0, 1), flexible=None)
class SaslHandshakeResponse:
    """Answers: SaslHandshake."""

    error_code: int16
    mechanisms: array[string]


@message(api_key=36, kind="request", versions=(0, 2), flexible=2)
class SaslAuthenticateRequest:
    """Asks: SaslAuthenticate."""

    auth_bytes: blob


@message(api_key=36, kind="response", versions=(0, 2), flexible=2)
class SaslAuthenticateResponse:
    """Answers: SaslAuthenticate."""

    error_code: int16
    error_message: nullable[string]
    auth_bytes: blob
    session_lifetime_ms: int64 = since(1, default=0, ignorable=True)
