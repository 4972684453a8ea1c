"""kafka-storage: formats the log directories of a node, and shows their state."""

from __future__ import annotations

import sys

from tools.command_line.argument_reader import parse
from tools.command_line.arguments import ArgumentError, HelpShown, Parser, error_text
from tools.command_line.java_texts import Uncaught, uncaught
from tools.command_line.standard_streams import complain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from controller.config.node import NodeConfig
    from tools.command_line.arguments import Arguments


def main() -> int:
    """Run the tool with the arguments of this process."""
    from tools.command_line.standard_streams import running

    return running(run, "kafka-storage")


def run(arguments: list[str]) -> int:
    """Run the tool with these arguments; returns the exit code."""
    try:
        given = parse(parser(), arguments)
    except HelpShown:
        return 0
    except ArgumentError as error:
        complain(error_text(error))
        return 1
    try:
        return COMMANDS[given.command](given)
    except Uncaught as error:
        complain(error.text())
    except BrokenPipeError:
        raise
    except OSError as error:
        complain(uncaught(error).text())
    return 1


def parser() -> Parser:
    """The arguments of the tool; the texts are those of its help."""
    top = Parser("kafka-storage", description="The Kafka storage tool.", from_file=True)
    info = top.add_command("info", "Get information about the Kafka log directories on this node.")
    add_config(info)
    info.add("--json", action="store_true", hidden=True)  # not in stock; hidden, so that help equals stock's
    add_format(top.add_command("format", "Format the Kafka log directories on this node."))
    mapping = top.add_command(
        "version-mapping",
        "Look up the corresponding features for a given metadata version. Using the command with no --release-version "
        " argument will return the mapping for the latest stable metadata version",
    )
    mapping.add(
        "--release-version",
        "-r",
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
        "-f",
        required=True,
        action="append",
        help="The features and their versions to look up dependencies for, in feature=version format. For example: "
        "`metadata.version=5`.",
    )
    top.add_command("random-uuid", "Print a random UUID.")
    return top


def add_config(command: Parser) -> None:
    command.add("--config", "-c", required=True, help="The Kafka configuration file to use.")


def add_format(command: Parser) -> None:
    add_config(command)
    command.add("--cluster-id", "-t", required=True, help="The cluster ID to use.")
    command.add(
        "--add-scram",
        "-S",
        action="append",
        help="A SCRAM_CREDENTIAL to add to the __cluster_metadata log e.g.\n"
        "'SCRAM-SHA-256=[name=alice,password=alice-secret]'\n"
        '\'SCRAM-SHA-512=[name=alice,iterations=8192,salt="N3E=",saltedpassword="YCE="]\'',
    )
    command.add(
        "--ignore-formatted",
        "-g",
        action="store_true",
        help="When this option is passed, the format command will skip over already formatted directories rather than "
        "failing.",
    )
    command.add(
        "--release-version",
        "-r",
        help="The release version to use for the initial feature settings. The minimum is 3.3-IV3; the default is "
        "4.4-IV2. Note: formatted directories are not forward-compatible \u2014 the broker version must be greater "
        "than or equal to the kafka-storage tool that formatted the directory, regardless of this setting.",
    )
    command.add(
        "--feature",
        "-f",
        action="append",
        help="The setting to use for a specific feature, in feature=level format. For example: `kraft.version=1`.",
    )
    command.add(
        "--standalone",
        "-s",
        action="store_true",
        exclusive=0,
        help="Used to initialize a controller as a single-node dynamic quorum. When setting this flag, the "
        "controller.quorum.voters config must not be set, and controller.quorum.bootstrap.servers is set instead.",
    )
    command.add(
        "--no-initial-controllers",
        "-N",
        action="store_true",
        exclusive=0,
        help="Used to initialize a server without specifying a dynamic quorum. When setting this flag, the "
        "controller.quorum.voters config should not be set, and controller.quorum.bootstrap.servers is set instead.",
    )
    command.add(
        "--initial-controllers",
        "-I",
        exclusive=0,
        help="Used to initialize a server with the specified dynamic quorum. The argument is a comma-separated list of "
        "id@hostname:port:directory. The same values must be used to format all nodes. For example:\n"
        "0@example.com:8082:JEXY6aqzQY-32P5TStzaFg,1@example.com:8083:MvDxzVmcRsaTz33bUuRU6A,"
        "2@example.com:8084:07R5amHmR32VDA6jHkGbTA\n. When setting this flag, the controller.quorum.voters config must "
        "not be set, and controller.quorum.bootstrap.servers is set instead.",
    )


def random_uuid(_: Arguments) -> int:
    """Print a version 4 uuid, which is neither reserved nor begins with a hyphen."""
    from records.uuids import random_uuid, uuid_text
    from tools.rng import random_bits

    sys.stdout.write(f"{uuid_text(random_uuid(random_bits))}\n")
    return 0


def info(given: Arguments) -> int:
    from tools.kafka.storage_info import run_info

    return run_info(config_of(given), given.json)


def format_directories(given: Arguments) -> int:
    from tools.kafka.storage_format import run_format
    from tools.offline.formatting import FormatError

    try:
        return run_format(given, config_of(given))
    except FormatError as error:
        if error.java_class is not None:
            raise Uncaught(error.java_class, str(error)) from None
        complain(f"{error}\n")
        return 1


def config_of(given: Arguments) -> NodeConfig:
    """The configuration of the node, with all the checks of its start; raises Uncaught, OSError."""
    from records.java.config_error import ConfigError
    from tools.config_file import read_config

    try:
        return read_config(given.config)
    except ConfigError as error:
        raise Uncaught(error.exception, str(error)) from None


def version_mapping(given: Arguments) -> int:
    from tools.kafka.feature_tables import Terse, print_version_mapping

    try:
        print_version_mapping(given.release_version)
    except Terse as error:
        complain(f"{error}\n")
        return 1
    return 0


def feature_dependencies(given: Arguments) -> int:
    from tools.kafka.feature_tables import Terse, print_feature_dependencies

    try:
        print_feature_dependencies(given.feature)
    except Terse as error:
        complain(f"{error}\n")
        return 1
    return 0


COMMANDS = {
    "info": info,
    "format": format_directories,
    "version-mapping": version_mapping,
    "feature-dependencies": feature_dependencies,
    "random-uuid": random_uuid,
}
