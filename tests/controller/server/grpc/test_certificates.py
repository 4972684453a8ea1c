"""The certificate of the watch service: invalid files are refused, changed files are read again."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from controller.server.grpc.certificates import CertificateError, Certificates, Paths, read_pems

TLS = Path(__file__).parents[3] / "data" / "tls"


def paths(chain: Path, key: Path, client_ca: Path | None = None) -> Paths:
    return Paths(str(chain), str(key), None if client_ca is None else str(client_ca))


def put(directory: Path, name: str) -> Paths:
    """Copy the certificate of this name to `chain.pem` and `chain.key`."""
    shutil.copy(TLS / f"{name}.pem", directory / "chain.pem")
    shutil.copy(TLS / f"{name}.key", directory / "chain.key")
    return paths(directory / "chain.pem", directory / "chain.key")


def test_a_certificate_its_key_and_the_authority_are_read() -> None:
    pems = read_pems(paths(TLS / "node.pem", TLS / "node.key", TLS / "ca.pem"))

    assert pems == tuple((TLS / name).read_bytes() for name in ("node.pem", "node.key", "ca.pem"))


@pytest.mark.parametrize(
    ("chain", "key", "client_ca", "text"),
    [
        ("missing.pem", "node.key", None, "missing.pem: No such file or directory"),
        ("node.pem", "renewed.key", None, "does not match the key in"),
        ("README.md", "node.key", None, "README.md does not match the key in"),
        ("node.pem", "node.key", "README.md", "README.md holds no certificate"),
        ("node.pem", "node.key", "node.key", "node.key holds no certificate"),
        ("node.pem", "node.key", "missing.pem", "missing.pem: No such file or directory"),
    ],
)
def test_files_that_cannot_be_used_are_refused_by_name(chain: str, key: str, client_ca: str | None, text: str) -> None:
    given = paths(TLS / chain, TLS / key, None if client_ca is None else TLS / client_ca)

    with pytest.raises(CertificateError) as refused:
        read_pems(given)

    assert text in str(refused.value)
    assert "PRIVATE" not in str(refused.value)


def test_files_are_reloaded_only_when_they_have_changed(tmp_path: Path) -> None:
    notes: list[tuple[str, Any]] = []
    certificates = Certificates(put(tmp_path, "node"), lambda name, fields: notes.append((name, fields)))

    before = certificates.renewed()
    put(tmp_path, "renewed")
    after, again = certificates.renewed(), certificates.renewed()

    assert (before, after is None, again) == (None, False, None)
    assert notes == [("certificate_renewed", {"file": str(tmp_path / "chain.pem")})]


def test_files_that_do_not_match_are_logged_once_and_not_used(tmp_path: Path) -> None:
    notes: list[str] = []
    certificates = Certificates(put(tmp_path, "node"), lambda name, _fields: notes.append(name))

    shutil.copy(TLS / "renewed.pem", tmp_path / "chain.pem")
    half = [certificates.renewed(), certificates.renewed()]
    shutil.copy(TLS / "renewed.key", tmp_path / "chain.key")
    whole = certificates.renewed()

    assert (half, whole is None) == ([None, None], False)
    assert notes == ["certificate_refused", "certificate_renewed"]


def test_the_certificate_stays_in_use_when_its_files_are_removed(tmp_path: Path) -> None:
    notes: list[str] = []
    certificates = Certificates(put(tmp_path, "node"), lambda name, _fields: notes.append(name))

    (tmp_path / "chain.key").unlink()

    assert [certificates.renewed(), certificates.renewed()] == [None, None]
    assert notes == ["certificate_refused"]
