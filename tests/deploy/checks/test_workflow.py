"""The workflow of a release, as far as it can be checked without the host that runs it."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[3]
FILE = ROOT / ".github" / "workflows" / "release.yml"
TEXT = FILE.read_text("utf-8")
# `on` is a truth value in YAML 1.1.
FOUND: dict[Any, Any] = yaml.safe_load(TEXT)
JOBS: dict[str, Any] = FOUND["jobs"]
STEPS = [(name, step) for name, job in JOBS.items() for step in job["steps"]]
READ, WRITE = "read", "write"


def validate(path: Path) -> subprocess.CompletedProcess[str]:
    command = ["check-jsonschema", "--builtin-schema", "vendor.github-workflows", str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_it_is_valid_by_the_schema_of_its_host(tmp_path: Path) -> None:
    done = validate(FILE)
    assert done.returncode == 0, done.stdout

    wrong = tmp_path / "wrong.yml"
    wrong.write_text(TEXT.replace("runs-on: ubuntu-24.04", "run-on: ubuntu-24.04", 1))
    assert validate(wrong).returncode == 1


def test_only_a_tag_of_a_version_starts_it() -> None:
    assert FOUND[True] == {"push": {"tags": ["v[0-9]+.[0-9]+.[0-9]+"]}}


def test_each_job_may_do_what_it_needs_and_no_more() -> None:
    assert FOUND["permissions"] == {}
    assert {name: job["permissions"] for name, job in JOBS.items()} == {
        "build": {"contents": READ},
        "compiled": {"contents": READ},
        "sign": {"id-token": WRITE, "attestations": WRITE},
        "publish": {"id-token": WRITE},
        "image": {"contents": READ, "packages": WRITE, "id-token": WRITE, "attestations": WRITE},
        "notes": {"contents": WRITE},
    }
    assert [name for name, job in JOBS.items() if job.get("environment") == "release"] == ["publish", "image"]
    # What publishes runs none of our code; a secret stands nowhere but in the login to a registry of images.
    assert [name for name, step in STEPS if "run" in step] == ["build", "build", "notes"]
    assert re.findall(r"secrets\.\w+", TEXT) == ["secrets.IMAGE_TOKEN"]


def test_each_action_is_pinned_by_the_hash_of_a_commit() -> None:
    used = re.findall(r"uses: (.*)", TEXT)

    assert len(used) == sum("uses" in step for _, step in STEPS)
    assert [each for each in used if not re.fullmatch(r"[\w.-]+/[\w.-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", each)] == []
    pins = dict(each.split("@") for each in used)
    assert {each for each in used if pins[each.split("@")[0]] != each.split("@")[1]} == set()


def test_the_compiled_wheels_are_built_from_the_lock_for_each_python_and_published_with_the_pure_ones() -> None:
    options = next(step["env"] for _, step in STEPS if "cibuildwheel" in step.get("uses", ""))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    supported = re.findall(r"Python :: 3\.(\d+)", "".join(project["classifiers"]))

    assert options["CIBW_BUILD"].split() == [f"cp3{minor}-manylinux_*" for minor in supported]
    assert options["CIBW_BEFORE_BUILD"].endswith("--require-hashes -r requirements/compiled.txt")
    assert "KRAFT_QUORUM_COMPILED=1" in options["CIBW_ENVIRONMENT"].split()
    assert [name for name, step in STEPS if step.get("with", {}).get("pattern") == "compiled-*"] == [
        "sign", "publish", "notes",
    ]  # fmt: skip
    # The index refuses a wheel for the Linux of one machine, as `make release` builds.
    packages = next(step["with"] for _, step in STEPS if step.get("with", {}).get("name") == "packages")
    assert packages["path"].split() == ["dist/*-any.whl", "dist/*.tar.gz"]


def test_it_names_no_host_and_expands_nothing_in_a_script() -> None:
    assert re.findall(r"https?://|\b[\w-]+\.(?:io|org|com|dev)\b", TEXT) == []
    assert [step["run"] for _, step in STEPS if "${{" in step.get("run", "")] == []


def test_it_releases_what_make_release_builds_and_signs_before_it_publishes() -> None:
    assert JOBS["build"]["steps"][2]["run"] == 'make release TAG="$GITHUB_REF_NAME"'
    assert {name: job.get("needs") for name, job in JOBS.items()} == {
        "build": None, "compiled": "build", "sign": ["build", "compiled"], "publish": "sign", "image": "build",
        "notes": "publish",
    }  # fmt: skip
    image = next(step for _, step in STEPS if step.get("id") == "push")
    assert image["with"]["platforms"] == "linux/amd64,linux/arm64"
    signed = [step["with"] for _, step in STEPS if "attest-build-provenance" in step.get("uses", "")]
    assert [list(each) for each in signed] == [["subject-path"], ["subject-name", "subject-digest", "push-to-registry"]]


@pytest.mark.parametrize("script", [step["run"] for _, step in STEPS if "run" in step])
def test_the_scripts_are_valid(script: str) -> None:
    done = subprocess.run(["bash", "-n"], input=script, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")
