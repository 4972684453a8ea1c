"""kafka-features: shows the levels of features, and changes them (KIP-584, KIP-778, KIP-1022)."""

from __future__ import annotations

import sys

from records.features import levels as features
from records.java.java_forms import integer
from tools.command_line.argument_reader import parse
from tools.command_line.arguments import ArgumentError, HelpShown, Parser
from tools.command_line.bootstrap_options import SERVER_HELP, add_bootstrap, java_integer
from tools.command_line.java_texts import Uncaught, uncaught
from tools.command_line.standard_streams import complain, one_line
from tools.kafka.feature_tables import Terse, print_version_mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tools.client.admin import Admin
    from tools.command_line.arguments import Arguments


def main() -> int:
    """Run the tool with the arguments of this process."""
    from tools.command_line.standard_streams import running

    return running(run, "kafka-features")


def run(arguments: list[str]) -> int:
    """Run the tool with these arguments; returns the exit code."""
    try:
        given = parse(parser(), arguments)
        COMMANDS[given.command](given)
    except HelpShown:
        return 0
    except ArgumentError as error:
        # Without an end of line, as stock.
        complain(f"Command line error: {error}. Type --help for help.")
        return 1
    except Terse as error:
        complain(f"{error}\n")
        return 1
    except Uncaught as error:
        complain(f"{error.message}\n")
        return 1
    return 0


def parser() -> Parser:
    """The arguments of the tool; the texts are those of its help."""
    top = Parser("kafka-features", description="This tool manages feature flags in Kafka.")
    add_bootstrap(
        top,
        SERVER_HELP,
        "A comma-separated list of host:port pairs to use for establishing the connection to the KRaft quorum.",
        required=False,
    )
    top.add("--command-config", help="Property file containing configs to be passed to Admin Client.")
    describing = top.add_command("describe", "Describes the current active feature flags.")
    describing.add(
        "--node-id",
        convert=java_integer,
        help="The node id to which the requests should be sent. If not specified, the requests will be sent to an "
        "arbitrary controller/broker.",
    )
    _add_change(top.add_command("upgrade", "Upgrade one or more feature flags."), "upgrade", "upgrade", "3.3-IV3")
    _add_change(
        top.add_command("downgrade", "Downgrade one or more feature flags."), "downgrade", "downgrade", "3.3-IV0"
    )
    disabling = top.add_command(
        "disable", "Disable one or more feature flags. This is the same as downgrading the version to zero."
    )
    disabling.add("--feature", action="append", help="A feature flag to disable.")
    disabling.add(
        "--unsafe",
        action="store_true",
        help="Disable this feature flag even if it may irreversibly destroy metadata.",
    )
    disabling.add("--dry-run", action="store_true", help="Perform a dry-run of this disable operation.")
    mapping = top.add_command(
        "version-mapping",
        "Look up the corresponding features for a given metadata version. Using the command with no --release-version "
        " argument will return the mapping for the latest stable metadata version",
    )
    mapping.add(
        "--release-version",
        help="The release version to use for the corresponding feature mapping. The minimum is 3.3-IV3; the default is "
        "4.4-IV2",
    )
    dependencies = top.add_command(
        "feature-dependencies",
        "Look up dependencies for a given feature version. If the feature is not known or the version not yet defined, "
        "an error is thrown. Multiple features can be specified.",
    )
    dependencies.add(
        "--feature",
        required=True,
        action="append",
        help="The feature and version to look up dependencies for, in feature=version format. For example: "
        "`metadata.version=5`.",
    )
    return top


def _add_change(command: Parser, verb: str, noun: str, example: str) -> None:
    command.add(
        "--metadata",
        help=f"DEPRECATED -- The level to which we should {verb} the metadata. For example, {example}.",
    )
    update = "update" if verb == "upgrade" else "downgrade"
    command.add(
        "--release-version",
        help=f"The release version to {update} all features to. For example, 3.9-IV0 will set metadata.version=21 and "
        "kraft.version=1. Use the version-mapping command to learn which features will be set for any given version.",
    )
    command.add(
        "--feature",
        action="append",
        help=f"A feature {noun} we should perform, in feature=level format. For example: `metadata.version=5`.",
    )
    if verb == "downgrade":
        command.add(
            "--unsafe",
            action="store_true",
            help="Perform this downgrade even if it may irreversibly destroy metadata.",
        )
    command.add("--dry-run", action="store_true", help=f"Validate this {noun}, but do not perform it.")


