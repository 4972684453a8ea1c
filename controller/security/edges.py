"""TLS, client certificates and tokens of the HTTP port and of the watch service.

Their files are read again when they have changed; new connections and calls use the new ones.
"""

from __future__ import annotations

import hmac
import re
import ssl
from typing import TYPE_CHECKING, Any, NamedTuple

from controller.config.edges import ANYONE
from controller.security.contexts import hold_in_file
from raft.security.files import FileError, read_bounded
from raft.security.names import chain_expires_s
from raft.security.renewal import Renewal
from raft.security.sessions import Sessions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from controller.config.edges import Edge
    from controller.config.node import NodeConfig

    Note = Callable[[str, dict[str, Any]], None]

FILE_BYTES_MAX = 1 << 20
TOKEN_BYTES_MIN, TOKEN_BYTES_MAX, TOKENS_MAX = 16, 4096, 16
BEARER = b"bearer "

_TOKEN = re.compile(rb"[A-Za-z0-9._~+/-]+=*")  # RFC 6750, 2.1
# Kind of a name in the configuration -> what ssl calls it in a subjectAltName.
_ALTERNATIVE = {"DNS": "DNS", "URI": "URI", "EMAIL": "email", "IP": "IP Address"}


class PemPaths(NamedTuple):
    """PEM files. chain: the certificate and its intermediates; client_ca: the authority of the clients' certificates,
    None if clients need none.
    """

    chain: str
    key: str
    client_ca: str | None


class Pems(NamedTuple):
    """The content of the files."""

    chain: bytes
    key: bytes
    client_ca: bytes | None

    def __repr__(self) -> str:
        return "Pems([hidden])"


class EdgeSecurity:
    """Of one port. has_tls: whether it has certificates. listener: its key, as the log names it. check_session: raises
    ValueError for a TLS session that is not allowed.

    allowed: names of certificates, as the configuration has them; empty where none is asked for.
    """

    def __init__(self, config: NodeConfig, edge: Edge, *, now: Callable[[], float], note: Note) -> None:
        """now: a clock, in s; note: writes a log event, from any thread. Raises FileError."""
        self.listener = edge.listener
        self.allowed = frozenset(config.list(edge.allow))
        self._now, self._note = now, note
        chain, key = config.text(edge.certificate), config.text(edge.key)
        paths = None if chain is None or key is None else PemPaths(chain, key, config.text(edge.client_ca))
        self.has_tls = paths is not None
        self._chain = chain or ""
        self.asks_clients = paths is not None and paths.client_ca is not None
        self._pems: Renewal[Pems] | None = None if paths is None else self._renewal(paths, lambda: read_pems(paths))
        self._context: tuple[Pems, ssl.SSLContext] | None = None
        self._sessions = Sessions()
        self.check_session = self._sessions.check
        token = config.text(edge.token)
        self._tokens = None if token is None else self._renewal((token,), lambda: read_tokens(token))

    @property
    def has_token(self) -> bool:
        """Whether calls need a token."""
        return self._tokens is not None

    def pems(self) -> Pems:
        """The present files."""
        assert self._pems is not None, "only a port with TLS has certificates"
        return self._pems.value()

    def context(self) -> ssl.SSLContext:
        """The context of the present files."""
        pems = self.pems()
        if self._context is None or self._context[0] is not pems or self._sessions.is_full(self._context[1]):
            self._context = pems, context_of(pems)
        return self._context[1]

    def certificate(self) -> tuple[str, int] | None:
        """The file of the certificate in use, and when the first of its chain expires, in s since 1970."""
        end_s = chain_expires_s(self.pems().chain) if self.has_tls else None
        return None if end_s is None else (self._chain, end_s)

    def has_name(self, names: Iterable[str]) -> bool:
        """Whether a client with these names in its certificate may call."""
        return not self.allowed or ANYONE in self.allowed or not self.allowed.isdisjoint(names)

    def has_sent_token(self, authorization: bytes | None) -> bool:
        """Whether a call with this Authorization header may pass; always where no token is needed."""
        if self._tokens is None:
            return True
        if authorization is None or authorization[: len(BEARER)].lower() != BEARER:
            return False
        sent = authorization[len(BEARER) :].strip()
        # Each is compared, and in constant time: an answer tells by its time neither a token nor which one it is.
        return sum(hmac.compare_digest(sent, token) for token in self._tokens.value()) > 0

    def _renewal(self, paths: Iterable[str | None], make: Callable[[], Any]) -> Renewal[Any]:
        known = [path for path in paths if path is not None]
        return Renewal(
            known, make, now=self._now,
            renewed=lambda: self._note("certificate_renewed", {"listener": self.listener, "file": known[0]}),
            refused=lambda reason: self._note("certificate_refused", {"listener": self.listener, "reason": reason}),
        )  # fmt: skip


