"""From a checked configuration to the security of each listener and of the node's own connections."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from controller.config.security.listener_values import ListenerValues
from controller.config.security.security_checks import (
    GSSAPI,
    OAUTHBEARER,
    PLAIN,
    SASL_PROTOCOLS,
    TLS_PROTOCOLS,
    client_login,
    login_module,
)
from controller.interface.inputs import Principal
from raft.network.security import ClientSecurity, ListenerSecurity, Sasl
from raft.security.principal_rules import PrincipalRules

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Mapping

    from controller.config.node import NodeConfig
    from controller.security.bearer import Surroundings
    from controller.security.contexts import Contexts
    from controller.security.credentials import Credentials
    from controller.security.refreshed import Refreshed
    from controller.state.state import State
    from raft.network.mechanisms import ClientMechanism, ServerMechanism
    from raft.security.jaas import Module


class Security:
    """The security of all listeners of a node, which share the stores of each.

    Nothing of TLS or SASL is imported when all of them are PLAINTEXT.
    """

    def __init__(
        self,
        config: NodeConfig,
        *,
        now: Callable[[], float],
        note: Callable[[str, dict[str, Any]], None],
        wall_ms: Callable[[], int],
        state: Callable[[], State | None],
    ) -> None:
        """now: a clock, in s; wall_ms: the wall clock; state: the metadata, None while the node is not complete.

        Raises ValueError, with one line, for files that cannot be used, and ConfigError.
        """
        self._config = config
        self._now, self._note, self._wall_ms = now, note, wall_ms
        self._state = state
        self._credentials: Credentials | None = None
        self._contexts: dict[str, Contexts] = {}
        self._opened: list[Refreshed[Any]] = []
        self._listeners = {
            endpoint.name: self._listener(endpoint.name, endpoint.protocol) for endpoint in config.controller_listeners
        }

    def listener(self, name: str) -> ListenerSecurity | None:
        """Of the listener with this name; None for PLAINTEXT."""
        return self._listeners[name]

    def client(self) -> ClientSecurity | None:
        """Of this node's connections to other controllers: the settings of the first controller listener."""
        name = self._config.controller_listener_names[0].upper()
        protocol = self._config.security_protocols[name]
        if protocol == "PLAINTEXT":
            return None
        context = check = None
        if protocol in TLS_PROTOCOLS:
            contexts = self._contexts_of(name)
            context, check = contexts.client, contexts.check_session
        mechanism = None
        if protocol in SASL_PROTOCOLS:
            chosen, module = client_login(self._config)
            values = ListenerValues(self._config, name)
            mechanism = (chosen, client_exchange(values, chosen, module, self._surroundings))
        return ClientSecurity(context, check, mechanism)

    def certificates(self) -> list[tuple[str, str, int]]:
        """The certificates in use: listener, file, and when the first of the chain expires, in s since 1970."""
        by_listener = ((name, contexts.certificate()) for name, contexts in self._contexts.items())
        return [(name, *certificate) for name, certificate in by_listener if certificate is not None]

    def close(self) -> None:
        """End what fetches keys and tokens."""
        for refreshed in self._opened:
            refreshed.close()

    def _listener(self, name: str, protocol: str) -> ListenerSecurity | None:
        if protocol == "PLAINTEXT":
            return None
        values = ListenerValues(self._config, name)
        sasl = self._sasl(values) if protocol in SASL_PROTOCOLS else None
        if protocol not in TLS_PROTOCOLS:
            return ListenerSecurity(sasl=sasl)
        contexts = self._contexts_of(name)
        rules = PrincipalRules(values.text("ssl.principal.mapping.rules") or "DEFAULT")

        @lru_cache(maxsize=16)  # asked for twice in each handshake
        def principal_of(certificate: bytes) -> Principal:
            from raft.security.names import subject_of

            return Principal("User", rules.name_of(subject_of(certificate)))

        def identity_of(session: ssl.SSLObject) -> Principal | None:
            certificate = session.getpeercert(binary_form=True)
            return None if certificate is None else principal_of(certificate)

        def check_session(session: ssl.SSLObject) -> None:
            contexts.check_session(session)
            if sasl is None:
                identity_of(session)

        return ListenerSecurity(contexts.server, check_session, None if sasl is not None else identity_of, sasl)

    def _contexts_of(self, name: str) -> Contexts:
        from controller.security.contexts import Contexts

        if name not in self._contexts:
            self._contexts[name] = Contexts(ListenerValues(self._config, name), self._now, self._note)
        return self._contexts[name]

    def _sasl(self, values: ListenerValues) -> Sasl:
        names = values.list("sasl.enabled.mechanisms")
        return Sasl(
            mechanisms={name: self._server_mechanism(values, name) for name in names},
            reauth_ms={name: reauth_ms(values, name) for name in names},
            failure_delay_ms=self._config.number("connection.failed.authentication.delay.ms"),
            bytes_max=values.number("sasl.server.max.receive.size"),
            identity_of=lambda name, is_token: Principal("User", name, is_token),
            wall_ms=self._wall_ms,
        )

    def _server_mechanism(self, values: ListenerValues, name: str) -> Callable[[], ServerMechanism]:
        from raft.network.mechanisms import HASHES, PlainServer, ScramServer, new_nonce

        module = login_module(values, name, "sasl.enabled.mechanisms")
        if name == PLAIN:
            passwords = plain_passwords(module)
            return lambda: PlainServer(passwords)
        if name == OAUTHBEARER:
            # Its libraries are imported where it is used.
            from controller.security.bearer import bearer_server

            return bearer_server(values, module, self._surroundings())
        if name == GSSAPI:
            from controller.security.gss import gss_server

            return gss_server(values, module)
        assert name in HASHES
        find = self._scram_credentials().find
        return lambda: ScramServer(name, lambda user, is_token: find(name, user, is_token), new_nonce())

    def _scram_credentials(self) -> Credentials:
        from controller.security.credentials import Credentials

        if self._credentials is None:
            self._credentials = Credentials(self._config, self._state, self._now, self._note)
        return self._credentials

    def _surroundings(self) -> Surroundings:
        from controller.security.bearer import Surroundings

        return Surroundings(self._now, self._wall_ms, self._note, self._opened)


