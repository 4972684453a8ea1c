"""Builds the wheel: the packages of this repository stand below `kraft_quorum` in it.

`records` and `raft` are also names of other distributions. So `records/batch.py` is installed as
`kraft_quorum.records.batch`, and the build changes its import statements: `from records.crc import crc32c` becomes
`from kraft_quorum.records.crc import crc32c`. At run time nothing changes `sys.path` or `sys.modules`. A module that is
imported by a computed name is named relative to `__package__`. An editable installation has the repository's names.
"""

from __future__ import annotations

import ast
import os
import sys
from pathlib import Path
from typing import Any

from setuptools import find_packages, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

ABOVE = "kraft_quorum"
# Those that are there: the image is built without simulations and pipeline.
MOVED = [name for name in ("records", "raft", "controller", "tools", "simulations", "pipeline") if Path(name).is_dir()]


def is_moved(module: str) -> bool:
    """Whether a module is in one of the packages that are installed below `kraft_quorum`."""
    return module.partition(".")[0] in MOVED


def installed_name(module: str) -> str:
    """`kraft_quorum.records.batch` for `records.batch`; other names as they are."""
    return f"{ABOVE}.{module}" if is_moved(module) else module


def installed_source(source: str) -> str:
    """A module's text with the installed names in its import statements; each line keeps its number.

    Raises ValueError for `import records.batch` without `as`: that would bind the name `records`.
    """
    lines = source.splitlines(keepends=True)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level and is_moved(node.module):
            names = [node.module]
        elif isinstance(node, ast.Import) and any(is_moved(alias.name) for alias in node.names):
            names = [alias.name for alias in node.names]
            if len(names) > 1 or not node.names[0].asname:
                raise ValueError(f"line {node.lineno}: import {', '.join(names)}: write `from … import …`")
        else:
            continue
        line = lines[node.lineno - 1].encode()
        begin, statement = line[: node.col_offset].decode(), line[node.col_offset :].decode()
        word = "from" if isinstance(node, ast.ImportFrom) else "import"
        if not statement.startswith(f"{word} {names[0]} "):
            raise ValueError(f"line {node.lineno}: an import statement that is not formatted: {statement.strip()}")
        lines[node.lineno - 1] = f"{begin}{word} {ABOVE}.{statement.removeprefix(f'{word} ')}"
    return "".join(lines)


# Set, and not 0: builds the wheel with compiled modules, for this interpreter (deploy/compiled.py).
COMPILED = os.environ.get("KRAFT_QUORUM_COMPILED", "0") not in ("", "0")


def compiled_options() -> dict[str, Any]:
    """The arguments of `setup` for the compiled wheel; mypyc runs in the commands that build."""
    from deploy.compiled import MYPYC, extensions

    is_building = not {"bdist_wheel", "build", "build_ext"}.isdisjoint(sys.argv)
    return {"setup_requires": [MYPYC], "ext_modules": extensions(installed_source) if is_building else []}


# The HTTP port serves it: a problem on the status page links to what to do.
RUNBOOK = Path("docs", "runbook.md")


class BuildInstalledNames(build_py):
    """Copies each module with the installed names in its import statements, and the runbook beside the status page."""

    def run(self) -> None:
        super().run()
        # The image is built without docs/; an editable installation reads the file where it is.
        if RUNBOOK.exists() and not self.editable_mode:
            self.copy_file(str(RUNBOOK), str(Path(self.build_lib, ABOVE, "controller", "server", "http", "runbook.md")))

    def build_module(self, module: str, module_file: str, package: str) -> tuple[str, bool]:
        outfile, is_copied = super().build_module(module, module_file, package)
        try:
            text = installed_source(Path(module_file).read_text("utf-8"))
        except ValueError as error:
            raise ValueError(f"{module_file}: {error}") from None
        Path(outfile).write_text(text, "utf-8")
        return outfile, is_copied


class BuildPortable(build_ext):
    """Links each extension without the library directories of the interpreter that builds it.

    A Python that was built for its own directory, as by pyenv, gives the linker an rpath. The extensions need none: the
    interpreter that loads them has the symbols of libpython. A wheel names no directory of the machine that built it.
    """

    def build_extensions(self) -> None:
        for linker in (self.compiler.linker_so, self.compiler.linker_so_cxx):
            linker[:] = [option for option in linker if not option.startswith(("-L", "-Wl,-rpath"))]
        super().build_extensions()


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))  # a build front end may run this file without it
    sys.dont_write_bytecode = True  # what is beside the sources may get into the wheel
    from records.release import project_urls
    from tools.registry import entry_points

    try:
        urls = project_urls()
    except ValueError as error:
        sys.exit(f"records/release.py: {error}")
    compiled = compiled_options() if COMPILED else {}
    names = find_packages(include=[ABOVE, "pyspark_kraft", *MOVED, *(f"{name}.*" for name in MOVED)])
    setup(
        packages=[installed_name(name) for name in names],
        package_dir={installed_name(name): name for name in MOVED},
        cmdclass={"build_py": BuildInstalledNames, "build_ext": BuildPortable},
        project_urls=urls,
        entry_points={"console_scripts": entry_points()},
        # An editable installation puts this directory on the path, and so has the names of the repository.
        options={"editable_wheel": {"mode": "compat"}},
        **compiled,
    )