def _admin(given: Arguments) -> Admin:
    """The client of the arguments. Raises ArgumentError, Uncaught for a file or settings that are not valid."""
    from tools.client.admin import Admin
    from tools.client.settings import read_file, settings_of

    path = given.command_config
    try:
        properties = {} if path is None else read_file(path)
    except OSError as error:
        raise uncaught(error) from None
    if given.bootstrap_server is None and given.bootstrap_controller is None:
        raise ArgumentError(parser(), "You must specify either --bootstrap-controller or --bootstrap-server.")
    return Admin(settings_of(given.bootstrap_server, given.bootstrap_controller, properties))


def describe(given: Arguments) -> None:
    """`describe`: one line for each feature that the node supports. Raises Uncaught."""
    from tools.kafka.feature_calls import describe_features

    with _admin(given) as admin:
        if given.node_id is not None and given.node_id < 0:
            text = f"Invalid node id {given.node_id}: must be non-negative."
            raise Uncaught("java.lang.IllegalArgumentException", text)
        description = describe_features(admin, given.node_id)
    epoch = description.finalized_features_epoch
    finalized = {feature.name: feature.max_version_level for feature in description.finalized_features}
    for feature in sorted(description.supported_features, key=lambda feature: str(feature.name)):
        name = feature.name
        low, high, level = (
            _level_text(name, number)
            for number in (feature.min_version, feature.max_version, finalized.get(name, 0))
        )  # fmt: skip
        sys.stdout.write(
            f"Feature: {one_line(name):40}  SupportedMinVersion: {low:15}  SupportedMaxVersion: {high:15}  "
            f"FinalizedVersionLevel: {level:15}  Epoch: {epoch if epoch >= 0 else '-'}\n"
        )


def _level_text(name: str, level: int) -> str:
    if name != features.METADATA_VERSION:
        return str(level)
    try:
        return features.metadata_version(level).name
    except ValueError:
        return f"UNKNOWN {level}"


def upgrade(given: Arguments) -> None:
    """`upgrade`. Raises Terse, Uncaught, ArgumentError."""
    from tools.kafka.feature_calls import UPGRADE

    with _admin(given) as admin:
        _update("upgrade", admin, _levels(given, "UPGRADE"), UPGRADE, given.dry_run)


def downgrade(given: Arguments) -> None:
    """`downgrade`. Raises Terse, Uncaught, ArgumentError."""
    from tools.kafka.feature_calls import SAFE_DOWNGRADE, UNSAFE_DOWNGRADE

    kind = "UNSAFE_DOWNGRADE" if given.unsafe else "SAFE_DOWNGRADE"
    with _admin(given) as admin:
        number = UNSAFE_DOWNGRADE if given.unsafe else SAFE_DOWNGRADE
        _update("downgrade", admin, _levels(given, kind), number, given.dry_run)


def _levels(given: Arguments, kind: str) -> dict[str, int]:
    """The new levels of a change. Raises Terse, Uncaught."""
    if given.release_version is not None:
        if given.metadata is not None or given.feature is not None:
            raise Terse("Can not specify `release-version` with other feature flags.")
        version = _version(given.release_version)
        by_feature = {features.METADATA_VERSION: version.level}
        for feature in features.FEATURES:
            level = feature.default_level(version.level)
            # An upgrade does not lower a feature that was set by hand.
            if kind != "UPGRADE" or level > 0:
                by_feature[feature.name] = level
        return by_feature
    levels: dict[str, int] = {}
    if given.metadata is not None:
        sys.stdout.write(" `metadata` flag is deprecated and may be removed in a future release.\n")
        levels[features.METADATA_VERSION] = _version(given.metadata).level
    return _with_each(levels, (_check_level(*_name_and_level(text), kind) for text in given.feature or ()))


