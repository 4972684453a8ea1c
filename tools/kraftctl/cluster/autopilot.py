"""`kraftctl autopilot`: what the autopilot of the active controller knows and does next; pause and resume it."""

from __future__ import annotations

import json
import sys

from controller.config.keys.own import AUTOPILOT_PAUSED
from records.messages.configs import IncrementalAlterConfigsRequest
from records.plain_text import plain_text
from records.resource_types import ConfigOperation, ResourceType
from tools.client.quorum_options import add_quorum_options, addresses_of, known_nodes, security_of
from tools.kraftctl.cluster.quorum_calls import Quorum, refusal
from tools.kraftctl.nodes.http_page import OK, add_caller_options, caller_of
from tools.kraftctl.nodes.node_status import find_pages
from tools.kraftctl.plain_streams import GREEN, RED, YELLOW
from tools.kraftctl.points.changes import time_text
from tools.kraftctl.running import running
from tools.kraftctl.terminal import add_verb, colour_text, parser, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

CLIENT_ID = "kraftctl-autopilot"
COLOURS = {"healthy": GREEN, "lagging": YELLOW, "silent": YELLOW, "dead": RED}
UNHEALTHY = 2


def run(arguments: list[str]) -> int:
    """Exit code 0: done, and for state all voters are healthy. 1: not done. 2: of state, a voter is not healthy."""
    options = arguments_parser().parse_args(arguments)
    verb = _show if options.verb == "state" else _set_pause
    return running(f"autopilot {options.verb}", lambda: verb(options))


def arguments_parser() -> argparse.ArgumentParser:
    """The arguments of the verb."""
    top = parser(
        "kraftctl autopilot",
        "The autopilot adds and removes voters by itself (kraft.autopilot.enable): its state, and its pause.",
        "kraftctl autopilot state --bootstrap-controller c1:9093,c2:9093,c3:9093",
        "kraftctl autopilot pause -c /etc/kafka/controller.properties",
    )
    verbs = top.add_subparsers(dest="verb", required=True, metavar="state|pause|resume")
    state = add_verb(
        verbs, "state", "show for each controller whether it is healthy, and the next step",
        "Ask the active controller, by its HTTP port (kraft.http.listener), for each controller whether it is healthy\n"
        "or why not, and since when; what the autopilot does next, and what keeps it.\n"
        "Exit code 0: all voters are healthy; 1: no active controller with an HTTP port answers; 2: one is not.",
        "kraftctl autopilot state --bootstrap-controller c1:9093,c2:9093,c3:9093",
        "kraftctl autopilot state -c /etc/kafka/controller.properties --json",
    )  # fmt: skip
    add_quorum_options(state)
    add_caller_options(state, "the HTTP port")
    state.add_argument("--json", action="store_true", help="print one JSON object, the answer of /autopilot")
    for name, what in (("pause", "make no further step until it is resumed"), ("resume", "go on after a pause")):
        verb = add_verb(
            verbs, name, what,
            f"The autopilot of the whole quorum: {what}. The pause is in the metadata, as the dynamic\n"
            f"config {AUTOPILOT_PAUSED} of all nodes: it lasts when the leader changes, and all nodes restart.\n"
            "Exit code 0: it is committed; 1: it is not done.",
            f"kraftctl autopilot {name} --bootstrap-controller c1:9093,c2:9093,c3:9093",
        )  # fmt: skip
        add_quorum_options(verb)
        verb.add_argument("--json", action="store_true", help="print one JSON object")
    return top


def _show(options: argparse.Namespace) -> int:
    addresses, refusals = addresses_of(options), []
    security = security_of(options)
    # The leader may be none of the addresses that were given.
    quorum = Quorum(addresses, CLIENT_ID, security)
    addresses = list(dict.fromkeys([quorum.look().address, *addresses]))
    for status, page in find_pages(addresses, known_nodes(options), caller_of(options), security):
        if page is None:
            refusals.append(f"{status.address}: {status.error or 'it has no HTTP port'}")
            continue
        try:
            code, text = page.get("/autopilot")
            view = json.loads(text) if code == OK else None
        except (OSError, ValueError) as error:
            refusals.append(f"{status.address}: {error}")
            continue
        finally:
            page.close()
        if view is not None and view["is_active_controller"]:
            return _print(view, text, as_json=options.json)
        refusals.append(f"{status.address}: " + (f"status {code}" if view is None else "not the active controller"))
    raise OSError(f"no active controller with kraft.http.listener answers: {'; '.join(refusals)}")


def _print(view: dict[str, Any], text: str, *, as_json: bool) -> int:
    if as_json:
        print(text.strip())
    else:
        say(*lines_of(view))
    sys.stdout.flush()
    return 0 if view["healthy"] else UNHEALTHY


def lines_of(view: dict[str, Any]) -> list[str]:
    """The state in lines of text."""
    how = "paused" if view["paused"] else "enabled" if view["enabled"] else "off (kraft.autopilot.enable)"
    lines = [f"the autopilot of the active controller {view['node_id']} is {how}"]
    for node in view["nodes"]:
        health = colour_text(node["health"], COLOURS.get(node["health"], RED))
        reason = f": {plain_text(node['reason'])}" if node["reason"] else ""
        where = f"{node['node']}@{plain_text(node['directory_id'])}"
        lines.append(f"{node['role']:<8} {where}  {health} since {time_text(node['since_ms'])}{reason}")
    step = view["next_step"]
    if step is not None:
        lines.append(f"next: {step['step']} {step['node']}, because {plain_text(step['reason'])}")
    lines += [f"kept: {plain_text(reason)}" for reason in view["held_by"]]
    if step is None and not view["held_by"]:
        lines.append("nothing is to be done")
    return lines


def _set_pause(options: argparse.Namespace) -> int:
    quorum = Quorum(addresses_of(options), CLIENT_ID, security_of(options))
    is_pause = options.verb == "pause"
    set_for_all(quorum, AUTOPILOT_PAUSED, "true" if is_pause else None)
    if options.json:
        print(json.dumps({"paused": is_pause}))
    else:
        print(colour_text("the autopilot is paused" if is_pause else "the autopilot goes on", GREEN))
    return 0


def set_for_all(quorum: Quorum, key: str, value: str | None) -> None:
    """Set a dynamic config of all nodes; None deletes it. Raises OSError with the leader's words."""
    change = IncrementalAlterConfigsRequest.AlterConfigsResource.AlterableConfig(
        name=key, config_operation=ConfigOperation.DELETE if value is None else ConfigOperation.SET, value=value
    )
    resource = IncrementalAlterConfigsRequest.AlterConfigsResource(
        resource_type=ResourceType.BROKER, resource_name="", configs=(change,)
    )
    request = IncrementalAlterConfigsRequest(resources=(resource,), validate_only=False)
    answer = quorum.ask(quorum.look().address, request).responses[0]
    if answer.error_code:
        raise OSError(refusal("IncrementalAlterConfigs", answer))
