"""The controller mutation quota: StrictControllerMutationQuota's, PermissiveControllerMutationQuota's and
ClientQuotaManager's cases. A bucket holds its rate of eleven windows, by default of a second.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from controller.interface.inputs import Principal
from controller.rules import mutation_quotas
from controller.rules.mutation_quotas import bucket_key, rate_of
from controller.state.tables.quotas import entity_of
from records.errors import ApiError, Error
from records.messages.quotas import AlterClientQuotasRequest
from records.messages.topics import CreatePartitionsRequest, CreateTopicsRequest, DeleteTopicsRequest
from tests.controller.rig import Rig

Topic = CreateTopicsRequest.CreatableTopic
Entry = AlterClientQuotasRequest.EntryData
Parts = dict[str, str | None]
ANN = Principal("User", "ann")
WINDOWS = 11
EXCEEDED = Error.THROTTLING_QUOTA_EXCEEDED


def limited(rate: float | None, rig: Rig | None = None, **parts: str | None) -> Rig:
    """A controller with one broker, where an entity (User:ann without parts) has this rate; None takes it away."""
    rig = Rig().lead().brokers(0) if rig is None else rig
    named: Parts = {key.replace("_", "-"): value for key, value in parts.items()} or {"user": "ann"}
    entity = tuple(Entry.EntityData(entity_type=type_, entity_name=name) for type_, name in named.items())
    op = Entry.OpData(key="controller_mutation_rate", value=rate or 0.0, remove=rate is None)
    sent = rig.send(AlterClientQuotasRequest(entries=(Entry(entity=entity, ops=(op,)),), validate_only=False))
    if rig.auto:
        assert rig.replies[sent].entries[0].error_code == 0, rig.replies[sent]
    return rig


def creation(*topics: tuple[str, int], validate_only: bool = False) -> CreateTopicsRequest:
    made = tuple(
        Topic(name=name, num_partitions=count, replication_factor=1, assignments=(), configs=())
        for name, count in topics
    )
    return CreateTopicsRequest(topics=made, timeout_ms=1000, validate_only=validate_only)


def create(rig: Rig, *topics: tuple[str, int], version: int = 7, validate_only: bool = False, **context: Any) -> Any:
    request = creation(*topics, validate_only=validate_only)
    return rig.ask(request, version, **{"principal": ANN, "client_id": "c", **context})


def growth(name: str, count: int, *, validate_only: bool = False) -> CreatePartitionsRequest:
    topic = CreatePartitionsRequest.CreatePartitionsTopic(name=name, count=count, assignments=None)
    return CreatePartitionsRequest(topics=(topic,), timeout_ms=1000, validate_only=validate_only)


def deletion(name: str) -> DeleteTopicsRequest:
    return DeleteTopicsRequest(topics=(DeleteTopicsRequest.DeleteTopicState(name=name),), timeout_ms=1000)


def codes(answer: Any) -> list[int]:
    return [topic.error_code for topic in answer.topics]


def test_a_request_may_overdraw_the_bucket_and_the_next_is_refused_until_it_is_filled_again() -> None:
    rig = limited(2.0)

    first = create(rig, ("a", 22), ("b", 3), ("c", 1))
    rig.now_ms += 1000
    second = create(rig, ("d", 1))
    rig.now_ms += 500
    third = create(rig, ("d", 1))

    assert codes(first) == [0, 0, EXCEEDED]
    assert first.topics[2].error_message is None
    assert first.throttle_time_ms == 1500
    assert (codes(second), second.throttle_time_ms) == ([EXCEEDED], 500)
    assert (codes(third), third.throttle_time_ms) == ([0], 0)
    assert set(rig.state.topic_ids) == {"a", "b", "d"}


@pytest.mark.parametrize("size_s", [1, 3])
def test_a_bucket_holds_the_rate_of_eleven_windows(size_s: int) -> None:
    rig = limited(1.0, Rig(controller_quota_window_size_seconds=size_s).lead().brokers(0))

    full = create(rig, ("a", WINDOWS * size_s), ("b", 1), ("c", 1))

    assert (codes(full), full.throttle_time_ms) == ([0, 0, EXCEEDED], 1000)


def test_a_refused_request_that_is_repeated_at_once_is_refused_again() -> None:
    rig = limited(2.0)
    create(rig, ("a", 25))
    rig.now_ms += 1000

    repeated = [create(rig, ("b", 1)) for _ in range(3)]

    assert [codes(answer) for answer in repeated] == [[EXCEEDED]] * 3
    assert [answer.throttle_time_ms for answer in repeated] == [500] * 3


@pytest.mark.parametrize(("version", "code"), [(5, 0), (6, EXCEEDED)])
def test_a_request_of_an_older_version_is_served_and_gets_a_throttle_time(version: int, code: int) -> None:
    rig = limited(1.0)
    create(rig, ("a", 15))

    answer = create(rig, ("b", 1), version=version)

    assert codes(answer) == [code]
    assert answer.throttle_time_ms == (4000 if code else 5000)


@pytest.mark.parametrize(("version", "code"), [(4, 0), (5, EXCEEDED)])
def test_deleted_partitions_count(version: int, code: int) -> None:
    rig = limited(1.0)
    create(rig, ("a", 5), ("b", 5))
    state = DeleteTopicsRequest.DeleteTopicState
    whole = DeleteTopicsRequest(topics=(state(name="a", topic_id=bytes(16)),), timeout_ms=1000)
    one = DeleteTopicsRequest(topic_names=("b",), timeout_ms=1000)

    first = rig.ask(whole, 6, principal=ANN, client_id="c")
    second = rig.ask(one, version, principal=ANN, client_id="c")

    assert [each.error_code for each in first.responses] == [0]
    assert [(each.name, each.error_code, each.error_message) for each in second.responses] == [("b", code, None)]
    assert second.throttle_time_ms == (4000 if code else 9000)
    assert ("b" in rig.state.topic_ids) is bool(code)


@pytest.mark.parametrize(("version", "code"), [(2, 0), (3, EXCEEDED)])
def test_only_additional_partitions_count(version: int, code: int) -> None:
    rig = limited(1.0)
    create(rig, ("a", 10))

    def grow(count: int, version: int) -> Any:
        return rig.ask(growth("a", count), version, principal=ANN, client_id="c")

    first, second = grow(13, 3), grow(14, version)

    assert ([each.error_code for each in first.results], first.throttle_time_ms) == ([0], 0)
    assert [(each.error_code, each.error_message) for each in second.results] == [(code, None)]
    assert second.throttle_time_ms == (2000 if code else 3000)


def test_a_dry_run_is_charged_and_a_refused_topic_is_not() -> None:
    rig = limited(1.0)

    dry = create(rig, ("a", 12), validate_only=True)
    wrong = create(rig, ("a b", 12))
    next_ = create(rig, ("b", 1))

    assert codes(dry) == [0]
    assert codes(wrong) == [Error.INVALID_TOPIC_EXCEPTION]
    assert (codes(next_), next_.throttle_time_ms) == ([EXCEEDED], 1000)


def test_a_topic_that_the_operators_policy_refuses_is_not_charged() -> None:
    rig = limited(1.0)
    policies = rig.controller.env.policies

    def refuse(_topic: Any) -> None:
        raise ApiError(Error.POLICY_VIOLATION)

    policies.create_topic = refuse
    refused = create(rig, ("a", 12))
    policies.create_topic = None
    next_ = create(rig, ("b", 1))

    assert codes(refused) == [Error.POLICY_VIOLATION]
    assert (codes(next_), next_.throttle_time_ms) == ([Error.NONE], 0)


def test_the_wait_is_counted_from_the_refusal_to_the_answer() -> None:
    rig = limited(1.0)
    create(rig, ("a", 15))
    rig.auto = False

    correlation = rig.send(creation(("b", 1)), 5, principal=ANN, client_id="c")
    rig.now_ms += 300
    rig.commit()

    assert rig.replies[correlation].throttle_time_ms == 4700


def test_other_clients_have_their_own_buckets_and_without_a_quota_none_waits() -> None:
    rig = limited(1.0)
    create(rig, ("a", 15))

    other = create(rig, ("b", 100), principal=Principal("User", "bob"))
    limited(None, rig)
    free = create(rig, ("c", 100))

    assert (codes(other), codes(free)) == ([0], [0])
    assert rig.controller.env.mutation_buckets == {("ann", ""): rig.controller.env.mutation_buckets["ann", ""]}


def test_a_changed_quota_counts_with_the_tokens_that_are_there() -> None:
    rig = limited(1.0)
    create(rig, ("a", 15))

    limited(4.0, rig)
    answer = create(rig, ("b", 1))

    assert (codes(answer), answer.throttle_time_ms) == ([EXCEEDED], 1000)


def test_a_quota_that_is_lost_with_leadership_counts_no_more() -> None:
    rig = limited(1.0)
    rig.auto = False
    limited(100.0, rig)
    assert list(rig.state.quotas.mutation_rates.values()) == [100.0]

    rig.follow()

    assert list(rig.state.quotas.mutation_rates.values()) == [1.0]


def overdrawn(rate: float | None, **settings: Any) -> Rig:
    """A controller with the topic `old`, where the rate of a user that has nothing left is changed, uncommitted."""
    rig = limited(0.1, Rig(**settings).lead().brokers(0))
    rig.create("old", (0,))
    create(rig, ("x", 20), validate_only=True)
    rig.auto = False
    return limited(rate, rig)


def code_of(answer: Any) -> int:
    (result,) = next(found for name in ("topics", "results", "responses") if (found := getattr(answer, name, None)))
    code: int = result.error_code
    return code


@pytest.mark.parametrize(
    "request_", [creation(("new", 1)), growth("old", 2), deletion("old")], ids=lambda each: type(each).__name__
)
def test_a_refusal_waits_for_the_commit_of_the_quota_that_it_rests_on(request_: Any) -> None:
    rig = overdrawn(0.2)

    sent = rig.send(request_, principal=ANN, client_id="c")
    before = sent in rig.replies
    rig.commit()

    assert not before
    assert code_of(rig.replies[sent]) == EXCEEDED


@pytest.mark.parametrize("version", [None, 2])
@pytest.mark.parametrize("rate", [None, 0.2])
@pytest.mark.parametrize(
    "dry", [creation(("new", 1), validate_only=True), growth("old", 2, validate_only=True)],
    ids=lambda each: type(each).__name__,
)  # fmt: skip
def test_the_answer_to_a_dry_run_waits_for_the_commit_of_the_quota_or_of_its_end(
    dry: Any, rate: float | None, version: int | None
) -> None:
    rig = overdrawn(rate)

    sent = rig.send(dry, version, principal=ANN, client_id="c")
    before = sent in rig.replies
    rig.commit()

    assert not before
    assert code_of(rig.replies[sent]) == (EXCEEDED if rate and not version else 0)


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (creation(("old", 1)), Error.TOPIC_ALREADY_EXISTS),
        (growth("old", 1), Error.INVALID_PARTITIONS),
        (deletion("new"), Error.UNKNOWN_TOPIC_OR_PARTITION),
    ],
    ids=lambda each: type(each).__name__,
)
def test_a_refusal_for_which_no_quota_was_looked_at_waits_for_none(request_: Any, code: Error) -> None:
    rig = overdrawn(0.2)

    assert code_of(rig.ask(request_, principal=ANN, client_id="c")) == code


def test_the_answer_to_a_sender_who_has_no_quota_waits_for_none() -> None:
    rig, with_plugin = overdrawn(0.2), overdrawn(0.2, has_static_quotas=True)

    assert codes(create(rig, ("new", 1), validate_only=True, is_own=True)) == [0]
    assert codes(create(with_plugin, ("new", 1), validate_only=True)) == [0]


def test_after_an_hour_of_silence_a_debt_is_forgotten() -> None:
    rig = limited(0.001)
    create(rig, ("a", 100))
    rig.now_ms += 3_600_000
    assert codes(create(rig, ("b", 1))) == [EXCEEDED]

    rig.now_ms += 1

    assert codes(create(rig, ("b", 1))) == [0]


def test_client_ids_without_end_take_no_memory_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutation_quotas, "BUCKETS_MAX", 8)
    rig = limited(1.0, client_id=None)
    create(rig, ("debt", 500), client_id="debtor")

    for number in range(50):
        rig.now_ms += 2000
        create(rig, ("x", 1), client_id=f"{number}" * 10_000, validate_only=True)

    buckets = rig.controller.env.mutation_buckets
    assert len(buckets) <= 8
    assert ("", "debtor") in buckets
    assert max(len(client_id) for _, client_id in buckets) <= 256

    for number in range(50):
        create(rig, ("x", 20), client_id=f"d-{number}", validate_only=True)

    assert len(buckets) == 8


def rates(*entities: Parts) -> dict[Any, float]:
    return {entity_of(parts): float(number) for number, parts in enumerate(entities)}


BOTH: Parts = {"user": "u", "client-id": "c"}
EVERY: list[Parts] = [
    BOTH,
    {"user": "u", "client-id": None},
    {"user": "u"},
    {"user": None, "client-id": "c"},
    {"user": None, "client-id": None},
    {"user": None},
    {"client-id": "c"},
    {"client-id": None},
]


@pytest.mark.parametrize("first", range(len(EVERY)))
def test_the_quota_nearest_to_user_and_client_counts(first: int) -> None:
    given = rates(*EVERY[first:])

    found = rate_of(given, *bucket_key(given, "u", "c"))

    assert found == 0.0


@pytest.mark.parametrize(
    ("entities", "bucket"),
    [
        ([{"user": "x"}], ("u", "")),
        ([{"client-id": "x"}], ("", "c")),
        ([{"user": "x", "client-id": "y"}], ("u", "c")),
        ([{"user": "u"}, {"client-id": "c"}], ("u", "")),
        ([{"user": "x"}, {"client-id": "c"}], ("", "c")),
        ([{"user": "x"}, {"client-id": "y"}], ("", "c")),
        ([{"user": None}, {"client-id": "c"}], ("u", "")),
        ([{"user": "u"}, BOTH], ("u", "c")),
        ([{"user": "u"}, {"user": "x", "client-id": "c"}], ("u", "")),
        ([{"user": None}, {"user": "u", "client-id": None}], ("u", "c")),
        ([{"user": None}, {"user": None, "client-id": "c"}], ("u", "c")),
    ],
)
def test_senders_share_a_bucket_as_the_quotas_distinguish_them(entities: list[Parts], bucket: tuple[str, str]) -> None:
    assert bucket_key(rates(*entities), "u", "c") == bucket


def test_who_names_no_client_has_no_quota_of_clients() -> None:
    clients: list[list[Parts]] = [[{"client-id": None}], [{"user": "u", "client-id": None}]]
    for entities, client_id in product(clients, (None, "")):
        given = rates(*entities)
        assert rate_of(given, *bucket_key(given, "u", client_id)) is None
    assert rate_of(rates({"user": "u"}), *bucket_key(rates({"user": "u"}), "u", None)) == 0.0


def test_requests_of_the_node_itself_are_not_charged() -> None:
    rig = limited(1.0)

    answers = [create(rig, (name, 20), is_own=True) for name in "ab"]

    assert [codes(answer) for answer in answers] == [[0], [0]]


def test_beside_strimzis_quotas_plugin_no_rate_applies() -> None:
    rig = limited(2.0, Rig(has_static_quotas=True).lead().brokers(0))

    answers = [create(rig, (name, 50)) for name in ("a", "b")]

    assert [(codes(answer), answer.throttle_time_ms) for answer in answers] == [([0], 0)] * 2


@pytest.mark.parametrize("rate", [5e-324, 1e-306, 1e-300])
@pytest.mark.parametrize("version", [5, 7])
def test_a_rate_near_0_stops_no_controller(rate: float, version: int) -> None:
    rig = limited(rate)

    answers = [create(rig, (name, 1), version=version) for name in ("a", "b", "c")]

    assert [codes(answer) for answer in answers] == [[0], *[[0 if version == 5 else EXCEEDED]] * 2]
