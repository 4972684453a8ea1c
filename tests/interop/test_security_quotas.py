"""Quotas: a stock controller and one of ours refuse the same mutations, and the same quotas (KIP-546, KIP-599).

Rates are so low that the duration of a test does not count: a client over its quota waits for hours.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from records.messages.topics import CreatePartitionsRequest, CreateTopicsRequest, DeleteTopicsRequest
from tests.benchmarks.client import Fleet
from tests.interop.cluster import OURS, STOCK, cluster
from tests.interop.test_security_answers import Pair, forwarded, plain, quota, quotas

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.interop.stock import Stock

RATE = "controller_mutation_rate"
# A client that is one partition over its quota waits for 1,000 s at 0.001 a second.
RATE_LOW = 0.001
ROUGH_MS = 100_000


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory, stock: Stock) -> Iterator[Pair]:
    root: Path = tmp_path_factory.mktemp("quotas")
    for name in (STOCK, OURS):
        (root / name).mkdir()
    with cluster(root / STOCK, stock, [STOCK], 0) as theirs, cluster(root / OURS, stock, [OURS], 0) as ours:
        fleets = [Fleet(each, [11]) for each in (theirs, ours)]
        yield Pair(theirs.controllers[1].port, ours.controllers[1].port)
        for fleet in fleets:
            fleet.end()


def created(*topics: tuple[str, int], validate_only: bool = False) -> CreateTopicsRequest:
    item = CreateTopicsRequest.CreatableTopic
    made = tuple(
        item(name=name, num_partitions=count, replication_factor=1, assignments=(), configs=())
        for name, count in topics
    )
    return CreateTopicsRequest(topics=made, timeout_ms=5000, validate_only=validate_only)


def deleted(*names: str) -> DeleteTopicsRequest:
    return DeleteTopicsRequest(topic_names=names, timeout_ms=5000)


def deleted_by_state(*names: str) -> DeleteTopicsRequest:
    state = DeleteTopicsRequest.DeleteTopicState
    return DeleteTopicsRequest(topics=tuple(state(name=name, topic_id=bytes(16)) for name in names), timeout_ms=5000)


def grown(*topics: tuple[str, int]) -> CreatePartitionsRequest:
    item = CreatePartitionsRequest.CreatePartitionsTopic
    made = tuple(item(name=name, count=count, assignments=None) for name, count in topics)
    return CreatePartitionsRequest(topics=made, timeout_ms=5000, validate_only=False)


ANN, BOB, CAT, DAN = "ann", "bob", "cat", "dan"

# User, request, version. Requests have the client id `test`.
STEPS: list[tuple[str, Any, int]] = [
    (ANN, created(("ann-0", 3)), 7),
    ("root", quotas(quota({"user": ANN}, (RATE, RATE_LOW)), quota({"user": BOB}, (RATE, RATE_LOW))), 1),
    (ANN, created(("ann-1", 1), ("ann-2", 1)), 7),
    (ANN, created(("ann-3", 1), ("ann 4", 1), ("ann-0", 1)), 7),
    (ANN, created(("ann-5", 1)), 6),
    (ANN, created(("ann-6", 2)), 5),
    (ANN, created(("ann-7", 1), validate_only=True), 7),
    (ANN, deleted_by_state("ann-0", "absent"), 6),
    (ANN, deleted("ann-1"), 5),
    (ANN, deleted("ann-1"), 4),
    (ANN, grown(("ann-0", 4), ("ann-0", 5)), 3),
    (ANN, grown(("ann-0", 4), ("absent", 5)), 3),
    (ANN, grown(("ann-0", 4)), 2),
    # A dry run is charged; what is refused otherwise is not.
    (BOB, created(("a b", 100)), 7),
    (BOB, created(("bob-0", 2), validate_only=True), 7),
    (BOB, created(("bob-0", 1)), 7),
    # Another user is free; then all users, clients, both.
    (CAT, created(("cat-0", 500)), 7),
    ("root", quotas(quota({"user": None}, (RATE, RATE_LOW))), 1),
    (CAT, created(("cat-1", 1)), 7),
    (CAT, created(("cat-2", 1)), 7),
    ("root", quotas(quota({"client-id": "test"}, (RATE, RATE_LOW)), quota({"user": DAN}, (RATE, 1e6))), 1),
    (DAN, created(("dan-0", 50)), 7),
    (DAN, created(("dan-1", 50)), 7),
    ("root", quotas(quota({"user": DAN, "client-id": "test"}, (RATE, RATE_LOW))), 1),
    (DAN, created(("dan-2", 1)), 7),
    (DAN, created(("dan-3", 1)), 7),
    ("root", quotas(
        quota({"user": ANN}, (RATE, None)), quota({"user": BOB}, (RATE, None)), quota({"user": None}, (RATE, None)),
        quota({"user": DAN}, (RATE, None)), quota({"user": DAN, "client-id": "test"}, (RATE, None))), 1),
    (ANN, created(("ann-8", 2)), 7),
    (BOB, created(("bob-1", 1)), 7),
    ("root", quotas(quota({"client-id": "test"}, (RATE, None))), 1),
    (ANN, created(("ann-9", 100)), 7),
    (ANN, deleted_by_state("ann-8", "ann-9"), 6),
]  # fmt: skip


def test_mutations_beyond_the_quota_are_refused_alike(pair: Pair) -> None:
    differences = []
    throttled = 0
    for number, (user, request, version) in enumerate(STEPS):
        answers = [forwarded(port, request, version, user) for port in pair]
        theirs, ours = ((plain(answer), round(answer.throttle_time_ms / ROUGH_MS)) for answer in answers)
        throttled += theirs[1] > 0
        if theirs != ours:
            differences.append((number, type(request).__name__, user, theirs, ours))
        if user == "root":
            # Stock answers before its publisher of metadata has applied a quota.
            time.sleep(1)

    assert differences == [], "\n".join(map(str, differences[:9]))
    assert throttled >= 12


# Addresses in the forms that Java takes, and in forms that it does not take.
ADDRESSES = [
    "10.0.0.1", "::1", "localhost", "LOCALHOST", "10.0.0.256", "10.0.0", "10.1", "1", "4294967295", "4294967296",
    "[::1]", "[10.0.0.1]", "no.invalid", "0x7f.1", "010.0.0.1", "0000000010.0.0.1", "::ffff:10.0.0.1", "1.2.3",
    "1.2.65536", "1.2.65535", "1.16777215", "1.16777216", "1.2.3.4.5", "-1", "127.0.0.1.", "::1%99", "::1%lo-absent",
    "::1%", "::1%-1", "1..2", ".1", "1.", "a:b", "1::2::3", ":::", "::", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7::",
    "::1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8::", "1:2:3:4::5:6:7:8", "1:2:3:4:5:6:7", ":1", "1:", "1:2:3:4:5:6:7:",
    "::00001", "::10000", "::fffff", "::g", "::1.2.3.4", "::01.2.3.4", "::1.2.3", "::1.2.3.256",
    "1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:7:1.2.3.4", "1::1.2.3.4:5", "[::1", "::1]", "[]", "::1.2.3.4:",
]  # fmt: skip


def test_addresses_are_taken_alike(pair: Pair) -> None:
    differences = []
    for address in (*ADDRESSES, "", " 10.0.0.1", "10.0.0.1 ", None):
        request = quotas(quota({"ip": address}, ("connection_creation_rate", 5000.0)))
        theirs, ours = (plain(forwarded(port, request, 1, "root")) for port in pair)
        if theirs != ours:
            differences.append((address, theirs["entries"][0]["error_code"], ours["entries"][0]["error_code"]))

    assert differences == []
