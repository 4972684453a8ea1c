"""The options that name a quorum and the security of the connections to it, and what they say."""

from __future__ import annotations

from typing import NamedTuple

from controller.config.values.addresses import parse_address
from controller.config.values.listeners import host_and_port
from records.java.config_error import ConfigError
from tools.config_file import read_config

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from controller.config.node import NodeConfig
    from raft.network.security import ClientSecurity
    from tools.client.quorum import Address


def add_quorum_options(parser: argparse.ArgumentParser) -> None:
    """The two ways to name a quorum, and the security of the connections to it."""
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--bootstrap-controller", metavar="HOST:PORT,…", help="one or more controllers")
    where.add_argument("-c", "--config", metavar="FILE", help="a controller.properties that names the controllers")
    parser.add_argument(
        "--command-config", metavar="FILE",
        help="properties of the client, as for Kafka's tools: security.protocol, ssl.…, sasl.… (default: those that "
        "--config has for connections between controllers)",
    )  # fmt: skip


def security_of(options: argparse.Namespace) -> ClientSecurity | None:
    """The security of the connections, from the options; None for PLAINTEXT. Raises ConfigError, OSError."""
    if options.command_config is None:
        return None if options.config is None else node_security(read_config(options.config))
    from tools.client.client_config import read_client_config

    return read_client_config(options.command_config).security


def node_security(config: NodeConfig) -> ClientSecurity | None:
    """That of a node's own connections to the controllers; None for PLAINTEXT. Raises ConfigError."""
    if config.security_protocols[config.controller_listener_names[0].upper()] == "PLAINTEXT":
        return None  # and nothing of TLS and SASL is imported
    from tools.client.client_security import client_of_node

    return client_of_node(config)


def addresses_of(options: argparse.Namespace) -> list[Address]:
    """The addresses of the controllers, from the options. Raises ConfigError, OSError."""
    if options.bootstrap_controller is not None:
        given = options.bootstrap_controller
        addresses = [host_and_port(part.strip()) for part in given.split(",")]
        if None in addresses:
            raise ConfigError(f"--bootstrap-controller {given}: HOST:PORT,… is expected")
        return [address for address in addresses if address is not None]
    config = read_config(options.config)
    return [*config.voters.values()] or list(config.bootstrap_servers)


class Known(NamedTuple):
    """What a configuration file says of a node: its id, and where its HTTP port may be."""

    node_id: int
    http: Address | None


def known_nodes(options: argparse.Namespace) -> dict[Address, Known]:
    """Address -> what the configuration says of the voter there; empty without one. Raises ConfigError, OSError.

    The file has the HTTP port of its own node; a voter on another host probably uses the same port.
    """
    if options.config is None:
        return {}
    config = read_config(options.config)
    http = parse_address(config.text("kraft.http.listener") or "")
    own = config.voters.get(config.node_id)
    nodes = {}
    for node_id, address in config.voters.items():
        is_other_host = own is not None and address[0] != own[0]
        here = http if node_id == config.node_id else (address[0], http[1]) if http and is_other_host else None
        nodes[address] = Known(node_id, here)
    return nodes
