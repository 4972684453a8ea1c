"""The authorizer's checks before a request reaches a core."""

from __future__ import annotations

from random import Random
from types import SimpleNamespace
from typing import Any

from controller.core.apis import APIS
from controller.core.controller import Controller
from controller.interface.access import Access
from controller.interface.env import Env
from controller.interface.inputs import Principal
from controller.interface.settings import Settings
from controller.node.admission import Admission, host_text
from controller.node.arrivals import Arrivals
from controller.rules.authorizer import StandardAuthorizer
from controller.state.state import State
from raft.interface.inputs import Source
from raft.network.requests import Incoming
from records.codec import encode
from records.data import DefaultPrincipalData
from records.errors import Error
from records.headers import RequestHeader
from records.messages.brokers import UnregisterBrokerRequest
from records.messages.elections import VoteRequest
from records.messages.envelope import EnvelopeRequest
from records.schema import default_of
from tests.controller.envelopes import open_envelope


class Seen:
    """An admission, with its responses and log lines. root may do everything."""

    def __init__(self, early: frozenset[str] | None = None, *, has_authorizer: bool = True) -> None:
        access = Access(StandardAuthorizer({"User:root"}), early) if has_authorizer else None
        env = Env("cluster", 1, Random(1), Settings(), access=access)
        self.controller = Controller(State(), env, is_catching_up=True)
        self.answers: list[tuple[Source, Any]] = []
        self.logged: list[str] = []
        self.admission = Admission(
            lambda name, **_fields: self.logged.append(name), lambda *answer: self.answers.append(answer)
        )
        self.admission.begin(self.controller)


def incoming(request: Any, listener: str = "CONTROLLER", connection: int = 1) -> Incoming:
    key = type(request).__schema__.api_key
    return Incoming(Source(connection, 1), key, 0, 1, "test", request, b"", 0, listener, "10.0.0.1:5000")


def is_denied(seen: Seen, request: Any, name: str) -> bool:
    context = seen.admission.context_of(incoming(request), 5)
    context.principal = Principal("User", name)
    return seen.admission.is_denied(APIS[context.api_key], context, request)


def test_a_vote_without_permission_is_refused_before_raft() -> None:
    seen = Seen()
    seen.controller.env.access.is_ready = True  # type: ignore[union-attr]

    assert (is_denied(seen, default_of(VoteRequest), "ann"), is_denied(seen, default_of(VoteRequest), "root")) == (
        True, False,
    )  # fmt: skip
    assert [answer.error_code for _, answer in seen.answers] == [Error.CLUSTER_AUTHORIZATION_FAILED]
    assert seen.logged == ["authorization_denied"]


def test_without_an_authorizer_nothing_is_checked() -> None:
    seen = Seen(has_authorizer=False)

    assert not is_denied(seen, default_of(VoteRequest), "ann")
    assert not seen.admission.must_wait(incoming(default_of(VoteRequest)))


def test_the_sender_of_the_forwarded_request_needs_its_own_permission() -> None:
    """The sender of an envelope may do everything, ann in it may do nothing."""
    seen = Seen()
    seen.controller.env.access.is_ready = True  # type: ignore[union-attr]
    header = RequestHeader(request_api_key=64, request_api_version=0, correlation_id=1, client_id="c")
    ann = DefaultPrincipalData(type="User", name="ann", token_authenticated=False)
    envelope = EnvelopeRequest(
        request_data=encode(header, 2) + encode(UnregisterBrokerRequest(broker_id=5), 0),
        request_principal=b"\0\0" + encode(ann, 0),
        client_host_address=bytes(4),
    )
    context = seen.admission.context_of(incoming(envelope), 5)
    context.principal = Principal("User", "root")

    outside = seen.admission.is_denied(APIS[58], context, envelope)
    inside = open_envelope(envelope, context)

    assert outside is False
    assert seen.admission.is_denied(inside.api, inside.context, inside.request)


def test_requests_on_a_listener_that_does_not_start_early_wait_for_the_acls() -> None:
    seen = Seen(frozenset({"CONTROLLER"}))
    first, second, third = (
        incoming(default_of(VoteRequest), listener, connection)
        for listener, connection in (("CONTROLLER", 1), ("EXTERNAL", 2), ("EXTERNAL", 3))
    )

    waits = [seen.admission.must_wait(each) for each in (first, second, third)]
    seen.admission.drop({2})
    before = seen.admission.take_ready()
    seen.controller.env.access.is_ready = True  # type: ignore[union-attr]

    assert (waits, before, seen.admission.take_ready()) == ([False, True, True], [], [third])
    assert not seen.admission.must_wait(second)


def test_large_requests_that_wait_for_the_acls_have_a_bounded_number_of_bytes() -> None:
    seen = Seen(frozenset({"CONTROLLER"}))
    small, large = (
        incoming(default_of(VoteRequest), "EXTERNAL")._replace(frame=bytes(size)) for size in (2000, 4 << 20)
    )
    for _ in range(5000):
        seen.admission.must_wait(small)
    full = []

    for connection in (10, 11, 12):
        seen.admission.must_wait(large._replace(source=Source(connection, 1)))
        full.append(seen.admission.is_full())
    seen.admission.drop({12})

    assert (full, seen.admission.is_full()) == ([False, False, True], False)


def test_above_that_a_large_request_loses_its_connection_and_a_small_one_waits() -> None:
    seen = Seen(frozenset({"CONTROLLER"}))
    closed: list[int] = []
    server = SimpleNamespace(disconnect=lambda source, _reason: closed.append(source.connection))
    parts: dict[str, Any] = dict.fromkeys(
        ("replica", "controller", "replies", "long", "shared_ids", "now_ms", "to_raft", "to_controller")
    )
    arrivals = Arrivals(log=SimpleNamespace(shown=()), server=server, admission=seen.admission, **parts)  # type: ignore[arg-type]

    for connection, size in ((1, 4 << 20), (2, 4 << 20), (3, 4 << 20), (4, 2000)):
        frame = bytes(size)
        arrivals.take(incoming(default_of(VoteRequest), "EXTERNAL", connection)._replace(frame=frame))

    assert closed == [3]
    assert [each.source.connection for each in seen.admission.waiting] == [1, 2, 3, 4]


def test_hosts_are_named_as_java_names_them() -> None:
    assert [host_text(peer) for peer in ("10.0.0.1:5", "::1:5", "fe80::1%eth0:5", "::ffff:10.0.0.1:5", "name:5")] == [
        "10.0.0.1", "0:0:0:0:0:0:0:1", "fe80:0:0:0:0:0:0:1", "10.0.0.1", "name",
    ]  # fmt: skip


def test_a_request_without_a_client_id_has_an_empty_one() -> None:
    seen = Seen()
    given = incoming(default_of(VoteRequest))._replace(client_id=None)

    assert seen.admission.context_of(given, 5).client_id == ""
