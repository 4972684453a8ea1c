"""The tables of features, as Kafka 4.3.1 and 4.4.0 print and check them."""

from __future__ import annotations

import pytest

from records.features.levels import (
    CURRENT,
    FEATURES,
    KAFKA_4_3,
    KAFKA_4_4,
    LATEST_PRODUCTION,
    METADATA_VERSIONS,
    MINIMUM,
    RELEASES,
    Release,
    changes_metadata_between,
    check_needs,
    find_feature,
    find_metadata_version,
    known_metadata_version,
    metadata_version,
    range_text,
    supported_features,
)

# From what kafka-features of 4.3.1 says to an unknown version.
NAMES = (
    "3.3-IV3, 3.4-IV0, 3.5-IV0, 3.5-IV1, 3.5-IV2, 3.6-IV0, 3.6-IV1, 3.6-IV2, 3.7-IV0, 3.7-IV1, 3.7-IV2, 3.7-IV3, "
    "3.7-IV4, 3.8-IV0, 3.9-IV0, 4.0-IV0, 4.0-IV1, 4.0-IV2, 4.0-IV3, 4.1-IV0, 4.1-IV1, 4.2-IV0, 4.2-IV1, 4.3-IV0, "
    "4.4-IV0"
)


def test_levels_are_consecutive_and_have_the_names_that_stock_lists() -> None:
    assert [version.level for version in METADATA_VERSIONS] == list(range(MINIMUM, 35))
    assert ", ".join(version.name for version in METADATA_VERSIONS if version.level <= 31) == NAMES
    # What stock 4.4.0 lists behind them.
    assert [version.name for version in METADATA_VERSIONS if version.level > 31] == ["4.4-IV1", "4.4-IV2", "4.5-IV0"]


@pytest.mark.parametrize(
    ("text", "level"),
    [("4.3-IV0", 30), ("4.3", 30), ("4.3.1", 30), ("3.7", 19), ("3.7-IV2", 17), ("4.0", 25), ("3.3", 7)],
)
def test_a_level_can_be_named_by_its_release(text: str, level: int) -> None:
    assert find_metadata_version(text).level == level


@pytest.mark.parametrize("text", ["2.0", "4.4-IV0", "4.4", "", "4.3.", "4.3-IV1", "30"])
def test_an_unknown_name_is_refused_with_the_known_names(text: str) -> None:
    with pytest.raises(ValueError, match="Unknown metadata") as error:
        find_metadata_version(text, release=KAFKA_4_3)

    known = NAMES.removesuffix(", 4.4-IV0")
    assert str(error.value) == f"Unknown metadata.version '{text}'. Supported metadata.version are: {known}"


def test_a_level_that_is_not_for_production_needs_its_full_name() -> None:
    assert find_metadata_version("4.4-IV0", unstable=True, release=KAFKA_4_3).level == 31
    with pytest.raises(ValueError, match=f"are: {NAMES}$"):
        find_metadata_version("4.4", unstable=True, release=KAFKA_4_3)


def test_an_unknown_level_is_refused() -> None:
    assert metadata_version(17).name == "3.7-IV2"
    with pytest.raises(ValueError, match=r"^No MetadataVersion with feature level 6. Valid .* from 7 to 31\.$"):
        metadata_version(6, KAFKA_4_3)


def test_a_release_sets_the_levels_of_the_other_features() -> None:
    levels = {
        name: [feature.default_level(find_metadata_version(name).level) for feature in FEATURES]
        for name in ("3.8", "3.9", "4.0", "4.1", "4.2", "4.3", "4.4")
    }

    # kraft, transaction, group, eligible.leader.replicas, share, streams
    assert levels == {
        "3.8": [0, 0, 0, 0, 0, 0],
        "3.9": [1, 0, 0, 0, 0, 0],
        "4.0": [1, 2, 1, 0, 0, 0],
        "4.1": [1, 2, 1, 1, 0, 0],
        "4.2": [1, 2, 1, 1, 1, 1],
        "4.3": [1, 2, 1, 1, 1, 1],
        "4.4": [1, 2, 1, 1, 2, 1],
    }


@pytest.mark.parametrize("release", [KAFKA_4_3, KAFKA_4_4])
def test_no_default_level_depends_on_a_level_its_release_lacks(release: Release) -> None:
    for version in METADATA_VERSIONS:
        levels = {"metadata.version": version.level}
        levels |= {feature.name: feature.default_level(version.level) for feature in release.features}
        for feature in release.features:
            check_needs(feature.name, levels[feature.name], levels, release)


