"""The wheel beside other packages called `records`, `raft`, …: neither imports the other's modules.

Such packages are in the environment and in the working directory. Each writes its name to a file when it is imported.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import NamedTuple

import pytest

from simulations.chaos.ports import free_ports_in_a_row
from tests.controller.server.processes import CLUSTER_ID, free_port, write_properties
from tools.registry import TOOLS

ROOT = Path(__file__).parents[1]
FOREIGN = ("records", "raft", "controller", "tools", "pipeline", "simulations")
OURS = ("kraft_quorum", "pyspark_kraft")
# Files of the tree, committed or not, without those that git ignores.
LISTED = ("git", "ls-files", "--cached", "--others", "--exclude-standard")
SCRIPTS = tuple(script for tool in TOOLS for script in tool.scripts)
# The user's program: every name is the foreign module, beside the client.
PROGRAM = f"""
import {", ".join(FOREIGN)}, sys
from kraft_quorum.client import Client
assert Client.__module__ == "kraft_quorum.client"
print(*(sys.modules[name].WHERE for name in {FOREIGN!r}))
"""

pytestmark = pytest.mark.slow


class Installed(NamedTuple):
    """An environment with the wheel. bin: its commands; site: its site-packages; directory: where commands run."""

    bin: Path
    site: Path
    directory: Path
    marks: Path

    def run(self, *command: str, timeout_s: float = 60) -> subprocess.CompletedProcess[str]:
        words = [str(self.bin / command[0]), *command[1:]]
        return subprocess.run(
            words, cwd=self.directory, env=environment(), capture_output=True, text=True, timeout=timeout_s, check=False
        )

    def imported(self) -> str:
        """The foreign modules that were imported since the last call."""
        found = self.marks.read_text() if self.marks.exists() else ""
        self.marks.unlink(missing_ok=True)
        return found


def environment() -> dict[str, str]:
    left_out = {"PYTHONPATH", "PYTHONSAFEPATH", "VIRTUAL_ENV"}
    return {name: value for name, value in os.environ.items() if name not in left_out}


@pytest.fixture(name="installed", scope="module")
def _installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    root = tmp_path_factory.mktemp("installed")
    # What git has of the tree, so that the build leaves nothing in it.
    listed = subprocess.run([*LISTED, "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    for name in listed.stdout.split("\0"):
        if name and not name.startswith("tests/") and (ROOT / name).exists():
            (root / "source" / name).parent.mkdir(parents=True, exist_ok=True)
            (root / "source" / name).write_bytes((ROOT / name).read_bytes())
    code = "import setuptools.build_meta as b; b.build_wheel('..')"
    subprocess.run([sys.executable, "-c", code], cwd=root / "source", capture_output=True, check=True)
    wheel = next(root.glob("*.whl"))
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(root / "venv")], check=True)
    python = root / "venv" / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*pip, "--disable-pip-version-check", str(wheel)], check=True)
    site = next((root / "venv" / "lib").glob("python*/site-packages"))
    installed = {path.name for path in site.iterdir() if path.name != "__pycache__"}
    assert {name for name in installed if not name.startswith(OURS)} == set()
    # The dependencies are those of this environment; a .pth file in it, as of an editable installation, is not read.
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    made = Installed(python.parent, site, root / "directory", root / "marks")
    made.directory.mkdir()
    for name in FOREIGN:
        for where, path in (("environment", site / name / "__init__.py"), ("directory", made.directory / f"{name}.py")):
            path.parent.mkdir(exist_ok=True)
            mark = f"open({str(made.marks)!r}, 'a').write('{where} {name}\\n')"
            path.write_text(f"WHERE = {where!r}\n{mark}\n")
    return made


@pytest.fixture(autouse=True)
def _nothing_is_imported_yet(installed: Installed) -> None:
    installed.imported()


def test_every_command_answers(installed: Installed) -> None:
    # Where help goes and how it begins differs among stock's tools.
    done = {script: installed.run(script, "--help") for script in SCRIPTS}
    said = {script: f"{each.stdout}{each.stderr}".lower() for script, each in done.items()}

    assert {path.name for path in installed.bin.iterdir()} - {"python", "python3"} >= set(SCRIPTS)
    assert [script for script, text in said.items() if "usage:" not in text and "--help" not in text] == []
    assert installed.imported() == ""


def test_modules_run_by_their_installed_names(installed: Installed) -> None:
    guide = installed.run("python", "-m", "kraft_quorum.records", "guide", "Vote", "1")
    planner = installed.run("python", "-m", "kraft_quorum.pipeline.planner", "--help")
    world = installed.run("python", "-m", "kraft_quorum.simulations", "run", "--seed", "7")
    worlds = installed.run("python", "-m", "kraft_quorum.simulations", "sweep", "--seeds", "1-2", "--jobs", "1")

    assert guide.stdout.startswith("#"), guide.stderr
    assert planner.stdout.startswith("usage: python -m kraft_quorum.pipeline.planner"), planner.stderr
    assert "every property held" in world.stdout, world.stderr
    assert worlds.returncode == 0, worlds.stderr
    assert installed.imported() == ""


def test_a_node_is_formatted_and_shown(installed: Installed, tmp_path: Path) -> None:
    properties = str(write_properties(tmp_path, free_port()))

    formatted = installed.run("kafka-storage", "format", "-t", CLUSTER_ID, "-c", properties)
    shown = installed.run("kafka-storage", "info", "-c", properties)

    assert formatted.returncode == 0, formatted.stderr
    assert "Found metadata" in shown.stdout, shown.stderr
    assert installed.imported() == ""


def test_the_runbook_that_the_status_page_links_to_is_installed(installed: Installed) -> None:
    program = "from kraft_quorum.controller.server.http.runbook import FILES; print(FILES[0].read_text()[:10])"

    assert installed.run("python", "-c", program).stdout.startswith("# ")


def test_a_quorum_of_three_runs_and_its_log_is_read(installed: Installed, tmp_path: Path) -> None:
    port = free_ports_in_a_row(3)
    command = [str(installed.bin / "kraftctl"), "up", "--dir", str(tmp_path), "--port", str(port)]

    with subprocess.Popen(
        command, cwd=installed.directory, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as up:
        assert up.stdout is not None
        said = []
        for line in up.stdout:
            said.append(line)
            if line.startswith("leader:"):
                break
        bootstrap = f"127.0.0.1:{port}"
        waited = installed.run("kraftctl", "wait", "--bootstrap-controller", bootstrap, "--timeout", "30")
        status = installed.run("kraftctl", "status", "--bootstrap-controller", bootstrap)
        up.send_signal(signal.SIGINT)
        _, errors = up.communicate(timeout=20)
    log = tmp_path / "node-1" / "__cluster_metadata-0" / "00000000000000000000.log"
    dumped = installed.run("kafka-dump-log", "--cluster-metadata-decoder", "--files", str(log))
    shell = installed.run("kafka-metadata-shell", "--snapshot", str(log), "ls", "/")
    planned = installed.run("kraft-pipeline", "plan", str(tmp_path / "node-1"))

    assert (up.returncode, errors) == (0, "")
    assert said[-1].startswith("leader: node ")
    assert (waited.returncode, status.returncode) == (0, 0), waited.stderr + status.stderr
    assert "FEATURE_LEVEL_RECORD" in dumped.stdout, dumped.stderr
    assert "image" in shell.stdout, shell.stderr
    assert "Traceback" not in planned.stderr
    assert installed.imported() == ""


@pytest.mark.parametrize(("options", "where"), [(["-P"], "environment"), ([], "directory")])
def test_a_users_program_imports_its_own_modules_beside_the_client(
    installed: Installed, options: list[str], where: str
) -> None:
    done = installed.run("python", *options, "-c", PROGRAM)

    assert done.stdout.split() == [where] * len(FOREIGN), done.stderr
    assert installed.imported() == "".join(f"{where} {name}\n" for name in FOREIGN)
