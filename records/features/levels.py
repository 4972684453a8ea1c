"""Features of a cluster: the levels of each feature, their dependencies, and the defaults of each release.

A node is that of the newest release, Kafka 4.4.0 (KIP-584, KIP-778, KIP-1022); with `kraft.release=4.3` it is that of
4.3.1. What differs between two releases of Kafka is a field of `Release`. Only plain values: tools import them too.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

METADATA_VERSION = "metadata.version"
KRAFT_VERSION = "kraft.version"
TRANSACTION_VERSION = "transaction.version"
GROUP_VERSION = "group.version"
ELR_VERSION = "eligible.leader.replicas.version"
SHARE_VERSION = "share.version"
STREAMS_VERSION = "streams.version"

Range = tuple[int, int]
DISABLED: Range = (0, 0)


class MetadataVersion:
    """One level of metadata.version. changes_metadata: a downgrade across it would lose data of records."""

    __slots__ = ("changes_metadata", "level", "release", "revision")

    def __init__(self, level: int, release: str, revision: str, changes_metadata: bool) -> None:
        self.level = level
        self.release = release
        self.revision = revision
        self.changes_metadata = changes_metadata

    @property
    def name(self) -> str:
        return f"{self.release}-{self.revision}"

    def __repr__(self) -> str:
        return f"MetadataVersion({self.level}, {self.name})"


# fmt: off
METADATA_VERSIONS: tuple[MetadataVersion, ...] = (
    MetadataVersion(7, "3.3", "IV3", True),    # InControlledShutdown of brokers (KIP-841)
    MetadataVersion(8, "3.4", "IV0", True),    # migration from ZooKeeper (KIP-866)
    MetadataVersion(9, "3.5", "IV0", False),   # tiered storage (KIP-405)
    MetadataVersion(10, "3.5", "IV1", False),  # replica epoch in Fetch (KIP-903)
    MetadataVersion(11, "3.5", "IV2", True),   # SCRAM credentials
    MetadataVersion(12, "3.6", "IV0", False),  # no leader epoch bump when the ISR shrinks
    MetadataVersion(13, "3.6", "IV1", True),   # metadata transactions (KIP-868)
    MetadataVersion(14, "3.6", "IV2", True),   # delegation tokens
    MetadataVersion(15, "3.7", "IV0", True),   # registration of controllers (KIP-919)
    MetadataVersion(16, "3.7", "IV1", False),  # nothing
    MetadataVersion(17, "3.7", "IV2", True),   # directories of replicas (KIP-858)
    MetadataVersion(18, "3.7", "IV3", False),  # nothing
    MetadataVersion(19, "3.7", "IV4", False),  # Fetch 16 (KIP-951)
    MetadataVersion(20, "3.8", "IV0", False),  # nothing
    MetadataVersion(21, "3.9", "IV0", False),  # dynamic voters may be (KIP-853)
    MetadataVersion(22, "4.0", "IV0", False),  # group.version 1 (KIP-848)
    MetadataVersion(23, "4.0", "IV1", True),   # records of eligible leader replicas (KIP-966)
    MetadataVersion(24, "4.0", "IV2", False),  # transaction.version 1 and 2 (KIP-890)
    MetadataVersion(25, "4.0", "IV3", False),  # ListOffsets 10 (KIP-1075)
    MetadataVersion(26, "4.1", "IV0", False),  # eligible.leader.replicas.version 1 in new clusters
    MetadataVersion(27, "4.1", "IV1", False),  # Fetch 18 (KIP-1166)
    MetadataVersion(28, "4.2", "IV0", False),  # share.version 1 (KIP-932)
    MetadataVersion(29, "4.2", "IV1", False),  # streams.version 1 (KIP-1071)
    MetadataVersion(30, "4.3", "IV0", True),   # cordoned directories (KIP-1066)
    # 4.3 knows it, but not for production: asks for unstable.feature.versions.enable.
    MetadataVersion(31, "4.4", "IV0", False),  # share.version 2 (KIP-1191)
    # Not in 4.3.
    MetadataVersion(32, "4.4", "IV1", True),   # hosts of ACLs as CIDR (KIP-1276)
    MetadataVersion(33, "4.4", "IV2", True),   # unregistration of controllers (KIP-1312)
    # In 4.4 not yet for production.
    MetadataVersion(34, "4.5", "IV0", False),
)
# fmt: on
MINIMUM = 7
_BY_LEVEL = {version.level: version for version in METADATA_VERSIONS}


class Feature:
    """A feature other than metadata.version.

    levels: level -> the metadata.version from which a new cluster has it, in rising order.
    needs: level -> the least level of each other feature that it depends on.
    """

    __slots__ = ("latest_production", "levels", "name", "needs")

    def __init__(
        self, name: str, levels: dict[int, int], latest_production: int, needs: dict[int, dict[str, int]] | None = None
    ) -> None:
        self.name = name
        self.levels = levels
        self.latest_production = latest_production
        self.needs = needs or {}

    @property
    def latest_testing(self) -> int:
        return max(self.levels)

    def default_level(self, metadata_version: int) -> int:
        """The level in a cluster that is formatted at this metadata.version."""
        return max((level for level, since in self.levels.items() if since <= metadata_version), default=0)

    def __repr__(self) -> str:
        return f"Feature({self.name})"


# In the order in which stock's tools list them.
_FEATURES: tuple[Feature, ...] = (
    Feature(KRAFT_VERSION, {0: MINIMUM, 1: 21}, 1),
    Feature(TRANSACTION_VERSION, {0: MINIMUM, 1: 24, 2: 24}, 2),
    Feature(GROUP_VERSION, {0: MINIMUM, 1: 22}, 1),
    Feature(ELR_VERSION, {0: MINIMUM, 1: 26}, 1, needs={1: {METADATA_VERSION: 23}}),
    Feature(SHARE_VERSION, {0: MINIMUM, 1: 28, 2: 31}, 2),
    Feature(STREAMS_VERSION, {0: MINIMUM, 1: 29}, 1),
)
_SHARE_OF_4_3 = Feature(SHARE_VERSION, {0: MINIMUM, 1: 28}, 1)


class Release:
    """What one release of Kafka supports, and others do not.

    name: as in `kraft.release`. latest_production, latest_testing: of metadata.version, the second with
    `unstable.feature.versions.enable`. features: those other than metadata.version. api_key_max: the highest API key
    that it knows. lacks: the API keys of `controller.core.apis` that it does not serve. api_versions: the greatest
    version of an API, where it is not that of the table there. hides_levels: whether ApiVersions has no finalized
    features before the first one is committed, rather than the least metadata.version (KAFKA-19964). ids_have_dashes:
    whether the text of an id that it draws may have a dash that is not the first character. assigns_cordoned: whether
    replicas may be assigned by hand to a broker of which all directories are cordoned (KAFKA-20832). names_bounds:
    whether the refusal of a value of a group names the key of the node that bounds it, rather than the bound, and the
    keys of a group are looked through together with those that the node gives.
    infinite_quotas: whether a quota may be infinite, or not a number. no_envelope: how the text of a refusal says that
    no broker has forwarded the request. verifies_bearers: whether signed tokens need an expected audience and issuer,
    or keys that waive them. deprecates_broker_id: whether `broker.id` in a node's file is deprecated (KIP-1232).
    """

    __slots__ = (
        "api_key_max", "api_versions", "assigns_cordoned", "deprecates_broker_id", "features", "hides_levels",
        "ids_have_dashes", "infinite_quotas", "lacks", "latest_production", "latest_testing", "name", "names_bounds",
        "no_envelope", "verifies_bearers",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        latest_production: int,
        latest_testing: int,
        features: tuple[Feature, ...],
        *,
        api_key_max: int,
        lacks: frozenset[int] = frozenset(),
        api_versions: Mapping[int, int] | None = None,
        hides_levels: bool = True,
        ids_have_dashes: bool = False,
        assigns_cordoned: bool = False,
        names_bounds: bool = False,
        infinite_quotas: bool = False,
        no_envelope: str = "Optional.empty",
        verifies_bearers: bool = True,
        deprecates_broker_id: bool = True,
    ) -> None:
        self.name = name
        self.latest_production = latest_production
        self.latest_testing = latest_testing
        self.features = features
        self.api_key_max = api_key_max
        self.lacks = lacks
        self.api_versions = api_versions or {}
        self.hides_levels = hides_levels
        self.ids_have_dashes = ids_have_dashes
        self.assigns_cordoned = assigns_cordoned
        self.names_bounds = names_bounds
        self.infinite_quotas = infinite_quotas
        self.no_envelope = no_envelope
        self.verifies_bearers = verifies_bearers
        self.deprecates_broker_id = deprecates_broker_id

    def knows(self, level: int) -> bool:
        """Whether it has the rules of a level of metadata.version."""
        return level <= self.latest_testing

    def latest(self, unstable: bool) -> int:
        """The latest metadata.version. unstable: include those that are not for production yet."""
        return self.latest_testing if unstable else self.latest_production

    def __repr__(self) -> str:
        return f"Release({self.name})"


KAFKA_4_3 = Release(
    "4.3", 30, 31, tuple(_SHARE_OF_4_3 if each.name == SHARE_VERSION else each for each in _FEATURES),
    api_key_max=92, lacks=frozenset({94}), api_versions={18: 4}, hides_levels=False, ids_have_dashes=True,
    assigns_cordoned=True, names_bounds=True, infinite_quotas=True, no_envelope="None",
    verifies_bearers=False, deprecates_broker_id=False,
)  # fmt: skip
KAFKA_4_4 = Release("4.4", 33, 34, _FEATURES, api_key_max=94)
RELEASES = {release.name: release for release in (KAFKA_4_3, KAFKA_4_4)}
# That of a node without `kraft.release`, and of the tools.
CURRENT = KAFKA_4_4
FEATURES = CURRENT.features
LATEST_PRODUCTION = CURRENT.latest_production
LATEST_TESTING = CURRENT.latest_testing


def metadata_version(level: int, release: Release = CURRENT) -> MetadataVersion:
    """The row of a level. Raises ValueError, with stock's text."""
    if not MINIMUM <= level <= release.latest_testing:
        raise ValueError(
            f"No MetadataVersion with feature level {level}. Valid feature levels are from {MINIMUM} to "
            f"{release.latest_testing}."
        )
    return _BY_LEVEL[level]


