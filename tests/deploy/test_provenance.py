"""The provenance of a release: in-toto's statement with SLSA's predicate, the same bytes each time."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
from pathlib import Path

import pytest

from deploy import provenance
from deploy.provenance import LOCKS, NAME, write_provenance
from records.release import VERSION

ROOT = Path(__file__).parents[2]


@pytest.fixture(name="statement")
def _statement(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict:
    monkeypatch.setattr(provenance, "PROJECT_URL", "")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    (tmp_path / "b.whl").write_bytes(b"b")
    (tmp_path / "a.tar.gz").write_bytes(b"a")
    (tmp_path / "SHA256SUMS").write_text("of the last build")
    written = write_provenance(tmp_path).read_bytes()
    assert write_provenance(tmp_path).read_bytes() == written
    return json.loads((tmp_path / NAME).read_text())


def digest(content: bytes) -> dict[str, str]:
    return {"sha256": hashlib.sha256(content).hexdigest()}


def test_the_subjects_are_all_files_with_their_digests(statement: dict) -> None:
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    assert statement["subject"] == [
        {"name": "a.tar.gz", "digest": digest(b"a")},
        {"name": "b.whl", "digest": digest(b"b")},
    ]


def test_the_predicate_has_what_slsa_asks_for(statement: dict) -> None:
    assert statement["predicateType"] == "https://slsa.dev/provenance/v1"
    definition = statement["predicate"]["buildDefinition"]
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True)

    head = commit.stdout.strip()
    assert definition["externalParameters"] == {"command": "make release", "commit": head, "version": VERSION}
    assert definition["internalParameters"]["sourceDateEpoch"] == 1_700_000_000
    assert definition["resolvedDependencies"] == [
        {"name": "source", "digest": {"gitCommit": head}},
        *({"name": name, "digest": digest((ROOT / name).read_bytes())} for name in LOCKS),
    ]
    # Both are TypeURIs of in-toto: absolute.
    for uri in (definition["buildType"], statement["predicate"]["runDetails"]["builder"]["id"]):
        assert re.fullmatch(r"urn:[a-z-]+:[a-z:0-9-]+", uri)


def test_it_names_neither_a_registry_nor_a_path_of_the_machine(statement: dict) -> None:
    text = json.dumps(statement)

    assert str(ROOT) not in text
    assert set(re.findall(r"https?://([^/\"]+)", text)) == {"in-toto.io", "slsa.dev"}


def test_it_names_the_public_repository_where_there_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provenance, "PROJECT_URL", "https://git.example.org/kraft/quorum")

    made = json.loads(write_provenance(tmp_path).read_text())

    source = made["predicate"]["buildDefinition"]["resolvedDependencies"][0]
    assert source["uri"] == "git+https://git.example.org/kraft/quorum"
