"""`kraftctl quorum migrate --to dynamic`: static voters become voters of the log (KIP-853)."""

from __future__ import annotations

import json
import sys
import time
from typing import NamedTuple

from records.errors import Error, error_name
from records.java.config_error import ConfigError
from records.messages.configs import DescribeConfigsRequest
from records.messages.features import UpdateFeaturesRequest
from records.resource_types import ResourceType
from tools.client.quorum_options import addresses_of, security_of
from tools.command_line.progress import Progress
from tools.config_file import read_config
from tools.kraftctl.cluster.quorum_calls import KRAFT_VERSION, Quorum, refusal
from tools.kraftctl.findings import ERROR, OK, WARNING, Finding
from tools.kraftctl.plain_streams import GREEN
from tools.kraftctl.running import running
from tools.kraftctl.terminal import colour_text, is_confirmed, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from tools.client.quorum import Address, View

CLIENT_ID = "kraftctl-quorum-migrate"
VOTERS, SERVERS = "controller.quorum.voters", "controller.quorum.bootstrap.servers"
UPGRADE = 1
DYNAMIC = 1
WARNED = (
    "kraft.version cannot be lowered: no way leads back to static voters. The voters stay the same, and no controller "
    "is restarted."
)
_POLL_S = 1.0


class Setting(NamedTuple):
    """The two keys as a node runs with them; empty where unset."""

    voters: str
    servers: str


class State(NamedTuple):
    """What was found. level: kraft.version. settings: of the nodes that describe theirs."""

    view: View
    level: int
    addresses: dict[int, Address]
    settings: dict[int, Setting]
    findings: list[Finding]


def run(options: argparse.Namespace) -> int:
    """Exit code 0: done. 1: not done, nothing was changed. 2: done, and a node has yet to be changed."""
    return running("quorum migrate", lambda: _migrate(options))


def _migrate(options: argparse.Namespace) -> int:
    quorum = Quorum(addresses_of(options), CLIENT_ID, security_of(options))
    with Progress("asking each voter", 0):
        state = examine(quorum)
    findings = [*state.findings, *(finding for path in options.check for finding in of_file(path, state))]
    if options.verify:
        findings += verify(state)
    is_blocked = any(each.level == ERROR for each in findings)
    if not options.json:
        say(*(each.line() for each in findings))
    is_raised = False
    if not options.verify and state.level < DYNAMIC:
        if is_blocked:
            return _report(options, state, findings, 1)
        _raise_level(quorum, state, options.timeout, dry_run=True)
        if not options.json:
            print(f"plan: raise {KRAFT_VERSION} from {state.level} to {DYNAMIC}. {WARNED}")
        if not options.dry_run:
            if not is_confirmed(
                f"Raise {KRAFT_VERSION} to {DYNAMIC} for good?", is_given=options.yes, can_ask=not options.json
            ):
                print("nothing was changed", file=sys.stderr)
                return 1
            _raise_level(quorum, state, options.timeout, dry_run=False)
            is_raised = True
    if is_raised and not options.json:
        print(colour_text(f"{KRAFT_VERSION} is {DYNAMIC}", GREEN))
    has_static = any(setting.voters for setting in state.settings.values())
    if not options.json and (has_static or not options.verify):
        say(*new_lines(state, is_planned=options.dry_run and state.level < DYNAMIC))
    unknown = [each for each in findings if options.verify and each.level != OK]
    return _report(
        options, state, findings, 2 if options.verify and (has_static or unknown) else 0, is_raised=is_raised
    )


