"""Formatting the log directories of a node: the initial features, records and voters, and their files (KIP-853).

`meta.properties` is written last: a directory with it is formatted, a directory without it can be formatted again.
"""

from __future__ import annotations

from records.features import levels as features
from records.java.java_order import hash_order
from tools.offline.marked_directories import check_marks, read_marks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from tools.offline.directory_files import Form
    from tools.offline.initial_voters import InitialVoter

KRAFT_VERSIONS = (0, 1)
ILLEGAL_ARGUMENT = "java.lang.IllegalArgumentException"
# SCRAM credentials have records from here on (3.5-IV2).
SCRAM_SINCE = 11

_DATA = "data directory"
_METADATA = "metadata directory"
_VOTER = "dynamic metadata voter directory"
_NO_VOTER = "dynamic metadata directory"


class FormatError(Exception):
    """The directories cannot be formatted. java_class: of Java's exception; None if only the text is printed."""

    def __init__(self, message: str, java_class: str | None = None) -> None:
        super().__init__(message)
        self.java_class = java_class


class WriteError(Exception):
    """A directory that could not be written; `error` says why."""

    def __init__(self, directory: str, error: OSError) -> None:
        super().__init__(directory)
        self.directory = directory
        self.error = error


class Format:
    """The options of a formatting.

    directories: sorted. release: a level of metadata.version, or None for the latest. levels: of features by name.
    known: the release of Kafka whose levels the node supports. scram: makes the records of the credentials; called once
    the features are known. voters: the initial voters, None if they are static or added later. directory_id: of the
    metadata directory, if it is not that of a voter; None to draw one. static_voters: whether
    `controller.quorum.voters` is set. listener: the name of the controllers' first listener. is_controller: whether the
    node has that role.
    """

    __slots__ = (
        "cluster_id", "directories", "directory_id", "ignore_formatted", "is_controller", "known", "levels", "listener",
        "metadata_directory", "node_id", "release", "scram", "static_voters", "unstable", "voters",
    )  # fmt: skip

    def __init__(
        self,
        *,
        node_id: int,
        cluster_id: str,
        directories: list[str],
        metadata_directory: str,
        static_voters: bool,
        listener: str,
        unstable: bool = False,
        known: features.Release = features.CURRENT,
        ignore_formatted: bool = False,
        is_controller: bool = True,
    ) -> None:
        self.node_id = node_id
        self.cluster_id = cluster_id
        self.directories = directories
        self.metadata_directory = metadata_directory
        self.static_voters = static_voters
        self.listener = listener
        self.unstable = unstable
        self.known = known
        self.ignore_formatted = ignore_formatted
        self.is_controller = is_controller
        self.release: int | None = None
        self.levels: dict[str, int] = {}
        self.scram: Callable[[], list[Any]] | None = None
        self.voters: list[InitialVoter] | None = None
        self.directory_id: bytes | None = None


def effective_release(wanted: Format) -> int:
    """The level of metadata.version that the cluster starts at; raises FormatError."""
    release = wanted.release
    if features.METADATA_VERSION in wanted.levels:
        if release is not None:
            raise FormatError("Use --release-version instead of --feature metadata.version=X to avoid ambiguity.")
        release = wanted.levels[features.METADATA_VERSION]
        try:
            features.metadata_version(release, wanted.known)
        except ValueError as error:
            raise FormatError(str(error), ILLEGAL_ARGUMENT) from None
    if release is None:
        return wanted.known.latest(wanted.unstable)
    if release > wanted.known.latest(wanted.unstable):
        raise FormatError(f"metadata.version {features.known_metadata_version(release).name} is not yet stable.")
    return release


def effective_levels(wanted: Format, release: int) -> dict[str, int]:
    """The levels of all features, metadata.version among them, sorted by name; raises FormatError."""
    known = {feature.name: feature for feature in wanted.known.features}
    for name in wanted.levels:
        if name != features.METADATA_VERSION and name not in known:
            raise FormatError(f"Unsupported feature: {name}. Supported features are: {', '.join(sorted(known))}")
    levels = {**{name: feature.default_level(release) for name, feature in known.items()}, **wanted.levels}
    levels[features.METADATA_VERSION] = release
    levels[features.KRAFT_VERSION] = kraft_version(wanted)
    levels = dict(sorted(levels.items()))
    for name, level in levels.items():
        if name != features.METADATA_VERSION:
            try:
                features.check_needs(name, level, levels, wanted.known)
            except ValueError as error:
                raise FormatError(str(error), ILLEGAL_ARGUMENT) from None
    return levels


def kraft_version(wanted: Format) -> int:
    """1 if the voters are dynamic, else 0, whatever the flags. Raises FormatError for another level."""
    level = wanted.levels.get(features.KRAFT_VERSION)
    if level is None:
        return 0 if wanted.static_voters else 1
    if level == 0 and not wanted.static_voters:
        raise FormatError(
            "Cannot set kraft.version to 0 if controller.quorum.voters is empty and one of the flags --standalone, "
            "--initial-controllers, or --no-initial-controllers is used. For dynamic controllers support, try removing "
            "the --feature flag for kraft.version."
        )
    if level != 0 and wanted.static_voters:
        raise FormatError(
            f"Cannot set kraft.version to {level} unless controller.quorum.voters is empty and one of the flags "
            "--standalone, --initial-controllers, or --no-initial-controllers is used. For dynamic controllers "
            "support, try using one of --standalone, --initial-controllers, or --no-initial-controllers and removing "
            "controller.quorum.voters."
        )
    return level


