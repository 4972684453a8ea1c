"""SaslHandshake and SaslAuthenticate on a listener without SASL."""

from __future__ import annotations

from controller.core.apis import APIS
from controller.state.state import State
from records.errors import Error


def test_sasl_requests_outside_of_an_authentication_are_refused() -> None:
    state = State()

    results = [APIS[key].handler(state, None, None, None) for key in (17, 36)]  # type: ignore[misc]

    assert [result.response.error_code for result in results] == [Error.ILLEGAL_SASL_STATE] * 2
    assert results[0].response.mechanisms == ()
    assert results[1].response.error_message == ("SaslAuthenticate request received after successful authentication")