def _check_level(name: str, level: int, kind: str) -> tuple[str, int]:
    """Check a level. Raises Uncaught for one that stock's client does not send."""
    if level == 0 and kind == "UPGRADE":
        text = "The upgradeType flag should be set to SAFE_DOWNGRADE or UNSAFE_DOWNGRADE when the provided "
        raise Uncaught("java.lang.IllegalArgumentException", f"{text}maxVersionLevel:0 is < 1.")
    if level < 0:
        raise Uncaught("java.lang.IllegalArgumentException", "Cannot specify a negative version level.")
    return name, level


def _version(text: str) -> features.MetadataVersion:
    try:
        return features.find_metadata_version(text, unstable=True)
    except ValueError as error:
        raise Terse(str(error)) from None


def _with_each(levels: dict[str, int], given: Iterable[tuple[str, int]]) -> dict[str, int]:
    for name, level in given:
        if name in levels:
            raise Uncaught("java.lang.RuntimeException", f"Feature {name} was specified more than once.")
        levels[name] = level
    return levels


def _name_and_level(text: str) -> tuple[str, int]:
    name, equals, level = (part.strip() for part in text.partition("="))
    refused = f"Can't parse feature=level string {text}"
    if not equals:
        raise Uncaught("java.lang.RuntimeException", f"{refused}: equals sign not found.")
    try:
        return name, integer(level, 16)
    except ValueError:
        raise Uncaught("java.lang.RuntimeException", f"{refused}: unable to parse {level} as a short.") from None


def disable(given: Arguments) -> None:
    """`disable`. Raises Terse, Uncaught, ArgumentError."""
    from tools.kafka.feature_calls import SAFE_DOWNGRADE, UNSAFE_DOWNGRADE

    with _admin(given) as admin:
        levels = _with_each({}, ((name, 0) for name in given.feature or ()))
        _update("disable", admin, levels, UNSAFE_DOWNGRADE if given.unsafe else SAFE_DOWNGRADE, given.dry_run)


def _update(verb: str, admin: Admin, levels: dict[str, int], kind: int, dry_run: bool) -> None:
    """Set the levels, and print the outcome of each. Raises Terse where one failed, Uncaught."""
    from tools.kafka.feature_calls import update_features

    if not levels:
        raise Terse(f"You must specify at least one feature to {verb}")
    failures = 0
    for name, failure in sorted(update_features(admin, levels, kind, dry_run=dry_run).items()):
        if failure is None:
            done = "disabled" if verb == "disable" else f"{verb}d to {levels[name]}"
            sys.stdout.write(f"{one_line(name)}{' can be ' if dry_run else ' was '}{done}.\n")
            continue
        failures += 1
        doing = f"disable {name}" if verb == "disable" else f"{verb} {name} to {levels[name]}"
        sys.stdout.write(f"{'Can not ' if dry_run else 'Could not '}{doing}. {failure}\n")
    if failures:
        raise Terse(f"{failures} out of {len(levels)} operation(s) failed.")


def version_mapping(given: Arguments) -> None:
    """`version-mapping`. Raises Terse."""
    print_version_mapping(given.release_version)


def feature_dependencies(given: Arguments) -> None:
    """`feature-dependencies`, whose errors differ from those of kafka-storage. Raises Terse, Uncaught."""
    from tools.kafka.feature_tables import print_dependencies

    for text in given.feature:
        name, level = _name_and_level(text)
        feature = next((feature for feature in features.FEATURES if feature.name == name), None)
        if feature is not None and level not in feature.levels:
            raise Uncaught("java.lang.IllegalArgumentException", f"No feature:{name} with feature level {level}")
        print_dependencies(name, level)


COMMANDS: dict[str, Callable[[Arguments], None]] = {
    "describe": describe,
    "upgrade": upgrade,
    "downgrade": downgrade,
    "disable": disable,
    "version-mapping": version_mapping,
    "feature-dependencies": feature_dependencies,
}
