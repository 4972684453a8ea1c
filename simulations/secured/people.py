"""The users of a secured world: names, passwords and certificates.

Nodes, brokers and admin clients of the cluster are super users. ALICE and BOB have the rights that the present ACLs
give them; no ACL names MALLORY.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from controller.interface.inputs import ANONYMOUS, Principal
from raft.network.mechanisms import Credential, PlainClient, PlainServer, ScramClient, ScramServer
from raft.network.security import ClientSecurity, ListenerSecurity, Sasl
from simulations.secured.scram import FEW, HASHES, ITERATIONS, credential
from simulations.secured.tls import FIRST_ISSUER, Certificate, Context

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

ADMIN, ALICE, BOB, MALLORY = "admin", "alice", "bob", "mallory"
ROGUE_USERS = (ALICE, BOB, MALLORY)
NODES = 9
# The user of all brokers and clients of the cluster.
MEMBER = "member"
NEW_ISSUER, NOBODYS_ISSUER = "authority-2", "somebody"
SUPER_USERS = frozenset((ADMIN, MEMBER, *(f"node-{number}" for number in range(1, NODES + 1))))
NAMES = (*sorted(SUPER_USERS), *ROGUE_USERS)
# The name of a trusted certificate that `check_session` refuses.
BARRED = "barred"
# A user whose SCRAM credentials have too few iterations: nobody is authenticated as it.
WEAK = "weak"
# A user whose SCRAM credentials end, as those of a delegation token do, some much earlier than others.
BRIEF = "brief"
LIVES_MS = (60_000, 300)
PASSWORDS = {name: f"password of {name}" for name in (*NAMES, WEAK, BRIEF)}
PLAIN = "PLAIN"


def is_super(principal: Principal) -> bool:
    """Whether this is a super user: one of another type with the name of one is none."""
    return principal.type == "User" and principal.name in SUPER_USERS


def name_of(process_id: int) -> str:
    """The user of a process of the cluster."""
    return f"node-{process_id}" if process_id <= NODES else MEMBER


class Identities:
    """The certificates and credentials of a world. trusted: the authorities in every truststore; issuer: the authority
    of all present certificates. is_open: `allow.everyone.if.no.acl.found`. mechanism: by which processes authenticate
    to each other. captured: mechanism and messages of an exchange that somebody has read on the network.
    """

    def __init__(self, protocol: str, mechanism: str, nonces: Random, *, is_open: bool) -> None:
        """nonces: draws them."""
        self.is_open = is_open
        self.mechanism = mechanism
        self.captured: tuple[str, str, str] | None = None
        self._nonces = nonces
        # User -> the salted password, as each client keeps it.
        self._salted: dict[str, dict[tuple[bytes, int], bytes]] = {}
        self.has_tls = protocol in ("SSL", "SASL_SSL")
        self.has_sasl = protocol in ("SASL_PLAINTEXT", "SASL_SSL")
        self.trusted = frozenset({FIRST_ISSUER})
        self.issuer = FIRST_ISSUER

    def certificate(self, name: str) -> Certificate:
        """The present certificate of a user."""
        return Certificate(name, self.issuer)

    def accepts(self, certificate: Certificate | None) -> bool:
        """Whether a node completes the handshake of a client with this certificate; None: the client has none."""
        if certificate is None:
            return self.has_sasl
        return certificate.issuer in self.trusted and certificate.name != BARRED

    def client(self, process_id: int) -> ClientSecurity:
        """The security of the connections that a process opens."""
        name = name_of(process_id)
        mechanism = (self.mechanism, lambda: self._exchange(name)) if self.has_sasl else None
        return ClientSecurity(self._context(name) if self.has_tls else None, None, mechanism)

    def _exchange(self, name: str) -> Any:
        if self.mechanism == PLAIN:
            return PlainClient(name, PASSWORDS[name])
        salted = self._salted.setdefault(name, {})
        return ScramClient(self.mechanism, name, PASSWORDS[name], salted, self._nonce())

    def _nonce(self) -> str:
        return f"{self._nonces.getrandbits(96):024x}"

    def listener(self, process_id: int, reauth_ms: int, delay_ms: int, wall_ms: Callable[[], int]) -> ListenerSecurity:
        """The security of the listener of a node."""
        sasl = None
        if self.has_sasl:
            makers: dict[str, Callable[[], Any]] = {name: partial(self._scram_server, name, wall_ms) for name in HASHES}
            makers[PLAIN] = lambda: PlainServer(PASSWORDS)
            sasl = Sasl(
                makers, dict.fromkeys(makers, reauth_ms), delay_ms, 2000,
                lambda name, is_token: Principal("User", name, is_token), wall_ms,
            )  # fmt: skip
        if not self.has_tls:
            return ListenerSecurity(sasl=sasl)
        return ListenerSecurity(
            self._context(name_of(process_id)), check_session, None if self.has_sasl else identity_of, sasl
        )  # fmt: skip

    def _scram_server(self, mechanism: str, wall_ms: Callable[[], int]) -> ScramServer:
        nonce = self._nonce()

        def find(name: str, is_token: bool) -> Credential | None:
            credential = stored_credential(mechanism, name, is_token)
            return (
                credential._replace(expires_ms=wall_ms() + life_ms(nonce))
                if credential and name == BRIEF
                else credential
            )

        return ScramServer(mechanism, find, nonce)

    def _context(self, name: str) -> Callable[[], Any]:
        return lambda: Context(self.certificate(name), self.trusted, asks=not self.has_sasl)


def stored_credential(mechanism: str, name: str, is_token: bool) -> Credential | None:
    """The SCRAM credential of a user in the metadata; None if there is none."""
    if is_token or name not in PASSWORDS:
        return None
    return Credential(*credential(mechanism, name, PASSWORDS[name], FEW if name == WEAK else ITERATIONS))


def life_ms(nonce: str) -> int:
    """How long the credential of BRIEF lasts, from the first message of an exchange on. nonce: of the server, alone or
    behind that of the client.
    """
    return LIVES_MS[int(nonce[-1], 16) % len(LIVES_MS)]


def identity_of(session: Any) -> Principal:
    """The principal of a TLS session."""
    return ANONYMOUS if session.peer is None else Principal("User", session.peer.name)


def check_session(session: Any) -> None:
    """Check a session. Raises ValueError for a certificate that is trusted but not allowed."""
    if session.peer is not None and session.peer.name == BARRED:
        raise ValueError("its certificate is barred")
