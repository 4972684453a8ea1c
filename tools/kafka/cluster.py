"""kafka-cluster: shows the id, the endpoints and the versions of a cluster, and unregisters a broker or a controller
(KIP-919, KIP-1073, KIP-1220, KIP-1312).
"""

from __future__ import annotations

import sys

from records.errors import Error
from records.java.java_order import integer_order
from tools.client.exceptions import KafkaError
from tools.command_line.arguments import Parser
from tools.command_line.bootstrap_options import add_bootstrap, java_integer
from tools.command_line.java_texts import Uncaught, uncaught
from tools.command_line.standard_streams import one_line
from tools.kafka.running import run_command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from tools.client.admin import Admin
    from tools.command_line.arguments import Arguments

DEPRECATED = (
    "Option --config has been deprecated and will be removed in a future version. Use --command-config instead."
)


def main() -> int:
    """Run the tool with the arguments of this process."""
    from tools.command_line.standard_streams import running

    return running(run, "kafka-cluster")


def run(arguments: list[str]) -> int:
    """Run the tool with these arguments; returns the exit code, which is 1 for help too, as in stock."""
    return run_command(parser(), COMMANDS, arguments, help_code=1)


def parser() -> Parser:
    """The arguments of the tool; the texts are those of its help."""
    top = Parser("kafka-cluster", description="The Kafka cluster tool.")
    identifying = top.add_command("cluster-id", "Get information about the ID of a cluster.")
    unregistering = top.add_command("unregister", "Unregister a broker.")
    controllers = top.add_command("unregister-controller", "Unregister a controller.")
    listing = top.add_command("list-endpoints", "List endpoints")
    versions = top.add_command(
        "api-versions", "Get information about the api versions of the brokers or controllers."
    )  # fmt: skip
    for command in (identifying, unregistering, controllers, listing, versions):
        start = "A list of host/port pairs to use for establishing the connection to the"
        add_bootstrap(command, f"{start} Kafka cluster.", f"{start} KRaft controllers.", letters=True)
        command.add(
            "--config",
            help="(DEPRECATED) A property file containing configurations for the Admin client. This option will be "
            "removed in a future version. Use --command-config instead.",
        )
        command.add("--command-config", "-c", help="Config properties file for the Admin client.")
    unregistering.add(
        "--id", "-i", required=True, convert=java_integer, help="The ID of the broker to unregister."
    )  # fmt: skip
    controllers.add(
        "--id", "-i", required=True, convert=java_integer, help="The ID of the controller to unregister."
    )  # fmt: skip
    listing.add(
        "--include-fenced-brokers",
        action="store_true",
        help="Whether to include fenced brokers when listing broker endpoints",
    )
    return top


def _admin(given: Arguments) -> Admin:
    """The client of the arguments. Raises Uncaught for a file or settings that are not valid."""
    from tools.client.admin import Admin
    from tools.client.settings import read_file, settings_of

    path = given.command_config
    if given.config is not None:
        if path is not None:
            text = "--config and --command-config cannot be specified together."
            raise Uncaught("net.sourceforge.argparse4j.inf.ArgumentParserException", text)
        sys.stdout.write(f"{DEPRECATED}\n")
        path = given.config
    try:
        properties = {} if path is None else read_file(path)
    except OSError as error:
        raise uncaught(error) from None
    return Admin(settings_of(given.bootstrap_server, given.bootstrap_controller, properties))


def cluster_id(given: Arguments) -> None:
    """`cluster-id`. Raises Uncaught."""
    from tools.kafka.cluster_calls import describe_cluster

    with _admin(given) as admin:
        sys.stdout.write(f"Cluster ID: {one_line(describe_cluster(admin).cluster_id)}\n")


def unregister(given: Arguments) -> None:
    """`unregister`. Raises Uncaught."""
    from tools.kafka.cluster_calls import unregister_broker

    _unregister(given, "broker", unregister_broker)


def unregister_controller(given: Arguments) -> None:
    """`unregister-controller`. Raises Uncaught."""
    from tools.kafka import cluster_calls

    _unregister(given, "controller", cluster_calls.unregister_controller)


def _unregister(given: Arguments, kind: str, call: Callable[[Admin, int], None]) -> None:
    with _admin(given) as admin:
        try:
            call(admin, given.id)
        except Uncaught as error:
            if not _is_unsupported(error):
                raise
            sys.stdout.write(f"The target cluster does not support the {kind} unregistration API.\n")
            return
    sys.stdout.write(f"{kind.capitalize()} {given.id} is no longer registered.\n")


def _is_unsupported(error: Uncaught) -> bool:
    cause = _cause(error)
    return isinstance(cause, KafkaError) and cause.code == Error.UNSUPPORTED_VERSION


def _cause(error: Uncaught) -> Uncaught:
    assert isinstance(error.cause, Uncaught), error
    return error.cause


def list_endpoints(given: Arguments) -> None:
    """`list-endpoints`: a table with a line for each broker, or each controller. Raises Uncaught."""
    from tools.kafka.cluster_calls import describe_cluster

    with _admin(given) as admin:
        at_controllers = admin.settings.at_controllers
        if given.include_fenced_brokers and at_controllers:
            text = "The option --include-fenced-brokers is only supported with --bootstrap-server option"
            raise Uncaught("java.lang.IllegalArgumentException", text)
        try:
            nodes = describe_cluster(admin, fenced=given.include_fenced_brokers).brokers
        except Uncaught as error:
            if not _is_unsupported(error):
                raise
            sys.stdout.write(f"{_cause(error).message}\n")
            return
    host_width = max((len(one_line(node.host)) for node in nodes), default=100)
    rack_width = max((len(one_line(node.rack)) for node in nodes if node.rack), default=10)

    widths = [10, host_width, 10, rack_width, *([] if at_controllers else [10]), 15]
    rows = [["ID", "HOST", "PORT", "RACK", *([] if at_controllers else ["STATE"]), "ENDPOINT_TYPE"]]
    by_id = {node.broker_id: node for node in nodes}
    for node in (by_id[number] for number in integer_order(by_id)):
        state = [] if at_controllers else ["fenced" if node.is_fenced else "unfenced"]
        kind = "controller" if at_controllers else "broker"
        rack = "null" if node.rack is None else one_line(node.rack)
        rows.append([str(node.broker_id), one_line(node.host), str(node.port), rack, *state, kind])
    for row in rows:
        sys.stdout.write(" ".join(f"{text:{width}}" for text, width in zip(row, widths, strict=True)) + "\n")


def api_versions(given: Arguments) -> None:
    """`api-versions`: the versions of each API that each node serves, by the ids of the nodes. Raises Uncaught."""
    from tools.kafka.broker_api_versions import versions_text
    from tools.kafka.cluster_calls import describe_cluster
    from tools.kafka.version_calls import Node

    with _admin(given) as admin:
        nodes = [Node(each.broker_id, each.host, each.port, each.rack) for each in describe_cluster(admin).brokers]
        for node in sorted(nodes):
            try:
                text = versions_text(admin.versions_of((node.host, node.port)))
            except Uncaught as error:
                text = f"ERROR: {error.java_class}: {error.message}"
            sys.stdout.write(f"{one_line(node)} -> {text}\n")


COMMANDS: dict[str, Callable[[Arguments], None]] = {
    "cluster-id": cluster_id,
    "unregister": unregister,
    "unregister-controller": unregister_controller,
    "list-endpoints": list_endpoints,
    "api-versions": api_versions,
}
