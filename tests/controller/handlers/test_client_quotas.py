"""AlterClientQuotas: ClientQuotaControlManagerTest's cases."""

from __future__ import annotations

from typing import Any

import pytest

from controller.handlers.client_quotas import is_ip
from records.errors import Error
from records.features.levels import KAFKA_4_3
from records.messages.quotas import AlterClientQuotasRequest
from records.metadata.configs import ClientQuotaRecord
from tests.controller.rig import Rig

Entry = AlterClientQuotasRequest.EntryData
Parts = dict[str, str | None]
PRODUCER, CONSUMER, PERCENTAGE = "producer_byte_rate", "consumer_byte_rate", "request_percentage"
CONNECTIONS = "connection_creation_rate"
COMBINED = "Invalid quota entity combination, IP entity shouldnot be combined with User or ClientId"


def entry(parts: Parts, *ops: tuple[str, float | None]) -> Entry:
    return Entry(
        entity=tuple(Entry.EntityData(entity_type=type_, entity_name=name) for type_, name in parts.items()),
        ops=tuple(Entry.OpData(key=key, value=value or 0.0, remove=value is None) for key, value in ops),
    )


def alter(rig: Rig, *entries: Entry, validate_only: bool = False) -> list[Any]:
    answer = rig.ask(AlterClientQuotasRequest(entries=entries, validate_only=validate_only))
    return [(each.error_code, each.error_message) for each in answer.entries]


def written(rig: Rig, start: int = 0) -> list[Any]:
    return [
        ({part.entity_type: part.entity_name for part in record.entity}, record.key, record.value, record.remove)
        for record, _ in rig.records(start)
        if isinstance(record, ClientQuotaRecord)
    ]


OK = (0, None)


def test_quotas_are_set_changed_and_removed() -> None:
    rig = Rig().lead()
    both: Parts = {"user": "ann", "client-id": None}

    answers = [
        alter(rig, entry(both, (PRODUCER, 1000.0), (PERCENTAGE, 12.5)), entry({"ip": "10.0.0.1"}, (CONNECTIONS, 5.0))),
        alter(rig, entry(both, (PRODUCER, 1000.0), (PERCENTAGE, None), (CONSUMER, None))),
    ]  # fmt: skip

    assert answers == [[OK, OK], [OK]]
    assert written(rig) == [
        (both, "producer_byte_rate", 1000.0, False),
        (both, "request_percentage", 12.5, False),
        ({"ip": "10.0.0.1"}, "connection_creation_rate", 5.0, False),
        (both, "request_percentage", 0.0, True),
    ]
    assert rig.state.quotas == {
        (("client-id", None), ("user", "ann")): {"producer_byte_rate": 1000.0},
        (("ip", "10.0.0.1"),): {"connection_creation_rate": 5.0},
    }


@pytest.mark.parametrize(
    ("parts", "op", "text"),
    [
        ({}, ("producer_byte_rate", 1.0), "Invalid empty client quota entity"),
        ({"users": "a"}, ("producer_byte_rate", 1.0), "Unhandled client quota entity type: users"),
        ({"user": ""}, ("producer_byte_rate", 1.0), "Empty user not supported"),
        ({"user": "a"}, ("rate", 1.0), "Invalid configuration key rate"),
        ({"user": "a"}, ("connection_creation_rate", 1.0), "Invalid configuration key connection_creation_rate"),
        ({"ip": None}, ("producer_byte_rate", 1.0), "Invalid configuration key producer_byte_rate"),
        ({"user": "a"}, ("producer_byte_rate", -1.0), "Quota producer_byte_rate must be greater than 0"),
        ({"user": "a"}, ("producer_byte_rate", 1.5), "producer_byte_rate cannot be a fractional value."),
        ({"user": "a"}, ("producer_byte_rate", 1e19), "Proposed value for producer_byte_rate is too large for a LONG."),
        ({"ip": None}, (CONNECTIONS, 2.0**31), f"Proposed value for {CONNECTIONS} is too large for an INT."),
        ({"ip": "h", "user": "a"}, (CONNECTIONS, 1.0), COMBINED),
        ({"ip": "no such host"}, (CONNECTIONS, 1.0), "no such host is not a valid IP or resolvable host."),
    ],
)  # fmt: skip
def test_an_invalid_quota_is_refused_on_its_own(parts: Parts, op: tuple[str, float], text: str) -> None:
    rig = Rig().lead()

    answer = alter(rig, entry(parts, op), entry({"user": "good"}, ("request_percentage", 1.0)))

    assert answer == [(Error.INVALID_REQUEST, text), OK]
    assert list(rig.state.quotas) == [(("user", "good"),)]


