"""`kafka-storage info`: the state of the log directories of a node, and the problems in them."""

from __future__ import annotations

import os.path
import sys

from records.java.config_error import ConfigError
from records.java.java_forms import path
from tools.command_line.java_texts import Uncaught
from tools.command_line.standard_streams import one_line
from tools.kafka.storage_format import directories_of
from tools.offline.marked_directories import MarkError, path_of, read_mark

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from controller.config.node import NodeConfig
    from raft.storage.meta_properties import MetaProperties


class Findings:
    """The state of the directories.

    found: those that exist; mark: the values of the first formatted directory; problems: sentences; caught: what Java
    prints of the exceptions that caused them.
    """

    def __init__(self) -> None:
        self.caught: list[str] = []
        self.found: list[str] = []
        self.mark: MetaProperties | None = None
        self.problems: list[str] = []

    def metadata(self) -> dict[str, str] | None:
        """The values as in the file, sorted by key."""
        from records.uuids import uuid_text

        mark = self.mark
        if mark is None:
            return None
        values = {"version": str(mark.version)}
        if mark.cluster_id is not None:
            values["cluster.id"] = mark.cluster_id
        if mark.node_id is not None:
            values["broker.id" if mark.version == 0 else "node.id"] = str(mark.node_id)
        if mark.directory_id is not None:
            values["directory.id"] = uuid_text(mark.directory_id)
        return dict(sorted(values.items()))


def run_info(config: NodeConfig, as_json: bool) -> int:
    """Print the findings; returns 1 if there is a problem, else 0. Raises OSError if a file cannot be read."""
    findings = Findings()
    for directory in directories_of(config):
        look_at(path(directory), findings)
    if findings.mark is not None:
        check_mode(findings, is_kraft=bool(config.process_roles))
    if as_json:
        from json import dumps

        shown = {"directories": findings.found, "metadata": findings.metadata(), "problems": findings.problems}
        sys.stdout.write(dumps(shown, ensure_ascii=False, separators=(",", ":")) + "\n")
    else:
        sys.stdout.write(text(findings))
    return 1 if findings.problems else 0


def look_at(directory: str, findings: Findings) -> None:
    """Add the findings about one directory."""
    if not os.path.isdir(directory):  # noqa: PTH112 - pathlib costs 10 ms
        is_there = os.path.exists(directory)  # noqa: PTH110
        findings.problems.append(f"{directory} {'is not a directory' if is_there else 'does not exist'}")
        return
    findings.found.append(directory)
    if not os.path.exists(path_of(directory)):  # noqa: PTH110
        findings.problems.append(f"{directory} is not formatted.")
        return
    try:
        mark = read_mark(directory)
    except ConfigError as error:
        raise Uncaught(error.exception, str(error)) from None
    except MarkError as error:
        # Stock also prints where it caught the exception.
        findings.caught.append(f"java.lang.RuntimeException: {error}")
        if error.cause:
            findings.caught.append(f"Caused by: {error.cause}")
        findings.problems.append(f"Error loading {path_of(directory)}: {error}")
        return
    if findings.mark is None:
        findings.mark = mark
    elif findings.mark.cluster_id != mark.cluster_id:
        findings.problems.append("Mismatched cluster IDs between storage directories.")
    elif findings.mark.node_id != mark.node_id:
        findings.problems.append("Mismatched node IDs between storage directories.")


def check_mode(findings: Findings, *, is_kraft: bool) -> None:
    """Add a problem if the directories are formatted for another kind of cluster than the configuration's."""
    assert findings.mark is not None
    if is_kraft and findings.mark.version == 0:
        findings.problems.append(
            "The kafka configuration file appears to be for a cluster in KRaft mode, but the directories are formatted "
            "for legacy mode."
        )
    elif not is_kraft and findings.mark.version == 1:
        findings.problems.append(
            "The kafka configuration file appears to be for a legacy cluster, but the directories are formatted for a "
            "cluster in KRaft mode."
        )


def text(findings: Findings) -> str:
    """The blocks of lines, each followed by an empty line."""
    blocks = [f"{one_line(line)}\n" for line in findings.caught]
    if findings.found:
        blocks.append(_block("log directory" if len(findings.found) == 1 else "log directories", findings.found))
    metadata: Any = findings.metadata()
    if metadata is not None:
        shown = ", ".join(f"{key}={value}" for key, value in metadata.items())
        blocks.append(f"Found metadata: {{{one_line(shown)}}}\n\n")
    if findings.problems:
        blocks.append(_block("problem" if len(findings.problems) == 1 else "problems", findings.problems))
    return "".join(blocks)


def _block(title: str, lines: list[str]) -> str:
    return f"Found {title}:\n" + "".join(f"  {one_line(line)}\n" for line in lines) + "\n"
