"""SASL/GSSAPI (Kerberos, RFC 4752), both sides, by the system's library of Kerberos.

Only authentication: TLS protects what follows. Clients ask the key distribution centre, and so must not run on the
loop's thread.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from controller.config.security.gss_checks import CONFIG_PROPERTY, is_set, keytab_of, rules_of, service_name
from raft.network.mechanisms import TOKEN_BYTES_MAX, SaslRefused
from records.extras import install_command

if TYPE_CHECKING:
    from collections.abc import Callable

    from controller.config.security.kerberos_rules import KerberosRules
    from controller.config.security.listener_values import ListenerValues
    from raft.security.jaas import Module

# No layer of security, and no buffer, which it would be for.
_NO_LAYER = b"\1\0\0\0"
_STEPS_MAX = 8
_CACHE = "MEMORY:kraft-quorum"


class GssFailed(ValueError):
    """Kerberos cannot be used; the text says why, and what to do."""


def load(values: ListenerValues) -> Any:
    """The package. Raises GssFailed."""
    path = values.config.system_properties.get(CONFIG_PROPERTY)
    if path is not None:
        os.environ.setdefault("KRB5_CONFIG", path)
    try:
        import gssapi
    except ImportError:
        raise GssFailed(
            f"listener {values.name} has SASL mechanism GSSAPI, which needs a package and the libraries of Kerberos: "
            f"{install_command('gssapi')}"
        ) from None
    return gssapi


def gss_server(values: ListenerValues, module: Module) -> Callable[[], GssServer]:
    """What makes one exchange of a server. Raises GssFailed, ConfigError."""
    gssapi = load(values)
    principal, keytab = module.options["principal"], keytab_of(module)
    try:
        name = None if principal == "*" else gssapi.Name(principal, gssapi.NameType.kerberos_principal)
        store = {} if keytab is None else {"keytab": f"FILE:{keytab}"}
        credentials = gssapi.Credentials(
            usage="accept", name=name, mechs=[gssapi.MechType.kerberos], store=store or None
        )
    except gssapi.exceptions.GSSError as error:
        raise GssFailed(
            f"the keytab {keytab or 'of the system'} has no key of {principal} for listener {values.name}: "
            f"{reason_of(error)}"
        ) from None
    rules = rules_of(values, default_realm(gssapi))
    return lambda: GssServer(gssapi, credentials, rules)


def default_realm(gssapi: Any) -> str:
    """The realm of a principal that names none; empty where the system has no default."""
    try:
        name = gssapi.Name("kafka", gssapi.NameType.kerberos_principal).canonicalize(gssapi.MechType.kerberos)
    except gssapi.exceptions.GSSError:
        return ""
    return str(name).rpartition("@")[2]


def gss_client(values: ListenerValues, module: Module) -> Callable[[], GssClient]:
    """What makes one exchange of a client. Asks for the first ticket. Raises GssFailed, ConfigError."""
    gssapi = load(values)
    service = service_name(values, module)
    principal, keytab = module.options.get("principal"), keytab_of(module)
    store = {}
    if is_set(module, "useKeyTab"):
        store["ccache"] = _CACHE
        if keytab is not None:
            store["client_keytab"] = f"FILE:{keytab}"
    elif "ticketCache" in module.options:
        store["ccache"] = f"FILE:{module.options['ticketCache']}"

    def credentials() -> Any:
        """Those of now: the library fetches a new ticket when the present one is half over."""
        name = None if principal is None else gssapi.Name(principal, gssapi.NameType.kerberos_principal)
        acquired = gssapi.Credentials(
            usage="initiate", name=name, mechs=[gssapi.MechType.kerberos], store=store or None
        )
        acquired.inquire(lifetime=True)  # fetches it
        return acquired

    try:
        credentials()
    except gssapi.exceptions.GSSError as error:
        raise GssFailed(
            f"this node gets no ticket of Kerberos for {principal or 'its ticket cache'}: {reason_of(error)}"
        ) from None
    return lambda: GssClient(gssapi, service, credentials)


def reason_of(error: Any) -> str:
    """Why the library refuses, on one line."""
    text = getattr(error, "gen_message", None)
    return " ".join((text() if callable(text) else str(error)).split())[:300]


class GssServer:
    """GSSAPI: a context, the offer of no layer, the client's choice."""

    def __init__(self, gssapi: Any, credentials: Any, rules: KerberosRules) -> None:
        self.name: str | None = None
        self.is_token = False
        self.expires_ms: int | None = None
        self._gssapi = gssapi
        self._rules = rules
        self._context = gssapi.SecurityContext(creds=credentials, usage="accept")
        # An error is raised at once, not after its token was sent, which tells the client more than it needs to know.
        self._context.__DEFER_STEP_ERRORS__ = False
        self._is_offered = False
        self._steps = 0

    def answer(self, token: bytes) -> bytes:
        self._steps += 1
        if self._steps > _STEPS_MAX or len(token) > TOKEN_BYTES_MAX:
            raise SaslRefused("its exchange has too many steps, or a token that is too large")
        try:
            return self._answer(token)
        except self._gssapi.exceptions.GSSError as error:
            raise SaslRefused(f"Kerberos refuses it: {reason_of(error)}") from None
        except ValueError as error:
            raise SaslRefused(str(error)) from None

    def _answer(self, token: bytes) -> bytes:
        if not self._context.complete:
            answer: bytes = self._context.step(token) or b""
            if answer or not self._context.complete:
                return answer
            return self._offer()
        if not self._is_offered:
            return self._offer()
        choice = self._context.unwrap(token).message
        if len(choice) < 4 or choice[:1] != _NO_LAYER[:1]:
            raise SaslRefused("it chooses a layer of security that was not offered: set sasl.qop to auth")
        # Whom it wants to act for does not count, as in stock.
        self.name = self._rules.name_of(str(self._context.initiator_name))
        return b""

    def _offer(self) -> bytes:
        self._is_offered = True
        wrapped: bytes = self._context.wrap(_NO_LAYER, False).message
        return wrapped


