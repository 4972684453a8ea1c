"""The dry run of a release (`make release`): checks the tree, writes `dist/SHA256SUMS`, and prints what is left to do.

Nothing is tagged and nothing is uploaded.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from pathlib import Path

from records.release import VERSION, project_urls

ROOT = Path(__file__).parents[1]


def obstacles() -> list[str]:
    """Why this tree cannot be released, one reason a line."""
    found = []
    changes = re.search(rf"(?m)^## {re.escape(VERSION)} – (.*)$", (ROOT / "CHANGELOG.md").read_text())
    if changes is None:
        found.append(f"CHANGELOG.md has no section for {VERSION}")
    elif not re.fullmatch(r"\d{4}-\d{2}-\d{2}", changes[1]):
        found.append(f"CHANGELOG.md: the section of {VERSION} says {changes[1]!r}; the date of the release is expected")
    try:
        if not project_urls():
            found.append("PROJECT_URL in records/release.py is empty: the distributions name no home page")
    except ValueError as error:
        found.append(str(error))
    if _git("status", "--porcelain"):
        found.append("the working tree has changes that are not committed")
    if _git("tag", "--list", f"v{VERSION}"):
        found.append(f"the tag v{VERSION} exists; raise VERSION in records/release.py")
    return found


def write_checksums(directory: Path) -> list[str]:
    """Write SHA256SUMS for the files of a directory, as `sha256sum --check` reads it; its lines."""
    files = sorted(path for path in directory.iterdir() if path.is_file() and path.name != "SHA256SUMS")
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}" for path in files]
    (directory / "SHA256SUMS").write_text("\n".join(lines) + "\n")
    return lines


def _git(*arguments: str) -> str:
    command = ["git", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def main() -> int:
    print("\n".join(write_checksums(ROOT / "dist")))
    found = obstacles()
    for reason in found:
        print(f"not yet: {reason}")
    print("To release:" if not found else "Then, to release:")
    print(f"  git tag --annotate v{VERSION} --message 'kraft-quorum {VERSION}'")
    print("  twine upload dist/*.whl dist/*.tar.gz")
    return 0


if __name__ == "__main__":
    sys.exit(main())
