"""Rogue clients: those that are not authenticated, or that lack the rights for their requests.

A manner is what a client does on its connection.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raft.network.mechanisms import PlainClient
from records.messages.acls import DeleteAclsRequest
from records.messages.sasl import SaslAuthenticateRequest, SaslHandshakeRequest
from records.messages.versions import ApiVersionsRequest
from simulations.secured.people import (
    ADMIN,
    ALICE,
    BARRED,
    BOB,
    MALLORY,
    MEMBER,
    NOBODYS_ISSUER,
    PASSWORDS,
    PLAIN,
    ROGUE_USERS,
)
from simulations.secured.requests import (
    OF_TOPICS,
    QUESTIONS,
    TOPICS,
    acl,
    ask,
    configure,
    configure_both,
    create,
    delete,
    envelope,
    forward,
    grow,
    pick,
)
from simulations.secured.rights import (
    ALL,
    ALLOW,
    ALTER,
    ALTER_CONFIGS,
    ANY,
    CLUSTER,
    CLUSTER_NAME,
    CREATE,
    DELETE,
    DENY,
    DESCRIBE,
    DESCRIBE_CONFIGS,
    LITERAL,
    PREFIXED,
    READ,
    TOPIC,
)
from simulations.secured.tls import Certificate, hello
from simulations.sockets.rogue_clients import frame, request_bytes
from simulations.world.streams import between

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from simulations.secured.people import Identities
    from simulations.sockets.rogue_clients import Visit

    Manner = Callable[[Visit], None]

HOSTS = (ANY, "10.0.3.134", "10.0.3.135", "10.9.9.9")
TOKEN_VERSION, HANDSHAKE_VERSION = 2, 1


def identities(visit: Visit) -> Identities:
    """The identities of the world."""
    known: Identities = visit.rogue.network.identities  # type: ignore[attr-defined]
    return known


def greet(visit: Visit, certificate: Certificate | None) -> None:
    """Begin TLS, where the listener has it."""
    if identities(visit).has_tls:
        visit.write(hello(certificate))


def plain_login(name: str, password: str | None = None, number: int = 1) -> bytes:
    """The two requests that authenticate a user with PLAIN."""
    token = PlainClient(name, PASSWORDS.get(name, "") if password is None else password).first()
    return frame(request_bytes(SaslHandshakeRequest(mechanism=PLAIN), HANDSHAKE_VERSION, number)) + frame(
        request_bytes(SaslAuthenticateRequest(auth_bytes=token), TOKEN_VERSION, number + 1)
    )


def log_in(visit: Visit, name: str) -> None:
    """Authenticate as a user."""
    greet(visit, identities(visit).certificate(name))
    if identities(visit).has_sasl:
        visit.write(plain_login(name))


def ask_some(visit: Visit, questions: Any, count: int, first: int = 10) -> None:
    """Write requests, picked from those given."""
    for number in range(count):
        visit.write(ask(pick(visit.rng, questions)(visit.rng), first + number))


def knock(visit: Visit) -> None:
    """Requests without authentication."""
    greet(visit, None)
    ask_some(visit, QUESTIONS, 6)


def foreign(visit: Visit) -> None:
    """A certificate that is not trusted or not allowed, or a wrong password; then requests."""
    certificate = pick(visit.rng, (Certificate(ADMIN, NOBODYS_ISSUER), identities(visit).certificate(BARRED)))
    greet(visit, certificate if visit.rng.random() < 0.7 else None)
    if identities(visit).has_sasl:
        visit.write(plain_login(pick(visit.rng, (ADMIN, "nobody", ALICE)), pick(visit.rng, ("wrong", ""))))
    ask_some(visit, QUESTIONS, 4)


def disorder(visit: Visit) -> None:
    """SASL requests in random order, and other requests between them."""
    greet(visit, identities(visit).certificate(pick(visit.rng, ROGUE_USERS)))
    rng = visit.rng
    known = PlainClient(ALICE, PASSWORDS[ALICE]).first()
    for number in range(6):
        request, version = pick(
            rng,
            (
                (SaslHandshakeRequest(mechanism=PLAIN), HANDSHAKE_VERSION),
                (SaslHandshakeRequest(mechanism="SCRAM-SHA-512"), HANDSHAKE_VERSION),
                (SaslAuthenticateRequest(auth_bytes=known), TOKEN_VERSION),
                (SaslAuthenticateRequest(auth_bytes=known[:-1]), TOKEN_VERSION),
                (ApiVersionsRequest(client_software_name="stranger", client_software_version="0"), 3),
                (pick(rng, QUESTIONS)(rng), None),
            ),
        )
        if version is None:
            visit.write(ask(request, number))
        else:
            visit.write(frame(request_bytes(request, version, number)))


def rightless(visit: Visit) -> None:
    """An authenticated user without any right."""
    log_in(visit, MALLORY)
    if identities(visit).is_open:  # without an ACL on the cluster it would be allowed to vote
        ask_some(visit, OF_TOPICS, 8)
        return
    ask_some(visit, QUESTIONS, 8)
    visit.write(ask(envelope(visit.rng), 90))


def act_limited(visit: Visit) -> None:
    """A user with the rights that the present ACLs give."""
    log_in(visit, pick(visit.rng, (ALICE, BOB)))
    ask_some(visit, OF_TOPICS, 8)


def spoofer(visit: Visit) -> None:
    """A user without CLUSTER_ACTION sends envelopes in the name of an administrator."""
    log_in(visit, pick(visit.rng, ROGUE_USERS))
    for number in range(0 if identities(visit).is_open else 3):
        visit.write(ask(envelope(visit.rng), number))


def broker(visit: Visit) -> None:
    """A broker forwards requests of rogue clients."""
    log_in(visit, MEMBER)
    for number in range(6):
        if not identities(visit).is_open:
            visit.write(ask(forward(visit.rng, number), number))


def grant(visit: Visit) -> None:
    """An administrator changes ACLs."""
    rng = visit.rng
    log_in(visit, ADMIN)
    for number in range(10, 10 + between(rng, 2, 6)):
        if rng.random() < 0.2:
            visit.write(ask(_remove(rng), number))
            continue
        if rng.random() < 0.2:
            visit.write(_contradicting(rng, number))
            continue
        if rng.random() < 0.15:
            kind, name, pattern, operation = CLUSTER, CLUSTER_NAME, LITERAL, pick(rng, (CREATE, DESCRIBE))
        else:
            kind, pattern = TOPIC, pick(rng, (LITERAL, LITERAL, PREFIXED))
            name = pick(rng, (*TOPICS, ANY) if pattern == LITERAL else TOPICS)
            operation = pick(rng, _OPERATIONS)
        principal = pick(rng, (f"User:{ALICE}", f"User:{ALICE}", f"User:{BOB}", "User:*"))
        permission = DENY if rng.random() < 0.3 else ALLOW
        visit.write(ask(acl(kind, name, pattern, principal, pick(rng, HOSTS), operation, permission), number))


_OPERATIONS = (ALL, READ, CREATE, CREATE, DELETE, ALTER, DESCRIBE, DESCRIBE_CONFIGS, ALTER_CONFIGS)


def _contradicting(rng: Random, number: int) -> bytes:
    """Deny an operation and allow one that it would imply."""
    denied, allowed = pick(rng, ((DELETE, DESCRIBE), (ALTER, DESCRIBE), (ALTER_CONFIGS, DESCRIBE_CONFIGS)))
    name = pick(rng, TOPICS)
    both = ((denied, DENY), (allowed, ALLOW))
    acls = [acl(TOPIC, name, LITERAL, f"User:{ALICE}", ANY, operation, permission) for operation, permission in both]
    return b"".join(ask(each, number) for each in acls)


def _remove(rng: Random) -> Any:
    wanted = DeleteAclsRequest.DeleteAclsFilter(
        resource_type_filter=TOPIC, resource_name_filter=pick(rng, (None, *TOPICS)), pattern_type_filter=1,
        principal_filter=pick(rng, (None, f"User:{ALICE}")), host_filter=None, operation=1,
        permission_type=pick(rng, (1, DENY)),
    )  # fmt: skip
    return DeleteAclsRequest(filters=(wanted,))


def again(visit: Visit) -> None:
    """Authenticate again, sometimes as another user, and continue with requests."""
    log_in(visit, ALICE)
    ask_some(visit, OF_TOPICS, 2)
    if identities(visit).has_sasl:
        name = pick(visit.rng, (ALICE, ADMIN))
        visit.later(100, visit.write, plain_login(name, number=30))
        visit.later(200, ask_some, visit, OF_TOPICS, 3, 40)


def overstay(visit: Visit) -> None:
    """Requests until long after the session has ended."""
    log_in(visit, ALICE)
    for number in range(25):
        visit.later(120 * number, ask_some, visit, OF_TOPICS[:3], 1, 10 + number)


def stall(visit: Visit) -> None:
    """A handshake or an authentication that does not end."""
    world = identities(visit)
    if world.has_tls and (not world.has_sasl or visit.rng.random() < 0.5):
        data = hello(world.certificate(ADMIN))
        for place in range(between(visit.rng, 1, 12)):
            visit.later(place * 1000, visit.write, data[place : place + 1])
    else:
        greet(visit, world.certificate(ADMIN))
        visit.write(plain_login(ADMIN)[: between(visit.rng, 5, 40)])


def swell(visit: Visit) -> None:
    """A hello or a token that is far too large."""
    size = pick(visit.rng, (60_000, 1 << 20))
    if identities(visit).has_tls:
        visit.write(b"\x16" + size.to_bytes(4, "big") + bytes(min(size, 200_000)))
    else:
        token = PlainClient(ADMIN, "x" * size).first()
        visit.write(frame(request_bytes(SaslHandshakeRequest(mechanism=PLAIN), HANDSHAKE_VERSION, 1)))
        visit.write(frame(request_bytes(SaslAuthenticateRequest(auth_bytes=token), TOKEN_VERSION, 2)))


def plain(visit: Visit) -> None:
    """Requests in plain text, without TLS or SASL."""
    ask_some(visit, QUESTIONS, 3)


def all_but_one(visit: Visit) -> None:
    """An administrator allows a user all but one operation on a topic; the user creates it, and does that one too."""
    rng = visit.rng
    name = pick(rng, TOPICS)
    lacking, request = pick(rng, ((DELETE, delete), (ALTER, grow), (ALTER_CONFIGS, configure)))
    log_in(visit, ADMIN)
    for number, operation in enumerate((CREATE, DESCRIBE, READ, DELETE, ALTER, ALTER_CONFIGS), 10):
        if operation != lacking:
            visit.write(ask(acl(TOPIC, name, LITERAL, f"User:{ALICE}", ANY, operation, ALLOW), number))

    def use(other: Visit) -> None:
        log_in(other, ALICE)
        other.write(ask(create(rng, name), 10))
        other.later(100, lambda: other.write(ask(request(rng, name), 20)))

    def come() -> None:
        type(visit)(visit.rogue, visit.host, use, 0)

    visit.later(between(rng, 100, 400), come)


def two_kinds(visit: Visit) -> None:
    """A user who may alter the configs of a topic alters those of a group of the same name too, in one request."""
    rng = visit.rng
    name = pick(rng, TOPICS)
    log_in(visit, ADMIN)
    for number, operation in enumerate((CREATE, ALTER_CONFIGS), 10):
        visit.write(ask(acl(TOPIC, name, LITERAL, f"User:{ALICE}", ANY, operation, ALLOW), number))

    def use(other: Visit) -> None:
        log_in(other, ALICE)
        other.write(ask(create(rng, name), 10))
        for number in (1, 2):
            other.later(200 * number, lambda: other.write(ask(configure_both(rng, name), 20)))

    def come() -> None:
        type(visit)(visit.rogue, visit.host, use, 0)

    visit.later(between(rng, 100, 400), come)


MANNERS: dict[str, Manner] = {
    "knock": knock, "foreign": foreign, "disorder": disorder, "rightless": rightless, "limited": act_limited,
    "spoofer": spoofer, "broker": broker, "grant": grant, "again": again, "overstay": overstay, "stall": stall,
    "swell": swell, "plain": plain, "all_but_one": all_but_one, "two_kinds": two_kinds,
}  # fmt: skip
# How often each comes.
WEIGHTS = (
    "knock", "foreign", "foreign", "disorder", "disorder", "rightless", "rightless", "limited", "limited", "limited",
    "limited", "spoofer", "broker", "broker", "grant", "grant", "grant", "grant", "again", "again", "overstay",
    "overstay", "stall", "stall", "swell", "plain",
)  # fmt: skip
