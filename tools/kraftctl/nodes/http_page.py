"""Reading a node's HTTP port, with TLS and a token where it needs them, and its own view of the quorum on `/quorum`."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import NamedTuple

from controller.config.edges import HTTP, is_loopback_host
from records.java.config_error import ConfigError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from http.client import HTTPConnection
    from typing import Any

    from controller.config.node import NodeConfig

OK = 200
ANYWHERE = {"", "0.0.0.0", "::"}  # noqa: S104 - a listener on all addresses is reached on loopback
ANSWER_BYTES_MAX = 1 << 22


class Caller(NamedTuple):
    """How to call the port: files, None where there is none. ca: its authority; without one there is no TLS.

    is_own: whether `ca` begins with the very certificate of the port. That alone is trusted then, whatever its names,
    and not the intermediates behind it: their authority has other customers.
    """

    ca: str | None = None
    certificate: str | None = None
    key: str | None = None
    token: str | None = None
    is_own: bool = False

    def or_of(self, config: NodeConfig) -> Caller:
        """The same, with what is not given from the configuration of the node."""
        caller = self
        if caller.ca is None:
            caller = caller._replace(ca=config.text(HTTP.certificate), is_own=True)
        if caller.certificate is None and config.text(HTTP.client_ca) is not None:
            caller = caller._replace(certificate=config.text(HTTP.certificate), key=config.text(HTTP.key))
        return caller if caller.token is not None else caller._replace(token=config.text(HTTP.token))

    def connect(self, host: str, port: int, seconds: float) -> HTTPConnection:
        """A connection, which is open if it has TLS: the certificate of the port is verified.

        Raises OSError for files that cannot be used, and for a certificate that is not trusted; ConfigError where the
        token would be sent to another machine without TLS.
        """
        from http.client import HTTPConnection, HTTPSConnection

        if self.ca is None:
            if self.token is not None and not is_loopback_host(host):
                raise ConfigError(
                    f"no token is sent to {host}:{port} without TLS; --ca names the authority of its certificate"
                )
            return HTTPConnection(host, port, timeout=seconds)
        import ssl

        try:
            own = _first_certificate(self.ca) if self.is_own else None
            context = ssl.create_default_context(cafile=None if self.is_own else self.ca, cadata=own)
            # The port's own certificate is trusted as it is; and as in Java, so is whatever is in the file of --ca.
            context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
            context.verify_flags &= ~ssl.VERIFY_X509_STRICT
            context.check_hostname = not self.is_own
            if self.certificate is not None:
                context.load_cert_chain(self.certificate, self.key, password="")
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or getattr(error, "reason", None) or type(error).__name__
            files = ", ".join(path for path in (self.ca, self.certificate, self.key) if path is not None)
            raise OSError(f"the certificates in {files} cannot be used: {reason}") from None
        connection = HTTPSConnection(host, port, timeout=seconds, context=context)
        try:
            connection.connect()
            # A certificate that signed others is trusted as itself, not as their authority.
            if own is not None and connection.sock.getpeercert(binary_form=True) != own:
                raise ssl.SSLCertVerificationError("another certificate")
        except ssl.SSLCertVerificationError as error:
            connection.close()
            if not self.is_own:
                raise
            raise OSError(
                f"certificate verify failed: that of {host}:{port} is not the first of {self.ca}, or has expired; "
                "--ca names the authority of another one"
            ) from error
        return connection

    def headers(self) -> dict[str, str]:
        """The headers of a request. Raises OSError, and ConfigError for a file without a token."""
        if self.token is None:
            return {}
        lines = Path(self.token).read_text(errors="replace").split()
        if not lines:
            raise ConfigError(f"{self.token} has no token")
        return {"Authorization": f"Bearer {lines[0]}"}


def _first_certificate(path: str) -> bytes:
    """The first certificate of a PEM file, in DER. Raises OSError, and ValueError if the file has none."""
    import ssl

    begin, end = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"
    _, marker, rest = Path(path).read_text(errors="replace").partition(begin)
    return ssl.PEM_cert_to_DER_cert(marker + rest.partition(end)[0] + end)


def add_caller_options(parser: argparse.ArgumentParser, port: str) -> None:
    """The files for TLS and the token. port: what the help calls the HTTP port."""
    parser.add_argument("--ca", metavar="FILE", help=f"PEM: the CA of {port}'s certificate (default: that certificate)")
    parser.add_argument("--certificate", metavar="FILE", help=f"PEM: a client certificate (default: {port}'s own)")
    parser.add_argument("--key", metavar="FILE", help="PEM: its private key, if it is not in the same file")
    parser.add_argument("--token", metavar="FILE", help=f"a file with a bearer token (default: {port}'s own)")


def caller_of(options: argparse.Namespace) -> Caller:
    return Caller(options.ca, options.certificate, options.key, options.token)


class Counts(NamedTuple):
    """What is wrong with brokers and partitions. fenced_brokers: the first ids of the registered brokers."""

    fenced_brokers: tuple[int, ...]
    fenced_brokers_in_all: int
    offline_partitions: int
    under_replicated_partitions: int


class NodeView(NamedTuple):
    """A node's own view. leader_id: -1 if it knows none; high_watermark: -1 if unknown.

    not_ready: the reason, empty when the node is ready; lasts_ms: for how long its oldest problem lasts, None without.
    problems: what is wrong now, also while the node is ready, each with for how long. counts: None while the node loads
    its state, and of an older node.
    """

    cluster_id: str
    role: str
    is_active: bool
    leader_id: int
    epoch: int
    high_watermark: int
    end_offset: int
    not_ready: str
    lasts_ms: int | None
    problems: tuple[str, ...] = ()
    counts: Counts | None = None


class HttpPage:
    """A node's HTTP port, read over one connection, which is kept. seconds: for each answer."""

    def __init__(self, address: tuple[str, int], caller: Caller, seconds: float) -> None:
        host, port = address
        self._host = "localhost" if host in ANYWHERE else host
        self._port = port
        self._caller = caller
        self._seconds = seconds
        self._connection: HTTPConnection | None = None

    def get(self, path: str) -> tuple[int, str]:
        """The status and the text of an answer. Raises OSError, and ConfigError for a file without a token."""
        from http.client import HTTPException

        if self._connection is None:
            self._connection = self._caller.connect(self._host, self._port, self._seconds)
        try:
            self._connection.request("GET", path, headers=self._caller.headers())
            answer = self._connection.getresponse()
            return answer.status, answer.read(ANSWER_BYTES_MAX).decode(errors="replace")
        except HTTPException as error:
            self.close()
            raise OSError(f"{self._host}:{self._port} does not answer {path} with HTTP: {error!r}") from None
        except BaseException:
            self.close()
            raise

    def first_event(self, path: str, bytes_max: int) -> Any:
        """The data of the first server-sent event of a path. Raises OSError, ConfigError, ValueError without one."""
        from http.client import HTTPException

        connection = self._caller.connect(self._host, self._port, self._seconds)
        try:
            connection.request("GET", path, headers=self._caller.headers())
            answer = connection.getresponse()
            if answer.status != OK:
                raise OSError(f"{self._host}:{self._port} answers {path} with {answer.status}")
            while line := answer.readline(bytes_max):
                if line.startswith(b"data: "):
                    return json.loads(line.removeprefix(b"data: "))
        except HTTPException as error:
            raise OSError(f"{self._host}:{self._port} does not answer {path} with HTTP: {error!r}") from None
        finally:
            connection.close()
        raise ValueError(f"{self._host}:{self._port} ends {path} without an event")

    def view(self) -> NodeView:
        """The node's own view. Raises OSError, ConfigError, and LookupError for an answer that is none of `/quorum`."""
        status, text = self.get("/quorum")
        if status != OK:
            raise OSError(f"{self._host}:{self._port} answers /quorum with {status}: {text.strip()}")
        try:
            return _parse_view(json.loads(text))
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise LookupError(f"/quorum of {self._host}:{self._port}: {error!r}") from None

    def close(self) -> None:
        """Close the connection; the next request opens a new one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(OSError):
                connection.close()


def _parse_view(answer: dict[str, Any]) -> NodeView:
    node, quorum = answer["node"], answer["quorum"]
    failed = [check["reason"] for check in answer["checks"] if not check["ok"]]
    return NodeView(
        cluster_id=node["cluster_id"],
        role=node["role"],
        is_active=node["is_active_controller"],
        leader_id=-1 if quorum["leader_id"] is None else quorum["leader_id"],
        epoch=quorum["epoch"],
        high_watermark=-1 if quorum["high_watermark"] is None else quorum["high_watermark"],
        end_offset=answer["log"]["end_offset"],
        not_ready=failed[0] if failed else "",
        lasts_ms=max((problem["lasts_ms"] for problem in answer["problems"]), default=None),
        problems=tuple(f"{problem['text']} (for {problem['lasts_ms'] // 1000} s)" for problem in answer["problems"]),
        counts=_counts(answer.get("counts")),
    )


def _counts(counts: dict[str, Any] | None) -> Counts | None:
    if counts is None:
        return None
    numbers = (counts[name] for name in Counts._fields[1:])
    return Counts(tuple(map(int, counts["fenced_brokers"])), *map(int, numbers))
