"""SASL on a listener and on a channel, on real loopback sockets: the order of its requests, and what is refused."""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any

import pytest

from raft.interface.effects import Send
from raft.interface.inputs import Answered, Failed
from raft.network.channels import Channels
from raft.network.mechanisms import (
    PlainClient,
    PlainServer,
    ScramClient,
    ScramServer,
    credential_of_password,
    new_nonce,
)
from raft.network.security import ClientSecurity, ListenerSecurity, Sasl
from records.codec import decode_prefix
from records.headers import ResponseHeader, response_header_version
from records.messages.sasl import (
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)
from records.messages.versions import ApiVersionsResponse
from tests.raft.network.peers import LOOPS, Bare, Serving, api_versions, describe_quorum, request_frame, run_on, until

pytestmark = pytest.mark.parametrize("loop", LOOPS)

SCRAM = "SCRAM-SHA-256"
NOW_MS = 1_000_000
CREDENTIAL = credential_of_password(SCRAM, "hush", b"salt", 4096)


class Secured(Serving):
    """A server with a listener of SASL_PLAINTEXT."""

    def __init__(self, *, reauth_ms: int = 0, delay_ms: int = 1, token: Any = None, **limits: Any) -> None:
        super().__init__(**limits)
        self.users = users = {("alice", False): CREDENTIAL, ("id", True): token}
        mechanisms = {
            "PLAIN": lambda: PlainServer({"alice": "hush", "bob": "bobs"}),
            SCRAM: lambda: ScramServer(SCRAM, lambda *asked: users.get(asked), new_nonce()),
        }
        sasl = Sasl(
            mechanisms, dict.fromkeys(mechanisms, reauth_ms), delay_ms, 1000,
            lambda name, is_token: f"User:{name}" + " by token" * is_token, lambda: NOW_MS,
        )  # fmt: skip
        self.security = ListenerSecurity(sasl=sasl)

    async def __aenter__(self):
        self.port = await self.server.listen("CONTROLLER", "127.0.0.1", 0, self.security)
        return self


class Client(Bare):
    """A client of SASL that does what a test says."""

    async def ask(self, request: Any, version: int, response: type[Any]) -> Any:
        await self.write(request_frame(request, version))
        return await self.response(response, version)

    async def response(self, cls: type[Any], version: int) -> Any:
        frame = await self.frame()
        _, at = decode_prefix(ResponseHeader, response_header_version(cls, version), frame, 0)
        return decode_prefix(cls, version, frame, at)[0]

    async def shake(self, mechanism: str = "PLAIN", version: int = 1) -> SaslHandshakeResponse:
        return await self.ask(SaslHandshakeRequest(mechanism=mechanism), version, SaslHandshakeResponse)

    async def send(self, token: bytes, version: int = 2) -> SaslAuthenticateResponse:
        return await self.ask(SaslAuthenticateRequest(auth_bytes=token), version, SaslAuthenticateResponse)

    async def log_in(self, user: str = "alice", password: str = "hush") -> SaslAuthenticateResponse:
        await self.shake()
        return await self.send(PlainClient(user, password).first())


def channels(mechanism: Any, inputs: list[Any], notes: list[Any]) -> Channels:
    return Channels(
        asyncio.get_running_loop(), "test", Random(1), on_input=inputs.append,
        note=lambda name, fields: notes.append((name, fields)), security=ClientSecurity(mechanism=mechanism),
    )  # fmt: skip


@pytest.mark.parametrize(
    "mechanism",
    [
        ("PLAIN", lambda: PlainClient("alice", "hush")),
        (SCRAM, lambda: ScramClient(SCRAM, "alice", "hush", {}, new_nonce())),
    ],
)
def test_a_channel_authenticates_and_then_asks(loop, mechanism):
    async def test():
        inputs, notes = [], []
        async with Secured() as serving:
            found = channels(mechanism, inputs, notes)
            found.send(Send(1, 1, serving.endpoint, describe_quorum()))
            await until(lambda: inputs)
            assert isinstance(inputs[0], Answered)
            assert serving.requests[-1].identity == "User:alice"
            assert serving.requests[0].identity is None  # ApiVersions, before it
            found.close()
        assert notes == serving.notes == []

    run_on(loop, test())


