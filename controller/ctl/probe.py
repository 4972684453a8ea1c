"""`kraftctl probe`: asks the node of this machine whether it is live, started or ready; for health checks."""

from __future__ import annotations

import argparse
import os
import sys

from controller.config.environment import container_properties
from controller.config.file import read_config
from controller.config.node import NodeConfig
from controller.config.values.addresses import FORM, parse_address
from controller.config.values.definition import ConfigError
from controller.ctl.container import MOUNTED, mounted_properties
from controller.tools.connection import Connection
from records.wire import DecodeError

PATHS = {"live": "/livez", "started": "/startupz", "ready": "/readyz"}
HTTP_LISTENER = "kraft.http.listener"
OK = 200
ANYWHERE = {"", "0.0.0.0", "::"}  # noqa: S104 - a listener on all addresses is reached on loopback
ANSWER_BYTES_MAX = 1 << 20


def run(arguments: list[str]) -> int:
    """Exit code 0 if the probe succeeds, 1 if it fails or the node does not answer; the node's answer on stdout."""
    parser = argparse.ArgumentParser(
        prog="kraftctl probe",
        description="Ask the node of this machine on its HTTP port. Without kraft.http.listener in the configuration, "
        "`live` and `started` ask whether its Kafka listener answers.",
    )
    parser.add_argument("what", choices=PATHS)
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--at", metavar="HOST:PORT", help="the HTTP port")
    where.add_argument(
        "-c", "--config", metavar="FILE", help="the node's controller.properties (default: a container's)"
    )
    parser.add_argument("--timeout", type=float, default=2.0, metavar="SECONDS", help="default: %(default)s")
    options = parser.parse_args(arguments)
    try:
        listener = options.at
        if not listener:
            config = _config(options.config)
            listener = config.text(HTTP_LISTENER)
            if not listener:
                return _ask_kafka(config, options.what, options.timeout)
        address = parse_address(listener)
        if address is None:
            raise ConfigError(f"{listener} is not an address. {FORM}")
        status, text = _get(address, PATHS[options.what], options.timeout)
    except (ConfigError, DecodeError, OSError) as error:
        print(f"kraftctl probe: {error}", file=sys.stderr)
        return 1
    print(text.rstrip())
    return 0 if status == OK else 1


def _config(path: str | None) -> NodeConfig:
    if path is not None:
        return read_config(path)
    return NodeConfig(container_properties(os.environ, mounted_properties(MOUNTED)))


def _get(address: tuple[str, int], path: str, seconds: float) -> tuple[int, str]:
    from http.client import HTTPConnection, HTTPException

    host, port = address
    connection = HTTPConnection("localhost" if host in ANYWHERE else host, port, timeout=seconds)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read(ANSWER_BYTES_MAX).decode(errors="replace")
    except HTTPException as error:
        raise OSError(f"{host}:{port} does not answer {path} with HTTP: {error!r}") from None
    finally:
        connection.close()


def _ask_kafka(config: NodeConfig, what: str, seconds: float) -> int:
    """Whether the controller's listener answers ApiVersions; independent of the quorum."""
    if what == "ready":
        raise ConfigError(f"{HTTP_LISTENER} is not set: only the HTTP port answers whether the node is ready")
    endpoint = config.controller_listeners[0]
    host = endpoint.host or ""
    with Connection("localhost" if host in ANYWHERE else host, endpoint.port, "kraftctl-probe", seconds=seconds):
        print(f"listener {endpoint.name} answers")
    return 0