def test_the_greatest_value_of_a_type_is_taken() -> None:
    rig = Rig().lead()

    answer = alter(rig, entry({"ip": None}, (CONNECTIONS, 2.0**31 - 1)), entry({"user": "a"}, (PRODUCER, 2.0**63)))

    assert answer == [OK, OK]


def test_the_second_entry_for_an_entity_is_refused() -> None:
    rig = Rig().lead()
    user: Parts = {"user": "ann"}

    answer = alter(rig, entry(user, ("request_percentage", 1.0)), entry(user, ("request_percentage", 2.0)))
    again = alter(rig, entry({"user": None}, ("request_percentage", 1.0), ("request_percentage", 2.0)))

    assert answer == [(Error.INVALID_REQUEST, "Ignoring duplicate entity ClientQuotaEntity(entries={user=ann})")]
    assert again == [(Error.INVALID_REQUEST, "Ignoring duplicate entity ClientQuotaEntity(entries={user=null})")]
    assert [value for _, _, value, _ in written(rig)] == [1.0]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_a_quota_is_a_finite_number(value: float) -> None:
    rig = Rig().lead()

    answer = alter(rig, entry({"user": "a"}, ("request_percentage", value)))

    assert answer == [(Error.INVALID_REQUEST, "Quota request_percentage must be a finite number")]
    assert written(rig) == []


def test_before_4_4_nan_is_accepted_and_equals_itself() -> None:
    rig = Rig(metadata_version=30, release=KAFKA_4_3).lead()

    for _ in range(2):
        assert alter(rig, entry({"user": "a"}, ("request_percentage", float("nan")))) == [OK]

    assert len(written(rig)) == 1


def test_a_dry_run_writes_nothing() -> None:
    rig = Rig().lead()

    assert alter(rig, entry({"user": "a"}, ("request_percentage", 1.0)), validate_only=True) == [OK]
    assert written(rig) == []


def test_more_than_10_000_quotas_are_not_changed_at_once() -> None:
    rig = Rig().lead()

    answer = alter(rig, *(entry({"user": f"u{number}"}, ("request_percentage", 1.0)) for number in range(10_001)))

    assert set(answer) == {(Error.POLICY_VIOLATION, "Request parameters do not satisfy the configured policy.")}
    assert written(rig) == []


def test_a_standby_answers_an_empty_request() -> None:
    assert alter(Rig()) == []


@pytest.mark.parametrize(
    ("text", "is_taken"),
    [
        (None, True), ("LOCALHOST", True), ("10.1", True), ("4294967295", True), ("4294967296", False),
        ("010.0.0.1", True), ("0000000010.0.0.1", False), ("1.2.65536", False), ("1..2", False), ("host", False),
        ("[::1]", True), ("[10.0.0.1]", False), ("::1%99", True), ("::1%lo", False), ("::00001", True),
        ("::1.2.3.4", True), ("1.2.3.4:", False), ("1:2:3:4:5:6:7::", True), ("1:2:3:4::5:6:7:8", False),
        ("1:2:3:4:5:6:7:8", True), (":::", False), ("1::2::3", False), ("", False), ("١", False),
    ],
)  # fmt: skip
def test_an_address_is_what_java_takes_for_one(text: str | None, is_taken: bool) -> None:
    assert is_ip(text) is is_taken