def test_a_right_token_is_answered_with_an_empty_text_as_by_stock(loop):
    async def test():
        async with Secured() as serving:
            answer = await (await Client.to(serving.port)).log_in()

            assert (answer.error_code, answer.error_message, answer.auth_bytes) == (0, "", b"")

    run_on(loop, test())


def test_a_channel_authenticates_again_on_the_same_connection(loop):
    async def test():
        inputs, notes, made = [], [], []

        def make() -> PlainClient:
            made.append(1)
            return PlainClient("alice", "hush")

        # The client authenticates again at 85 % of the session at the earliest: a request may be under way for 150 ms.
        async with Secured(reauth_ms=1000) as serving:
            found = channels(("PLAIN", make), inputs, notes)
            number = 0
            while len(made) < 2:
                found.send(Send(1, number, serving.endpoint, describe_quorum()))
                while len(inputs) <= number:
                    await asyncio.sleep(0.002)
                number += 1
                await asyncio.sleep(0.1)
            assert all(isinstance(each, Answered) for each in inputs)
            assert len({incoming.source.connection for incoming in serving.requests}) == 1
            found.close()
        assert notes == serving.notes == []

    run_on(loop, test())


@pytest.mark.parametrize(
    ("mechanism", "said"),
    [
        (("PLAIN", lambda: PlainClient("alice", "wrong")), "it refuses the user or the password of our sasl.jaas.con"),
        (("SCRAM-SHA-512", lambda: PlainClient("a", "b")), "SASL mechanism SCRAM-SHA-512 is refused"),
    ],
)
def test_both_sides_log_why_and_no_secret(loop, mechanism, said):
    async def test():
        inputs, notes = [], []
        async with Secured() as serving:
            found = channels(mechanism, inputs, notes)
            found.send(Send(1, 1, serving.endpoint, describe_quorum()))
            await until(lambda: inputs)
            found.close()
        assert isinstance(inputs[0], Failed)
        assert [name for name, _ in notes + serving.notes] == ["authentication_failed"] * 2
        assert said in notes[0][1]["reason"]
        assert "wrong" not in repr(notes).replace("is wrong", "")
        assert "hush" not in repr(serving.notes)
        assert serving.notes[0][1]["listener"] == "CONTROLLER"

    run_on(loop, test())


def test_a_channel_with_sasl_recognises_a_listener_without_it(loop):
    async def test():
        inputs, notes = [], []
        async with Serving() as serving:
            served = {18: (0, 4), 55: (0, 2)}

            def answer(incoming):
                serving.server.reply(incoming.source, versions(served))

            serving.answer = answer
            found = channels(("PLAIN", lambda: PlainClient("a", "b")), inputs, notes)
            found.send(Send(1, 1, serving.endpoint, describe_quorum()))
            await until(lambda: inputs)
            found.close()
        assert "it serves no SASL" in notes[0][1]["reason"]

    run_on(loop, test())


def versions(ranges: dict[int, tuple[int, int]]) -> ApiVersionsResponse:
    entry = ApiVersionsResponse.ApiVersion
    return ApiVersionsResponse(
        error_code=0, api_keys=tuple(entry(api_key=key, min_version=a, max_version=b) for key, (a, b) in ranges.items())
    )


def test_api_versions_announces_sasl_before_authentication(loop):
    async def test():
        async with Secured() as serving:
            client = await Client.to(serving.port)
            await client.write(api_versions())
            answer = await client.response(ApiVersionsResponse, 4)
            found = {each.api_key: (each.min_version, each.max_version) for each in answer.api_keys}
            assert (found[17], found[36]) == ((0, 1), (0, 2))

    run_on(loop, test())


