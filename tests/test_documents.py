"""The examples of README.md and docs/: properties are parsed, shell is checked, and what can run runs on a real quorum.

`tests/interop/test_security_page.py` runs the examples of docs/security.md with a secured quorum.
"""

from __future__ import annotations

import ast
import os
import re
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
import yaml

from controller.config.keys import own, server
from controller.config.unknown_keys import unknown_keys
from records.java.properties import parse_properties
from simulations.chaos.ports import free_ports_in_a_row
from tests.controller.server.processes import running
from tests.test_tidy import PACKAGES
from tools.kafka.shell import live_shell
from tools.kraftctl.command_trees import trees
from tools.reference import configuration_effects as effects

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
BIN = Path(sys.executable).parent
PAGES = (
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted(path for folder in (*PACKAGES, "deploy", "tests") for path in (ROOT / folder).rglob("*.md")),
)

# The programs of this project: each command line of one is compared with what the program takes.
PROGRAMS = {command.name: command for command in trees()}
OURS = {name for known in PROGRAMS for name in (known, f"{known}.sh")} | {"kraft-pipeline"}
# Other programs that the examples call, by where they come from. What is in none of the two is an error.
OTHERS = set(
    """
    [ alias apt-get awk bash cat chmod cp curl docker echo export fio git grep grpcurl helm install java journalctl kill
    kubectl ls make mvn openssl pip pipx printf python python3 rm ruff sed seq set setpriv sort source ssh sudo
    systemctl tail useradd uv wait pytest
    stock
    """.split()  # noqa: SIM905 - a list of words
)

# Blocks that are no example, by page and first words, with the reason.
NO_EXAMPLE = {
    ("docs/conformance/kip-4-proposal.md", "kraftctl topic alter TOPIC"): "a synopsis",
    ("CONTRIBUTING.md", "make test  "): "a list of targets with what each does",
    ("docs/security.md", "KafkaServer {"): "a JAAS file; tests/interop/test_security_page.py runs it",
    ("docs/security.md", "security.protocol="): "a client's properties; tests/interop/test_security_page.py runs it",
}

# Commands on a live quorum, and why those that do not run here do not.
NOT_RUN = {
    "kraftctl topic": "needs brokers; tests/interop/test_topic_alter.py runs it",
    "kraftctl start": "runs until it is ended; the quorum of this test is started by it",
    "kraftctl rehearse": "names a layout of its own; tests/interop/test_rehearse.py runs it",
    "kraftctl backup": "writes where the example says; tests/interop/test_backup.py runs it",
    "kraftctl recover": "needs survivors; tests/interop/test_recover.py runs it",
    "kraftctl quorum": "changes the voters; tests/interop/test_quorum_replace.py and test_quorum_migrate.py run it",
    "kraftctl controllers": "needs a ghost; tests/interop/test_controllers_prune.py runs it",
    "kraftctl debug": "takes a minute and writes where it says; tests/tools/kraftctl/debug/test_debug.py runs it",
    "kraftctl diff": "needs a backup; tests/tools/kraftctl/history/test_history.py runs it",
    "kraftctl watch": "runs until it is ended; tests/tools/kraftctl/history/test_watch.py runs it",
    "kraftctl up": "runs until it is ended; tests/tools/kraftctl/run/test_up.py runs it",
    "kraftctl bench": "its exit code depends on the machine's load; tests/tools/kraftctl/bench/test_bench.py runs it",
    "kafka-storage format": "writes where the example says; tests/interop/test_storage.py runs it",
    "kafka-metadata-quorum.sh remove-controller": "needs a second voter; tests/interop/test_voters.py runs it",
}
OPTION = re.compile(r"(?<![\w-])--?[a-zA-Z][\w-]*")
QUORUM = re.compile(r"\bc1:9093(,c2:9093(,c3:9093)?)?\b|\b127\.0\.0\.1:19091\b|\blocalhost:9093\b")


