"""SASL handshake and authentication (KIP-43, KIP-152)."""

from records.schema import message, since
from records.wire import array, blob, int16, int64, nullable, string


@message(api_key=17, kind="request", versions=(0, 1), flexible=None)
class SaslHandshakeRequest:
    """Chooses the SASL mechanism, before authentication (KIP-43, KIP-152).

    mechanism: its name, such as PLAIN or SCRAM-SHA-256.
    """

    mechanism: string


@message(api_key=17, kind="response", versions=(0, 1), flexible=None)
class SaslHandshakeResponse:
    """Lists the enabled mechanisms of the server.

    mechanisms: their names.
    """

    error_code: int16
    mechanisms: array[string]


@message(api_key=36, kind="request", versions=(0, 2), flexible=2)
class SaslAuthenticateRequest:
    """Carries one token of the SASL exchange from the client (KIP-152, KIP-368).

    auth_bytes: the token.
    """

    auth_bytes: blob


@message(api_key=36, kind="response", versions=(0, 2), flexible=2)
class SaslAuthenticateResponse:
    """Carries one token of the SASL exchange from the server (KIP-152, KIP-368).

    auth_bytes: the token.
    session_lifetime_ms: the time after which the client must authenticate again; 0 for never.
    """

    error_code: int16
    error_message: nullable[string]
    auth_bytes: blob
    session_lifetime_ms: int64 = since(1, default=0, ignorable=True)
