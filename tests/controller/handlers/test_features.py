"""UpdateFeatures: which changes are allowed, and the error texts for the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from controller.handlers.features import SAFE_DOWNGRADE, UNSAFE_DOWNGRADE, UPGRADE, update_features
from records.errors import Error
from records.messages.features import UpdateFeaturesRequest
from records.metadata.transactions import NoOpRecord
from tests.controller.handlers.cluster_of_configs import (
    BROKER,
    broker,
    config,
    context,
    controller,
    env,
    level,
    replay,
    state,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from controller.interface.env import Env
    from controller.interface.results import Result
    from controller.state.state import State

ALL = (
    ("metadata.version", 7, 31),
    ("kraft.version", 0, 1),
    ("transaction.version", 0, 2),
    ("group.version", 0, 1),
    ("eligible.leader.replicas.version", 0, 1),
    ("share.version", 0, 1),
    ("streams.version", 0, 1),
)
NOT_ASKED_FOR = (
    "Can't downgrade the version of this feature without setting the upgrade type to either safe or unsafe downgrade."
)
FAILED = "The update failed for all features since the following feature had an error: "


def update(
    found: State,
    *updates: tuple[str, int] | tuple[str, int, int],
    at: Env | None = None,
    version: int = 2,
    validate_only: bool = False,
) -> Result:
    """updates: feature, level, and type of upgrade where it is not UPGRADE."""
    keys = tuple(
        UpdateFeaturesRequest.FeatureUpdateKey(
            feature=change[0], max_version_level=change[1], upgrade_type=change[2] if len(change) > 2 else UPGRADE
        )
        for change in updates
    )
    request = UpdateFeaturesRequest(feature_updates=keys, validate_only=validate_only)
    return update_features(found, context(version), request, at or env())


def records(result: Result) -> list[Any]:
    assert result.response.error_code == Error.NONE, result.response.error_message
    rows: Sequence[Any] = result.records
    return [record for record, _ in rows]


def refusal(result: Result) -> str:
    """The error text for the one feature that makes the request fail."""
    assert result.response.error_code == Error.INVALID_UPDATE_VERSION
    assert not result.records
    text: str = result.response.error_message
    assert text.startswith(FAILED)
    return text.removeprefix(FAILED)


def test_levels_are_written_in_the_order_of_kafkas_map() -> None:
    found = state(level("share.version", 1), metadata_version=29)

    result = update(found, ("metadata.version", 30), ("group.version", 1), ("share.version", 0, SAFE_DOWNGRADE))

    assert records(result) == [level("group.version", 1), level("metadata.version", 30), level("share.version", 0)]
    assert result.response.results == ()


def test_up_to_version_1_the_response_has_each_feature() -> None:
    result = update(state(), ("group.version", 1), version=1)

    (named,) = result.response.results
    assert (named.feature, named.error_code, named.error_message) == ("group.version", Error.NONE, "NONE")


def test_one_refused_feature_refuses_all() -> None:
    result = update(state(), ("group.version", 1), ("foo", 1))

    assert refusal(result) == (
        "Invalid update version 1 for feature foo. Local controller 1 does not support this feature."
    )


def test_a_dry_run_writes_nothing() -> None:
    assert records(update(state(), ("group.version", 1), validate_only=True)) == []


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (("group.version", 1, 0), "The controller does not support the given upgrade type."),
        (("group.version", 1, 7), "The controller does not support the given upgrade type."),
        (("group.version", -1), "A feature version cannot be less than 0."),
        (("group.version", 2), "Local controller 1 only supports versions 0-1"),
        (("metadata.version", 6, UNSAFE_DOWNGRADE), "Local controller 1 only supports versions 7-33"),
        (("metadata.version", 34), "Local controller 1 only supports versions 7-33"),
        (
            ("transaction.version", 1),
            NOT_ASKED_FOR,
        ),
        (
            ("metadata.version", 29),
            NOT_ASKED_FOR,
        ),
        (("group.version", 1, SAFE_DOWNGRADE), "Can't downgrade to a newer version."),
        (("group.version", 1, UNSAFE_DOWNGRADE), "Can't downgrade to a newer version."),
    ],
)
def test_the_error_says_why_a_change_is_refused(change: tuple[str, int, int], text: str) -> None:
    found = state(level("transaction.version", 2))

    said = refusal(update(found, change))

    assert said == f"Invalid update version {change[1]} for feature {change[0]}. {text}"


def test_a_downgrade_of_metadata_version_may_lose_nothing() -> None:
    # As kafka-features of 4.3.1 printed it.
    assert refusal(update(state(), ("metadata.version", 27, SAFE_DOWNGRADE))) == (
        "Unsupported metadata.version downgrade from 30 to 27. Refusing to perform the requested downgrade because it "
        "might delete metadata information."
    )
    assert refusal(update(state(), ("metadata.version", 27, UNSAFE_DOWNGRADE))) == (
        "Unsupported metadata.version downgrade from 30 to 27. Unsafe metadata downgrade is not supported in this "
        "version."
    )
    found = state(metadata_version=27)
    assert records(update(found, ("metadata.version", 25, SAFE_DOWNGRADE))) == [level("metadata.version", 25)]
    assert records(update(found, ("metadata.version", 25, UNSAFE_DOWNGRADE))) == [level("metadata.version", 25)]


def test_the_same_level_is_written_again() -> None:
    assert records(update(state(), ("metadata.version", 30))) == [level("metadata.version", 30)]


def test_every_broker_and_controller_must_support_a_level() -> None:
    old_broker = broker(5, ("group.version", 0, 1), ("transaction.version", 0, 1))
    old_controller = controller(2, ("group.version", 0, 0))
    three = env({"controller.quorum.voters": "1@127.0.0.1:9093,2@h:1,3@h:2"})

    assert refusal(update(state(old_broker), ("transaction.version", 2))) == (
        "Invalid update version 2 for feature transaction.version. Broker 5 only supports versions 0-1"
    )
    assert refusal(update(state(old_broker), ("share.version", 1))) == (
        "Invalid update version 1 for feature share.version. Broker 5 does not support this feature."
    )
    assert refusal(update(state(old_controller), ("group.version", 1))) == (
        "Invalid update version 1 for feature group.version. Controller 2 does not support this feature."
    )
    assert refusal(update(state(controller(2, *ALL)), ("group.version", 1), at=three)) == (
        "Invalid update version 1 for feature group.version. controller 3 has not registered, and may not support this "
        "feature"
    )
    both = state(broker(5, *ALL), controller(2, *ALL), controller(3, *ALL))
    assert records(update(both, ("group.version", 1), at=three)) == [level("group.version", 1)]


def test_controllers_are_not_checked_below_the_version_in_which_they_register() -> None:
    found = state(metadata_version=14)
    three = env({"controller.quorum.voters": "1@127.0.0.1:9093,2@h:1,3@h:2"})

    assert records(update(found, ("metadata.version", 15), at=three)) == [level("metadata.version", 15)]


def test_controllers_are_checked_from_the_version_on_in_which_they_register() -> None:
    three = env({"controller.quorum.voters": "1@127.0.0.1:9093,2@h:1,3@h:2"})

    assert refusal(update(state(metadata_version=15), ("metadata.version", 16), at=three)) == (
        "Invalid update version 16 for feature metadata.version. controller 2 has not registered, and may not support "
        "this feature"
    )


def test_elr_requires_a_metadata_version_with_its_records() -> None:
    assert refusal(update(state(metadata_version=22), ("eligible.leader.replicas.version", 1))) == (
        "Invalid update version 1 for feature eligible.leader.replicas.version. eligible.leader.replicas.version could "
        "not be set to 1 because it depends on metadata.version level 23"
    )
    # What is asked for with it counts.
    both = update(state(metadata_version=22), ("eligible.leader.replicas.version", 1), ("metadata.version", 23))
    assert len(records(both)) == 3


def test_with_eligible_replicas_min_insync_replicas_becomes_one_for_all_nodes() -> None:
    found = state(
        config(BROKER, "10", "min.insync.replicas", "3"),
        config(BROKER, "9", "min.insync.replicas", "3"),
        config(BROKER, "11", "num.io.threads", "3"),
    )
    two = env({"min.insync.replicas": "2"})
    target = ("eligible.leader.replicas.version", 1)

    first = update(found, target, at=two)
    replay(found, *records(first))
    again = update(found, target, at=two)

    assert records(first) == [
        config(BROKER, "", "min.insync.replicas", "2"),
        config(BROKER, "9", "min.insync.replicas", None),
        config(BROKER, "10", "min.insync.replicas", None),
        level("eligible.leader.replicas.version", 1),
    ]
    assert records(again) == [level("eligible.leader.replicas.version", 1)]


def test_with_eligible_replicas_a_value_for_all_nodes_stays_and_those_of_single_ones_are_removed() -> None:
    found = state(
        config(BROKER, "", "min.insync.replicas", "3"), config(BROKER, "9", "min.insync.replicas", "1")
    )  # fmt: skip

    assert records(update(found, ("eligible.leader.replicas.version", 1))) == [
        config(BROKER, "9", "min.insync.replicas", None),
        level("eligible.leader.replicas.version", 1),
    ]


def test_kraft_version_cannot_be_upgraded() -> None:
    assert refusal(update(state(), ("kraft.version", 1))) == (
        "Invalid upgrade of kraft.version to KRAFT_VERSION_1 because not all of the voters support it"
    )
    assert refusal(update(state(), ("kraft.version", 0, SAFE_DOWNGRADE), at=env(kraft_version=1))) == (
        "Invalid update version 0 for feature kraft.version. Can't downgrade the version of this feature."
    )
    assert records(update(state(), ("kraft.version", 1), at=env(kraft_version=1))) == [NoOpRecord()]
    assert records(update(state(), ("kraft.version", 0, SAFE_DOWNGRADE))) == []


def test_kraft_version_is_upgraded_where_all_voters_have_said_that_they_support_it() -> None:
    ready = env(epoch=5, kraft_version_support=(5, 1))

    upgraded = update(state(), ("kraft.version", 1), at=ready)
    again = update(state(), ("kraft.version", 1), at=env(epoch=5, kraft_version=1))
    tried = update(state(), ("kraft.version", 1), at=ready, validate_only=True)

    assert (upgraded.kraft_version, records(upgraded)) == (1, [NoOpRecord()])
    assert (again.kraft_version, tried.kraft_version) == (None, None)


def test_what_voters_reported_to_an_earlier_leader_does_not_count() -> None:
    assert refusal(update(state(), ("kraft.version", 1), at=env(epoch=5, kraft_version_support=(4, 1))))


def test_levels_not_for_production_may_be_allowed() -> None:
    unstable = env({"unstable.feature.versions.enable": "true"})

    assert records(update(state(), ("metadata.version", 31), at=unstable)) == [level("metadata.version", 31)]


def test_the_own_registration_of_the_active_controller_may_be_of_an_earlier_release() -> None:
    found = state(controller(1, ("group.version", 0, 0)), controller(2, *ALL))

    assert records(update(found, ("group.version", 1))) == [level("group.version", 1)]


@pytest.mark.parametrize("node", [broker(5), controller(5)])
def test_a_refusal_waits_for_the_nodes_and_levels_in_its_text(node: Any) -> None:
    found = state()
    replay(found, node, commit=False)

    refused = update(found, ("group.version", 1))

    assert refused.response.error_code == Error.INVALID_UPDATE_VERSION
    assert refused.rests_on == found.end_offset - 1
