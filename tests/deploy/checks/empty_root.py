"""A root file system with only Debian's Python in it: replaces the image's base where no container engine runs."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

# A shell, the tools that a Dockerfile's RUN may call, Python with venv, and the libraries that wheels link to.
PACKAGES = (Path(__file__).parent / "base-packages.txt").read_text().split()
# Files of this machine that the build steps may need to reach a package index.
NETWORK_FILES = ("/etc/resolv.conf", "/etc/hosts", "/etc/pip.conf", "/etc/ssl/certs/ca-certificates.crt")
NETWORK_PREFIXES = ("PIP_", "SSL_", "HTTP_", "HTTPS_", "NO_PROXY", "http_", "https_", "no_proxy", "REQUESTS_")


def cache() -> Path:
    return Path(os.environ.get("KRAFT_CACHE", Path.home() / ".cache" / "kraft-quorum")) / "debian"


def packages() -> list[Path]:
    """The packages' files, downloaded once. Fails if apt has none for bookworm."""
    directory = cache()
    directory.mkdir(parents=True, exist_ok=True)
    have = {path.name.split("_")[0] for path in directory.glob("*.deb")}
    missing = [name for name in PACKAGES if name not in have]
    if missing:
        command = ["apt-get", "-qq", "-o", "APT::Sandbox::User=root", "download", *missing]
        done = subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=170, check=False)
        if done.returncode:
            subprocess.run(["apt-get", "-qq", "update"], timeout=100, check=True)
            subprocess.run(command, cwd=directory, timeout=170, check=True)
    return sorted(directory.glob("*.deb"))


def make(root: Path) -> None:
    """Unpack the packages into `root`, and do the necessary part of their install scripts."""
    root.mkdir(parents=True)
    for name in ("bin", "sbin", "lib", "lib64"):
        (root / "usr" / name).mkdir(parents=True)
        (root / name).symlink_to(f"usr/{name}")
    for package in packages():
        # tar keeps the links above, which `dpkg-deb --extract` would replace.
        unpack = f"dpkg-deb --fsys-tarfile {package} | tar -x -C {root} --keep-directory-symlink"
        subprocess.run(["bash", "-o", "pipefail", "-c", unpack], check=True)
    for name in ("passwd", "group"):
        shutil.copy(root / f"usr/share/base-passwd/{name}.master", root / "etc" / name)
    for name in ("shadow", "gshadow"):
        (root / "etc" / name).touch(mode=0o600)
    shell = root / "usr/bin/sh"
    if not shell.exists():
        shell.symlink_to("dash")
    (root / "tmp").chmod(0o1777)
    for name in NETWORK_FILES:
        if Path(name).exists():
            to = root / name.lstrip("/")
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(name, to)
    device = root / "dev/null"
    device.parent.mkdir(exist_ok=True)
    subprocess.run(["mknod", "-m", "666", str(device), "c", "1", "3"], check=True)
    subprocess.run(["mknod", "-m", "666", str(root / "dev/urandom"), "c", "1", "9"], check=True)


def network_environment() -> dict[str, str]:
    """The variables of this machine that a package index may need."""
    return {name: value for name, value in os.environ.items() if name.startswith(NETWORK_PREFIXES)}