def known_metadata_version(level: int) -> MetadataVersion:
    """The row of a level of any release, for what only reads metadata. Raises ValueError, with the text of 4.4.0."""
    return _BY_LEVEL.get(level) or metadata_version(level)


def find_metadata_version(text: str, unstable: bool = False, release: Release = CURRENT) -> MetadataVersion:
    """The row for `4.3-IV0`, or for `4.3` and `4.3.1` the last one of that release that is for production.

    unstable: include levels that are not for production yet. Raises ValueError, with stock's text.
    """
    parts = text.rstrip(".").split(".")
    name = text if len(parts) <= 2 else ".".join(parts[:2])
    newest = None
    known = [version for version in METADATA_VERSIONS if version.level <= release.latest(unstable)]
    for version in known:
        is_of_release = version.release == name and version.level <= release.latest_production
        if version.name == name or is_of_release:
            newest = version
    if newest is None:
        names = ", ".join(version.name for version in known)
        raise ValueError(f"Unknown metadata.version '{text}'. Supported metadata.version are: {names}")
    return newest


def changes_metadata_between(high: int, low: int) -> bool:
    """Whether a downgrade from `high` to `low` would lose data of records."""
    return any(low < version.level <= high and version.changes_metadata for version in METADATA_VERSIONS)


def find_feature(name: str, release: Release = CURRENT) -> Feature:
    """The feature of this name, metadata.version not among them. Raises ValueError, with stock's text."""
    for feature in release.features:
        if feature.name == name:
            return feature
    raise ValueError(f"Feature {name} not found.")


