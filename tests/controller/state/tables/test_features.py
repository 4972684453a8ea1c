from __future__ import annotations

import pytest

from controller.state.state import ReplayError
from records.metadata.configs import FeatureLevelRecord
from tests.controller.state.tables.replaying import state_of


def level(name, feature_level):
    return FeatureLevelRecord(name=name, feature_level=feature_level)


def test_level_0_removes_a_feature():
    state = state_of(level("metadata.version", 30), level("group.version", 1), level("group.version", 0))

    assert state.features == {"metadata.version": 30}


def test_level_0_of_metadata_version_is_kept():
    state = state_of(level("metadata.version", 30), level("metadata.version", 0))

    assert state.features == {"metadata.version": 0}


def test_a_level_of_kraft_version_is_ignored():
    state = state_of(level("kraft.version", 1), supported_features={})

    assert state.features == {}


@pytest.mark.parametrize(
    ("name", "feature_level", "supported"),
    [("metadata.version", 31, "7 to 30"), ("metadata.version", 6, "7 to 30"), ("unheard.of", 1, "0 to 0")],
)
def test_an_unsupported_level_stops_the_controller(name, feature_level, supported):
    with pytest.raises(ReplayError, match=f"{name} is to be {feature_level}, this controller supports {supported}"):
        state_of(level(name, feature_level), supported_features={"metadata.version": (7, 30)})


def test_every_controller_supports_level_0():
    assert state_of(level("unheard.of", 0), supported_features={}).features == {}
