"""The distribution kraft-quorum-client: typed, with the version of the repository, on grpcio and msgpack alone."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from records.release import VERSION

ROOT = Path(__file__).parents[2]
# Without the repository on the path; the environment's libraries stay.
IMPORTS = """
import sys
sys.path.insert(0, sys.argv[1])
from kraft_quorum_client import AsyncClient, Client, Files, Update, WatchFailed
print(*sorted({name.partition(".")[0] for name in sys.modules}
    & {"kraft_quorum", "records", "raft", "controller", "tools"}))
print(Client(["127.0.0.1:1"]).target, AsyncClient(["127.0.0.1:2"]).target, Client.__module__)
"""


@pytest.fixture(name="wheel", scope="module")
def _wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    dist = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "deploy.client.build", str(dist)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    assert (dist / f"kraft_quorum_client-{VERSION}.tar.gz").is_file()
    return dist / f"kraft_quorum_client-{VERSION}-py3-none-any.whl"


def test_the_wheel_has_the_client_its_types_and_its_needs(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as opened:
        names = {name for name in opened.namelist() if ".dist-info/" not in name}
        metadata = opened.read(f"kraft_quorum_client-{VERSION}.dist-info/METADATA").decode()

    assert names == {f"kraft_quorum_client/{name}" for name in ("__init__.py", "aio.py", "client.py", "py.typed")}
    assert [line for line in metadata.splitlines() if line.startswith("Requires-Dist")] == [
        "Requires-Dist: grpcio>=1.70", "Requires-Dist: msgpack>=1.1",
    ]  # fmt: skip


def test_it_runs_without_the_rest_of_the_project(wheel: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-c", IMPORTS, str(wheel)],
        cwd=tmp_path, capture_output=True, text=True, check=True, env={"PATH": "/usr/bin:/bin"},
    )  # fmt: skip

    assert done.stdout.splitlines() == ["", "127.0.0.1:1 127.0.0.1:2 kraft_quorum_client.client"]
