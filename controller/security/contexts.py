"""TLS contexts of a listener, made from its stores, and made again when their files have changed."""

from __future__ import annotations

import os
import ssl
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from controller.config.security.security_checks import store_type
from raft.security.ciphers import open_ssl_name
from raft.security.files import FileError, read_bounded
from raft.security.keystores import key_pair, pem, trusted_certificates
from raft.security.names import chain_expires_s
from raft.security.renewal import CHECK_S, Renewal
from raft.security.sessions import Sessions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from controller.config.security.listener_values import ListenerValues


_VERSIONS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}
_CLIENT_AUTH = {"none": ssl.CERT_NONE, "requested": ssl.CERT_OPTIONAL, "required": ssl.CERT_REQUIRED}


class Contexts:
    """The contexts of both sides. Both are made of the same stores, as in stock."""

    def __init__(
        self,
        values: ListenerValues,
        now: Callable[[], float],
        note: Callable[[str, dict[str, Any]], None],
        *,
        is_client: bool = False,
    ) -> None:
        """now: a clock, in s; note: takes events for the log; is_client: whether a certificate may be missing. Raises
        FileError.
        """
        self._values = values
        self._is_client = is_client
        self._certificate: tuple[str, int] | None = None
        self._sessions = Sessions()
        self._paths = [
            path
            for path in (values.text("ssl.keystore.location"), values.text("ssl.truststore.location"))
            if path is not None
        ]
        self._ciphers = set(values.list("ssl.cipher.suites"))
        self._names = {open_ssl_name(name) for name in self._ciphers}
        self._made = Renewal(
            self._paths, self._make, now=now, pause_s=CHECK_S,
            renewed=lambda: note("keystore_renewed", {"listener": values.name, "file": self._paths[0]}),
            refused=lambda reason: note("keystore_refused", {"listener": values.name, "reason": reason}),
        )  # fmt: skip

    def server(self) -> ssl.SSLContext:
        server = self._made.value()[0]
        return self._made.made_again()[0] if self._sessions.is_full(server) else server

    def client(self) -> ssl.SSLContext:
        return self._made.value()[1]

    def certificate(self) -> tuple[str, int] | None:
        """The file of the certificate in use, and when the first of its chain expires, in s since 1970."""
        self._made.value()
        return self._certificate

    def check_session(self, session: ssl.SSLObject) -> None:
        """Raises ValueError for a cipher suite that is not enabled (OpenSSL enables those of TLS 1.3 together), and for
        a resumed session whose certificate has expired.
        """
        self._sessions.check(session)
        cipher = session.cipher()
        if self._names and cipher is not None and cipher[0] not in self._names:
            raise ValueError(f"cipher suite {cipher[0]} is not in ssl.cipher.suites")

    def _make(self) -> tuple[ssl.SSLContext, ssl.SSLContext]:
        """Raises FileError."""
        values = self._values
        server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        server.verify_mode = _CLIENT_AUTH[values.text("ssl.client.auth") or "none"]
        client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        client.check_hostname = bool(values.text("ssl.endpoint.identification.algorithm"))
        for context in (server, client):
            # No tickets; what is resumed without one is checked by `Sessions`.
            context.options |= ssl.OP_NO_TICKET | ssl.OP_NO_RENEGOTIATION | ssl.OP_NO_COMPRESSION
            # As in Java, whatever is in the truststore is trusted, without its own authority.
            context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
            self._set_versions(context)
        server.num_tickets = 0
        self._load_key(server, client)
        self._load_trust(server, client)
        return server, client

    def _set_versions(self, context: ssl.SSLContext) -> None:
        enabled = self._values.list("ssl.enabled.protocols") or tuple(_VERSIONS)
        if self._ciphers:
            are_new = {name.startswith("TLS_") and "_WITH_" not in name for name in self._ciphers}
            old = [open_ssl_name(name) for name in sorted(self._ciphers) if "_WITH_" in name]
            if old:
                try:
                    context.set_ciphers(":".join(old))
                except ssl.SSLError:
                    raise FileError("ssl.cipher.suites names no cipher suite that OpenSSL has") from None
            allowed = {"TLSv1.3" if is_new else "TLSv1.2" for is_new in are_new}
            enabled = tuple(name for name in enabled if name in allowed)
            if not enabled:
                raise FileError("ssl.cipher.suites has none for a version of ssl.enabled.protocols")
        numbers = [_VERSIONS[name] for name in enabled]
        context.minimum_version, context.maximum_version = min(numbers), max(numbers)

    def _load_key(self, server: ssl.SSLContext, client: ssl.SSLContext) -> None:
        values = self._values
        path = values.text("ssl.keystore.location")
        if self._is_client and path is None and values.text("ssl.keystore.key") is None:
            return
        key_password = values.text("ssl.key.password")
        if path is None:
            where = "ssl.keystore.key"
            data = "\n".join(
                unfold_pem(values.text(key) or "") for key in ("ssl.keystore.certificate.chain", "ssl.keystore.key")
            ).encode()
            kind, password = "PEM", ""
        else:
            where, data = path, read_bounded(path)
            kind, password = store_type(values, "keystore"), values.text("ssl.keystore.password") or ""
        pair = key_pair(data, where, kind, password, key_password)
        with hold_in_file(pair.pem) as name:
            try:
                for context in (server, client):
                    # An encrypted key without a password is refused; the default would ask for it on a terminal.
                    context.load_cert_chain(name, password=pair.password or "")
            except (ssl.SSLError, OSError, ValueError) as error:
                reason = getattr(error, "reason", None) or type(error).__name__
                raise FileError(f"{where} has no private key with its certificate, or is wrong: {reason}") from None
        end_s = chain_expires_s(pair.pem)
        self._certificate = None if end_s is None else (where, end_s)

    def _load_trust(self, server: ssl.SSLContext, client: ssl.SSLContext) -> None:
        values = self._values
        path, inline = values.text("ssl.truststore.location"), values.text("ssl.truststore.certificates")
        if path is None and inline is None:
            for context in (server, client):
                context.load_default_certs()
            return
        where = path or "ssl.truststore.certificates"
        kind = store_type(values, "truststore")
        if path is None:
            text = unfold_pem(inline or "")
        elif kind == "PEM":
            text = read_bounded(path).decode("latin-1")
        else:
            certificates = trusted_certificates(read_bounded(path), path, values.text("ssl.truststore.password"))
            text = b"".join(pem("CERTIFICATE", each) for each in certificates).decode()
        for context in (server, client):
            try:
                context.load_verify_locations(cadata=text.encode("ascii", "replace").decode())
            except (ssl.SSLError, ValueError) as error:
                reason = getattr(error, "reason", None) or type(error).__name__
                raise FileError(f"{where} holds no certificates: {reason}") from None


def unfold_pem(text: str) -> str:
    """PEM that was written on one line, with spaces where lines ended, as properties files often have it."""
    if "\n" in text.strip():
        return text
    parts = text.strip().split("-----")
    lines = []
    for part in parts:
        stripped = part.strip()
        if stripped.startswith(("BEGIN ", "END ")):
            lines.append(f"-----{stripped}-----")
        elif stripped:
            lines += stripped.split()
    return "\n".join(lines) + "\n"


@contextmanager
def hold_in_file(data: bytes) -> Iterator[str]:
    """The name of a file with the data, in memory where the system can: OpenSSL loads keys from files only."""
    if hasattr(os, "memfd_create"):
        number = os.memfd_create("key")
        try:
            os.write(number, data)
            yield f"/proc/self/fd/{number}"
        finally:
            os.close(number)
        return
    from tempfile import NamedTemporaryFile

    with NamedTemporaryFile() as file:  # only its owner may read it
        file.write(data)
        file.flush()
        yield file.name