def bootstrap_records(wanted: Format, levels: dict[str, int]) -> list[Any]:
    """The records that the first active controller writes first; raises FormatError."""
    from raft.security.scram_arguments import ScramArgumentError
    from records.metadata.configs import FeatureLevelRecord

    release = levels[features.METADATA_VERSION]
    records: list[Any] = [FeatureLevelRecord(name=features.METADATA_VERSION, feature_level=release)]
    for name, level in levels.items():
        if level > 0 and name not in (features.METADATA_VERSION, features.KRAFT_VERSION):
            records.append(FeatureLevelRecord(name=name, feature_level=level))
    if wanted.scram is not None:
        if release < SCRAM_SINCE:
            raise FormatError("SCRAM is only supported in metadata.version 3.5-IV2 or later.")
        try:
            records += wanted.scram()
        except ScramArgumentError as error:
            raise FormatError(str(error), error.java_class) from None
    return records


def format_directories(wanted: Format, say: Callable[[str], object], draw: Callable[[int], int], time_ms: int) -> None:
    """Format the directories that are not formatted yet.

    say: prints a line. draw: returns this many random bits. time_ms: wall clock. Raises FormatError, WriteError, and
    MarkError if a directory belongs to another cluster or node.
    """
    from raft.storage.meta_properties import MetaProperties, new_directory_id
    from tools.offline.directory_files import write_directory
    from tools.offline.initial_voters import voters_record

    release = effective_release(wanted)
    levels = effective_levels(wanted, release)
    records = bootstrap_records(wanted, levels)
    marks, empty, unreadable = read_marks(wanted.directories)
    check_marks(marks, wanted.cluster_id, wanted.node_id)
    if marks and not wanted.ignore_formatted:
        raise FormatError(
            f"Log directory {min(marks)} is already formatted. Use --ignore-formatted to ignore this directory and "
            "format the others."
        )
    for directory in empty:
        if has_metadata_log(directory):
            # Stock formats it: the voter set would have another directory id than the directory (KIP-853).
            raise FormatError(
                f"{directory} has a metadata log, and no meta.properties: formatting would give it a new directory id. "
                "Restore the file: `kraftctl doctor -c FILE` prints how."
            )
    for directory in unreadable:
        say(f"I/O error trying to read log directory {directory}. Ignoring...")
    if unreadable and not empty and not marks:
        raise FormatError("No available log directories to format.")
    if not empty:
        say("All of the log directories are already formatted.")
        return
    say(f"Bootstrap metadata: {bootstrap_text(records, release)}")
    for directory in empty:
        directory_id = voter_directory_id(wanted, directory)
        if directory_id is None:
            directory_id = new_directory_id(draw, marks)
        marks[directory] = MetaProperties(1, wanted.cluster_id, wanted.node_id, directory_id)
    for directory in hash_order(empty):
        kind = directory_kind(wanted, directory)
        version = features.known_metadata_version(release).name
        say(f"Formatting {kind} {directory} with metadata.version {version}.")
        voters = None
        if wanted.voters is not None and kind in (_VOTER, _NO_VOTER):
            voters = voters_record(wanted.voters, wanted.listener)
        try:
            form = bootstrap_form(wanted, directory, release)
            write_directory(directory, marks[directory], records, voters, levels[features.KRAFT_VERSION], time_ms, form)
        except OSError as error:
            raise WriteError(directory, error) from error


def has_metadata_log(directory: str) -> bool:
    """Whether the directory has a segment of the metadata log: a node was started with it."""
    from os import listdir

    from raft.storage.names import LOG, segment_offset
    from records.metadata_log import PARTITION_DIRECTORY

    try:
        names = listdir(f"{directory}/{PARTITION_DIRECTORY}")  # noqa: PTH208 - pathlib costs 10 ms
    except OSError:
        return False
    return any(segment_offset(name, LOG) is not None for name in names)


def bootstrap_form(wanted: Format, directory: str, release: int) -> Form:
    """Where the first records go. Kafka up to 4.3 reads `bootstrap.checkpoint` alone, and 4.4 reads both (KIP-1170).

    The file is written for every level that a node of 4.3 can have: with the snapshot alone, such a node would begin at
    its own latest level, without the credentials. Stock's tool of 4.4 writes the snapshot at each level.
    """
    from tools.offline.directory_files import Form

    if features.KAFKA_4_3.knows(release):
        return Form.FILE
    return Form.SNAPSHOT if wanted.is_controller and directory == wanted.metadata_directory else Form.NONE


def directory_kind(wanted: Format, directory: str) -> str:
    """What a directory is formatted as."""
    if directory != wanted.metadata_directory:
        return _DATA
    if wanted.voters is None:
        return _METADATA
    return _VOTER if any(voter.node_id == wanted.node_id for voter in wanted.voters) else _NO_VOTER


def voter_directory_id(wanted: Format, directory: str) -> bytes | None:
    """The directory id in the list of voters, or the given one; None if it has none."""
    if wanted.voters is None or directory_kind(wanted, directory) != _VOTER:
        return wanted.directory_id if directory == wanted.metadata_directory else None
    return next(voter.directory_id for voter in wanted.voters if voter.node_id == wanted.node_id)


def bootstrap_text(records: list[Any], release: int) -> str:
    """The records as stock prints them, with secrets hidden."""
    texts = ", ".join(f"ApiMessageAndVersion({record_text(record)} at version 0)" for record in records)
    return f"BootstrapMetadata(records=[{texts}], metadataVersionLevel={release}, source=format command)"


def record_text(record: Any) -> str:
    if type(record).__name__ == "FeatureLevelRecord":
        return f"FeatureLevelRecord(name='{record.name}', featureLevel={record.feature_level})"
    return (
        f"UserScramCredentialRecord(name='{record.name}', mechanism={record.mechanism}, salt=[hidden], "
        f"storedKey=[hidden], serverKey=[hidden], iterations={record.iterations})"
    )
