"""`kraftctl manual DIR`: writes a manual page for each command, in the form of man(7)."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from records.plain_text import plain_text
from tools.kraftctl.terminal import parser

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from tools.kraftctl.command_trees import Command, Flag


def run(arguments: list[str]) -> int:
    """Exit code 0: the pages are written. 1: the directory cannot be written to."""
    options = arguments_parser().parse_args(arguments)
    from tools.kraftctl.command_trees import trees

    try:
        options.directory.mkdir(parents=True, exist_ok=True)
        for command in trees():
            for name, text in pages(command).items():
                (options.directory / f"{name}.1").write_text(text, encoding="utf-8")
    except OSError as error:
        print(f"kraftctl manual: {plain_text(options.directory)}: {error.strerror}", file=sys.stderr)
        return 1
    return 0


def arguments_parser() -> argparse.ArgumentParser:
    """The arguments of the verb."""
    top = parser(
        "kraftctl manual",
        "Write a manual page for kraftctl, for each of its verbs and for each of Kafka's tools.",
        "kraftctl manual ~/.local/share/man/man1    # then: man kraftctl-backup",
        "kraftctl manual /usr/share/man/man1",
    )
    top.add_argument("directory", metavar="DIR", type=Path, help="where the pages are written; it is made if needed")
    return top


def pages(command: Command) -> dict[str, str]:
    """Name of a page -> its text: one for a tool, one for each verb of `kraftctl`."""
    from records.release import KAFKA_VERSION, VERSION

    footer = f"kraft-quorum {VERSION}" if command.name == "kraftctl" else f"as of Apache Kafka {KAFKA_VERSION}"
    if command.name != "kraftctl":
        return {command.name: page(command.name, command, footer, ["kraftctl"])}
    verbs = {f"kraftctl-{each.name}": each for each in command.commands}
    verb_pages = {name: page(name, each, footer, ["kraftctl"]) for name, each in verbs.items()}
    return {"kraftctl": page("kraftctl", command, footer, list(verbs)), **verb_pages}


def page(name: str, command: Command, footer: str, related: list[str]) -> str:
    """One page. related: the pages that SEE ALSO names."""
    call = name.replace("kraftctl-", "kraftctl ")
    summary = re.split(r"(?<=[.;:])\s", " ".join(command.help.split()), maxsplit=1)[0].rstrip(".;:")
    lines = [
        f'.TH "{escape(name.upper())}" 1 "" "{escape(footer)}" "User commands"',
        ".nh",
        ".ad l",
        ".SH NAME",
        f"{escape(name)} \\- {escape(summary)}",
        ".SH SYNOPSIS",
        f".B {escape(call)}",
        escape(synopsis(command)),
        ".SH DESCRIPTION",
        *paragraphs(command.help),
    ]
    lines += section("OPERANDS", [entry(operand, help_) for operand, help_ in command.operands])
    lines += section("OPTIONS", [entry(title_of(flag), flag.help) for flag in command.flags])
    if command.name == "kraftctl":
        lines += section("VERBS", [entry(each.name, each.help.split("\n")[0]) for each in command.commands])
    else:
        for each in command.commands:
            lines += verb(call, each)
    if command.epilog:
        lines += [".SH EXAMPLES", ".nf", *map(escape, command.epilog.splitlines()[1:]), ".fi"]
    lines += [".SH SEE ALSO", ", ".join(f".BR {escape(each)} (1)" for each in related).replace(", .BR", ",\n.BR")]
    return "\n".join(lines) + "\n"


def verb(call: str, command: Command) -> list[str]:
    """The lines for a sub-command of a page, and for those below it."""
    lines = [f'.SH "{escape(f"{call} {command.name}")}"', escape(synopsis(command)), ".PP", *paragraphs(command.help)]
    lines += [line for operand, help_ in command.operands for line in entry(operand, help_)]
    lines += [line for flag in command.flags for line in entry(title_of(flag), flag.help)]
    for each in command.commands:
        lines += verb(f"{call} {command.name}", each)
    if command.epilog:
        lines += [".PP", ".nf", *map(escape, command.epilog.splitlines()), ".fi"]
    return lines


def section(title: str, entries: list[list[str]]) -> list[str]:
    """The lines of a section; none without entries."""
    return [f".SH {title}", *(line for each in entries for line in each)] if entries else []


def entry(title: str, text: str) -> list[str]:
    return [".TP", f".B {escape(title)}", escape(" ".join(text.split())) or "\\&"]


def synopsis(command: Command) -> str:
    """What follows the name of a command."""
    words = ["[options]"] if command.flags else []
    if command.commands:
        words.append("|".join(each.name for each in command.commands))
    return " ".join([*words, *(operand for operand, _ in command.operands)])


def title_of(flag: Flag) -> str:
    value = "{" + ",".join(flag.choices) + "}" if flag.choices else flag.value
    return f"{', '.join(flag.names)} {value}".rstrip()


def paragraphs(text: str) -> list[str]:
    """The text's paragraphs, which empty lines separate."""
    texts = [" ".join(each.split()) for each in text.split("\n\n")]
    return [line for number, each in enumerate(texts) for line in ([".PP"] if number else []) + [escape(each)]]


def escape(text: str) -> str:
    """The text as roff takes it: dashes as they are typed, no command at the start of a line."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{text}" if text.startswith((".", "'")) else text