def examine(quorum: Quorum) -> State:
    """Ask the leader, and then each voter. Raises OSError without a leader."""
    view = quorum.look()
    level = quorum.features(view.address).finalized.get(KRAFT_VERSION, 0)
    addresses = {node: next(iter(listeners.values())) for node, listeners in view.listeners.items() if listeners}
    registered = quorum.controllers(view)
    addresses |= {node: address for node, address in registered.items() if node in view.voters}
    findings = [Finding(OK, "quorum", f"{KRAFT_VERSION} is {level}, voters {', '.join(map(str, sorted(view.voters)))}")]
    settings = {}
    for node in sorted(view.voters):
        where = f"controller {node}"
        if node not in addresses:
            text = "its address is unknown: it is not registered"
            findings.append(Finding(ERROR, where, text, "start it, and wait until it has registered"))
            continue
        try:
            low, high = quorum.features(addresses[node]).supported.get(KRAFT_VERSION, (0, 0))
            setting = setting_of(quorum, node, addresses[node])
        except OSError as error:
            text = f"it does not answer: {error}"
            findings.append(
                Finding(ERROR, where, text, "start it: every voter must take part (--check FILE reads its file)")
            )
            continue
        if high < DYNAMIC:
            text = f"it supports {KRAFT_VERSION} {low}-{high}"
            findings.append(Finding(ERROR, where, text, "install Kafka 3.9 or newer there, and restart it"))
            continue
        if setting is not None:
            settings[node] = setting
        findings.append(of_setting(where, setting, level, view))
    return State(view, level, addresses, settings, findings)


def setting_of(quorum: Quorum, node: int, address: Address) -> Setting | None:
    """The keys that a controller runs with; None if it does not describe them. Raises OSError."""
    resource = DescribeConfigsRequest.DescribeConfigsResource(
        resource_type=ResourceType.BROKER, resource_name=str(node), configuration_keys=(VOTERS, SERVERS)
    )
    for result in quorum.ask(address, DescribeConfigsRequest(resources=(resource,))).results:
        if not result.error_code:
            values = {entry.name: entry.value or "" for entry in result.configs}
            return Setting(values.get(VOTERS, ""), values.get(SERVERS, ""))
    return None


def of_setting(where: str, setting: Setting | None, level: int, view: View) -> Finding:
    """What the two keys of a node mean at a kraft.version."""
    if setting is None:
        return Finding(WARNING, where, "it does not describe its configuration", f"look for {VOTERS} in its file")
    if level < DYNAMIC:
        if not setting.voters:
            text = f"{VOTERS} is not set, and {KRAFT_VERSION} is 0: it knows no voters, and does not vote"
            return Finding(ERROR, where, text, f"set {VOTERS} again until {KRAFT_VERSION} is 1, and restart it")
        if set(_ids(setting.voters)) != set(view.voters):
            text = f"{VOTERS}={setting.voters}, the leader has voters {', '.join(map(str, sorted(view.voters)))}"
            return Finding(ERROR, where, text, "make it the same on every node, and restart this one")
        return Finding(OK, where, f"it runs with {VOTERS}{f' and {SERVERS}' if setting.servers else ''}")
    if not setting.voters:
        return Finding(OK, where, f"it runs with {SERVERS}={setting.servers}, and without {VOTERS}")
    text = f"it runs with {VOTERS}={setting.voters}, which {KRAFT_VERSION} 1 ignores" + (
        "" if setting.servers else " but for addresses to begin with"
    )
    return Finding(
        WARNING, where, text, f"remove it{'' if setting.servers else f', set {SERVERS}'}, and restart the node"
    )


def _ids(voters: str) -> list[int]:
    """The ids of ID@HOST:PORT,…"""
    return [int(part.partition("@")[0]) for part in voters.split(",") if part.partition("@")[0].strip().isdecimal()]


def of_file(path: str, state: State) -> list[Finding]:
    """What a controller.properties of this machine says, and its meta.properties. Raises OSError."""
    from tools.offline.marked_directories import MarkError, read_mark

    try:
        config = read_config(path)
    except ConfigError as error:
        return [Finding(ERROR, path, str(error), "correct the key")]
    servers = ",".join(f"{host}:{port}" for host, port in config.bootstrap_servers)
    voters = ",".join(f"{node}@{host}:{port}" for node, (host, port) in config.voters.items())
    findings = [of_setting(path, Setting(voters, servers), state.level, state.view)]
    if config.node_id not in state.view.voters:
        findings.append(Finding(WARNING, path, f"node.id={config.node_id} is not a voter", "check a voter's file"))
    try:
        mark = read_mark(config.metadata_log_dir)
    except (MarkError, ConfigError, OSError) as error:
        return [*findings, Finding(ERROR, config.metadata_log_dir, str(error), "kraftctl doctor -c FILE")]
    if mark.directory_id is None:
        text = "meta.properties has no directory.id"
        remedy = "restart the node with Kafka 3.9 or newer, which writes one"
        return [*findings, Finding(ERROR, config.metadata_log_dir, text, remedy)]
    return findings


