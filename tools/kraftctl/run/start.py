"""`kraftctl start -c FILE`: run one node in the foreground until SIGTERM or SIGINT."""

from __future__ import annotations

import os
import sys

from controller.config.served import served_config
from records.java.config_error import ConfigError
from records.plain_text import plain_text
from tools.config_file import read_properties
from tools.kraftctl.terminal import parser

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from controller.config.node import NodeConfig
    from controller.node.logging.logs import Log


def run(arguments: list[str]) -> int:
    """Exit code 0 after SIGTERM or SIGINT; 1 with one line on stderr if the node cannot start or continue.

    With --check: 0 if the configuration and its files can be served, warnings on stderr.
    """
    options = arguments_parser().parse_args(arguments)
    for pair in options.override:
        if not pair.partition("=")[0].strip() or "=" not in pair:
            print(f"kraftctl start: --override {pair}: KEY=VALUE is expected", file=sys.stderr)
            return 1
    overrides = dict(pair.partition("=")[::2] for pair in options.override)
    given = dict(overrides)
    try:
        given = {**read_properties(options.config), **overrides}
        config = served_config(given)
        if options.check:
            open_security(config)
    except (ValueError, ConfigError, OSError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        # A check is read by the person who runs it.
        form = None if options.check else given.get("kraft.log.format")
        return refuse("kraftctl start", f"{options.config}: {reason}", form)
    if options.check:
        for warning in config.warnings:
            print(f"{options.config}: {warning}", file=sys.stderr)
        print(f"{options.config}: node {config.node_id} can run with this configuration")
        return 0
    return start(config, "kraftctl start")


def arguments_parser() -> argparse.ArgumentParser:
    """The arguments of the verb."""
    top = parser(
        "kraftctl start",
        "Run one node in the foreground until SIGTERM or SIGINT.",
        "kraftctl start -c /etc/kafka/controller.properties --check    # before a restart",
        "kraftctl start -c /etc/kafka/controller.properties",
        "kraftctl start -c controller.properties --override kraft.http.listener=127.0.0.1:9644",
    )
    top.add_argument("-c", "--config", required=True, metavar="FILE", help="a stock controller.properties")
    top.add_argument(
        "--override", action="append", default=[], metavar="KEY=VALUE", help="override a key of the file (repeatable)"
    )
    top.add_argument(
        "--check", action="store_true", help="read the configuration and its keystores, print what is wrong, and end"
    )
    return top


def open_security(config: NodeConfig) -> None:
    """Read the stores, keys and certificates of all listeners and of the node's own ports, as a start does.

    Raises ConfigError, ValueError with one line, OSError.
    """
    import time

    from controller.config.edges import EDGES
    from controller.security.edges import EdgeSecurity
    from controller.security.listeners import Security

    def ignore(_name: str, _fields: dict[str, Any]) -> None: ...

    security = Security(
        config, now=time.monotonic, note=ignore, wall_ms=lambda: int(time.time() * 1000), state=lambda: None
    )
    try:
        security.client()
        for endpoint in config.controller_listeners:
            security.listener(endpoint.name)
    finally:
        security.close()
    for edge in EDGES:
        if config.text(edge.listener) is not None and config.text(edge.certificate) is not None:
            EdgeSecurity(config, edge, now=time.monotonic, note=ignore).context()


def start(config: NodeConfig, name: str) -> int:
    """Run a node until it stops; its exit code. name: of the command, for messages on stderr."""
    # The node needs no threads of a linear algebra library; the variables must be set before numpy is imported.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

    from controller.node.logging.logs import Log
    from controller.server.start import StartRefused, run_node

    log = Log(config.text("kraft.log.format") or "console", config.text("kraft.log.level") or "INFO")
    for warning in config.warnings:
        log("configuration_warning", text=warning)
    try:
        if config.number("kraft.quorum.bootstrap.expect") and not has_quorum(config, log):
            return 0  # a signal came first
        return run_node(config, log)
    except StartRefused as refused:
        return refuse(name, str(refused), config.text("kraft.log.format"))


def has_quorum(config: NodeConfig, log: Log) -> bool:
    """Whether the node's directories are formatted, which it waits for; False where a signal came first.

    Raises StartRefused.
    """
    from controller.server.start import StartRefused
    from raft.storage.errors import StorageError
    from tools.kraftctl.run.formation import form, needs_formation
    from tools.offline.formatting import FormatError, WriteError
    from tools.offline.marked_directories import MarkError

    try:
        return not needs_formation(config) or form(config, log)
    except WriteError as error:
        raise StartRefused(f"{error.directory} cannot be formatted: {error.error}") from None
    except (StorageError, FormatError, MarkError, ConfigError, ValueError, OSError) as error:
        raise StartRefused(str(error)) from None


def refuse(name: str, reason: str, form: str | None) -> int:
    """Say on stderr why a node does not start; the exit code. form: `kraft.log.format`, None if it is not known."""
    if form == "json":
        from controller.node.logging.logs import Log

        log = Log("json", "INFO")
        log("start_refused", command=name, reason=reason)
    else:
        print(f"{name}: {plain_text(reason)}", file=sys.stderr)
    return 1
