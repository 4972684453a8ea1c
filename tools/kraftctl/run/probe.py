"""`kraftctl probe`: asks the node of this machine whether it is live, started or ready; for health checks."""

from __future__ import annotations

import os
import sys

from controller.config.edges import HTTP
from controller.config.node import NodeConfig
from controller.config.values.addresses import FORM, parse_address
from records.java.config_error import ConfigError
from records.plain_text import plain_text
from records.wire import DecodeError
from tools.client.connection import Connection
from tools.client.quorum_options import node_security
from tools.config_file import read_config
from tools.kraftctl.nodes.http_page import ANYWHERE, OK, HttpPage, add_caller_options, caller_of
from tools.kraftctl.run.container import MOUNTED, mounted_properties
from tools.kraftctl.run.environment import container_properties
from tools.kraftctl.terminal import parser, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

PATHS = {"live": "/livez", "started": "/startupz", "ready": "/readyz"}


def run(arguments: list[str]) -> int:
    """Exit code 0 if the probe succeeds, 1 if it fails or the node does not answer; the node's answer on stdout."""
    options = arguments_parser().parse_args(arguments)
    try:
        listener, caller = options.at, caller_of(options)
        if not listener:
            config = _config(options.config)
            listener = config.text(HTTP.listener)
            if not listener:
                return _ask_kafka(config, options.what, options.timeout)
            caller = caller.or_of(config)
        address = parse_address(listener)
        if address is None:
            raise ConfigError(f"{listener} is not an address. {FORM}")
        page = HttpPage(address, caller, options.timeout)
        try:
            status, text = page.get(PATHS[options.what])
        finally:
            page.close()
    except (ConfigError, DecodeError, OSError) as error:
        print(f"kraftctl probe: {plain_text(error)}", file=sys.stderr)
        return 1
    say(*text.rstrip().split("\n"))
    return 0 if status == OK else 1


def arguments_parser() -> argparse.ArgumentParser:
    """The arguments of the verb."""
    top = parser(
        "kraftctl probe",
        "Ask the node of this machine on its HTTP port. Without kraft.http.listener in the configuration, "
        "`live` and `started` ask whether its Kafka listener answers.",
        "kraftctl probe ready -c /etc/kafka/controller.properties",
        "kraftctl probe live --at 127.0.0.1:9644 --timeout 5",
        "kraftctl probe started    # in a container: of the node that its environment configures",
    )
    top.add_argument("what", choices=PATHS)
    where = top.add_mutually_exclusive_group()
    where.add_argument("--at", metavar="HOST:PORT", help="the HTTP port")
    where.add_argument(
        "-c", "--config", metavar="FILE", help="the node's controller.properties (default: a container's)"
    )
    add_caller_options(top, "the port")
    top.add_argument("--timeout", type=float, default=2.0, metavar="SECONDS", help="default: %(default)s")
    return top


def _config(path: str | None) -> NodeConfig:
    if path is not None:
        return read_config(path)
    return NodeConfig(container_properties(os.environ, mounted_properties(MOUNTED)))


def _ask_kafka(config: NodeConfig, what: str, seconds: float) -> int:
    """Whether the controller's listener answers ApiVersions; independent of the quorum."""
    if what == "ready":
        raise ConfigError(f"{HTTP.listener} is not set: only the HTTP port answers whether the node is ready")
    endpoint = config.controller_listeners[0]
    host = endpoint.host or ""
    host = "localhost" if host in ANYWHERE else host
    with Connection(host, endpoint.port, "kraftctl-probe", seconds, node_security(config)):
        say(f"listener {endpoint.name} answers")
    return 0
