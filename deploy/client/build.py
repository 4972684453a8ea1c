"""`python -m deploy.client.build DIST`: the wheel and the source distribution of kraft-quorum-client.

Its modules are those of `kraft_quorum` that need nothing else of this project; here they get another package's name.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

from records.release import VERSION, project_urls

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
NAME = "kraft_quorum_client"
MODULES = ("client", "aio")
INIT = f'''"""The client of the watch service of kraft-quorum."""

from {NAME}.aio import AsyncClient
from {NAME}.client import Client, Files, Update, WatchFailed

__all__ = ["AsyncClient", "Client", "Files", "Update", "WatchFailed"]
'''


def write_sources(folder: Path) -> None:
    """Write what the distribution is built from."""
    package = folder / NAME
    package.mkdir(parents=True)
    text = (HERE / "pyproject.toml").read_text("utf-8")
    urls = "".join(f'{label} = "{url}"\n' for label, url in project_urls().items())
    text = text.replace('version = "0"', f'version = "{VERSION}"') + (f"\n[project.urls]\n{urls}" if urls else "")
    (folder / "pyproject.toml").write_text(text, "utf-8")
    shutil.copy(HERE / "README.md", folder)
    shutil.copy(ROOT / "LICENSE", folder)
    (package / "py.typed").touch()
    (package / "__init__.py").write_text(INIT, "utf-8")
    for module in MODULES:
        source = (ROOT / "kraft_quorum" / f"{module}.py").read_text("utf-8")
        (package / f"{module}.py").write_text(source.replace("kraft_quorum.", f"{NAME}."), "utf-8")


def main(target: Path) -> None:
    """Build both into a directory."""
    import setuptools.build_meta as backend

    target = target.resolve()
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "client"
        write_sources(folder)
        os.chdir(folder)
        backend.build_sdist(str(target))
        backend.build_wheel(str(target))


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]))
    except ValueError as error:
        sys.exit(f"records/release.py: {error}")
