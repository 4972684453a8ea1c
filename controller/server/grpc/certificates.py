"""The certificate of the port in gRPC's form: each new connection asks for the present files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import grpc

if TYPE_CHECKING:
    from controller.security.edges import EdgeSecurity, Pems


class Certificates:
    """The certificates of a port with TLS, as gRPC asks for them on its own threads."""

    def __init__(self, security: EdgeSecurity) -> None:
        self._security = security
        self._given = security.pems()

    def credentials(self) -> grpc.ServerCredentials:
        """Credentials that ask for the certificate at each handshake."""
        return grpc.dynamic_ssl_server_credentials(
            _configuration(self._given),
            self.take_renewed,
            require_client_authentication=self._given.client_ca is not None,
        )

    def take_renewed(self) -> grpc.ServerCertificateConfiguration | None:
        """The certificate in the files if it has changed, else None. Called on gRPC's threads."""
        pems = self._security.pems()
        if pems is self._given:
            return None
        self._given = pems
        return _configuration(pems)


def _configuration(pems: Pems) -> grpc.ServerCertificateConfiguration:
    return grpc.ssl_server_certificate_configuration([(pems.key, pems.chain)], root_certificates=pems.client_ca)
