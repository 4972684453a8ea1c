"""kafka-delegation-tokens: its requests, and the tables and dates that it prints, as stock's source has them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from records.messages.cluster import MetadataResponse
from records.messages.tokens import (
    CreateDelegationTokenResponse,
    DescribeDelegationTokenResponse,
    ExpireDelegationTokenResponse,
    RenewDelegationTokenResponse,
)
from tests.tools.client.test_admin import Node, nodes
from tests.tools.kafka.cases import ours

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.tools.kafka.cases import Case

METADATA, CREATE, RENEW, EXPIRE, DESCRIBE = 3, 38, 39, 40, 41
DAY_MS = 86_400_000


@pytest.fixture(autouse=True)
def _utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def created() -> CreateDelegationTokenResponse:
    return CreateDelegationTokenResponse(
        error_code=0, principal_type="User", principal_name="ann", token_requester_principal_type="User",
        token_requester_principal_name="admin", issue_timestamp_ms=0, expiry_timestamp_ms=DAY_MS,
        max_timestamp_ms=7 * DAY_MS, token_id="T0kenId", hmac=b"secret", throttle_time_ms=0,
    )  # fmt: skip


def described() -> DescribeDelegationTokenResponse:
    kind = DescribeDelegationTokenResponse.DescribedDelegationToken
    renewer = kind.DescribedDelegationTokenRenewer
    renewers = tuple(renewer(principal_type="User", principal_name=name) for name in ("b", "c"))
    token = kind(
        principal_type="User", principal_name="ann", token_requester_principal_type="User",
        token_requester_principal_name="ann", issue_timestamp=0, expiry_timestamp=DAY_MS, max_timestamp=DAY_MS,
        token_id="a-token-id-longer-than-15", hmac=b"secret",
        renewers=renewers,
    )  # fmt: skip
    return DescribeDelegationTokenResponse(error_code=0, tokens=(token,), throttle_time_ms=0)


def run(tmp_path: Path, answers: dict[int, Any], *arguments: str) -> tuple[Case, Node]:
    (tmp_path / "client").write_text("")
    with nodes(answers) as (node,):
        broker = MetadataResponse.MetadataResponseBroker(node_id=101, host="127.0.0.1", port=node.port)
        node.answers[METADATA] = lambda: MetadataResponse(brokers=(broker,), topics=())
        begin = ["--bootstrap-server", f"127.0.0.1:{node.port}", "--command-config", str(tmp_path / "client")]
        return ours("delegation-tokens", [*begin, *arguments]), node


HEAD = (
    "\nTOKENID         HMAC                           OWNER           REQUESTER       RENEWERS                  "
    "ISSUEDATE       EXPIRYDATE      MAXDATE        \n"
)


def test_a_created_token_is_printed_with_its_renewers(tmp_path: Path) -> None:
    found, node = run(
        tmp_path, {CREATE: created}, "--create", "--max-life-time-period", "-1", "--renewer-principal", "User:bob",
        "--owner-principal", "User:ann",
    )  # fmt: skip

    assert found["stdout"] == (
        "Calling create token operation with renewers :[User:bob] , max-life-time-period :-1\n"
        f"Created delegation token with tokenId : T0kenId\n{HEAD}"
        "\nT0kenId         c2VjcmV0                       User:ann        User:admin      [User:bob]                "
        "1970-01-01T00:00 1970-01-02T00:00 1970-01-08T00:00\n"
    )
    assert (found["stderr"], found["exit"], node.asked) == ("", 0, [METADATA, CREATE])


def test_tokens_are_listed(tmp_path: Path) -> None:
    found, _ = run(tmp_path, {DESCRIBE: described}, "--describe", "--owner-principal", "User:ann")

    assert found["stdout"] == (
        f"Calling describe token operation for owners: [User:ann]\nTotal number of tokens : 1{HEAD}"
        "\na-token-id-longer-than-15 c2VjcmV0                       User:ann        User:ann        [User:b, User:c]"
        "          1970-01-01T00:00 1970-01-02T00:00 1970-01-02T00:00\n"
    )


@pytest.mark.parametrize(
    ("action", "option", "key", "response"),
    [
        ("renew", "renew-time-period", RENEW, RenewDelegationTokenResponse),
        ("expire", "expiry-time-period", EXPIRE, ExpireDelegationTokenResponse),
    ],
)
def test_the_new_date_is_printed_without_an_end_of_line(
    tmp_path: Path, action: str, option: str, key: int, response: Any
) -> None:
    def answer() -> Any:
        return response(error_code=0, expiry_timestamp_ms=DAY_MS, throttle_time_ms=0)

    found, _ = run(tmp_path, {key: answer}, f"--{action}", "--hmac", "c2VjcmV0", f"--{option}", "1000")

    period = option.replace("expiry", "expire")
    assert found["stdout"] == (
        f"Calling {action} token operation with hmac :c2VjcmV0 , {period} :1000\n"
        f"Completed {action} operation. New expiry date : 1970-01-02T00:00"
    )
    assert found["exit"] == 0


def test_an_option_without_its_number_is_named(tmp_path: Path) -> None:
    found, _ = run(tmp_path, {}, "--create", "--max-life-time-period", "soon")

    assert found["stderr"].splitlines()[0] == "Option max-life-time-period needs a value, such as -1"