def check_needs(name: str, level: int, levels: Mapping[str, int], release: Release = CURRENT) -> None:
    """Check the dependencies of a feature other than metadata.version.

    levels: the future levels of all features. Raises ValueError, with stock's text, for a missing dependency.
    """
    feature = find_feature(name, release)
    if level not in feature.levels:
        raise ValueError(f"No feature:{name} with feature level {level}")
    if level >= 1 and levels.get(METADATA_VERSION, 0) < MINIMUM:
        raise ValueError(
            f"{name} could not be set to {level} because it depends on metadata.version={MINIMUM} "
            f"({metadata_version(MINIMUM).name})"
        )
    for needed, least in feature.needs.get(level, {}).items():
        if levels.get(needed, 0) < least:
            raise ValueError(f"{name} could not be set to {level} because it depends on {needed} level {least}")


def supported_features(unstable: bool = False, release: Release = CURRENT) -> dict[str, Range]:
    """Name -> least and greatest supported level. unstable: include levels that are not for production yet."""
    ranges = {METADATA_VERSION: (MINIMUM, release.latest(unstable))}
    for feature in release.features:
        ranges[feature.name] = (0, feature.latest_testing if unstable else feature.latest_production)
    return ranges


def range_text(levels: Range) -> str:
    """A range of levels as stock prints it."""
    low, high = levels
    if low == high:
        return str(low)
    return f"{low}+" if high == 32767 else f"{low}-{high}"
