"""SaslHandshake and SaslAuthenticate where nothing is to be authenticated: listeners without SASL announce them too.

With SASL, `raft.network.sasl_gate` takes these requests before they come here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.interface.results import Result, at_once
from records.errors import Error
from records.messages.sasl import SaslAuthenticateResponse, SaslHandshakeResponse

if TYPE_CHECKING:
    from controller.interface.env import Env
    from controller.interface.inputs import RequestContext
    from controller.state.state import State
    from records.messages.sasl import SaslAuthenticateRequest, SaslHandshakeRequest

TEXT = "SaslAuthenticate request received after successful authentication"


def handshake(_state: State, _context: RequestContext, _request: SaslHandshakeRequest, _env: Env) -> Result:
    """SaslHandshake outside of an authentication is refused with ILLEGAL_SASL_STATE."""
    return at_once(SaslHandshakeResponse(error_code=Error.ILLEGAL_SASL_STATE, mechanisms=()))


def authenticate(_state: State, _context: RequestContext, _request: SaslAuthenticateRequest, _env: Env) -> Result:
    """SaslAuthenticate outside of an authentication is refused with ILLEGAL_SASL_STATE."""
    refusal = SaslAuthenticateResponse(error_code=Error.ILLEGAL_SASL_STATE, error_message=TEXT, auth_bytes=b"")
    return at_once(refusal)