class GssClient:
    """GSSAPI. host: of the server, to whose name the ticket is made out."""

    blocks = True

    def __init__(self, gssapi: Any, service: str, credentials: Callable[[], Any]) -> None:
        self.is_complete = False
        self.host = ""
        self._gssapi = gssapi
        self._service = service
        self._credentials = credentials
        self._context: Any = None
        self._has_chosen = False

    def first(self) -> bytes:
        """Raises SaslRefused."""
        gssapi = self._gssapi
        flags = gssapi.RequirementFlag
        try:
            name = gssapi.Name(f"{self._service}@{self.host}", gssapi.NameType.hostbased_service)
            self._context = gssapi.SecurityContext(
                name=name, creds=self._credentials(), usage="initiate", mech=gssapi.MechType.kerberos,
                flags=[flags.mutual_authentication, flags.integrity, flags.out_of_sequence_detection],
            )  # fmt: skip
            return self._context.step() or b""
        except gssapi.exceptions.GSSError as error:
            raise SaslRefused(
                f"this node gets no ticket of Kerberos for {self._service}/{self.host}: {reason_of(error)}"
            ) from None

    def answer(self, token: bytes) -> bytes | None:
        try:
            if not self._context.complete:
                return self._context.step(token) or b""
            if not self._has_chosen:
                offer = self._context.unwrap(token).message
                if len(offer) != 4 or not offer[0] & _NO_LAYER[0]:
                    raise SaslRefused("it demands a layer of security, which is not served: set sasl.qop to auth there")
                self._has_chosen = True
                chosen: bytes = self._context.wrap(_NO_LAYER, False).message
                return chosen
        except self._gssapi.exceptions.GSSError as error:
            raise SaslRefused(f"its answer is refused by Kerberos: {reason_of(error)}") from None
        if token:
            raise SaslRefused("it goes on after the end of the exchange")
        self.is_complete = True
        return None