def test_after_api_versions_of_a_version_that_is_not_served_it_may_be_sent_once_more(loop):
    """A client begins with its newest version, and falls back to one that the answer names (KIP-511)."""

    async def test():
        async with Secured() as serving:
            client = await Client.to(serving.port)
            await client.write(api_versions()[:6] + b"\0\x63" + api_versions()[8:])
            assert (await client.response(ApiVersionsResponse, 0)).error_code == 35

            await client.write(api_versions())

            assert (await client.response(ApiVersionsResponse, 4)).error_code == 0
            assert (await client.log_in()).error_code == 0

    run_on(loop, test())


@pytest.mark.parametrize(
    "sent",
    [
        request_frame(describe_quorum(), 0),
        request_frame(SaslAuthenticateRequest(auth_bytes=b"\0alice\0hush"), 2),
        api_versions() * 2,
        b"\0\0\0\x04abcd",
        b"\0\0\x10\0",
        request_frame(SaslHandshakeRequest(mechanism="PLAIN"), 1) + request_frame(describe_quorum(), 0),
        request_frame(SaslHandshakeRequest(mechanism="PLAIN"), 1) + api_versions(),
    ],
)
def test_nothing_gets_past_the_gate_before_authentication(loop, sent):
    async def test():
        async with Secured() as serving:
            client = await Client.to(serving.port)
            await client.write(sent)
            await client.reader.read()
            await until(lambda: serving.notes)
            assert {incoming.api_key for incoming in serving.requests} <= {18}

    run_on(loop, test())


def test_a_wrong_password_is_answered_after_the_delay_and_the_connection_ends(loop):
    async def test():
        async with Secured(delay_ms=100) as serving:
            client = await Client.to(serving.port)
            # uvloop counts whole milliseconds and returns them as seconds in binary: 33770.318 - 33770.218 < 0.1.
            began_ms = round(asyncio.get_running_loop().time() * 1000)
            answer = await client.log_in(password="wrong")
            assert round(asyncio.get_running_loop().time() * 1000) - began_ms >= 100
            assert (answer.error_code, answer.error_message) == (
                58,
                "Authentication failed: Invalid username or password",
            )
            assert await client.is_closed()

    run_on(loop, test())


def test_requests_sent_behind_a_wrong_password_are_not_served(loop):
    async def test():
        async with Secured(delay_ms=20) as serving:
            client = await Client.to(serving.port)
            await client.shake()
            wrong = request_frame(SaslAuthenticateRequest(auth_bytes=b"\0alice\0no"), 2)
            await client.write(wrong + request_frame(describe_quorum(), 0))
            await client.reader.read()
            assert serving.requests == []

    run_on(loop, test())


def test_a_mechanism_that_is_not_enabled_is_answered_with_those_that_are(loop):
    async def test():
        async with Secured() as serving:
            client = await Client.to(serving.port)
            answer = await client.shake("GSSAPI")
            assert (answer.error_code, answer.mechanisms) == (33, ("PLAIN", SCRAM))
            assert await client.is_closed()

    run_on(loop, test())


@pytest.mark.parametrize(
    ("request_bytes", "cls", "version"),
    [
        (api_versions(), ApiVersionsResponse, 4),
        (api_versions()[:6] + b"\0\x63" + api_versions()[8:], ApiVersionsResponse, 0),
        (request_frame(SaslHandshakeRequest(mechanism="PLAIN"), 1), SaslHandshakeResponse, 1),
    ],
)
def test_what_comes_in_the_place_of_a_token_is_an_illegal_state(loop, request_bytes, cls, version):
    async def test():
        async with Secured() as serving:
            client = await Client.to(serving.port)
            await client.shake()
            await client.write(request_bytes)
            assert (await client.response(cls, version)).error_code == 34
            assert await client.is_closed()
            assert serving.requests == []

    run_on(loop, test())


