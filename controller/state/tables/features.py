"""Finalized feature levels, metadata.version among them (KIP-584, KIP-778)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from controller.state.state import State
    from records.metadata.configs import FeatureLevelRecord

METADATA_VERSION = "metadata.version"
KRAFT_VERSION = "kraft.version"
ELR_VERSION = "eligible.leader.replicas.version"


def replay_feature_level(state: State, record: FeatureLevelRecord, _offset: int) -> None:
    """Set a level; 0 removes the feature. Raises ValueError for a level that this software does not support."""
    name, level = record.name, record.feature_level
    # kraft.version has its own control record. Early releases wrote it here by mistake; the next snapshot drops it.
    if name == KRAFT_VERSION:
        return
    if state.supported_features is not None:
        low, high = state.supported_features.get(name, (0, 0))
        if not low <= level <= high:
            raise ValueError(f"{name} is to be {level}, this controller supports {low} to {high}")
    if level or name == METADATA_VERSION:
        state.features.put(name, level)
    elif name in state.features:
        state.features.remove(name)
