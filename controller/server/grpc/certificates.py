"""The port's own certificate, and renewing it without a restart: new connections get what the files hold by then."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import grpc

if TYPE_CHECKING:
    from collections.abc import Callable

FILE_BYTES_MAX = 1 << 20

Stamp = tuple[tuple[int, int, int], ...]


class Paths(NamedTuple):
    """PEM files. chain: the certificate and those between it and its root; client_ca: whose certificates clients must
    have, None where they need none.
    """

    chain: str
    key: str
    client_ca: str | None


class CertificateError(ValueError):
    """Files that are no certificate with its key; the text names the file."""


class Certificates:
    """Reads the files, and reads them anew when a client connects and they have changed.

    What cannot be used is told once, and what was there before stays in use: a renewal writes several files, and who
    connects in between must not find a node that is no longer served by any.
    """

    def __init__(self, paths: Paths, note: Callable[[str, dict[str, Any]], None]) -> None:
        """note: takes what is worth a line in the log, on any thread. Raises CertificateError."""
        self._paths = paths
        self._note = note
        self._refused = ""
        self._seen = self._stamp()
        self._pems = read_pems(paths)

    def credentials(self) -> grpc.ServerCredentials:
        """For a port that asks for the certificate at each handshake."""
        return grpc.dynamic_ssl_server_credentials(
            _configuration(self._pems), self.renewed, require_client_authentication=self._paths.client_ca is not None
        )

    def renewed(self) -> grpc.ServerCertificateConfiguration | None:
        """What is in the files where it is something new; None where it is not. Called on gRPC's threads."""
        try:
            stamp = self._stamp()
            if stamp == self._seen:
                return None
            self._seen = stamp
            pems = read_pems(self._paths)
            if self._stamp() != stamp:
                self._seen = ()  # being written; the next client asks again
                return None
        except CertificateError as error:
            if str(error) != self._refused:  # once, not at each of many connections
                self._refused = str(error)
                self._note("certificate_refused", {"reason": str(error)})
            return None
        self._refused = ""
        if pems == self._pems:
            return None
        self._pems = pems
        self._note("certificate_renewed", {"file": self._paths.chain})
        return _configuration(pems)

    def _stamp(self) -> Stamp:
        found = []
        for path in self._paths:
            if path is not None:
                try:
                    status = Path(path).stat()
                except OSError as error:
                    raise CertificateError(f"{path}: {error.strerror}") from None
                found.append((status.st_mtime_ns, status.st_ino, status.st_size))
        return tuple(found)


class Pems(NamedTuple):
    """What the files hold."""

    chain: bytes
    key: bytes
    client_ca: bytes | None


def read_pems(paths: Paths) -> Pems:
    """The files, when they go together. Raises CertificateError; no key is in its text."""
    chain, key = _read(paths.chain), _read(paths.key)
    client_ca = None if paths.client_ca is None else _read(paths.client_ca)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        # A key under a passphrase is not asked for at a terminal, but refused.
        context.load_cert_chain(paths.chain, paths.key, password=b"")
    except (ssl.SSLError, OSError, ValueError) as error:
        reason = getattr(error, "reason", None) or type(error).__name__
        raise CertificateError(f"{paths.chain} is no certificate with its key in {paths.key}: {reason}") from None
    if client_ca is not None:
        try:
            context.load_verify_locations(cadata=client_ca.decode("ascii"))
        except (ssl.SSLError, ValueError) as error:
            reason = getattr(error, "reason", None) or type(error).__name__
            raise CertificateError(f"{paths.client_ca} holds no certificates: {reason}") from None
        if not context.get_ca_certs():
            raise CertificateError(f"{paths.client_ca} holds no certificate of an authority")
    return Pems(chain, key, client_ca)


def _read(path: str) -> bytes:
    try:
        with Path(path).open("rb") as file:
            data = file.read(FILE_BYTES_MAX + 1)
    except OSError as error:
        raise CertificateError(f"{path}: {error.strerror}") from None
    if len(data) > FILE_BYTES_MAX:
        raise CertificateError(f"{path} has more than {FILE_BYTES_MAX} bytes")
    return data


def _configuration(pems: Pems) -> grpc.ServerCertificateConfiguration:
    return grpc.ssl_server_certificate_configuration([(pems.key, pems.chain)], root_certificates=pems.client_ca)
