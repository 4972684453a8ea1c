"""`kraftctl completion`: what the shells offer with the scripts."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from tools.kraftctl.command_trees import command_of
from tools.kraftctl.completion import run
from tools.kraftctl.main import VERBS
from tools.registry import KAFKA_TOOLS, tool_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def needs(shell: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(shell) is None, reason=f"{shell} is not installed")


@pytest.fixture(name="script")
def _script(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[[str], Path]:
    def written(shell: str) -> Path:
        assert run([shell]) == 0
        path = tmp_path / f"completion.{shell}"
        path.write_text(capsys.readouterr().out)
        return path

    return written


def said(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def in_bash(path: Path, line: str) -> set[str]:
    """The words that bash offers for the last word of a line."""
    words = line.split(" ")
    listed = " ".join(f"'{word}'" for word in words)
    code = f"source {path}; COMP_WORDS=({listed}); COMP_CWORD={len(words) - 1}; _kraft_quorum; echo ${{COMPREPLY[@]}}"
    return set(said("bash", "--norc", "-c", code).split())


def in_fish(path: Path, line: str) -> set[str]:
    text = said("fish", "--no-config", "-c", f"source {path}; complete -C '{line}'")
    return {each.split("\t")[0] for each in text.splitlines()}


def in_zsh(path: Path, line: str) -> set[str]:
    """As in bash; the functions that show what was found are replaced by one that prints it."""
    words = line.split(" ")
    code = (
        "compdef() { }; _files() { }; _describe() { local name=${@[-1]}; print -l -- ${${(P)name}%%:*} }; "
        f"compadd() {{ print -l -- $choices }}; source {path}; words=({' '.join(f'{word!r}' for word in words)}); "
        f"CURRENT={len(words)}; _kraft_quorum"
    )
    choices = set(said("zsh", "-f", "-c", code).split())
    return {word for word in choices if word.startswith(words[-1])}


SHELLS = [
    pytest.param("bash", in_bash, id="bash"),
    pytest.param("zsh", in_zsh, id="zsh", marks=needs("zsh")),
    pytest.param("fish", in_fish, id="fish", marks=needs("fish")),
]


@pytest.mark.parametrize(("shell", "offered"), SHELLS)
def test_verbs_options_and_values_are_offered(
    script: Callable[[str], Path], shell: str, offered: Callable[[Path, str], set[str]]
) -> None:
    path = script(shell)

    assert offered(path, "kraftctl ba") == {"backup"}
    assert set(VERBS) <= offered(path, "kraftctl ")
    assert offered(path, "kraftctl backup ") >= {"save", "verify", "restore", "export"}
    assert "--keep" in offered(path, "kraftctl backup save --")
    assert "--keep" not in offered(path, "kraftctl backup verify --")
    assert offered(path, "/usr/bin/kafka-storage.sh fo") == {"format"}
    assert "--initial-controllers" in offered(path, "kafka-storage format --cluster-id x --")
    assert "--status" in offered(path, "kafka-metadata-quorum --bootstrap-server a:1 describe --")


@pytest.mark.parametrize(("shell", "offered"), SHELLS)
def test_an_option_with_few_values_offers_them(
    script: Callable[[str], Path], shell: str, offered: Callable[[Path, str], set[str]]
) -> None:
    assert {"1", "3", "5"} <= offered(script(shell), "kraftctl up --nodes ")


def test_each_tool_is_completed(script: Callable[[str], Path]) -> None:
    path = script("bash")

    for tool in KAFKA_TOOLS:
        assert "--help" in in_bash(path, f"{tool.name} --"), tool.name


def test_the_shell_completes_its_own_options_too() -> None:
    """Stock's help does not have them, so the help of our shell does not either."""
    names = {name for flag in command_of(tool_of("kafka-metadata-shell")).flags for name in flag.names}

    assert {"--snapshot", "--controllers", "--config", "--directory"} <= names
