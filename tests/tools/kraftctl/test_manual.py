"""`kraftctl manual`: the pages, as man shows them."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tools.kraftctl.command_trees import kraftctl
from tools.kraftctl.main import VERBS
from tools.kraftctl.manual import run
from tools.registry import TOOLS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tools.kraftctl.command_trees import Command

ROOT = Path(__file__).parents[3]


def leaves(command: Command, path: str = "") -> Iterator[tuple[str, Command]]:
    path = f"{path} {command.name}".strip()
    if not command.commands:
        yield path, command
    for each in command.commands:
        yield from leaves(each, path)


def test_the_verbs_without_json_are_those_that_the_documents_name() -> None:
    verbs = [each for verb in kraftctl().commands for each in leaves(verb)]

    silent = {path for path, verb in verbs if not any("--json" in flag.names for flag in verb.flags)}

    (sentence,) = re.findall(r"Without `--json` are ([^.]*)\.", (ROOT / "docs/operations.md").read_text())
    assert set(re.findall(r"`(\w+)`", sentence)) == silent


def test_the_help_of_each_verb_has_examples_of_that_verb() -> None:
    verbs = [each for verb in kraftctl().commands for each in leaves(verb)]

    examples = {path: verb.epilog.splitlines() for path, verb in verbs}

    assert {path: lines[:1] for path, lines in examples.items()} == {path: ["examples:"] for path in examples}
    other = {
        path: line for path, lines in examples.items() for line in lines[1:] if f"kraftctl {path} " not in f"{line} "
    }
    assert other == {}
    assert [path for path, lines in examples.items() if len(lines) < 2] == []


def test_the_options_of_each_example_are_those_of_the_verb() -> None:
    verbs = [each for verb in kraftctl().commands for each in leaves(verb)]

    unknown = {
        (path, word)
        for path, verb in verbs
        for line in verb.epilog.splitlines()[1:]
        for word in re.findall(r" (--?[a-z][\w-]*)", line.partition("#")[0])
        if not any(word in flag.names for flag in verb.flags)
    }

    assert unknown == set()


def test_there_is_a_page_for_each_command_with_its_options(tmp_path: Path) -> None:
    assert run([str(tmp_path / "man1")]) == 0

    names = {*(f"kraftctl-{verb}" for verb in VERBS), *(tool.name for tool in TOOLS)}
    assert {path.stem for path in (tmp_path / "man1").iterdir()} == names
    text = (tmp_path / "man1" / "kraftctl-backup.1").read_text()
    for part in (".SH NAME", "kraftctl backup save", "\\-\\-directory", "kraftctl backup verify"):
        assert part in text, part
    assert "\\-\\-initial\\-controllers" in (tmp_path / "man1" / "kafka-storage.1").read_text()


def test_a_directory_that_cannot_be_made_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")

    assert run([str(tmp_path / "file" / "man1")]) == 1
    assert "Not a directory" in capsys.readouterr().err


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_the_pages_are_set_without_a_warning(tmp_path: Path) -> None:
    run([str(tmp_path)])

    for path in sorted(tmp_path.iterdir()):
        done = subprocess.run(
            ["groff", "-man", "-ww", "-Wbreak", "-Tutf8", "-K", "utf-8", "-P-cbou", str(path)],
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stderr == "", path.name
        assert "SEE ALSO" in done.stdout