class Block(NamedTuple):
    """One example. page: its file; line: of its first line, from 1."""

    page: str
    line: int
    text: str

    @property
    def kind(self) -> str:
        lines = [line for line in self.text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
        first = lines[0] if lines else ""
        if re.match(r"(from|import|class|def|with|async) .*", first) or self.text.startswith("```python"):
            return "python"
        if re.match(r"[a-zA-Z_]+:( |$)", first):
            return "yaml"
        if re.match(r"[a-z][a-z0-9.-]*\.[a-z0-9.-]*=", first) or re.match(r"process\.roles=", first):
            return "properties"
        is_of_design = Path(self.page).name in {"ARCHITECTURE.md", "DESIGN.md"}
        if is_of_design and Path(first.split()[0] if first else "").name not in OURS | OTHERS:
            return "drawing"
        return "shell"

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


@cache
def blocks() -> list[Block]:
    """Every example: fenced, or indented by at least four after an empty line."""
    found = []
    for page in PAGES:
        name, lines = str(page.relative_to(ROOT)), page.read_text("utf-8").splitlines()
        number = 0
        while number < len(lines):
            begin, line = number, lines[number]
            number += 1
            if line.strip().startswith("```"):
                while not lines[number].strip().startswith("```"):
                    number += 1
                body = lines[begin + 1 : number]
                number += 1
                language = line.strip()[3:]
                if language in {"", "python", "sh", "properties", "yaml"}:
                    found.append(Block(name, begin + 2, "\n".join(body)))
            elif re.match(r" {4,}[^ ]", line) and (begin == 0 or not lines[begin - 1].strip()):
                indent = len(line) - len(line.lstrip())
                while number < len(lines) and (not lines[number].strip() or lines[number].startswith(" " * indent)):
                    number += 1
                whole = Block(name, begin + 1, "\n".join(each[indent:] for each in lines[begin:number]).rstrip())
                found += [whole] if whole.kind == "python" else paragraphs(whole)
    return [block for block in found if not is_excused(block)]


def paragraphs(block: Block) -> list[Block]:
    """The parts of an example that empty lines separate: properties may follow commands."""
    found, begin, lines = [], 0, block.text.split("\n")
    for number, line in enumerate([*lines, ""]):
        if not line.strip():
            if begin < number:
                found.append(Block(block.page, block.line + begin, "\n".join(lines[begin:number])))
            begin = number + 1
    return found


def is_excused(block: Block) -> bool:
    return any(block.page == page and block.text.lstrip().startswith(begin) for page, begin in NO_EXAMPLE)


def of_kind(kind: str) -> list[Block]:
    return [block for block in blocks() if block.kind == kind]


def commands(block: Block) -> Iterator[list[str]]:
    """The words of each simple command of a shell block; what a here-document holds is left out."""
    text = re.sub(r"<<-?'?(\w+)'?\n.*?\n\s*\1\n", "\n", block.text + "\n", flags=re.DOTALL)
    text = re.sub(r"\b\w+=\$\([^()]*\)", "", text.replace("\\\n", " "))
    for line in text.splitlines():
        words = shlex.shlex(line, posix=True, punctuation_chars="|&;")
        words.whitespace_split = True
        words.commenters = "#"
        command: list[str] = []
        for word in words:
            if set(word) <= set("|&;"):
                yield command
                command = []
            else:
                command.append(word)
        yield command


def programs(block: Block) -> Iterator[list[str]]:
    """Commands without variables set before them; a command substitution counts as a command too."""
    inner = re.findall(r"\$\(([^()]*)\)", block.text)
    for one in (block, *(Block(block.page, block.line, text) for text in inner)):
        for words in commands(one):
            while words and re.match(r"\w+=", words[0]):
                words = words[1:]
            if words and words[0] == "(":
                words = words[1:]
            if words:
                yield [Path(words[0]).name, *words[1:]]


def our_commands() -> list[tuple[str, list[str]]]:
    return [(str(block), words) for block in of_kind("shell") for words in programs(block) if words[0] in OURS]


@cache
def help_of(*words: str) -> str:
    done = subprocess.run([str(BIN / words[0]), *words[1:], "--help"], capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def options_of(words: list[str]) -> set[str]:
    """The options that a program takes with the verbs that stand among these words. Raises LookupError if one of them
    should be a verb, and is not.
    """
    if words[0] == "kraft-pipeline":
        text = help_of(*words[:2])
        if "usage" not in text.lower():
            raise LookupError(words[1])
        return set(OPTION.findall(text))
    command, left = PROGRAMS[words[0].removesuffix(".sh")], words[1:]
    found = {name for flag in command.flags for name in flag.names}
    if command.name == "kafka-metadata-shell":
        # Its help is stock's, and lists stock's options alone.
        found |= set(OPTION.findall(live_shell.USAGE))
    while command.commands and not {"--help", "-h", "--version"} & set(left):
        verbs = {each.name: each for each in command.commands}
        # Some of stock's tools take options before the verb.
        given = next((word for word in left if word in verbs), None)
        if given is None:
            raise LookupError(f"no verb in {left}; known: {sorted(verbs)}")
        command, left = verbs[given], left[left.index(given) + 1 :]
        found |= {name for flag in command.flags for name in flag.names}
    return found


def test_there_are_examples_of_each_kind() -> None:
    assert {kind: len(of_kind(kind)) > 0 for kind in ("properties", "shell", "python", "yaml")} == {
        "properties": True, "shell": True, "python": True, "yaml": True,
    }  # fmt: skip


def test_the_index_lists_each_document() -> None:
    text = (ROOT / "docs" / "README.md").read_text("utf-8")

    assert [
        str(page)
        for page in (path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md"))
        if page.name != "README.md" and f"({page})" not in text
    ] == []


def test_the_readme_can_be_read_in_five_minutes() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").split()) <= 1300


def test_git_ignores_what_the_commands_of_the_readme_write() -> None:
    written = ["data/node-1.log", "warehouse/records/_SUCCESS", "fleet.html", "plan.json", "rehearsal.html"]

    done = subprocess.run(["git", "check-ignore", *written], cwd=ROOT, capture_output=True, text=True, check=False)

    assert done.stdout.split() == written


def test_each_link_to_a_file_leads_to_one() -> None:
    wrong = [
        f"{page.name}: {target}"
        for page in PAGES
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", re.sub(r"<a [^>]*>", "", page.read_text("utf-8")))
        if not re.match(r"https?:", target) and not (page.parent / target).exists()
    ]

    assert wrong == []


def test_each_trouble_names_tests_that_exist() -> None:
    """Both columns of docs/troubles.md: a trouble that no test shows, or whose test was renamed, is an error."""
    rows = [line.split(" | ") for line in (ROOT / "docs" / "troubles.md").read_text("utf-8").splitlines()[9:]]
    wrong = []
    for _trouble, shown, way_out, _ in rows:
        for cell in (shown, way_out):
            named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", cell)
            missing = [
                f"{path}::{test}"
                for path, test in named
                if not (ROOT / path).is_file() or (test and f"def {test}(" not in (ROOT / path).read_text("utf-8"))
            ]
            wrong += missing if named or "the same test" in cell else [cell]

    assert len(rows) == 16
    assert wrong == []


def test_each_bug_names_a_test_that_exists_and_the_commit_of_its_date() -> None:
    """docs/bugs.md: a row without a test, or with one that was renamed, is an error; so is a wrong commit or date."""
    rows = [
        line.strip("| ").split(" | ")
        for line in (ROOT / "docs" / "bugs.md").read_text("utf-8").splitlines()
        if line.startswith("| ") and not line.startswith("| what was wrong")
    ]
    named = {row[0]: re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", row[-1]) for row in rows}
    missing = [
        f"{path}::{test}"
        for tests in named.values()
        for path, test in tests
        if not (ROOT / path).is_file() or f"def {test}(" not in (ROOT / path).read_text("utf-8")
    ]
    mended = [tuple(row[3].split(", ")) for row in rows]

    assert len(rows) >= 31
    assert [row for row in rows if len(row) != 5 or not all(row)] == []
    assert [what for what, tests in named.items() if not tests] == []
    assert missing == []
    assert [each for each in mended if not re.fullmatch(r"\d{4}-\d\d-\d\d, [0-9a-f]{7,}", ", ".join(each))] == []
    assert [date for date, _ in mended] == sorted(date for date, _ in mended)
    asked = ["git", "show", "--no-patch", "--format=%h %ad", "--date=short", "--abbrev=8"]
    known = subprocess.run(
        [*asked, *(commit for _, commit in mended)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if known.returncode == 0:  # a clone with the history, not a source distribution
        assert {tuple(line.split()[::-1]) for line in known.stdout.splitlines()} == set(mended)


def test_each_exception_has_a_block() -> None:
    texts = [(str(page.relative_to(ROOT)), page.read_text("utf-8")) for page in PAGES]

    assert [key for key in NO_EXAMPLE if not any(key[0] == name and key[1] in text for name, text in texts)] == []


@pytest.mark.parametrize("block", of_kind("properties"), ids=str)
def test_properties_have_known_keys_and_valid_values(block: Block) -> None:
    found = parse_properties(block.text.encode())
    found = {key: text for key, text in found.items() if not key.startswith("naming.")}  # a plug-in's own

    for name, text in found.items():
        base = re.sub(r"^listener\.name\.[^.]+\.", "", name)
        key = server.KEYS.get(base) or own.KEYS.get(base)
        if key is not None and "${" not in text:
            key.parse(text)
    assert unknown_keys(found) == []
    assert found or block.text.count("\n") == 0
    assert effects.OWN_TEXTS.keys() >= {key for key in found if key.startswith(own.PREFIX)}


@pytest.mark.parametrize("block", of_kind("python"), ids=str)
def test_python_compiles(block: Block) -> None:
    ast.parse(block.text)


@pytest.mark.parametrize("block", of_kind("yaml"), ids=str)
def test_yaml_parses(block: Block) -> None:
    assert all(yaml.safe_load_all(block.text))


@pytest.mark.parametrize("block", of_kind("shell"), ids=str)
def test_shell_has_a_valid_syntax_and_known_programs(block: Block) -> None:
    done = subprocess.run(["bash", "-n"], input=block.text, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")
    unknown = {
        words[0]
        for words in programs(block)
        if words[0] not in OURS | OTHERS and not (ROOT / "deploy" / words[0]).is_file()
    }
    assert unknown == set()


def test_make_has_each_target_and_each_file_of_the_project_is_there() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    wrong = [
        f"{block}: make {word}"
        for block in of_kind("shell")
        for words in programs(block)
        if words[0] == "make"
        for word in words[1:]
        if word not in targets
    ]
    files = [
        f"{block}: {word}"
        for block in of_kind("shell")
        for words in programs(block)
        for word in words
        if re.match(r"(deploy|docs|tests|requirements)/[\w./-]+$", word)
        and not (ROOT / word).exists()
        and "/mine" not in word
    ]

    assert (wrong, files) == ([], [])


def test_our_programs_have_each_verb_and_option() -> None:
    wrong = []
    for where, words in our_commands():
        try:
            known = options_of(words)
        except LookupError as error:
            wrong.append(f"{where}: {' '.join(words)}: {error}")
            continue
        options = [word.partition("=")[0] for word in words[1:] if re.match(r"--?[a-zA-Z]", word)]
        wrong += [f"{where}: {' '.join(words)}: {option}" for option in options if option not in known]

    assert wrong == []


def on_a_quorum() -> list[str]:
    """The commands of the examples on a live quorum of controllers, each once; those of stock's tools, which may change
    the quorum, are last.
    """
    found = {
        shlex.join(words)
        for _where, words in our_commands()
        if any(QUORUM.search(word) or word == "/etc/kafka/controller.properties" for word in words)
        and not any(set(command.split()) <= set(words) for command in NOT_RUN)
        and words[0] != "kraft-pipeline"
        and not {"--command-config", "--config"} & set(words)  # with TLS: tests/interop/test_security_page.py
    }
    return sorted(found, key=lambda line: (line.startswith("kafka-"), line))


def test_the_commands_of_the_examples_run_on_a_live_quorum(tmp_path: Path) -> None:
    port = free_ports_in_a_row(2)
    properties = tmp_path / "controller.properties"
    wrong = []
    with running(tmp_path, port, kraft_http_listener=f"127.0.0.1:{port + 1}"):
        subprocess.run([BIN / "kraftctl", "wait", "-c", properties, "--timeout", "30"], check=True, capture_output=True)
        for line in on_a_quorum():
            text = QUORUM.sub(f"127.0.0.1:{port}", line).replace("/etc/kafka/controller.properties", str(properties))
            words = shlex.split(re.sub(r"--node \d", "--node 1", text))
            done = subprocess.run(
                [BIN / words[0], *words[1:]], capture_output=True, text=True, check=False, timeout=60,
                env={**os.environ, "COLUMNS": "120"},
            )  # fmt: skip
            if done.returncode != 0:
                wrong.append((line, done.returncode, done.stdout[-300:] + done.stderr[-300:]))

    assert len(on_a_quorum()) >= 8
    assert wrong == []
