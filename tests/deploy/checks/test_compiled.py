"""The compiled wheel: what is in it, and that its modules do what the pure ones do."""

from __future__ import annotations

import sys
import sysconfig
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

from deploy import distributions
from deploy.compiled import MYPYC, compiled_files
from records.release import VERSION
from tests.deploy.unpacked import ROOT, Unpacked

SEEDS = ("7", "8", "9")
# Tests that drive the compiled modules, and the files that they need.
TESTS = ("tests/raft/state", "tests/raft/interface", "tests/scenarios/raft")
NEEDED = (
    "tests/raft", "tests/scenarios", "tests/data/golden", "tests/__init__.py", "tests/conftest.py", "pyproject.toml",
)  # fmt: skip
# Prints what the debug bundle says.
PROGRAM = """
from kraft_quorum.tools.kraftctl.debug.node_parts import versions_part
print(dict(versions_part())["versions.json"]["compiled"])
"""


@pytest.fixture(name="dist", scope="module")
def _dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    dist = tmp_path_factory.mktemp("dist")
    # A Python that was built for its own directory, as by pyenv, gives the linker such options.
    linker = f"{sysconfig.get_config_var('LDSHARED')} -L{ROOT} -Wl,-rpath,{ROOT}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LDSHARED", linker)
        distributions.build(dist, with_compiled=True)
    return dist


@pytest.fixture(name="pure", scope="module")
def _pure(dist: Path, tmp_path_factory: pytest.TempPathFactory) -> Unpacked:
    return Unpacked(dist / f"kraft_quorum-{VERSION}-py3-none-any.whl", tmp_path_factory.mktemp("pure"))


@pytest.fixture(name="compiled", scope="module")
def _compiled(dist: Path, tmp_path_factory: pytest.TempPathFactory) -> Unpacked:
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    wheel = dist / f"kraft_quorum-{VERSION}-{python}-{python}-{platform}.whl"
    return Unpacked(wheel, tmp_path_factory.mktemp("compiled"))


def traces(unpacked: Unpacked) -> list[str]:
    """The digest of each seed's trace, of all inputs and effects."""
    printed = [unpacked.run("-m", "kraft_quorum.simulations", "run", "--seed", seed) for seed in SEEDS]
    return [line for text in printed for line in text.splitlines() if line.startswith("trace ")]


def test_it_has_the_files_of_the_pure_wheel_and_an_extension_beside_each_compiled_module(
    pure: Unpacked, compiled: Unpacked
) -> None:
    suffix = EXTENSION_SUFFIXES[0]
    beside = {f"kraft_quorum/{name.removesuffix('.py')}{suffix}" for name in compiled_files()}
    changed = [
        name
        for name in pure.names
        if name.endswith(".py") and (pure.directory / name).read_bytes() != (compiled.directory / name).read_bytes()
    ]

    assert compiled.names - pure.names == {*beside, f"kraft_quorum__mypyc{suffix}"}
    assert pure.names - compiled.names == set()
    assert changed == []


def test_no_extension_names_a_directory_of_the_build(compiled: Unpacked) -> None:
    libraries = list(compiled.directory.rglob("*.so"))
    named = [
        path
        for path in libraries
        for folder in (ROOT, Path.home(), Path(sys.base_prefix))
        if bytes(folder) in path.read_bytes()
    ]

    assert len(libraries) == len(compiled_files()) + 1
    assert named == []


def test_the_debug_bundle_says_which_wheel_it_is(pure: Unpacked, compiled: Unpacked) -> None:
    assert (pure.run("-c", PROGRAM), compiled.run("-c", PROGRAM)) == ("False\n", "True\n")


def test_the_tests_of_raft_pass_with_the_compiled_modules(compiled: Unpacked) -> None:
    compiled.add_tests(*NEEDED)
    core = sorted(f"tests/raft/{path.name}" for path in (compiled.directory / "tests" / "raft").glob("test_*.py"))

    printed = compiled.run("-m", "pytest", *TESTS, *core)

    assert "skipped" not in printed


def test_a_simulation_has_the_trace_that_it_has_with_the_pure_modules(pure: Unpacked, compiled: Unpacked) -> None:
    of_pure = traces(pure)

    assert len(set(of_pure)) == len(SEEDS)
    assert traces(compiled) == of_pure


def test_the_locks_have_the_version_of_mypyc_that_a_build_asks_for() -> None:
    for lock in ("compiled", "dev"):
        lines = (ROOT / "requirements" / f"{lock}.txt").read_text("utf-8").replace(" \\", "").splitlines()
        assert MYPYC in lines, lock