def verify(state: State) -> list[Finding]:
    """What is left after the restart of all nodes, besides their settings."""
    if state.level < DYNAMIC:
        remedy = "kraftctl quorum migrate --to dynamic, before any configuration is changed"
        return [Finding(ERROR, "quorum", f"{KRAFT_VERSION} is {state.level}: voters are static", remedy)]
    nameless = [node for node, member in sorted(state.view.voters.items()) if not member.directory_id]
    return [
        Finding(ERROR, f"controller {node}", "the voter set has no directory id for it", "restart it")
        for node in nameless
    ]


def _raise_level(quorum: Quorum, state: State, seconds: float, *, dry_run: bool) -> None:
    """Upgrade kraft.version; repeated, as the voters send the leader their directory ids some seconds after a start.

    Raises OSError with the leader's words.
    """
    update = UpdateFeaturesRequest.FeatureUpdateKey(
        feature=KRAFT_VERSION, max_version_level=DYNAMIC, upgrade_type=UPGRADE
    )
    request = UpdateFeaturesRequest(timeout_ms=30_000, validate_only=dry_run, feature_updates=(update,))
    begun = time.monotonic()
    view = state.view
    with Progress("waiting for the leader to accept the upgrade", round(seconds)) as note:
        while True:
            passed = time.monotonic() - begun
            try:
                answer = quorum.ask(view.address, request, 31.0)
            except OSError as error:
                if dry_run or passed >= seconds:
                    unknown = "" if dry_run else f"whether {KRAFT_VERSION} was raised is unknown; run it again: "
                    raise OSError(f"{unknown}{error}") from None
                # Where the level is raised already, the next request is answered without an error.
                time.sleep(_POLL_S)
                view = quorum.look()
                continue
            codes = [answer.error_code, *(result.error_code for result in answer.results)]
            if not any(codes):
                return
            if passed >= seconds or Error.CLUSTER_AUTHORIZATION_FAILED in codes:
                if answer.error_code:
                    raise OSError(f"nothing was changed: {refusal('UpdateFeatures', answer)}")
                texts = [f"{error_name(each.error_code)}: {each.error_message}" for each in answer.results]
                raise OSError(f"nothing was changed: UpdateFeatures is refused with {'; '.join(texts)}")
            note(round(passed))
            time.sleep(_POLL_S)
            view = quorum.look()


def new_lines(state: State, *, is_planned: bool) -> list[str]:
    """The lines of the configuration that change on each node."""
    servers = ",".join(f"{host}:{port}" for _, (host, port) in sorted(state.addresses.items()))
    when = f"once {KRAFT_VERSION} is 1" if is_planned else "now"
    lines = [f"configuration of every controller and broker, {when}; restart one node after the other:"]
    for node in sorted(state.view.voters):
        setting = state.settings.get(node)
        if setting is not None and not setting.voters and state.level >= DYNAMIC:
            lines.append(f"  controller {node}: nothing to change")
            continue
        lines.append(f"  controller {node}:")
        lines.append(f"    - {VOTERS}={setting.voters if setting else '…'}")
        if setting is None or not setting.servers:
            lines.append(f"    + {SERVERS}={servers}")
    lines.append("  each broker: the same lines. Then: kraftctl quorum migrate --to dynamic --verify …")
    return lines


def _report(
    options: argparse.Namespace, state: State, findings: list[Finding], code: int, *, is_raised: bool = False
) -> int:  # fmt: skip
    """Prints the JSON object where it is wanted. Returns the exit code."""
    if options.json:
        said = {
            "exit_code": code,
            "kraft_version": DYNAMIC if is_raised else state.level,
            "raised": is_raised,
            "dry_run": options.dry_run,
            "findings": [each._asdict() for each in findings],
            "settings": {str(node): setting._asdict() for node, setting in sorted(state.settings.items())},
            "configuration": new_lines(state, is_planned=options.dry_run and state.level < DYNAMIC),
        }
        print(json.dumps(said))
    elif code == 0 and options.verify:
        print(colour_text("the voters are dynamic, and no controller has the static key", GREEN))
    elif code == 1:
        print(f"nothing was changed: {sum(each.level == ERROR for each in findings)} errors", file=sys.stderr)
    return code
