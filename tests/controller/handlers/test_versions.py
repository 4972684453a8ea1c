"""ApiVersions: the announced APIs and features, and the epoch of the features."""

from __future__ import annotations

from typing import Any

import pytest

from controller.core.apis import APIS, SERVED_VERSIONS, api_versions
from controller.interface.results import NOTHING_PENDING
from controller.state.state import State
from raft.network.requests import unsupported_api_versions
from records.codec import encode
from records.errors import Error
from records.features.levels import KAFKA_4_3
from records.messages.versions import ApiVersionsRequest, ApiVersionsResponse
from records.metadata.transactions import BeginTransactionRecord
from records.schema import replace
from tests.controller.handlers.cluster_of_configs import context, env, level, replay, state
from tests.controller.rig import Rig

ASKED = ApiVersionsRequest(client_software_name="apache-kafka-java", client_software_version="4.3.1")

# The versions that the controllers of Kafka 4.4.0 announce.
STOCK = {
    1: (4, 18), 17: (0, 1), 18: (0, 5), 19: (2, 7), 20: (1, 6), 29: (1, 3), 30: (1, 3), 31: (1, 3), 32: (1, 4),
    33: (0, 2),
    36: (0, 2), 37: (0, 3), 38: (1, 3), 39: (1, 2), 40: (1, 2), 41: (1, 3), 43: (0, 2), 44: (0, 1), 45: (0, 1),
    46: (0, 0),
    49: (0, 1), 50: (0, 0), 51: (0, 0), 52: (0, 2), 53: (0, 1), 54: (0, 1), 55: (0, 2), 56: (2, 3), 57: (0, 2),
    58: (0, 0), 59: (0, 1), 60: (0, 2), 62: (0, 4), 63: (0, 2), 64: (0, 0), 67: (0, 0), 70: (0, 0), 73: (0, 0),
    80: (0, 1), 81: (0, 0), 82: (0, 0), 94: (0, 0),
}  # fmt: skip


def answered(found: State, version: int = 4, **changes: Any) -> Any:
    return api_versions(found, context(version), ASKED, env(None, **changes))


def levels(response: Any) -> dict[str, tuple[int, int]]:
    return {key.name: (key.min_version_level, key.max_version_level) for key in response.finalized_features}


def test_the_announced_versions_are_those_of_stock() -> None:
    announced = {
        key.api_key: (key.min_version, key.max_version) for key in answered(state()).response.api_keys
    }  # fmt: skip

    assert announced == STOCK
    assert set(announced) == set(APIS)


def test_a_node_of_4_3_announces_the_apis_and_levels_of_4_3() -> None:
    request = ApiVersionsRequest(client_software_name="kafka-java", client_software_version="4.3.1")

    response = Rig(release=KAFKA_4_3).lead().ask(request, 4)

    announced = {key.api_key: (key.min_version, key.max_version) for key in response.api_keys}
    assert announced == {key: versions for key, versions in STOCK.items() if key != 94} | {18: (0, 4)}
    levels_ = {key.name: (key.min_version, key.max_version) for key in response.supported_features}
    assert (levels_["metadata.version"], levels_["share.version"]) == ((7, 30), (0, 1))


def test_supported_feature_levels_are_announced() -> None:
    response = answered(state()).response

    assert {key.name: (key.min_version, key.max_version) for key in response.supported_features} == {
        "metadata.version": (7, 33),
        "kraft.version": (0, 1),
        "transaction.version": (0, 2),
        "group.version": (0, 1),
        "eligible.leader.replicas.version": (0, 1),
        "share.version": (0, 2),
        "streams.version": (0, 1),
    }


@pytest.mark.parametrize(
    ("key", "level"), [("unstable.feature.versions.enable", 33), ("unstable.api.versions.enable", 34)]
)
def test_unstable_levels_are_announced_where_versions_of_apis_are(key: str, level: int) -> None:
    response = api_versions(state(), context(4), ASKED, env({key: "true"})).response

    assert {found.name: found.max_version for found in response.supported_features}["metadata.version"] == level


def test_older_clients_do_not_get_features_with_level_0() -> None:
    response = answered(state(), version=3).response

    assert [key.name for key in response.supported_features] == ["metadata.version"]


def test_finalized_levels_are_announced_with_their_offset() -> None:
    found = state(level("group.version", 1), level("share.version", 1), level("share.version", 0))

    response = answered(found, kraft_version=1).response

    assert levels(response) == {"metadata.version": (30, 30), "group.version": (1, 1), "kraft.version": (1, 1)}
    assert response.finalized_features_epoch == found.stable_end_offset - 1


def test_the_levels_within_an_open_transaction_are_not_announced() -> None:
    found = state(level("group.version", 1))
    before = found.end_offset
    replay(found, BeginTransactionRecord(), level("share.version", 1))

    response = answered(found).response

    assert levels(response) == {"metadata.version": (30, 30), "group.version": (1, 1)}
    assert response.finalized_features_epoch == before - 1


def test_an_empty_log_announces_no_finalized_level() -> None:
    response = answered(State(), kraft_version=1).response

    assert levels(response) == {}
    assert response.finalized_features_epoch == -1


def test_an_empty_log_of_4_3_announces_the_least_level() -> None:
    response = answered(State(), release=KAFKA_4_3).response

    assert levels(response) == {"metadata.version": (7, 7)}
    assert response.finalized_features_epoch == -1


@pytest.mark.parametrize(
    ("cluster", "node", "error"),
    [
        (None, -1, Error.NONE),
        # A controller does not compare them with its own.
        ("another", 77, Error.NONE),
        (None, 1, Error.INVALID_REQUEST),
        ("another", -1, Error.INVALID_REQUEST),
    ],
)
def test_a_client_names_cluster_and_node_or_neither(cluster: str | None, node: int, error: Error) -> None:
    request = replace(ASKED, cluster_id=cluster, node_id=node)

    assert api_versions(state(), context(5), request, env()).response.error_code == error
    assert api_versions(state(), context(4), request, env()).response.error_code == Error.NONE


def test_uncommitted_levels_are_not_announced_and_not_waited_for() -> None:
    found = state(level("group.version", 1))
    before = answered(found).response
    replay(
        found, level("metadata.version", 30), level("group.version", 0), level("share.version", 1),
        level("share.version", 2), commit=False,
    )  # fmt: skip

    result = answered(found)

    assert result.response == before
    assert (result.rests_on, result.confirm) == (NOTHING_PENDING, False)


@pytest.mark.parametrize("name", ["", "-a", "a b", "a.", "ü", "a\n"])
def test_the_software_name_of_a_client_is_checked(name: str) -> None:
    request = ApiVersionsRequest(client_software_name=name, client_software_version="1")

    refused = api_versions(state(), context(3), request, env())

    assert refused.response == ApiVersionsResponse(error_code=Error.INVALID_REQUEST, api_keys=())
    assert (refused.rests_on, refused.confirm) == (NOTHING_PENDING, False)
    assert api_versions(state(), context(2), request, env()).response.error_code == Error.NONE


def test_a_version_that_is_not_served_is_answered_in_version_0() -> None:
    answer = unsupported_api_versions(SERVED_VERSIONS)

    # The code 35, one API, 18, versions 0 to 5.
    assert encode(answer, 0) == bytes.fromhex("0023 00000001 0012 0000 0005".replace(" ", ""))