def plain_passwords(module: Module) -> Mapping[str, str]:
    """Passwords by user: the options `user_NAME`."""
    return {key[len("user_") :]: value for key, value in module.options.items() if key.startswith("user_")}


def client_exchange(
    values: ListenerValues, name: str, module: Module, surroundings: Callable[[], Surroundings]
) -> Callable[[], ClientMechanism]:
    """What makes one exchange of a client. surroundings: for mechanisms that need them. Raises ValueError."""
    if name == OAUTHBEARER:
        from controller.security.bearer import bearer_client

        return bearer_client(values, module, surroundings())
    if name == GSSAPI:
        from controller.security.gss import gss_client

        return gss_client(values, module)
    return client_mechanism(name, module)


def client_mechanism(name: str, module: Module) -> Callable[[], ClientMechanism]:
    """What makes one exchange of a client that has a password."""
    from raft.network.mechanisms import PlainClient, ScramClient, new_nonce

    user, password = module.options["username"], module.options["password"]
    if name == PLAIN:
        return lambda: PlainClient(user, password)
    salted: dict[tuple[bytes, int], bytes] = {}
    is_token = module.options.get("tokenauth", "").lower() == "true"
    return lambda: ScramClient(name, user, password, salted, new_nonce(), is_token=is_token)


def reauth_ms(values: ListenerValues, mechanism: str) -> int:
    """connections.max.reauth.ms of a mechanism."""
    own = values.of_mechanism(mechanism, "connections.max.reauth.ms")
    return values.number("connections.max.reauth.ms") if own is None else int(own)
