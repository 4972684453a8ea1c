"""Wheel and source distribution: their content is complete, their checker accepts them, their commands run."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

from records.release import project_urls
from tools.registry import TOOLS

ROOT = Path(__file__).parents[3]
# Directory of the repository -> where its files are in the wheel.
MOVED = {name: f"kraft_quorum/{name}" for name in ("records", "raft", "controller", "tools", "simulations", "pipeline")}
PACKAGES = {**MOVED, "kraft_quorum": "kraft_quorum", "pyspark_kraft": "pyspark_kraft"}
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
# The environment of the checks is on the PATH; commands of this one must not be found by accident.
BARE = {**os.environ, "PATH": "/usr/local/bin:/usr/bin:/bin", "PYTHONPATH": "", "VIRTUAL_ENV": ""}


def tracked(*names: str) -> set[str]:
    done = subprocess.run(["git", "ls-files", "-z", *names], cwd=ROOT, capture_output=True, text=True, check=True)
    return {name for name in done.stdout.split("\0") if name and (ROOT / name).exists()}


@pytest.fixture(name="source", scope="module")
def _source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that git tracks, as in a fresh clone."""
    into = tmp_path_factory.mktemp("source")
    names = sorted(tracked())
    subprocess.run(["tar", "-cf", str(into / "all.tar"), "--no-recursion", *names], cwd=ROOT, check=True)
    subprocess.run(["tar", "-xf", "all.tar"], cwd=into, check=True)
    (into / "all.tar").unlink()
    return into


def build(source: Path) -> dict[str, Path]:
    """`wheel` and `sdist`, the wheel built from the source distribution, as an index would."""
    made = source / "dist"
    code = "import setuptools.build_meta as b; print(b.build_sdist('dist'))"
    subprocess.run([sys.executable, "-c", code], cwd=source, capture_output=True, check=True)
    sdist = next(made.glob("*.tar.gz"))
    subprocess.run(["tar", "-xzf", str(sdist)], cwd=made, check=True)
    unpacked = made / sdist.name.removesuffix(".tar.gz")
    code = "import setuptools.build_meta as b; b.build_wheel('..')"
    subprocess.run([sys.executable, "-c", code], cwd=unpacked, capture_output=True, check=True)
    return {"sdist": sdist, "wheel": next(made.glob("*.whl"))}


@pytest.fixture(name="dist", scope="module")
def _dist(source: Path) -> dict[str, Path]:
    return build(source)


def with_address(source: Path, copy: Path, url: str) -> Path:
    """A copy of the sources with this address of the public repository."""
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("dist"))
    release = copy / "records" / "release.py"
    release.write_text(re.sub(r'(?m)^PROJECT_URL = ".*"$', f'PROJECT_URL = "{url}"', release.read_text()))
    return copy


def test_both_pass_the_indexs_own_checks(dist: dict[str, Path]) -> None:
    command = ["twine", "check", "--strict", *(str(path) for path in dist.values())]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout


def addresses(metadata: bytes) -> set[str]:
    return {line for line in metadata.decode().splitlines() if line.startswith("Project-URL: ")}


def test_all_distributions_name_the_addresses_of_the_public_repository(source: Path, tmp_path: Path) -> None:
    url = "https://git.example.org/kraft/quorum"
    copy = with_address(source, tmp_path / "source", url)
    sdists = [build(copy)["sdist"]]
    subprocess.run([sys.executable, "-m", "deploy.client.build", "client"], cwd=copy, capture_output=True, check=True)
    sdists += (copy / "client").glob("*.tar.gz")

    found = []
    for wheel in (*(copy / "dist").glob("*.whl"), *(copy / "client").glob("*.whl")):
        with zipfile.ZipFile(wheel) as opened:
            found += [addresses(opened.read(name)) for name in opened.namelist() if name.endswith("/METADATA")]
    for sdist in sdists:
        with tarfile.open(sdist) as unpacked:
            names = [name for name in unpacked.getnames() if re.fullmatch(r"[^/]+/PKG-INFO", name)]
            found += [addresses(part.read()) for part in map(unpacked.extractfile, names) if part is not None]
    assert found == [{f"Project-URL: {label}, {address}" for label, address in project_urls(url).items()}] * 4


