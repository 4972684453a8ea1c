"""The certificate of the watch service: gRPC gets a new one when the files have changed, and only then."""

from __future__ import annotations

import shutil
from pathlib import Path

from controller.config.edges import GRPC
from controller.config.node import NodeConfig
from controller.security.edges import EdgeSecurity
from controller.server.grpc.certificates import Certificates
from tests.controller.config.test_edges import NODE

TLS = Path(__file__).parents[3] / "data" / "tls"


def put(directory: Path, name: str) -> dict[str, str]:
    shutil.copy(TLS / f"{name}.pem", directory / "chain.pem")
    shutil.copy(TLS / f"{name}.key", directory / "chain.key")
    return {GRPC.certificate: str(directory / "chain.pem"), GRPC.key: str(directory / "chain.key")}


def test_each_new_connection_gets_the_present_certificate(tmp_path: Path) -> None:
    config = NodeConfig({**NODE, **put(tmp_path, "node")})
    security = EdgeSecurity(config, GRPC, now=lambda: 0.0, note=lambda _name, _fields: None)
    certificates = Certificates(security)

    before = certificates.take_renewed()
    put(tmp_path, "renewed")
    after, again = certificates.take_renewed(), certificates.take_renewed()
    (tmp_path / "chain.key").unlink()

    assert (before, after is None, again, certificates.take_renewed()) == (None, False, None, None)