def test_after_handshake_v0_tokens_come_without_requests(loop):
    async def test():
        async with Secured() as serving:
            client = await Client.to(serving.port)
            assert (await client.shake(version=0)).error_code == 0
            token = b"\0alice\0hush"
            await client.write(len(token).to_bytes(4, "big") + token)
            assert await client.frame() == b""
            await client.write(request_frame(describe_quorum(), 0))
            await until(lambda: serving.requests)
            assert serving.requests[0].identity == "User:alice"

    run_on(loop, test())


def test_sasl_after_authentication_is_an_illegal_state(loop):
    async def test():
        async with Secured() as serving:
            client = await Client.to(serving.port)
            assert (await client.log_in()).session_lifetime_ms == 0
            assert (await client.shake()).error_code == 34
            assert (await client.send(b"x")).error_code == 34
            await client.write(request_frame(describe_quorum(), 0))
            await until(lambda: serving.requests)

    run_on(loop, test())


def test_a_session_ends_when_the_client_does_not_authenticate_again(loop):
    async def test():
        async with Secured(reauth_ms=50) as serving:
            client = await Client.to(serving.port)
            assert (await client.log_in()).session_lifetime_ms == 50
            await asyncio.sleep(0.06)
            await client.write(request_frame(describe_quorum(), 0))
            assert await client.is_closed()
            assert serving.requests == []
            assert "its session has expired" in serving.reasons[0]

    run_on(loop, test())


def test_neither_the_principal_nor_the_mechanism_may_change(loop):
    async def test():
        async with Secured(reauth_ms=60_000) as serving:
            client = await Client.to(serving.port)
            await client.log_in()
            answer = await client.log_in("bob", "bobs")
            assert answer.error_message == "Cannot change principals during re-authentication from User.alice: User.bob"

            other = await Client.to(serving.port)
            await other.log_in()
            await other.shake(SCRAM)
            await other.write(request_frame(SaslAuthenticateRequest(auth_bytes=b"n,,n=alice,r=x"), 2))
            assert await other.is_closed()  # without an answer, as by stock
            assert serving.reasons[-1] == "another SASL mechanism was requested for re-authentication of PLAIN"

    run_on(loop, test())


def test_a_renewal_by_a_mechanism_that_is_not_enabled_ends_the_connection_without_an_answer(loop):
    async def test():
        async with Secured(reauth_ms=60_000) as serving:
            client = await Client.to(serving.port)
            await client.log_in()
            await client.write(request_frame(SaslHandshakeRequest(mechanism="GSSAPI"), 1))
            assert await client.is_closed()
            assert "is not enabled" in serving.reasons[-1]

    run_on(loop, test())


def test_nothing_is_served_after_a_renewal_that_failed(loop):
    async def test():
        async with Secured(reauth_ms=60_000, delay_ms=100) as serving:
            client = await Client.to(serving.port)
            await client.log_in()
            await client.write(request_frame(SaslHandshakeRequest(mechanism="PLAIN"), 1))
            token = PlainClient("bob", "bobs").first()
            await client.write(request_frame(SaslAuthenticateRequest(auth_bytes=token), 2))
            await client.write(request_frame(describe_quorum(), 0))
            await client.reader.read()
            assert serving.requests == []

    run_on(loop, test())


def test_a_client_that_authenticates_again_within_a_second_is_refused(loop):
    async def test():
        async with Secured(reauth_ms=60_000) as serving:
            client = await Client.to(serving.port)
            await client.log_in()
            assert (await client.log_in()).error_code == 0
            assert (await client.shake()).error_code == 34
            await client.write(request_frame(describe_quorum(), 0))
            await until(lambda: serving.requests)

    run_on(loop, test())


async def log_in_by_token(client: Client) -> SaslAuthenticateResponse:
    exchange = ScramClient(SCRAM, "id", "hmac", {}, new_nonce(), is_token=True)
    await client.shake(SCRAM)
    first = await client.send(exchange.first())
    return await client.send(exchange.answer(first.auth_bytes))


def token(expires_ms: int):
    return credential_of_password(SCRAM, "hmac", b"salt", 4096)._replace(owner="carol", expires_ms=expires_ms)


