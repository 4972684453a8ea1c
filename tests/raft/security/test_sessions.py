"""TLS sessions that are resumed: as long as the certificates that were verified for them are valid, and no longer."""

from __future__ import annotations

import ssl
from time import time

import pytest

from raft.security import sessions
from raft.security.sessions import Sessions
from tests.raft.network.certificates import certificate, client_context, needs_openssl, server_context

pytestmark = needs_openssl
HOUR_S = 3600
DAY_S = 24 * HOUR_S
# The authority is valid for 30 days, the client's certificate for `days`.
DAYS = pytest.mark.parametrize(("days", "valid_days"), [(3, 3), (60, 30)])


def shake_hands(
    server: ssl.SSLContext, client: ssl.SSLContext, resumed: ssl.SSLSession | None = None
) -> tuple[ssl.SSLObject, ssl.SSLObject]:
    """A handshake in memory: both sides, the server's first."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    asking = client.wrap_bio(to_client, to_server, server_hostname="localhost", session=resumed)
    serving = server.wrap_bio(to_server, to_client, server_side=True)
    waiting = [asking, serving]
    for _ in range(10):
        for side in list(waiting):
            try:
                side.do_handshake()
                waiting.remove(side)
            except ssl.SSLWantReadError:
                pass
    assert not waiting
    return serving, asking


def of_server(*, asks: bool) -> ssl.SSLContext:
    context = server_context(certificate("/O=Test/CN=node"), asks=asks)
    context.options |= ssl.OP_NO_TICKET
    return context


def of_client(days: int) -> ssl.SSLContext:
    context = client_context(certificate("/O=Test/CN=root", days=days))
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    return context


@DAYS
def test_a_session_is_resumed_until_the_first_certificate_of_its_chain_expires(monkeypatch, days, valid_days):
    server, client = of_server(asks=True), of_client(days)
    port = Sessions()
    first, asking = shake_hands(server, client)
    port.check(first)

    again, _ = shake_hands(server, client, asking.session)
    assert again.session_reused
    # The certificates were made at some time of this run of tests.
    monkeypatch.setattr(sessions, "wall_s", lambda: time() + valid_days * DAY_S - HOUR_S)
    port.check(again)
    monkeypatch.setattr(sessions, "wall_s", lambda: time() + valid_days * DAY_S + 100)
    with pytest.raises(ValueError, match="its certificate has expired since its TLS session began"):
        port.check(again)


def test_a_session_of_which_nothing_is_known_is_refused():
    server, client = of_server(asks=True), of_client(3)
    _first, asking = shake_hands(server, client)
    again, _ = shake_hands(server, client, asking.session)

    with pytest.raises(ValueError, match="has expired"):
        Sessions().check(again)


def test_the_sessions_that_are_known_are_bounded(monkeypatch):
    monkeypatch.setattr(sessions, "SESSIONS_MAX", 3)
    server, client = of_server(asks=True), of_client(3)
    port = Sessions()
    kept = [shake_hands(server, client) for _ in range(5)]
    for serving, _ in kept:
        port.check(serving)

    assert list(port._ends_s) == [serving.session.id for serving, _ in kept[2:]]


def test_a_client_without_a_certificate_may_resume():
    server, client = of_server(asks=False), client_context()
    client.maximum_version = ssl.TLSVersion.TLSv1_2
    _first, asking = shake_hands(server, client)

    again, _ = shake_hands(server, client, asking.session)
    assert again.session_reused
    Sessions().check(again)


def test_a_context_with_many_sessions_is_replaced_but_not_while_full_ones_with_connections_hold_too_many(monkeypatch):
    monkeypatch.setattr(sessions, "CACHED_MAX", 1)
    monkeypatch.setattr(sessions, "HELD_MAX", 4)
    client, port = of_client(3), Sessions()
    contexts, kept = [of_server(asks=True) for _ in range(3)], []
    answers = []
    for context in contexts:
        # The sessions of open connections are in the cache in every release of Python.
        kept.append(shake_hands(context, client))
        answers.append(port.is_full(context))
        kept.append(shake_hands(context, client))
        answers.append(port.is_full(context))

    assert answers == [False, True, False, True, False, False]

    del kept[:4], contexts[:2], context
    assert port.is_full(contexts[0])
