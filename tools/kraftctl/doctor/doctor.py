"""`kraftctl doctor -c FILE`: what keeps a node from starting or from its quorum, each with its remedy. Reads only."""

from __future__ import annotations

import json
import time

from records.java.config_error import ConfigError
from tools.command_line.progress import Progress
from tools.config_file import read_config
from tools.kraftctl.doctor.doctor_directories import examine_directories
from tools.kraftctl.findings import ERROR, WARNING, Finding, exit_code
from tools.kraftctl.running import running
from tools.kraftctl.terminal import parser, say

# As the running node reports it (`controller/node/logging/problems.py`).
DATA_LOST = "the quorum has lost data"

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse


def run(arguments: list[str]) -> int:
    """Exit code 0: nothing is wrong. 1: warnings, or the options are wrong. 2: errors."""
    options = arguments_parser().parse_args(arguments)
    return running("doctor", lambda: _examine(options))


def arguments_parser() -> argparse.ArgumentParser:
    """The arguments of the verb."""
    top = parser(
        "kraftctl doctor",
        "Examine a node, running or not: its configuration, directories, ids, owners and lock, its log and voter set,\n"
        "names, listeners and certificates, and what the other controllers say. One line each, with its remedy, and\n"
        "at the end the way out for this node, to copy. Nothing is written.\n"
        "Exit code 0: nothing is wrong; 1: warnings; 2: errors.",
        "kraftctl doctor -c /etc/kafka/controller.properties",
        "kraftctl doctor -c /etc/kafka/controller.properties --offline --json",
    )
    top.add_argument("-c", "--config", metavar="FILE", required=True, help="the node's controller.properties")
    top.add_argument("--offline", action="store_true", help="do not connect to any listener and resolve no name")
    top.add_argument(
        "--timeout", type=float, default=3.0, metavar="SECONDS", help="for each controller; default: %(default)s"
    )
    top.add_argument("--json", action="store_true", help="print one JSON object")
    return top


def _examine(options: argparse.Namespace) -> int:
    findings, block = examine(options.config, int(time.time() * 1000), options.timeout, is_offline=options.offline)
    code = exit_code(findings)
    if options.json:
        print(json.dumps({"exit_code": code, "findings": [finding._asdict() for finding in findings], "do": block}))
        return code
    say(*(finding.line() for finding in findings))
    if block:
        say("", "what to do, on this machine:", *(f"    {line}" for line in block))
    return code


def examine(path: str, now_ms: int, timeout_s: float, *, is_offline: bool) -> tuple[list[Finding], list[str]]:
    """All findings, and the way out, which is empty where nothing is to be done, or the others were not asked.

    Raises OSError if the file cannot be read.
    """
    try:
        config = read_config(path)
    except ConfigError as error:
        remedy = "correct the key; `kraftctl start --check -c FILE` reads it again"
        return [Finding(ERROR, path, str(error), remedy)], []
    findings = [Finding(WARNING, path, warning, "remove or correct the key") for warning in config.warnings]
    with Progress("reading the log", 0) as note:
        own = examine_directories(config, path, now_ms, note)
    findings += own.findings
    if is_offline:
        return findings, []
    from tools.kraftctl.doctor.doctor_network import examine_network
    from tools.kraftctl.doctor.doctor_way_out import Node, obstacles, way_out

    network_findings, around = examine_network(config, own, now_ms, timeout_s)
    lost = any(DATA_LOST in finding.text for finding in network_findings)
    findings += network_findings
    return findings, way_out(Node(config, path, own._replace(has_lost_data=lost), around), obstacles(findings))