@pytest.mark.parametrize(("reauth_ms", "lifetime_ms"), [(0, 5000), (2000, 2000), (60_000, 5000)])
def test_a_session_lasts_no_longer_than_its_token_and_belongs_to_the_owner(loop, reauth_ms, lifetime_ms):
    async def test():
        async with Secured(reauth_ms=reauth_ms, token=token(NOW_MS + 5000)) as serving:
            client = await Client.to(serving.port)
            assert (await log_in_by_token(client)).session_lifetime_ms == lifetime_ms
            await client.write(request_frame(describe_quorum(), 0))
            await client.frame()
            assert serving.requests[0].identity == "User:carol by token"
            # The same owner may go on by another token.
            assert (await log_in_by_token(client)).error_code == 0

    run_on(loop, test())


def test_a_session_of_an_expired_token_is_over_before_its_first_request(loop):
    async def test():
        async with Secured(token=token(NOW_MS - 1)) as serving:
            client = await Client.to(serving.port)
            answer = await log_in_by_token(client)
            assert (answer.error_code, answer.session_lifetime_ms) == (0, 0)
            await client.write(request_frame(describe_quorum(), 0))
            assert await client.is_closed()
            assert serving.requests == []

    run_on(loop, test())


@pytest.mark.parametrize(("expires_ms", "lifetime_ms"), [(NOW_MS + 50_000, 50_000), (NOW_MS + 3000, 3000)])
def test_authentication_with_a_credential_that_ends_at_another_time_moves_the_end(loop, expires_ms, lifetime_ms):
    async def test():
        async with Secured(token=token(NOW_MS + 5000)) as serving:
            client = await Client.to(serving.port)
            assert (await log_in_by_token(client)).session_lifetime_ms == 5000
            serving.users["id", True] = token(expires_ms)
            assert (await log_in_by_token(client)).session_lifetime_ms == lifetime_ms
            await client.write(request_frame(describe_quorum(), 0))
            await until(lambda: serving.requests)

    run_on(loop, test())


def test_authentication_with_a_credential_that_has_ended_ends_the_session_that_went_on(loop):
    async def test():
        async with Secured(token=token(NOW_MS + 60_000)) as serving:
            client = await Client.to(serving.port)
            assert (await log_in_by_token(client)).session_lifetime_ms == 60_000
            serving.users["id", True] = token(NOW_MS - 1)
            assert (await log_in_by_token(client)).session_lifetime_ms == 0
            await client.write(request_frame(describe_quorum(), 0))
            assert await client.is_closed()
            assert serving.requests == []
            assert "its session has expired" in serving.reasons[0]

    run_on(loop, test())


def test_a_request_above_the_bound_ends_a_connection_that_is_not_authenticated(loop):
    async def test():
        async with Secured() as serving:
            client = await Client.to(serving.port)
            await client.shake()
            await client.write(request_frame(SaslAuthenticateRequest(auth_bytes=b"x" * 1001), 2))
            assert await client.is_closed()
            authenticated = await Client.to(serving.port)
            await authenticated.log_in()
            await authenticated.write(request_frame(SaslAuthenticateRequest(auth_bytes=b"x" * 1001), 2))
            assert (await authenticated.response(SaslAuthenticateResponse, 2)).error_code == 34

    run_on(loop, test())


def test_a_client_that_authenticates_again_has_the_bound_of_the_first_time(loop):
    async def test():
        async with Secured(reauth_ms=60_000) as serving:
            for version in (0, 1):
                client = await Client.to(serving.port)
                await client.log_in()
                assert (await client.shake(version=version)).error_code == 0

                # In version 0 the token has no request around it.
                await client.write((1001).to_bytes(4, "big") + b"\0\x24\0\2" + bytes(997))

                assert await client.is_closed()
            text = "a frame of 1001 bytes during authentication; at most 1000 are taken"
            assert serving.reasons == [text]  # one note for both

    run_on(loop, test())