def test_a_build_with_what_is_no_address_says_what_is_expected(source: Path, tmp_path: Path) -> None:
    copy = with_address(source, tmp_path / "source", "git@example.org:kraft/quorum")
    wheel = ["-c", "import setuptools.build_meta as b; b.build_wheel('dist')"]
    expected = "PROJECT_URL: https://HOST/PATH is expected, not 'git@example.org:kraft/quorum'"

    for build_one in (wheel, ["-m", "deploy.client.build", "dist"]):
        done = subprocess.run([sys.executable, *build_one], cwd=copy, capture_output=True, text=True, check=False)

        assert done.returncode == 1
        assert done.stderr == f"records/release.py: {expected}\n"


def test_the_wheel_holds_every_file_of_the_packages_and_no_test(source: Path, dist: dict[str, Path]) -> None:
    with zipfile.ZipFile(dist["wheel"]) as wheel:
        held = {name for name in wheel.namelist() if ".dist-info/" not in name}
        licenses = [name for name in wheel.namelist() if name.endswith("licenses/LICENSE")]
        top_level = next(name for name in wheel.namelist() if name.endswith("top_level.txt"))
        named = wheel.read(top_level).decode().split()

    mine = {
        f"{into}/{path.relative_to(source / package)}"
        for package, into in PACKAGES.items()
        for path in (source / package).rglob("*")
        if path.is_file() and path.suffix != ".md"
    }
    assert mine - held == set()
    assert {name for name in held if not name.endswith(".md")} - mine == set()
    assert len(licenses) == 1
    assert named == ["kraft_quorum", "pyspark_kraft"]


def test_the_source_distribution_holds_the_files_for_a_deployment_and_the_tests(
    source: Path, dist: dict[str, Path]
) -> None:
    with tarfile.open(dist["sdist"]) as sdist:
        held = {name.partition("/")[2] for name in sdist.getnames()}

    wanted = {
        "LICENSE",
        "setup.py",
        "CHANGELOG.md",
        "SECURITY.md",
        "CONTRIBUTING.md",
        "Dockerfile",
        "requirements/node.txt",
    }
    assert wanted - held == set()
    files = [path for name in ("deploy", "docs") for path in (source / name).rglob("*") if path.is_file()]
    assert {str(path.relative_to(source)) for path in files} - held == set()
    assert {name for name in tracked("tests") if name.endswith(".py")} - held == set()


def commands_answer(directory: Path) -> None:
    for name in (script for tool in TOOLS for script in tool.scripts):
        if name == "kraft-pipeline":
            continue  # needs its extra
        done = subprocess.run(
            [str(directory / name), "--help"], env=BARE, capture_output=True, text=True, timeout=60, check=False
        )
        # Where help goes and which code it ends with differs among stock's tools.
        said = done.stdout + done.stderr
        assert "Traceback" not in said, f"{name}: {said}"
        assert "usage:" in said.lower() or "--help" in said, f"{name}: {said}"


def test_an_install_with_pipx_provides_all_commands(source: Path, tmp_path: Path) -> None:
    homes = {"PIPX_HOME": str(tmp_path / "home"), "PIPX_BIN_DIR": str(tmp_path / "bin")}
    environment = {**os.environ, **homes, "PIPX_MAN_DIR": str(tmp_path / "man")}
    command = ["pipx", "install", "--quiet", "--python", sys.executable, str(source)]

    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    commands_answer(tmp_path / "bin")


def test_the_bill_of_materials_equals_the_lock_with_its_hashes() -> None:
    subprocess.run(["make", "sbom"], cwd=ROOT, capture_output=True, check=True)
    found = json.loads((ROOT / "dist" / "kraft-quorum.cdx.json").read_text())

    locked = {
        line.split("==")[0]: line.split("==")[1].split()[0]
        for line in (ROOT / "requirements" / "grpc.txt").read_text().splitlines()
        if "==" in line
    }
    assert found["bomFormat"] == "CycloneDX"
    assert found["metadata"]["component"]["name"] == PROJECT["name"]
    assert {part["name"]: part["version"] for part in found["components"]} == locked
    assert all(part.get("hashes") or part.get("externalReferences") for part in found["components"])
