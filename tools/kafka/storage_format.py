"""`kafka-storage format`: from the arguments and the node's configuration to a `Format`."""

from __future__ import annotations

import sys

from records.features import levels as features
from records.java.java_forms import integer
from tools.command_line.java_texts import Uncaught, uncaught
from tools.offline.formatting import ILLEGAL_ARGUMENT, Format, FormatError, WriteError, format_directories
from tools.offline.marked_directories import MarkError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from controller.config.node import NodeConfig
    from tools.command_line.arguments import Arguments
    from tools.offline.initial_voters import InitialVoter

RUNTIME = "java.lang.RuntimeException"


def run_format(given: Arguments, config: NodeConfig) -> int:
    """Format the directories of a node; raises FormatError for errors printed as one line, Uncaught for the rest."""
    from time import time

    from tools.rng import random_bits as draw

    wanted = plan_format(given, config, draw)
    try:
        format_directories(wanted, lambda line: sys.stdout.write(f"{line}\n"), draw, int(time() * 1000))
    except MarkError as error:
        raise Uncaught(RUNTIME, str(error)) from None
    except WriteError as error:
        raise FormatError(
            f"Error while writing meta.properties file {error.directory}: {uncaught(error.error)}"
        ) from None
    return 0


def plan_format(given: Arguments, config: NodeConfig, draw: Callable[[int], int]) -> Format:
    """The formatting that the arguments request, checked in stock's order."""
    if not config.process_roles:
        raise FormatError(
            "The kafka configuration file appears to be for a legacy cluster. Formatting is only supported for "
            "clusters in KRaft mode."
        )
    wanted = format_of(config, given.cluster_id, ignore_formatted=given.ignore_formatted)
    if given.release_version is not None:
        try:
            wanted.release = features.find_metadata_version(given.release_version, wanted.unstable, wanted.known).level
        except ValueError as error:
            raise FormatError(str(error)) from None
    wanted.levels = dict(name_and_level(text) for text in given.feature or ())
    wanted.voters = initial_voters(given, config, draw)
    if given.add_scram:
        from raft.security.scram_arguments import scram_record

        wanted.scram = lambda: [scram_record(argument, draw) for argument in given.add_scram]
    return wanted


def format_of(config: NodeConfig, cluster_id: str, *, ignore_formatted: bool = False) -> Format:
    """The formatting of a node's directories as its configuration has it: the latest release, and no initial voters."""
    return Format(
        node_id=config.node_id,
        cluster_id=cluster_id,
        directories=directories_of(config),
        metadata_directory=config.metadata_log_dir,
        static_voters=bool(config.voters),
        listener=config.controller_listener_names[0],
        unstable=config.flag("unstable.feature.versions.enable"),
        known=config.release,
        ignore_formatted=ignore_formatted,
        is_controller="controller" in config.process_roles,
    )


def directories_of(config: NodeConfig) -> list[str]:
    """The log directories of a node, its metadata directory among them, sorted."""
    return sorted({*config.log_dirs, config.metadata_log_dir})


def name_and_level(text: str) -> tuple[str, int]:
    """A feature and its level in `name=level`; raises Uncaught."""
    name, equals, level = text.partition("=")
    if not equals:
        raise Uncaught(RUNTIME, f"Can't parse feature=level string {text}: equals sign not found.")
    try:
        return name.strip(), integer(level.strip(), 16)
    except ValueError:
        raise Uncaught(
            RUNTIME, f"Can't parse feature=level string {text}: unable to parse {level.strip()} as a short."
        ) from None


def initial_voters(given: Arguments, config: NodeConfig, draw: Callable[[int], int]) -> list[InitialVoter] | None:
    """The initial voters of the quorum; None if they are static, or are added later."""
    from tools.offline.initial_voters import VoterError, parse_voters

    if config.voters and (given.initial_controllers is not None or given.standalone):
        raise FormatError(
            "You cannot specify controller.quorum.voters and format the node with --initial-controllers or "
            "--standalone. If you want to use dynamic quorum, please remove controller.quorum.voters and specify "
            "controller.quorum.bootstrap.servers instead."
        )
    voters = None
    if given.initial_controllers is not None:
        try:
            voters = parse_voters(given.initial_controllers)
        except VoterError as error:
            raise Uncaught(ILLEGAL_ARGUMENT, str(error), error.cause) from None
    if given.standalone:
        voters = [standalone_voter(config, draw)]
    is_controller = "controller" in config.process_roles
    if is_controller and not given.no_initial_controllers and not config.voters and voters is None:
        raise FormatError(
            "Because controller.quorum.voters is not set on this controller, you must specify one of the following: "
            "--standalone, --initial-controllers, or --no-initial-controllers."
        )
    return voters


def standalone_voter(config: NodeConfig, draw: Callable[[int], int]) -> InitialVoter:
    """The node as the only voter, with the advertised address of its first listener."""
    from records.uuids import random_uuid
    from tools.offline.initial_voters import InitialVoter, java_host

    if "controller" not in config.process_roles:
        raise FormatError("You can only use --standalone on a controller.")
    if not config.advertised_listeners:
        raise Uncaught(RUNTIME, "No controller listeners found.")
    listener = config.advertised_listeners[0]
    return InitialVoter(config.node_id, java_host(listener.host or ""), listener.port, random_uuid(draw))
