"""Verbs of kraftctl start fast: a call imports only the modules that it uses."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tests.records.golden import GOLDEN

ROOT = Path(__file__).parents[3]
NODE = str(GOLDEN / "4.3-static/node-1")
# Each takes milliseconds to import, or imports a module that does. Verbs have argparse and json.
HEAVY = {
    "asyncio", "concurrent", "dataclasses", "datetime", "email", "grpc", "importlib.metadata", "inspect", "logging",
    "msgpack", "numpy", "pathlib", "prompt_toolkit", "random", "rich", "socket", "ssl", "structlog", "subprocess",
    "tempfile", "threading", "uuid", "uvloop",
}  # fmt: skip
QUORUM = {"socket"}
# Python 3.14 colours help, for which argparse imports more.
HELP = "import argparse, sys; argparse.ArgumentParser().format_help(); print(*sys.modules)"
ASK = ["--bootstrap-controller", "nowhere"]


@pytest.mark.parametrize(
    ("arguments", "allowed"),
    [
        (["at", "--help"], set()),
        (["at", "500", "topics/byName/orders", "--directory", NODE], set()),
        (["at", "end", *ASK], QUORUM),
        (["diff", "500", "600", "--directory", NODE, "--type", "topic"], set()),
        (["history", "--topic", "orders", "--directory", NODE, "--json"], set()),
        (["bench", "--help"], QUORUM),
        (["doctor", "--help"], set()),
        (["doctor", "-c", "MISSING", "--offline"], set()),
        (["features", "preflight", "4.3", "--directory", NODE], set()),
        (["rehearse", "--help"], set()),
        (["watch", "--help"], QUORUM),
        (["watch", *ASK], QUORUM),
    ],
    ids=lambda value: " ".join(value)[:20] if isinstance(value, list) else "",
)
def test_a_verb_loads_nothing_heavy(arguments: list[str], allowed: set[str]) -> None:
    code = (
        "import atexit, sys; atexit.register(lambda: sys.stderr.write('LOADED ' + ' '.join(sys.modules))); "
        "from tools.kraftctl.main import main; sys.exit(main())"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path[:] = {[str(ROOT), *sys.path]!r}; {code}", *arguments],
        capture_output=True, text=True, check=False, cwd=ROOT, env={**os.environ, "COLUMNS": "80"},
    )  # fmt: skip

    modules = done.stderr.partition("LOADED ")[2].split()
    assert "tools.kraftctl.main" in modules
    heavy = {name for name in modules if name in HEAVY or name.split(".")[0] in HEAVY}
    assert heavy - allowed - of_argparse() == set()


@cache
def of_argparse() -> set[str]:
    """The modules that argparse itself has imported when it has written a help."""
    done = subprocess.run([sys.executable, "-S", "-c", HELP], capture_output=True, text=True, check=True)
    modules = set(done.stdout.split())
    assert not modules & HEAVY - {"dataclasses", "inspect"}
    return modules
