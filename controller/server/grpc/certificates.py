"""The certificate of the port, and its renewal without a restart: new connections use the current files."""

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
    """PEM files. chain: the certificate and its intermediates; client_ca: the authority of the clients' certificates,
    None if clients need none.
    """

    chain: str
    key: str
    client_ca: str | None


class CertificateError(ValueError):
    """The files are not a certificate with its key; the text names the file."""


class Certificates:
    """Reads the files, and reloads them when a client connects and they have changed.

    Files that cannot be used are logged once, and the previous ones stay in use: a renewal writes several files, and
    a client that connects in between must still get a certificate.
    """

    def __init__(self, paths: Paths, note: Callable[[str, dict[str, Any]], None]) -> None:
        """note: writes a log event, from any thread. Raises CertificateError."""
        self._paths = paths
        self._note = note
        self._refused = ""
        self._seen = self._stamp()
        self._pems = read_pems(paths)

    def credentials(self) -> grpc.ServerCredentials:
        """Credentials that ask for the certificate at each handshake."""
        return grpc.dynamic_ssl_server_credentials(
            _configuration(self._pems), self.renewed, require_client_authentication=self._paths.client_ca is not None
        )

    def renewed(self) -> grpc.ServerCertificateConfiguration | None:
        """The certificate in the files if it has changed, else None. Called on gRPC's threads."""
        try:
            stamp = self._stamp()
            if stamp == self._seen:
                return None
            self._seen = stamp
            pems = read_pems(self._paths)
            if self._stamp() != stamp:
                self._seen = ()  # being written; check again when the next client connects
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
    """The content of the files."""

    chain: bytes
    key: bytes
    client_ca: bytes | None


def read_pems(paths: Paths) -> Pems:
    """The content of the files, checked to match. Raises CertificateError; its text contains no key."""
    chain, key = _read(paths.chain), _read(paths.key)
    client_ca = None if paths.client_ca is None else _read(paths.client_ca)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        # An encrypted key is refused; the default would prompt for the passphrase on a terminal.
        context.load_cert_chain(paths.chain, paths.key, password=b"")
    except (ssl.SSLError, OSError, ValueError) as error:
        reason = getattr(error, "reason", None) or type(error).__name__
        raise CertificateError(f"{paths.chain} does not match the key in {paths.key}: {reason}") from None
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
