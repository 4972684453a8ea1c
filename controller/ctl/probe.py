"""`kraftctl probe`: asks the node of this machine whether it is live, started or ready; for health checks."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import NamedTuple

from controller.config.edges import HTTP
from controller.config.environment import container_properties
from controller.config.file import read_config
from controller.config.node import NodeConfig
from controller.config.values.addresses import FORM, parse_address
from controller.config.values.definition import ConfigError
from controller.ctl.container import MOUNTED, mounted_properties
from controller.tools.connection import Connection
from records.wire import DecodeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from http.client import HTTPConnection

PATHS = {"live": "/livez", "started": "/startupz", "ready": "/readyz"}
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
    parser.add_argument("--ca", metavar="FILE", help="PEM: the port's authority (default: its own certificate)")
    parser.add_argument("--certificate", metavar="FILE", help="PEM: a client certificate (default: the port's own)")
    parser.add_argument("--key", metavar="FILE", help="PEM: its private key, if it is not in the same file")
    parser.add_argument("--token", metavar="FILE", help="a file with a bearer token (default: the port's own)")
    parser.add_argument("--timeout", type=float, default=2.0, metavar="SECONDS", help="default: %(default)s")
    options = parser.parse_args(arguments)
    try:
        listener, caller = options.at, Caller(options.ca, options.certificate, options.key, options.token)
        if not listener:
            config = _config(options.config)
            listener = config.text(HTTP.listener)
            if not listener:
                return _ask_kafka(config, options.what, options.timeout)
            caller = caller.or_of(config)
        address = parse_address(listener)
        if address is None:
            raise ConfigError(f"{listener} is not an address. {FORM}")
        status, text = _get(address, PATHS[options.what], caller, options.timeout)
    except (ConfigError, DecodeError, OSError) as error:
        print(f"kraftctl probe: {error}", file=sys.stderr)
        return 1
    print(text.rstrip())
    return 0 if status == OK else 1


def _config(path: str | None) -> NodeConfig:
    if path is not None:
        return read_config(path)
    return NodeConfig(container_properties(os.environ, mounted_properties(MOUNTED)))


class Caller(NamedTuple):
    """How to call the port: files, None where there is none. ca: its authority; without one there is no TLS.

    is_own: whether `ca` is the very certificate of the port, whose name does not matter then.
    """

    ca: str | None
    certificate: str | None
    key: str | None
    token: str | None
    is_own: bool = False

    def or_of(self, config: NodeConfig) -> Caller:
        """The same, with what is not given from the configuration of the node."""
        found = self
        if found.ca is None:
            found = found._replace(ca=config.text(HTTP.certificate), is_own=True)
        if found.certificate is None and config.text(HTTP.client_ca) is not None:
            found = found._replace(certificate=config.text(HTTP.certificate), key=config.text(HTTP.key))
        return found if found.token is not None else found._replace(token=config.text(HTTP.token))

    def connect(self, host: str, port: int, seconds: float) -> HTTPConnection:
        """Raises OSError for files that cannot be used."""
        from http.client import HTTPConnection, HTTPSConnection

        if self.ca is None:
            return HTTPConnection(host, port, timeout=seconds)
        import ssl

        try:
            context = ssl.create_default_context(cafile=self.ca)
            # The port's own certificate is trusted as it is; and as in Java, so is whatever is in the file.
            context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
            context.verify_flags &= ~ssl.VERIFY_X509_STRICT
            context.check_hostname = not self.is_own
            if self.certificate is not None:
                context.load_cert_chain(self.certificate, self.key, password="")
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or getattr(error, "reason", None) or type(error).__name__
            files = ", ".join(path for path in (self.ca, self.certificate, self.key) if path is not None)
            raise OSError(f"the certificates in {files} cannot be used: {reason}") from None
        return HTTPSConnection(host, port, timeout=seconds, context=context)

    def headers(self) -> dict[str, str]:
        """Raises OSError, and ConfigError for a file without a token."""
        if self.token is None:
            return {}
        lines = Path(self.token).read_text(errors="replace").split()
        if not lines:
            raise ConfigError(f"{self.token} has no token")
        return {"Authorization": f"Bearer {lines[0]}"}


def _get(address: tuple[str, int], path: str, caller: Caller, seconds: float) -> tuple[int, str]:
    from http.client import HTTPException

    host, port = address
    connection = caller.connect("localhost" if host in ANYWHERE else host, port, seconds)
    try:
        connection.request("GET", path, headers=caller.headers())
        answer = connection.getresponse()
        return answer.status, answer.read(ANSWER_BYTES_MAX).decode(errors="replace")
    except HTTPException as error:
        raise OSError(f"{host}:{port} does not answer {path} with HTTP: {error!r}") from None
    finally:
        connection.close()


def _ask_kafka(config: NodeConfig, what: str, seconds: float) -> int:
    """Whether the controller's listener answers ApiVersions; independent of the quorum."""
    if what == "ready":
        raise ConfigError(f"{HTTP.listener} is not set: only the HTTP port answers whether the node is ready")
    endpoint = config.controller_listeners[0]
    host = endpoint.host or ""
    with Connection("localhost" if host in ANYWHERE else host, endpoint.port, "kraftctl-probe", seconds=seconds):
        print(f"listener {endpoint.name} answers")
    return 0
