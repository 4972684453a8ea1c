"""`python -m deploy.distributions [--compiled] DIST`: wheels and source distributions of both projects, the same bytes
each time; with `--compiled` also the wheel with extension modules for the Python that runs this, and its platform.

They are built from a copy of the files that git tracks, so that nothing else in the tree gets into them. Two builds of
a commit are equal with one version of Python, of setuptools and of zlib (the compiled wheel: and of mypyc, of the C
compiler and of its options), wherever, whenever and by whomever they are made.
"""

from __future__ import annotations

import argparse
import gzip
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
# A build changes sys.argv.
BUILD = "import setuptools.build_meta as b, sys; to = sys.argv[1]; b.build_sdist(to); b.build_wheel(to)"
COMPILE = "import setuptools.build_meta as b, sys; b.build_wheel(sys.argv[1])"


def git(root: Path, *arguments: str) -> str:
    """What git prints in a tree, without blanks around it. Raises CalledProcessError."""
    command = ["git", *arguments]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def sources() -> list[str]:
    """The files that are built from: those of git, and in an unpacked source distribution those that it lists."""
    if (ROOT / ".git").exists():
        names = git(ROOT, "ls-files", "-z").split("\0")
    else:
        names = (ROOT / "kraft_quorum.egg-info" / "SOURCES.txt").read_text("utf-8").splitlines()
    return [name for name in names if name and (ROOT / name).is_file()]


def source_date_epoch() -> int:
    """SOURCE_DATE_EPOCH; without it the time of the commit, or of the source distribution that was unpacked. In s."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given is not None:
        return int(given)
    if not (ROOT / ".git").exists():
        return int((ROOT / "PKG-INFO").stat().st_mtime)
    return int(git(ROOT, "log", "-1", "--format=%ct"))


def normalize_sdist(path: Path, epoch: int) -> None:
    """Write a source distribution anew: sorted, without owners, with one time and the modes 644 and 755."""
    bare = io.BytesIO()
    with tarfile.open(path) as given, tarfile.open(fileobj=bare, mode="w", format=tarfile.PAX_FORMAT) as taken:
        for member in sorted(given.getmembers(), key=lambda each: each.name):
            member.mtime, member.uid, member.gid, member.uname, member.gname = epoch, 0, 0, "", ""
            member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
            member.pax_headers = {}
            taken.addfile(member, given.extractfile(member) if member.isfile() else None)
    with path.open("wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=epoch) as packed:
        packed.write(bare.getvalue())


def normalize_wheel(path: Path, epoch: int) -> None:
    """Write a wheel anew: in its order, with one time and the modes 644 and 755."""
    with zipfile.ZipFile(path) as given:
        held = [(each, given.read(each)) for each in given.infolist()]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as taken:
        for each, content in held:
            # A zip file knows no time before 1980.
            entry = zipfile.ZipInfo(each.filename, max((1980, 1, 1, 0, 0, 0), time.gmtime(epoch)[:6]))
            entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, 3
            mode = 0o755 if each.external_attr >> 16 & 0o100 else 0o644
            entry.external_attr = (0o100000 | mode) << 16
            taken.writestr(entry, content)


def build(target: Path, *, with_compiled: bool = False) -> list[Path]:
    """Build all four files into a directory, and the compiled wheel if asked for; return them sorted.

    Raises CalledProcessError.
    """
    target.mkdir(parents=True, exist_ok=True)
    epoch = source_date_epoch()
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(epoch), "PYTHONDONTWRITEBYTECODE": "1"}
    with tempfile.TemporaryDirectory() as place:
        copy, made = Path(place) / "source", Path(place) / "dist"
        for name in sources():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, copy / name)
        pure = environment | {"KRAFT_QUORUM_COMPILED": "0"}
        compiled = environment | {"KRAFT_QUORUM_COMPILED": "1", "PYTHONHASHSEED": "0"}
        commands = [(pure, "-c", BUILD), (pure, "-m", "deploy.client.build")]
        # Last: it leaves extensions in the copy's build directory, which the pure wheel would take in.
        commands += [(compiled, "-c", COMPILE)] if with_compiled else []
        for variables, *command in commands:
            subprocess.run(
                [sys.executable, *command, str(made)], cwd=copy, env=variables, stdout=subprocess.DEVNULL, check=True,
            )  # fmt: skip
        for path in made.iterdir():
            (normalize_wheel if path.suffix == ".whl" else normalize_sdist)(path, epoch)
            shutil.copy(path, target)
        return sorted(target / path.name for path in made.iterdir())


def contents(path: Path) -> dict[str, bytes]:
    """The files of an archive; of another file, only itself."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            return {name: wheel.read(name) for name in wheel.namelist()}
    if path.name.endswith(".tar.gz"):
        with tarfile.open(path) as sdist:
            return {member.name: file.read() for member in sdist if (file := sdist.extractfile(member)) is not None}
    return {}


def first_difference(one: Path, other: Path) -> str | None:
    """The first file of two directories that is not equal, and the first file in it; None where all are equal."""
    for name in sorted({path.name for folder in (one, other) for path in folder.iterdir()}):
        if not (one / name).is_file() or not (other / name).is_file():
            return f"{name}: in one of the two only"
        if (one / name).read_bytes() == (other / name).read_bytes():
            continue
        left, right = contents(one / name), contents(other / name)
        for inner in sorted(left.keys() | right.keys()):
            if left.get(inner) != right.get(inner):
                return f"{name}: {inner}"
        return f"{name}: its files are equal, their order, times or modes are not" if left else name
    return None


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiled", action="store_true")
    parser.add_argument("target", type=Path)
    options = parser.parse_args(arguments)
    try:
        print("\n".join(map(str, build(options.target, with_compiled=options.compiled))))
    except subprocess.CalledProcessError as error:
        return error.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
