"""`make pythons`: tests, with stock Kafka too, on each installed Python, types and lint for the other versions, wheels
for all. `python -m tests.deploy.checks.pythons 3.13 3.14` does it for these versions alone.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[3]
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
LOCKS = ("node.txt", "grpc.txt", "dev.txt")
# Stock brokers, a stock controller among the voters, stock's tools, TLS and SASL: what an interpreter may do in another
# way. `make interop` runs these and all others.
INTEROP = ("test_broker_joins.py", "test_mixed_quorum.py", "test_security.py", "test_stock_tools.py")
# The options of `make test`.
PARALLEL = next(
    line.partition(":=")[2].split()
    for line in (ROOT / "Makefile").read_text().splitlines()
    if line.startswith("PARALLEL ")
)
PLATFORMS = ("manylinux_2_28_x86_64", "manylinux_2_27_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64", "any")


def interpreter(version: str) -> str | None:
    """An interpreter of this version, from the PATH, pyenv or uv."""
    found = shutil.which(f"python{version}")
    places = [
        Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions",
        Path(os.environ.get("UV_PYTHON_INSTALL_DIR", Path.home() / ".local" / "share" / "uv" / "python")),
    ]
    candidates = [Path(found)] if found else []
    for place in places:
        candidates += sorted(place.glob(f"*{version}.*/bin/python3"))
    for path in candidates:
        asked = [str(path), "-c", "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"]
        done = subprocess.run(asked, capture_output=True, text=True, check=False)
        if done.returncode == 0 and done.stdout.strip() == version:
            return str(path)
    return None


def run(title: str, command: list[str]) -> bool:
    print(f"== {title}", flush=True)
    done = subprocess.run(command, cwd=ROOT, check=False)
    print(f"-- {title}: {'passed' if done.returncode == 0 else 'FAILED'}", flush=True)
    return done.returncode == 0


def tests_on(version: str, python: str) -> bool:
    """All tests but most of those beside stock Kafka, in an environment of this interpreter made from the lock."""
    directory = ROOT / ".cache" / "pythons" / version
    own = str(directory / "bin" / "python")
    pip = [own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    editable = ["--no-deps", "--no-build-isolation", "-e", "."]
    return (
        run(f"{version}: environment", [python, "-m", "venv", "--clear", str(directory)])
        and run(f"{version}: lock", [*pip, "--require-hashes", "-r", "requirements/dev.txt"])
        and run(f"{version}: install", [*pip, *editable])
        and all([run(f"{version}: tests", [own, "-m", "pytest", *PARALLEL]), interop_on(version, own)])
    )


def interop_on(version: str, python: str) -> bool:
    if not (shutil.which("java") and shutil.which("mvn")):
        print(f"== {version}: no tests with stock Kafka, which need a JDK 17+ and Maven", flush=True)
        return True
    files = [f"tests/interop/{name}" for name in INTEROP]
    return run(f"{version}: interop", [python, "-m", "pytest", *PARALLEL, *files, "--interop"])


def read_for(version: str) -> bool:
    """The checks of a version that need no interpreter: lint and types."""
    target = f"py{version.replace('.', '')}"
    lint = [sys.executable, "-m", "ruff", "check", "--target-version", target, "--select", "E9,F,YTT", "."]
    types = [sys.executable, "-m", "mypy", "--python-version", version]
    return all([run(f"{version}: lint", lint), run(f"{version}: types", types)])


def wheels_for(version: str) -> bool:
    """Whether each locked package has a wheel for this version on Linux, with a hash that the lock knows."""
    good = True
    for lock in LOCKS:
        with tempfile.TemporaryDirectory() as directory:
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
            command += ["--only-binary", ":all:", "--require-hashes", "--python-version", version]
            command += [word for platform in PLATFORMS for word in ("--platform", platform)]
            command += ["--dest", directory, "-r", f"requirements/{lock}"]
            good = run(f"{version}: wheels of {lock}", command) and good
    return good


def main() -> int:
    versions = sys.argv[1:] or VERSIONS
    if unknown := [version for version in versions if version not in VERSIONS]:
        sys.exit(f"No such version: {', '.join(unknown)}. The versions are {', '.join(VERSIONS)}.")
    results = []
    for version in versions:
        python = interpreter(version)
        if python is None:
            print(f"== {version}: no interpreter here", flush=True)
        results.append(tests_on(version, python) if python else read_for(version))
        results.append(wheels_for(version))
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
