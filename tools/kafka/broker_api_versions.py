"""kafka-broker-api-versions: shows the versions of each API that each broker serves (KIP-35)."""

from __future__ import annotations

import sys

from records.registry import APIS
from tools.client.exceptions import CONFIG_EXCEPTION
from tools.command_line.java_texts import Uncaught
from tools.command_line.option_tools import HELP, VERSION, check_required
from tools.command_line.options import REQUIRED_VALUE, Option, Options
from tools.command_line.standard_streams import one_line
from tools.kafka.running import run_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from tools.client.settings import Settings
    from tools.command_line.options import Options

DESCRIPTION = "This tool helps to retrieve broker version information."
OPTIONS = (
    HELP,
    VERSION,
    Option(
        "command-config",
        "A property file containing configs to be passed to Admin Client.",
        value=REQUIRED_VALUE,
        described_as="command config property file",
    ),
    Option(
        "bootstrap-server",
        "REQUIRED: The server to connect to.",
        value=REQUIRED_VALUE,
        described_as="server(s) to use for bootstrapping",
    ),
)
REQUEST_TIMEOUT_MS = 5000

# The APIs of 4.4.0 that brokers do not serve to clients; where a node lacks another one, a line says so.
NOT_FOR_CLIENTS = {4, 5, 6, 7, 52, 53, 54, 56, 58, 59, 62, 63, 67, 70, 73, 82}
LAST_API = 94
# The newest version that clients of 4.4.0 use, of APIs of which `records` has newer ones; -1: none, it was removed.
LATEST = {4: -1, 5: -1, 6: -1, 7: -1}


def main() -> int:
    """Run the tool with the arguments of this process."""
    from tools.command_line.standard_streams import running

    return running(run, "kafka-broker-api-versions")


def run(arguments: list[str]) -> int:
    """Run the tool with these arguments; returns the exit code."""
    return run_options(OPTIONS, DESCRIPTION, arguments, _run)


def _run(options: Options) -> None:
    """Print the versions of all nodes. Raises Exit, OptionError, Uncaught."""
    if not options.has("bootstrap-controller"):
        check_required(options, ["bootstrap-server"], OPTIONS)
    _print_all(_settings(options))


def _settings(options: Options) -> Settings:
    """The client's settings. Raises OptionError, Uncaught; stock's client for this tool does not wrap the exceptions of
    its settings.
    """
    from tools.client.settings import read_given, settings_of

    given = read_given(options.value("command-config"))
    servers = options.value("bootstrap-server")
    if servers is not None and not servers.strip():
        text = "Configuration 'bootstrap.servers' must not be empty. Valid values include: any non-empty value"
        raise Uncaught(CONFIG_EXCEPTION, text)
    given.setdefault("request.timeout.ms", str(REQUEST_TIMEOUT_MS))
    for name in ("default.api.timeout.ms", "retry.backoff.ms", "retry.backoff.max.ms", "retries"):
        given.pop(name, None)
    try:
        return settings_of(servers, options.value("bootstrap-controller"), given)
    except Uncaught as error:
        raise error.cause if isinstance(error.cause, Uncaught) else error from None


def _print_all(settings: Settings) -> None:
    """Print the versions of each node. Raises Uncaught if no node says which nodes there are."""
    from tools.kafka.version_calls import nodes_of, versions_of

    for node in nodes_of(settings):
        try:
            text = versions_text(versions_of(node, settings))
        except Uncaught as error:
            text = f"ERROR: {error.message}"
        sys.stdout.write(f"{one_line(node)} -> {text}\n")


def versions_text(versions: Mapping[int, tuple[int, int]]) -> str:
    """The lines of one node. versions: API key -> least and greatest version that it serves."""
    lines = {key: _api_text(key, *served) for key, served in versions.items()}
    for key in range(LAST_API + 1):
        if key not in lines and key not in NOT_FOR_CLIENTS:
            lines[key] = f"{APIS[key][0]}({key}): UNSUPPORTED"
    return "(\n\t" + ",\n\t".join(lines[key] for key in sorted(lines)) + "\n)"


def _api_text(key: int, low: int, high: int) -> str:
    shown = str(low) if low == high else f"{low} to {high}"
    if key > LAST_API or key not in APIS:
        return f"UNKNOWN({key}): {shown}"
    oldest, latest = _known_versions(key)
    if latest < low:
        usable = "unusable: node too new"
    elif high < oldest:
        usable = "unusable: node too old"
    else:
        usable = f"usable: {min(latest, high)}"
    return f"{APIS[key][0]}({key}): {shown} [{usable}]"


def _known_versions(key: int) -> tuple[int, int]:
    """The versions that a client of 4.4.0 knows."""
    from records.registry import request_class
    from records.schema import schema_of

    schema = schema_of(request_class(key))
    oldest, latest = schema.served or schema.versions
    return oldest, LATEST.get(key, latest)
