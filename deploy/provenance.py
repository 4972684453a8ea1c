"""How the files of a release were made: an in-toto statement with SLSA's provenance, version 1 of both.

It names the commit and the locks, and neither a time nor a machine: two builds of a commit write the same bytes. It is
not signed; the workflow of a release signs what it built, and attests the machine that ran it.
"""

from __future__ import annotations

import hashlib
import json
import platform
from pathlib import Path

from deploy.distributions import git, source_date_epoch
from records.release import PROJECT_URL, VERSION

ROOT = Path(__file__).parents[1]
NAME = "kraft-quorum.provenance.json"
CHECKSUMS = "SHA256SUMS"
# What `make release` builds with, and what it lists in the bill of materials.
LOCKS = ("requirements/compiled.txt", "requirements/deploy.txt", "requirements/dev.txt", "requirements/grpc.txt")


def sha256_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def digest(path: Path) -> dict[str, str]:
    return {"sha256": sha256_of(path)}


def statement(directory: Path) -> dict[str, object]:
    """The statement on the files of a directory, but for those that are made from it."""
    files = sorted(path for path in directory.iterdir() if path.is_file() and path.name not in (NAME, CHECKSUMS))
    commit = git(ROOT, "rev-parse", "HEAD")
    source = {"name": "source", "digest": {"gitCommit": commit}} | (
        {"uri": f"git+{PROJECT_URL}"} if PROJECT_URL else {}
    )
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": path.name, "digest": digest(path)} for path in files],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": "urn:kraft-quorum:make-release:1",
                "externalParameters": {"command": "make release", "commit": commit, "version": VERSION},
                "internalParameters": {
                    "python": platform.python_version(),
                    "sourceDateEpoch": source_date_epoch(),
                },
                "resolvedDependencies": [source, *({"name": name, "digest": digest(ROOT / name)} for name in LOCKS)],
            },
            "runDetails": {"builder": {"id": "urn:kraft-quorum:makefile"}},
        },
    }


def write_provenance(directory: Path) -> Path:
    """Write the statement beside the files that it is about."""
    path = directory / NAME
    path.write_text(json.dumps(statement(directory), indent=2, sort_keys=True) + "\n", "utf-8")
    return path
