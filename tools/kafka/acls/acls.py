"""kafka-acls: adds, removes and lists access control lists (KIP-11, KIP-140, KIP-290)."""

from __future__ import annotations

import sys

from tools.command_line.java_texts import Uncaught, uncaught
from tools.kafka.acls.acl_arguments import DESCRIPTION, OPTIONS, parse_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tools.client.admin import Admin
    from tools.command_line.options import Options
    from tools.kafka.acls.acl_calls import Entry, Pattern

__all__ = ["DESCRIPTION", "OPTIONS", "main"]  # the completion and the manual read the arguments here

FAILED = "Error while executing ACL command: "


def main() -> int:
    """Run the tool with the arguments of this process."""
    from tools.command_line.standard_streams import running

    return running(run, "kafka-acls")


def run(arguments: list[str]) -> int:
    """Run the tool with these arguments; returns the exit code."""
    from tools.command_line.option_tools import Exit
    from tools.kafka.running import run_reporting

    try:
        options = parse_options(arguments)
    except Exit as end:
        return end.code
    return run_reporting(lambda: _work(options), FAILED)


def _work(options: Options) -> None:
    """Add, remove or show ACLs. Raises Exit, OptionError, Uncaught."""
    with _admin(options) as admin:
        if options.has("add"):
            add(admin, options)
        elif options.has("remove"):
            remove(admin, options)
        else:
            show(admin, options)


def _admin(options: Options) -> Admin:
    """The client of the options. Raises OptionError, Uncaught for a file or settings that are not valid."""
    from tools.client.admin import Admin
    from tools.client.settings import read_file, settings_of

    given: dict[str, str] = {}
    if options.has("command-config"):
        path = options.value("command-config")
        if path is None:
            sys.stdout.write("Did not load any properties since the property file is not specified\n")
        else:
            try:
                given = read_file(path)
            except OSError as error:
                raise uncaught(error) from None
    return Admin(settings_of(options.value("bootstrap-server"), options.value("bootstrap-controller"), given))


def add(admin: Admin, options: Options) -> None:
    """`--add`. Raises Exit, OptionError, Uncaught."""
    from tools.kafka.acls.acl_calls import create_acls, describe_acls, entry_text, pattern_text
    from tools.kafka.acls.acl_options import entries_to_add

    for pattern, entries in entries_to_add(options).items():
        known = set(describe_acls(admin, pattern))
        for entry in entries:
            if (pattern, entry) in known:
                binding = f"(pattern={pattern_text(pattern)}, entry={entry_text(entry)})"
                sys.stdout.write(f"Acl {binding} already exists.\n")
        new = [entry for entry in entries if (pattern, entry) not in known]
        if new:
            sys.stdout.write(f"Adding ACLs for resource `{pattern_text(pattern)}`: \n {_lines(new)}\n\n")
            create_acls(admin, pattern, new)


def remove(admin: Admin, options: Options) -> None:
    """`--remove`, each resource once it is confirmed. Raises Exit, OptionError, Uncaught."""
    from tools.kafka.acls.acl_calls import delete_acls, pattern_text
    from tools.kafka.acls.acl_options import entries_by_resource

    for pattern, entries in entries_by_resource(options).items():
        resource = f"resource filter `{pattern_text(pattern)}`? (y/n)"
        if entries:
            question = f"Are you sure you want to remove ACLs: \n {_lines(entries)}\n from {resource}"
        else:
            question = f"Are you sure you want to delete all ACLs for {resource}"
        if options.has("force") or _is_confirmed(question):
            delete_acls(admin, pattern, entries)


def _is_confirmed(question: str) -> bool:
    """Whether the user answers yes. Raises Uncaught if there is no terminal for the answer."""
    sys.stdout.write(f"{question}\n")
    sys.stdout.flush()
    answer = sys.stdin.readline() if sys.stdin is not None and sys.stdin.isatty() else ""
    if not answer:
        text = "There is no terminal on which to confirm; --force removes the ACLs without a question."
        raise Uncaught("java.lang.IllegalStateException", text)
    return answer.rstrip("\r\n").upper() == "Y"


def show(admin: Admin, options: Options) -> None:
    """`--list`. Raises OptionError, Uncaught."""
    from tools.kafka.acls.acl_calls import ANY_PATTERN, describe_acls
    from tools.kafka.acls.acl_options import patterns_of, principals_of

    patterns = patterns_of(options)
    principals = principals_of(options, "principal")
    acls = [acl for pattern in patterns or [ANY_PATTERN] for acl in describe_acls(admin, pattern)]
    by_pattern: dict[Pattern, set[Entry]] = {}
    for pattern, entry in acls:
        by_pattern.setdefault(pattern, set()).add(entry)
    if not principals:
        _print(by_pattern)
    for principal in principals:
        sys.stdout.write(f"ACLs for principal `{principal}`\n")
        filtered = {
            pattern: {entry for entry in entries if entry.principal == principal}
            for pattern, entries in by_pattern.items()
        }
        _print({pattern: entries for pattern, entries in filtered.items() if entries})


def _print(by_pattern: dict[Pattern, set[Entry]]) -> None:
    from tools.kafka.acls.acl_calls import pattern_text

    for pattern in sorted(by_pattern):
        lines = _lines(sorted(by_pattern[pattern]))
        sys.stdout.write(f"Current ACLs for resource `{pattern_text(pattern)}`:\n{lines}\n\n")


def _lines(entries: list[Entry]) -> str:
    from tools.kafka.acls.acl_calls import entry_text

    return "\n".join(f"\t{entry_text(entry)}" for entry in entries)
