"""The extension modules of the compiled wheel: what mypyc makes of the modules of `raft` that do no IO.

`KRAFT_QUORUM_COMPILED=1 pip wheel --no-deps .` builds the wheel for the running interpreter. Each compiled module is
beside its source, whose lines a traceback shows. The same sources without extensions are the pure wheel, which is the
reference. docs/performance.md tells what compiling brings.
"""

from __future__ import annotations

import contextlib
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from setuptools import Extension

ROOT = Path(__file__).parents[1]
ABOVE = "kraft_quorum"
# What a build installs first; the same version as in requirements/compiled.txt, which has the hashes.
MYPYC = "mypy==2.4.1"
# The modules in these folders are compiled, not those in folders below them.
FOLDERS = ("raft", "raft/interface", "raft/state")
# What the compiled modules import, for its types.
READ = ("raft", "records")
# `dataclass(slots=True)` makes its class anew. The extension that mypyc 2.4 writes for that crashes when it is
# imported, as that of raft/state/roles.py does. A module with such a class stays interpreted.
LEFT_OUT = "@dataclass"
# Of gcc, as in the figures of docs/performance.md. mypyc's own default, 3, takes longer to build.
OPTIMIZATION = "1"


def compiled_files() -> list[str]:
    """The modules that are compiled, as paths below the root, sorted."""
    files = (path for folder in FOLDERS for path in (ROOT / folder).glob("*.py") if path.name != "__init__.py")
    return sorted(str(path.relative_to(ROOT)) for path in files if LEFT_OUT not in path.read_text("utf-8"))


def write_installed(folder: Path, installed_source: Callable[[str], str]) -> None:
    """Write the packages with the names that they have in an installation."""
    shutil.rmtree(folder, ignore_errors=True)
    for path in sorted(path for package in READ for path in (ROOT / package).rglob("*.py")):
        target = folder / ABOVE / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(installed_source(path.read_text("utf-8")), "utf-8")
    (folder / ABOVE / "__init__.py").touch()


def extensions(installed_source: Callable[[str], str]) -> list[Extension]:
    """Type-check the modules, write their C below build/compiled, and return how to compile it.

    The C is equal in two builds of the same sources by the same mypyc. Ends the process where mypyc refuses a module.
    """
    from mypyc.build import mypycify

    place = Path("build", "compiled")
    write_installed(place, installed_source)
    python = f"--python-version={sys.version_info.major}.{sys.version_info.minor}"
    options = ["--config-file=", python, "--ignore-missing-imports", "--cache-dir=cache"]
    files = [f"{ABOVE}/{name}" for name in compiled_files()]
    with contextlib.chdir(place):
        made = mypycify([*options, *files], opt_level=OPTIMIZATION, debug_level="0", target_dir="c", group_name=ABOVE)
    for each in made:
        # The headers of mypyc have absolute paths, which joining keeps.
        for paths in (each.sources, each.depends, each.include_dirs):
            paths[:] = [str(place / path) for path in paths]
    return made