def test_a_level_is_refused_without_its_dependencies() -> None:
    with pytest.raises(ValueError, match=r"^eligible\.leader\.replicas\.version could not be set to 1 because it depends on metadata\.version level 23$"):  # fmt: skip  # noqa: E501 - one pattern
        check_needs("eligible.leader.replicas.version", 1, {"metadata.version": 22})
    with pytest.raises(ValueError, match=r"because it depends on metadata\.version=7 \(3\.3-IV3\)$"):
        check_needs("group.version", 1, {})
    with pytest.raises(ValueError, match=r"^No feature:group\.version with feature level 2$"):
        check_needs("group.version", 2, {"metadata.version": 30})
    with pytest.raises(ValueError, match=r"^Feature foo not found\.$"):
        find_feature("foo")


def test_a_downgrade_loses_metadata_if_it_crosses_a_level_with_changed_metadata() -> None:
    assert not changes_metadata_between(29, 23)
    assert changes_metadata_between(30, 29)
    assert changes_metadata_between(29, 22)
    assert not changes_metadata_between(22, 17)
    assert not changes_metadata_between(30, 30)
    assert not changes_metadata_between(31, 30)
    assert changes_metadata_between(32, 31)
    assert changes_metadata_between(33, 32)
    assert not changes_metadata_between(34, 33)


def test_the_supported_levels_are_those_for_production() -> None:
    assert supported_features() == {
        "metadata.version": (7, LATEST_PRODUCTION),
        "kraft.version": (0, 1),
        "transaction.version": (0, 2),
        "group.version": (0, 1),
        "eligible.leader.replicas.version": (0, 1),
        "share.version": (0, 2),
        "streams.version": (0, 1),
    }
    assert (LATEST_PRODUCTION, supported_features(unstable=True)["metadata.version"]) == (33, (7, 34))


def test_a_release_supports_what_stock_supports() -> None:
    found = supported_features(release=KAFKA_4_4)
    of_4_3 = supported_features(release=KAFKA_4_3)

    assert found == of_4_3 | {"metadata.version": (7, 33), "share.version": (0, 2)}
    assert of_4_3["metadata.version"] == (7, 30)
    assert supported_features(unstable=True, release=KAFKA_4_4) == found | {"metadata.version": (7, 34)}
    assert supported_features(unstable=True, release=KAFKA_4_3) == of_4_3 | {"metadata.version": (7, 31)}
    assert RELEASES == {"4.3": KAFKA_4_3, "4.4": KAFKA_4_4}
    assert CURRENT is KAFKA_4_4


@pytest.mark.parametrize(
    ("text", "unstable", "level"),
    [("4.4", False, 33), ("4.4-IV0", False, 31), ("4.4-IV2", False, 33), ("4.5-IV0", True, 34), ("4.3", True, 30)],
)
def test_4_4_knows_the_names_of_4_4_0(text: str, unstable: bool, level: int) -> None:
    assert find_metadata_version(text, unstable, KAFKA_4_4).level == level


def test_4_4_refuses_what_4_4_0_refuses() -> None:
    with pytest.raises(ValueError, match=r"Unknown metadata.version '4.5-IV0'. Supported .*, 4.4-IV1, 4.4-IV2$"):
        find_metadata_version("4.5-IV0", release=KAFKA_4_4)
    with pytest.raises(ValueError, match=r"^No MetadataVersion with feature level 40\. Valid .* are from 7 to 34\.$"):
        metadata_version(40, KAFKA_4_4)


def test_a_new_cluster_of_4_4_has_share_version_2_from_31_on() -> None:
    levels = [find_feature("share.version", KAFKA_4_4).default_level(level) for level in (27, 28, 30, 31, 33)]

    assert levels == [0, 1, 1, 2, 2]
    check_needs("share.version", 2, {"metadata.version": 7}, KAFKA_4_4)
    with pytest.raises(ValueError, match=r"^No feature:share\.version with feature level 2$"):
        check_needs("share.version", 2, {"metadata.version": 31}, KAFKA_4_3)


def test_metadata_is_read_at_the_levels_of_every_release() -> None:
    assert [known_metadata_version(level).name for level in (7, 31, 33)] == ["3.3-IV3", "4.4-IV0", "4.4-IV2"]
    with pytest.raises(ValueError, match=r"from 7 to 34\.$"):
        known_metadata_version(40)


@pytest.mark.parametrize(("levels", "text"), [((0, 1), "0-1"), ((3, 3), "3"), ((0, 32767), "0+")])
def test_a_range_is_printed_as_stock_prints_it(levels: tuple[int, int], text: str) -> None:
    assert range_text(levels) == text
