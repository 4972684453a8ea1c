"""`version-mapping` and `feature-dependencies`, which kafka-storage and kafka-features share (KIP-1022)."""

from __future__ import annotations

import sys

from records.features import levels as features
from records.java.java_forms import integer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


class Terse(Exception):
    """An expected failure: only its text is printed."""


def print_version_mapping(release_version: str | None) -> None:
    """Print the levels of a release; of the latest release for production if none is given. Raises Terse."""
    text = features.metadata_version(features.LATEST_PRODUCTION).name if release_version is None else release_version
    try:
        version = features.find_metadata_version(text, unstable=True)
    except ValueError as error:
        raise Terse(str(error)) from None
    sys.stdout.write(f"metadata.version={version.level} ({text})\n")
    for feature in features.FEATURES:
        sys.stdout.write(f"{feature.name}={feature.default_level(version.level)}\n")


def print_feature_dependencies(given: Sequence[str]) -> None:
    """Print the dependencies of each `name=level`; raises Terse."""
    for text in given:
        name, equals, level_text = text.partition("=")
        if not equals:
            raise Terse(f"Invalid feature format: {text}. Expected format: 'feature=version' (e.g. 'group.version=1')")
        print_dependencies(name.strip(), _level(name.strip(), level_text.strip()))


def _level(name: str, text: str) -> int:
    try:
        return integer(text, 16)
    except ValueError:
        raise Terse(f"Invalid version format: {text} for feature {name}") from None


def print_dependencies(name: str, level: int) -> None:
    """Print the dependencies of a level of a feature; raises Terse."""
    if name == features.METADATA_VERSION:
        sys.stdout.write(f"{name}={level} ({_metadata_version(level)}) has no dependencies.\n")
        return
    feature = next((feature for feature in features.FEATURES if feature.name == name), None)
    if feature is None:
        raise Terse(f"Unknown feature: {name}")
    if level not in feature.levels:
        raise Terse(f"Feature level {level} is not supported for feature {name}")
    needs = feature.needs.get(level, {})
    if not needs:
        sys.stdout.write(f"{name}={level} has no dependencies.\n")
        return
    sys.stdout.write(f"{name}={level} requires:\n")
    for needed, least in needs.items():
        shown = f" ({_metadata_version(least)})" if needed == features.METADATA_VERSION else ""
        sys.stdout.write(f"    {needed}={least}{shown}\n")


def _metadata_version(level: int) -> str:
    try:
        return features.metadata_version(level).name
    except ValueError:
        raise Terse(f"Unknown metadata.version {level}") from None
