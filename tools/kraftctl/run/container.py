"""`kraftctl container`: what the image runs: reads the environment, formats a new directory, then runs one node."""

from __future__ import annotations

import os
import sys

from controller.config.served import served_config
from records.java.config_error import ConfigError
from tools.config_file import read_properties
from tools.kraftctl.run.environment import DEFAULT_CLUSTER_ID, container_properties
from tools.kraftctl.run.start import refuse, start
from tools.kraftctl.terminal import parser

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from controller.config.node import NodeConfig

MOUNTED = "/mnt/shared/config/server.properties"
# Part of the error of `kafka-storage format` for a formatted directory; scripts and images look for these words.
ALREADY_FORMATTED = "already formatted"
VOTERS = "controller.quorum.voters"
FORMAT_CHOICES = ("missing", "never")


class FormatRefused(Exception):
    """The directories cannot be formatted; the reason is one line."""


def run(arguments: list[str]) -> int:
    """Exit code 0 after SIGTERM or SIGINT; 1 with one line on stderr if the node cannot start or continue."""
    options = arguments_parser().parse_args(arguments)
    environment = {**os.environ, **dict(pair.partition("=")[::2] for pair in options.variables)}
    form = environment.get("KAFKA_KRAFT_LOG_FORMAT")
    try:
        mounted = mounted_properties(options.mounted)
        form = form or (mounted or {}).get("kraft.log.format")
        config = served_config(container_properties(environment, mounted))
        format_missing(config, environment)
    except (ConfigError, OSError, FormatRefused) as error:
        return refuse("kraftctl container", str(error), form)
    return start(config, "kraftctl container")


def arguments_parser() -> argparse.ArgumentParser:
    """The arguments of the verb."""
    top = parser(
        "kraftctl container",
        "Run one node, configured like the official Kafka image: KAFKA_X_Y sets the key x.y and "
        f"overrides the mounted file {MOUNTED}. An empty directory is formatted with the id in CLUSTER_ID, "
        "unless KRAFT_FORMAT is `never`.",
        "kraftctl container    # configured by the environment and the mounted file",
        "kraftctl container --mounted /config/server.properties",
        "kraftctl container KAFKA_NODE_ID=2 CLUSTER_ID=MkU3OEVBNTcwNTJENDM2Qg",
    )
    top.add_argument("--mounted", default=MOUNTED, metavar="FILE", help="the mounted file (default: %(default)s)")
    top.add_argument("variables", nargs="*", metavar="NAME=VALUE", help="overrides the environment")
    return top


def mounted_properties(path: str) -> dict[str, str] | None:
    """The keys of the mounted file; None if no file is mounted. Raises ConfigError, OSError."""
    try:
        return read_properties(path)
    except FileNotFoundError:
        return None


def format_missing(config: NodeConfig, environment: Mapping[str, str]) -> None:
    """Format the directories unless they are formatted already. Raises FormatRefused, OSError."""
    when = environment.get("KRAFT_FORMAT") or "missing"
    if when not in FORMAT_CHOICES:
        raise FormatRefused(f"KRAFT_FORMAT={when}: it must be one of {', '.join(FORMAT_CHOICES)}")
    if when == "never" or config.number("kraft.quorum.bootstrap.expect"):
        return  # the start of a node whose quorum forms itself formats its directories
    from tools.command_line.argument_reader import parse
    from tools.command_line.java_texts import Uncaught
    from tools.kafka import storage
    from tools.kafka.storage_format import run_format
    from tools.offline.formatting import FormatError

    cluster_id = environment.get("CLUSTER_ID") or DEFAULT_CLUSTER_ID
    asked = parse(storage.parser(), ["format", f"--cluster-id={cluster_id}", "--config=environment"])
    try:
        run_format(asked, config)
        sys.stdout.flush()
    except FormatError as error:
        if ALREADY_FORMATTED in str(error):
            return
        if VOTERS in str(error):
            raise FormatRefused(
                f"{VOTERS} is not set: the container formats directories for static voters only; set "
                "KAFKA_CONTROLLER_QUORUM_VOTERS, or format with kafka-storage and set KRAFT_FORMAT=never"
            ) from None
        raise FormatRefused(str(error)) from None
    except Uncaught as error:
        raise FormatRefused(error.message or str(error)) from None
