"""SASL on one outgoing connection: the handshake, then the tokens of the mechanism (KIP-43, KIP-152)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from raft.network.mechanisms import HASHES, SaslRefused
from raft.network.versions import common_version
from records.messages.sasl import SaslAuthenticateRequest, SaslHandshakeRequest
from records.wire import EncodeError

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from raft.network.mechanisms import ClientMechanism

_WITH_PASSWORD = ("PLAIN", *HASHES)


class SaslLogin:
    """One authentication, the first of a connection or a later one.

    ask: sends a request in a version; each answer goes to `on_answer`. on_done: takes the lifetime of the session in
    ms, 0 when it has no end. on_refused: takes the reason; it is called last. After `cancel` nothing is called.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        mechanism: tuple[str, Callable[[], ClientMechanism]],
        host: str,
        versions: dict[int, tuple[int, int]],
        *,
        ask: Callable[[Any, int], None],
        on_done: Callable[[int], None],
        on_refused: Callable[[str], None],
    ) -> None:
        self._loop = loop
        self._name, make = mechanism
        self._exchange = make()
        self._exchange.host = host
        self._versions = versions
        self._ask = ask
        self._on_done = on_done
        self._on_refused = on_refused
        self._lifetime_ms = 0
        self._is_cancelled = False

    def begin(self) -> None:
        """Send the handshake."""
        try:
            for request in (SaslHandshakeRequest, SaslAuthenticateRequest):
                common_version(request, self._versions)
        except EncodeError:
            self._on_refused("it serves no SASL: its listener's security protocol is another than ours")
            return
        version = common_version(SaslHandshakeRequest, self._versions)
        self._ask(SaslHandshakeRequest(mechanism=self._name), version)

    def on_answer(self, request: Any, answer: Any) -> None:
        """The answer to the last request."""
        if answer.error_code:
            self._on_refused(self._refusal(request, answer))
        elif isinstance(request, SaslHandshakeRequest):
            self._take(self._exchange.first)
        else:
            self._lifetime_ms = answer.session_lifetime_ms
            self._take(partial(self._exchange.answer, answer.auth_bytes))

    def cancel(self) -> None:
        """The connection is gone."""
        self._is_cancelled = True

    def _refusal(self, request: Any, answer: Any) -> str:
        if isinstance(request, SaslHandshakeRequest):
            return (
                f"SASL mechanism {self._name} is refused with error {answer.error_code}; it has "
                f"{', '.join(answer.mechanisms) or 'none'}: compare sasl.mechanism.controller.protocol with its "
                "sasl.enabled.mechanisms"
            )
        what = "the user or the password of our sasl.jaas.config"
        if self._name not in _WITH_PASSWORD:
            what = f"what we authenticate with by SASL mechanism {self._name}"
        return f"it refuses {what}: {answer.error_message or answer.error_code}"

    def _take(self, step: Callable[[], bytes | None]) -> None:
        """Take the next token of the exchange, on another thread where that may take long."""
        if not self._exchange.blocks:
            self._send(step)
            return

        def on_done(future: asyncio.Future[bytes | None]) -> None:
            if not self._is_cancelled and not future.cancelled():
                self._send(future.result)

        self._loop.run_in_executor(None, step).add_done_callback(on_done)

    def _send(self, step: Callable[[], bytes | None]) -> None:
        try:
            token = step()
            if token is None and not self._exchange.is_complete:
                raise SaslRefused("it ended the exchange too early")
        except SaslRefused as error:
            self._on_refused(str(error))
            return
        if token is None:
            self._on_done(self._lifetime_ms)
        else:
            version = common_version(SaslAuthenticateRequest, self._versions)
            self._ask(SaslAuthenticateRequest(auth_bytes=token), version)
