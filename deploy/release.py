"""The dry run of a release (`make release`): compares two builds, writes `dist/kraft-quorum.provenance.json` and
`dist/SHA256SUMS`, checks the tree, and prints what is left to do.

Nothing is tagged and nothing is uploaded. `--tag`, for the workflow of a release, fails where something is missing.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from deploy.distributions import first_difference, git
from deploy.provenance import CHECKSUMS, sha256_of, write_provenance
from records.release import VERSION, project_urls

ROOT = Path(__file__).parents[1]


def obstacles(tag: str = "") -> list[str]:
    """Why this tree cannot be released, one reason a line. tag: what was tagged already, to be released by that."""
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
    if git(ROOT, "status", "--porcelain"):
        found.append("the working tree has changes that are not committed")
    if tag and tag != f"v{VERSION}":
        found.append(f"the tag is {tag}, and VERSION in records/release.py {VERSION}")
    if not tag and git(ROOT, "tag", "--list", f"v{VERSION}"):
        found.append(f"the tag v{VERSION} exists; raise VERSION in records/release.py")
    return found


def write_checksums(directory: Path) -> list[str]:
    """Write SHA256SUMS for the files of a directory, as `sha256sum --check` reads it; its lines."""
    files = sorted(path for path in directory.iterdir() if path.is_file() and path.name != CHECKSUMS)
    lines = [f"{sha256_of(path)}  {path.name}" for path in files]
    (directory / CHECKSUMS).write_text("\n".join(lines) + "\n")
    return lines


def main(arguments: list[str]) -> int:
    """`[--tag TAG] DIST SECOND`: two builds. With a tag, what is missing is an error."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--tag", default="")
    parser.add_argument("dist", type=Path)
    parser.add_argument("second", type=Path)
    options = parser.parse_args(arguments)

    different = first_difference(options.dist, options.second)
    if different is not None:
        print(f"two builds of one commit are not equal: {different}", file=sys.stderr)
        return 1
    write_provenance(options.dist)
    print("\n".join(write_checksums(options.dist)))
    found = obstacles(options.tag)
    for reason in found:
        print(f"not yet: {reason}")
    if options.tag:
        return 1 if found else 0
    print("To release:" if not found else "Then, to release:")
    print(f"  git tag --annotate v{VERSION} --message 'kraft-quorum {VERSION}'")
    print("  git push --follow-tags    # .github/workflows/release.yml builds, signs and publishes what is tagged")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
