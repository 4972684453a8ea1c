"""Every API, asked by nobody, by a user with one right on the cluster, and by a super user: answered as by stock.

A stock controller and one of ours have SASL_PLAINTEXT, StandardAuthorizer and the same users, whose name is that of
their one right. What is compared is the error codes of each answer, or that the connection ends without one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from controller.core.apis import APIS, Kind
from controller.state.tables.acl import AclOperation
from raft.network.mechanisms import PlainClient
from records.messages.acls import DescribeAclsRequest
from records.messages.elections import BeginQuorumEpochRequest, EndQuorumEpochRequest, VoteRequest
from records.messages.fetch_snapshot import FetchSnapshotRequest
from records.messages.sasl import SaslAuthenticateRequest, SaslHandshakeRequest
from records.schema import Message, default_of, replace
from tests.interop.ask import ask_on, connected
from tests.interop.cluster import OURS, STOCK, Cluster, eventually
from tests.interop.secured import AUTHORIZER, PLAIN_MODULE
from tests.interop.test_security_answers import acl, acls, chosen, deletion

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.interop.stock import Stock

ROOT, NOBODY = "root", "nobody"
RIGHTS = (
    AclOperation.CREATE, AclOperation.ALTER, AclOperation.DESCRIBE, AclOperation.CLUSTER_ACTION,
    AclOperation.DESCRIBE_CONFIGS, AclOperation.ALTER_CONFIGS, AclOperation.IDEMPOTENT_WRITE,
)  # fmt: skip
USERS = (NOBODY, *(right.name.lower().replace("_", "") for right in RIGHTS), ROOT)
CLUSTER = 4
# Where the default would not do: stock cannot read it, or ends at a request of the quorum without a topic.
VALID: dict[int, Any] = {
    52: replace(default_of(VoteRequest), cluster_id="another"),
    53: replace(default_of(BeginQuorumEpochRequest), cluster_id="another"),
    54: replace(default_of(EndQuorumEpochRequest), cluster_id="another"),
    59: replace(default_of(FetchSnapshotRequest), cluster_id="another"),
    29: chosen(DescribeAclsRequest),
    30: acls(acl(), acl("u")),
    31: deletion({"principal_filter": "User:ann"}),
}


def password(user: str) -> str:
    return f"{user}s-secret"


def ask_as(port: int, user: str, request: Any, version: int) -> Any:
    """The answer to a request of a user. Raises OSError if the connection ends without one."""
    token = PlainClient(user, password(user)).first()
    with connected(port, 20) as connection:
        assert ask_on(connection, SaslHandshakeRequest(mechanism="PLAIN"), 1).error_code == 0
        assert ask_on(connection, SaslAuthenticateRequest(auth_bytes=token), 2, 2).error_code == 0
        return ask_on(connection, request, version, 3)


def codes(value: Any) -> list[int]:
    """All error codes of an answer, those of its items in their order."""
    if isinstance(value, Message):
        found = [code for each in value.__schema__.fields for code in codes(getattr(value, each.name))]
        return [int(getattr(value, "error_code", 0)), *found] if hasattr(value, "error_code") else found
    return [code for each in value for code in codes(each)] if isinstance(value, tuple) else []


def said(port: int, user: str, request: Any, version: int) -> list[int] | str:
    try:
        return codes(ask_as(port, user, request, version))
    except OSError:
        return "no answer"


def await_answer(port: int, user: str, request: Any, wanted: list[int]) -> None:
    """Wait until a request is answered so, which is when the ACLs are loaded, or have come."""
    eventually(lambda: said(port, user, request, 3) == wanted, f"{wanted} for {user}")


@pytest.fixture(name="ports", scope="module")
def _ports(tmp_path_factory: pytest.TempPathFactory, stock: Stock) -> Iterator[tuple[int, int]]:
    """Those of stock's and ours."""
    root: Path = tmp_path_factory.mktemp("rights")
    known = "".join(f' user_{name}="{password(name)}"' for name in USERS)
    prefix = "listener.name.controller."
    settings = {
        "listener.security.protocol.map": "CONTROLLER:SASL_PLAINTEXT",
        "authorizer.class.name": AUTHORIZER, "super.users": f"User:{ROOT}",
        "sasl.mechanism.controller.protocol": "PLAIN", f"{prefix}sasl.enabled.mechanisms": "PLAIN",
        f"{prefix}plain.sasl.jaas.config":
            f'{PLAIN_MODULE} required username="{ROOT}" password="{password(ROOT)}"{known};',
    }  # fmt: skip
    found = []
    try:
        for kind in (STOCK, OURS):
            (root / kind).mkdir()
            made = Cluster(root / kind, stock, settings=settings)
            found.append(made)
            made.plan([kind], 0)
            made.format()
            made.start()
        ports = [made.controllers[1].port for made in found]
        given = [
            acl("kafka-cluster", resource_type=CLUSTER, principal=f"User:{user}", operation=int(right))
            for user, right in zip(USERS[1:-1], RIGHTS, strict=True)
        ]
        for port in ports:
            await_answer(port, ROOT, acls(*given), [0] * len(given))
            await_answer(port, NOBODY, VALID[29], [31])
        yield ports[0], ports[1]
    finally:
        for made in found:
            made.end()


@pytest.mark.parametrize("user", USERS)
def test_every_api_is_answered_as_by_stock(ports: tuple[int, int], user: str) -> None:
    differences, refused = [], 0
    for key, api in APIS.items():
        if api.kind is Kind.LOCAL:
            continue
        for version in {api.versions[0], api.versions[1]}:
            request = VALID.get(key, default_of(api.request))
            theirs, ours = (said(port, user, request, version) for port in ports)
            refused += ours == [31]
            if theirs != ours:
                differences.append((api.request.__name__, version, theirs, ours))

    assert differences == [], "\n".join(map(str, differences[:20]))
    assert (refused > 0) == (user != ROOT)