def test_a_token_whose_frame_has_just_the_bound_is_taken_both_times(loop):
    def answered(token: bytes) -> bytes:
        return request_frame(SaslAuthenticateRequest(auth_bytes=token), 2)

    async def test():
        async with Secured(reauth_ms=60_000) as serving:
            token = b"x" * (500 + 1000 - len(answered(b"x" * 500)[4:]))
            client, again = await Client.to(serving.port), await Client.to(serving.port)
            await again.log_in()
            for each in (client, again):
                await each.shake()

                await each.write(answered(token))

                assert (await each.response(SaslAuthenticateResponse, 2)).error_code == 58
            assert len(answered(token)[4:]) == 1000

    run_on(loop, test())


def test_after_authentication_a_request_of_sasl_has_the_bounds_of_small_ones(loop):
    async def test():
        async with Secured(small_bytes_max=2000, large=frozenset({56}), request_bytes_max=100_000) as serving:
            many, large = await Client.to(serving.port), await Client.to(serving.port)
            for client in (many, large):
                await client.log_in()
            frame = request_frame(SaslAuthenticateRequest(auth_bytes=b"token"), 2)[4:]

            for client, tags in ((many, b"\x65" + b"\x05\0" * 101), (large, bytes(3000))):
                body = frame[:-1] + tags
                await client.write(len(body).to_bytes(4, "big") + body)
                assert await client.is_closed()

            assert serving.reasons == [
                "SaslAuthenticateRequest v2: it has more than 100 entries",
                f"a frame of {len(frame) + 2999} bytes with API key 36, which has at most 2000",
            ]

    run_on(loop, test())


def test_unfinished_requests_without_authentication_do_not_close_authenticated_clients(loop):
    async def test():
        async with Secured(held_bytes_max=100_000, unauthenticated_bytes_max=20_000) as serving:
            broker = await Client.to(serving.port)
            assert (await broker.log_in()).error_code == 0
            await broker.write((60_004).to_bytes(4, "big") + bytes(60_000))
            await until(lambda: serving.server.held_bytes == 60_004)

            hostile = [await Client.to(serving.port) for _ in range(100)]
            for client in hostile:
                await client.write((1000).to_bytes(4, "big") + bytes(900))
            await until(lambda: len(serving.notes) >= 78)

            held = sorted(one.held for one in serving.server.connections.values() if one.held)
            assert held == [904] * 22 + [60_004]
            assert serving.server.held_bytes == 22 * 904 + 60_004

    run_on(loop, test())


def test_above_the_total_a_client_without_authentication_is_closed_first(loop):
    async def test():
        async with Secured(held_bytes_max=50_000) as serving:
            waiting = await Client.to(serving.port)
            await waiting.write((1000).to_bytes(4, "big") + bytes(900))
            await until(lambda: serving.server.held_bytes == 904)
            broker = await Client.to(serving.port)
            assert (await broker.log_in()).error_code == 0

            await broker.write((60_000).to_bytes(4, "big") + bytes(49_800))
            await until(lambda: serving.notes)

            assert await waiting.is_closed()
            assert [one.held for one in serving.server.connections.values() if one.held] == [49_804]

    run_on(loop, test())


def test_the_bytes_of_a_client_that_authenticates_no_longer_count_as_unauthenticated(loop):
    async def test():
        async with Secured(held_bytes_max=100_000, unauthenticated_bytes_max=1_000) as serving:
            for _ in range(3):
                client = await Client.to(serving.port)
                await client.shake()
                token = request_frame(SaslAuthenticateRequest(auth_bytes=PlainClient("alice", "hush").first()), 2)
                await client.write(token + (900).to_bytes(4, "big") + bytes(800))
                assert (await client.response(SaslAuthenticateResponse, 2)).error_code == 0
                await client.write(bytes(50))

            await until(lambda: serving.server.held_bytes == 3 * 854)
            assert serving.server._unauthenticated_bytes == 0
            assert serving.notes == []

    run_on(loop, test())
