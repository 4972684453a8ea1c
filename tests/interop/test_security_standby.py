"""Requests of security to controllers that do not lead, and with codes of no meaning: stock's answers and ours."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from records.messages.acls import DeleteAclsRequest, DescribeAclsRequest
from records.messages.cluster import DescribeClusterRequest
from records.messages.tokens import ExpireDelegationTokenRequest, RenewDelegationTokenRequest
from tests.interop.ask import ask
from tests.interop.cluster import OURS, STOCK, cluster
from tests.interop.test_security_answers import (
    SETTINGS,
    acl,
    acls,
    chosen,
    credentials,
    deletion,
    forwarded,
    plain,
    quota,
    quotas,
    token,
    topics,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.interop.cluster import Cluster
    from tests.interop.stock import Stock

CLOSED = "the connection was closed"


class Pair(NamedTuple):
    """A quorum of stock controllers, and one of ours."""

    stock: Cluster
    ours: Cluster


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory, stock: Stock) -> Iterator[Pair]:
    root: Path = tmp_path_factory.mktemp("standby")
    for name in (STOCK, OURS):
        (root / name).mkdir()
    # metadata.version 3.6: before controllers register themselves.
    options = ("--release-version", "3.6")
    with (
        cluster(root / STOCK, stock, [STOCK] * 3, 0, *options, settings=SETTINGS, controllers_by=STOCK) as theirs,
        cluster(root / OURS, stock, [OURS] * 3, 0, *options, settings=SETTINGS) as ours,
    ):
        yield Pair(theirs, ours)


def answer(port: int, request: Any, version: int, user: str | None = None) -> Any:
    """Without what differs; user: of a request in an envelope, None for one of a controller's own client."""
    try:
        found = ask(port, request, version, 20) if user is None else forwarded(port, request, version, user)
    except ConnectionError:
        return CLOSED
    return re.sub(r"controller appears to be node \d", "controller appears to be node N", repr(plain(found)))


def ports(found: Cluster) -> tuple[int, int]:
    """The active controller's, and that of another."""
    led = found.await_leader()
    return found.controllers[led].port, found.controllers[led % 3 + 1].port


def compared(pair: Pair, requests: list[tuple[Any, int]], users: tuple[str | None, ...]) -> list[Any]:
    differences = []
    places = list(zip(*(ports(found) for found in pair), strict=True))
    for where, both in zip(("active", "standby"), places, strict=True):
        for request, version in requests:
            for user in users:
                theirs, ours = (answer(port, request, version, user) for port in both)
                if theirs != ours:
                    differences.append((where, type(request).__name__, version, user, theirs, ours))
    return differences


def test_a_standby_answers_alike(pair: Pair) -> None:
    requests = [
        (acls(acl()), 3),
        (acls(acl(operation=99)), 3),
        (acls(acl(principal="ann")), 3),
        (acls(), 3),
        (chosen(DescribeAclsRequest), 3),
        (deletion({}), 3),
        (DeleteAclsRequest(filters=()), 3),
        (credentials(), 0),
        (credentials((("x", 1, 4096, b"p"),)), 0),
        (quotas(), 1),
        (quotas(quota({"users": "a"}, ("x", 1.0))), 1),
        (token(("User", "bob")), 3),
        (token(("Group", "bob")), 3),
        (RenewDelegationTokenRequest(hmac=b"none", renew_period_ms=-1), 2),
        (ExpireDelegationTokenRequest(hmac=b"none", expiry_time_period_ms=-1), 2),
        (topics("t"), 7),
        (topics(), 7),
    ]

    assert compared(pair, requests, (None, "root", "bob")) == []


@pytest.mark.parametrize("version", [1, 2, 3])
def test_acls_with_a_code_of_unknown_are_answered_alike(pair: Pair, version: int) -> None:
    fields = ("resource_type", "operation", "permission_type", "resource_pattern_type")
    filters = ("resource_type_filter", "operation", "permission_type", "pattern_type_filter")
    requests: list[tuple[Any, int]] = []
    for code in (0, 100):
        requests += [(acls(acl("u", **{field: code})), version) for field in fields]
        requests += [(chosen(DescribeAclsRequest, **{field: code}), version) for field in filters]
        requests += [(deletion({field: code, "resource_name_filter": "absent"}), version) for field in filters]

    assert compared(pair, requests, (None, "root")) == []


def test_controllers_that_do_not_register_are_not_described(pair: Pair) -> None:
    """metadata.version 3.6 is checked before rights and types of endpoints are."""
    requests = [
        (DescribeClusterRequest(include_cluster_authorized_operations=False, endpoint_type=kind), version)
        for version in (0, 1, 2)
        for kind in ((1,) if version == 0 else (1, 2, 9))
    ]

    assert compared(pair, requests, (None,)) == []
