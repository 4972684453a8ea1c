"""The options that our tools have and stock's lack.

`--help` of a tool equals stock's to the byte, so it does not list them. `--help-own`, the manual page, the completion
and the documents do.
"""

from __future__ import annotations

from typing import NamedTuple


class OwnOption(NamedTuple):
    """names: with their dashes. value: what stands for its value, empty if it takes none. command: of the tool, empty
    for all.
    """

    names: tuple[str, ...]
    value: str
    help: str
    command: str = ""


HELP_OWN = "--help-own"
VERSION = "--version"
_HELP = OwnOption((HELP_OWN,), "", "List the options that stock's tool does not have.")
_VERSION = OwnOption((VERSION,), "", "Print the version.")
_CONTROLLERS = OwnOption(
    ("--bootstrap-controller",), "HOST:PORT,…", "The controllers to ask, in place of --bootstrap-server."
)
LIVE_SHELL = (
    OwnOption(("--controllers", "-C"), "HOST:PORT,…", "The controllers of a live quorum, ours or stock's."),
    OwnOption(("--config", "-c"), "FILE", "The properties of the client, as for Kafka's tools."),
    OwnOption(("--directory", "-d"), "DIR", "The metadata directory of a node, running or not."),
)
# By tool, if it has more than --help-own.
_OWN = {
    "kafka-broker-api-versions": (_CONTROLLERS,),
    "kafka-cluster": (_VERSION,),
    "kafka-delegation-tokens": (
        _CONTROLLERS._replace(help=f"{_CONTROLLERS.help} Not with --describe, which brokers alone serve."),
    ),
    "kafka-dump-log": (OwnOption(("--json",), "", "One JSON object a line: each batch, each record, each finding."),),
    "kafka-features": (_VERSION,),
    "kafka-leader-election": (_CONTROLLERS,),
    "kafka-metadata-quorum": (_VERSION,),
    "kafka-metadata-shell": (*LIVE_SHELL, _VERSION),
    "kafka-storage": (OwnOption(("--json",), "", "Print one JSON object.", "info"), _VERSION),
    "kafka-topics": (_CONTROLLERS,),
}


def own_options(tool: str) -> tuple[OwnOption, ...]:
    """The options of ours that a tool has, by the name of its command."""
    return (*_OWN.get(tool, ()), _HELP)


def own_answer(tool: str, arguments: list[str]) -> str | None:
    """What a tool prints for arguments that stock's refuses: its own help, or the version; None for any other."""
    if arguments == [HELP_OWN]:
        help_texts = {
            f"{each.command} {', '.join(each.names)} {each.value}".strip(): each.help for each in own_options(tool)
        }
        width = max(map(len, help_texts))
        listed = "".join(f"  {title:<{width}}  {text}\n" for title, text in help_texts.items())
        return f"Options of {tool} of kraft-quorum that stock's tool does not have; --help lists the others:\n{listed}"
    if arguments == [VERSION] and _VERSION in own_options(tool):
        from records.release import version_text

        return f"{version_text(tool)}\n"
    return None
