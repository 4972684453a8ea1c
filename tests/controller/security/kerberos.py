"""A key distribution centre of MIT Kerberos on loopback, for tests of GSSAPI."""

from __future__ import annotations

import importlib.util
import os
import shutil
import socket
import subprocess
import time
from functools import cache
from typing import TYPE_CHECKING, Self

import pytest

if TYPE_CHECKING:
    from pathlib import Path

REALM = "EXAMPLE.ORG"
_PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"

needs_kerberos = pytest.mark.skipif(
    importlib.util.find_spec("gssapi") is None
    or any(shutil.which(name, path=_PATH) is None for name in ("krb5kdc", "kdb5_util", "kadmin.local")),
    reason="no package gssapi, or no krb5-kdc and krb5-admin-server here",
)


@cache
def _tool(name: str) -> str:
    found = shutil.which(name, path=_PATH)
    assert found is not None
    return found


class Realm:
    """A context manager. config: the path of krb5.conf; environment: what its users need."""

    def __init__(self, root: Path, lifetime: str = "1h") -> None:
        self.root = root
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.config, self.profile = root / "krb5.conf", root / "kdc.conf"
        self.config.write_text(
            f"[libdefaults]\ndefault_realm = {REALM}\ndns_lookup_kdc = false\ndns_lookup_realm = false\n"
            f"ticket_lifetime = {lifetime}\nudp_preference_limit = 1\n"
            f"[realms]\n{REALM} = {{\n kdc = 127.0.0.1:{self.port}\n}}\n"
            f"[domain_realm]\nlocalhost = {REALM}\n127.0.0.1 = {REALM}\n"
        )
        self.profile.write_text(
            f'[kdcdefaults]\nkdc_listen = ""\nkdc_tcp_listen = 127.0.0.1:{self.port}\n'
            f"[realms]\n{REALM} = {{\n database_name = {root}/principal\n key_stash_file = {root}/stash\n"
            f" acl_file = {root}/acl\n max_life = {lifetime}\n}}\n"
        )
        self.environment = {
            "KRB5_CONFIG": str(self.config), "KRB5_KDC_PROFILE": str(self.profile),
            "KRB5RCACHENAME": f"file2:{root}/rcache",
        }  # fmt: skip
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self._run("kdb5_util", "-r", REALM, "-P", "master", "create", "-s", "-W")
        log = (self.root / "kdc.log").open("wb")
        self._process = subprocess.Popen(
            [_tool("krb5kdc"), "-n", "-r", REALM], env=os.environ | self.environment, stdout=log, stderr=log
        )
        log.close()
        end = time.monotonic() + 20
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return self
            except OSError:
                assert self._process.poll() is None, (self.root / "kdc.log").read_text()
                assert time.monotonic() < end
                time.sleep(0.05)

    def __exit__(self, *_: object) -> None:
        assert self._process is not None
        self._process.terminate()
        self._process.wait(10)

    def keytab(self, name: str) -> Path:
        """A new principal, and the file with its key."""
        path = self.root / f"{name.replace('/', '-')}.keytab"
        self._run("kadmin.local", "-r", REALM, "-q", f"addprinc -randkey {name}")
        self._run("kadmin.local", "-r", REALM, "-q", f"ktadd -k {path} {name}")
        return path

    def _run(self, tool: str, *arguments: str) -> None:
        subprocess.run([_tool(tool), *arguments], env=os.environ | self.environment, check=True, capture_output=True)