def read_pems(paths: PemPaths) -> Pems:
    """The content of the files, checked to match. Raises FileError; its text contains no key."""
    chain, key = (read_bounded(path, FILE_BYTES_MAX) for path in (paths.chain, paths.key))
    client_ca = None if paths.client_ca is None else read_bounded(paths.client_ca, FILE_BYTES_MAX)
    pems = Pems(chain, key, client_ca)
    try:
        _load_key(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), pems)
    except (ssl.SSLError, OSError, ValueError) as error:
        raise FileError(f"{paths.chain} does not match the key in {paths.key}: {_reason(error)}") from None
    if pems.client_ca is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        try:
            context.load_verify_locations(cadata=pems.client_ca.decode("ascii"))
        except (ssl.SSLError, ValueError) as error:
            raise FileError(f"{paths.client_ca} holds no certificates: {_reason(error)}") from None
        if not context.get_ca_certs():
            raise FileError(f"{paths.client_ca} holds no certificate of an authority")
    return pems


def context_of(pems: Pems) -> ssl.SSLContext:
    """The context of a server, from files that match."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    # No tickets; what is resumed without one is checked by `Sessions`.
    context.options |= ssl.OP_NO_TICKET | ssl.OP_NO_RENEGOTIATION | ssl.OP_NO_COMPRESSION
    context.num_tickets = 0
    _load_key(context, pems)
    if pems.client_ca is not None:
        context.load_verify_locations(cadata=pems.client_ca.decode("ascii"))
        context.verify_mode = ssl.CERT_REQUIRED
    return context


def _load_key(context: ssl.SSLContext, pems: Pems) -> None:
    with hold_in_file(pems.chain) as chain, hold_in_file(pems.key) as key:
        # An encrypted key is refused; the default would prompt for the passphrase on a terminal.
        context.load_cert_chain(chain, key, password=b"")


def names_of_session(session: ssl.SSLObject) -> list[str]:
    """The names of a verified client, each with its kind: `CN=ops`, `DNS=watch.example.org`; none without one."""
    certificate: Mapping[str, Any] = session.getpeercert() or {}
    names = [f"CN={value}" for entry in certificate.get("subject", ()) for key, value in entry if key == "commonName"]
    for kind, known in _ALTERNATIVE.items():
        names += [f"{kind}={value}" for key, value in certificate.get("subjectAltName", ()) if key == known]
    return names


def read_tokens(path: str) -> tuple[bytes, ...]:
    """The tokens in a file, one a line; empty lines do not count. Raises FileError, whose text has none of them."""
    tokens = []
    for number, line in enumerate(read_bounded(path, FILE_BYTES_MAX).splitlines(), 1):
        token = line.strip()
        if not token:
            continue
        if not TOKEN_BYTES_MIN <= len(token) <= TOKEN_BYTES_MAX or _TOKEN.fullmatch(token) is None:
            raise FileError(
                f"{path}, line {number}: a token has {TOKEN_BYTES_MIN} to {TOKEN_BYTES_MAX} letters, digits or -._~+/, "
                "and may end with ="
            )
        tokens.append(token)
    if not 1 <= len(tokens) <= TOKENS_MAX:
        raise FileError(f"{path} has {len(tokens)} tokens, not 1 to {TOKENS_MAX}, each on a line of its own")
    return tuple(tokens)


def _reason(error: Exception) -> str:
    return getattr(error, "reason", None) or type(error).__name__
