"""The dry run of a release: what it compares, what it finds missing, and the files it writes."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from deploy import provenance, release
from records.release import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Git = Callable[..., None]

DATED = f"# Changes\n\n## {VERSION} – 2026-12-01\n"
URLS = {"Homepage": "https://git.example.org/kraft/quorum"}


@pytest.fixture(name="git")
def _git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Git:
    """A repository that can be released, in `tmp_path`."""

    def git(*arguments: str) -> None:
        identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        subprocess.run(["git", *identity, *arguments], cwd=tmp_path, capture_output=True, check=True)

    monkeypatch.setattr(release, "ROOT", tmp_path)
    monkeypatch.setattr(release, "project_urls", lambda: URLS)
    (tmp_path / "CHANGELOG.md").write_text(DATED)
    git("init")
    git("add", "-A")
    git("commit", "-m", "first")
    return git


@pytest.mark.usefixtures("git")
def test_a_clean_tree_with_a_dated_section_and_an_address_can_be_released() -> None:
    assert release.obstacles() == []


@pytest.mark.parametrize(
    ("changelog", "reason"),
    [
        ("# Changes\n", f"CHANGELOG.md has no section for {VERSION}"),
        (
            f"## {VERSION} – not released yet\n",
            f"CHANGELOG.md: the section of {VERSION} says 'not released yet'; the date of the release is expected",
        ),
    ],
)
def test_the_section_of_the_version_has_the_date_of_the_release(
    git: Git, tmp_path: Path, changelog: str, reason: str
) -> None:
    (tmp_path / "CHANGELOG.md").write_text(changelog)
    git("commit", "-am", "second")

    assert release.obstacles() == [reason]


def test_changes_that_are_not_committed_and_a_tag_that_exists_are_obstacles(git: Git, tmp_path: Path) -> None:
    git("tag", f"v{VERSION}")
    (tmp_path / "new").touch()

    assert release.obstacles() == [
        "the working tree has changes that are not committed",
        f"the tag v{VERSION} exists; raise VERSION in records/release.py",
    ]


@pytest.mark.usefixtures("git")
def test_what_is_tagged_is_released_by_the_tag_of_the_version_alone(git: Git) -> None:
    git("tag", f"v{VERSION}")

    assert release.obstacles(f"v{VERSION}") == []
    assert release.obstacles("v9.9.9") == [f"the tag is v9.9.9, and VERSION in records/release.py {VERSION}"]


@pytest.mark.usefixtures("git")
def test_builds_that_are_not_equal_are_not_released(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(provenance, "source_date_epoch", lambda: 1_700_000_000)
    dist, second = tmp_path / "dist", tmp_path / "second"
    for folder in (dist, second):
        folder.mkdir()
        (folder / "a.whl").write_bytes(b"not a zip file, and equal")
    (second / "a.cdx.json").touch()

    assert release.main([str(dist), str(second)]) == 1
    assert capsys.readouterr().err == "two builds of one commit are not equal: a.cdx.json: in one of the two only\n"
    assert sorted(path.name for path in dist.iterdir()) == ["a.whl"]

    (second / "a.cdx.json").unlink()
    assert release.main([str(dist), str(second)]) == 0
    assert sorted(path.name for path in dist.iterdir()) == ["SHA256SUMS", "a.whl", "kraft-quorum.provenance.json"]
    # The two folders are not committed.
    assert release.main(["--tag", f"v{VERSION}", str(dist), str(second)]) == 1
    assert "not yet: the working tree has changes that are not committed\n" in capsys.readouterr().out


@pytest.mark.usefixtures("git")
def test_an_address_must_be_there_and_valid(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(release, "project_urls", dict)
    assert release.obstacles() == ["PROJECT_URL in records/release.py is empty: the distributions name no home page"]

    def refuse() -> dict[str, str]:
        raise ValueError("PROJECT_URL: https://HOST/PATH is expected, not 'a'")

    monkeypatch.setattr(release, "project_urls", refuse)
    assert release.obstacles() == ["PROJECT_URL: https://HOST/PATH is expected, not 'a'"]


def test_the_checksums_are_those_of_sha256sum(tmp_path: Path) -> None:
    (tmp_path / "b.whl").write_bytes(b"b")
    (tmp_path / "a.tar.gz").write_bytes(b"a")
    (tmp_path / "SHA256SUMS").write_text("old")

    lines = release.write_checksums(tmp_path)

    assert [line.partition("  ")[2] for line in lines] == ["a.tar.gz", "b.whl"]
    done = subprocess.run(["sha256sum", "--check", "SHA256SUMS"], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0
