"""kafka-metadata-quorum: shows the voters and observers of the quorum, adds and removes voters (KIP-595, KIP-853)."""

from __future__ import annotations

import sys

from tools.command_line.arguments import Parser
from tools.command_line.bootstrap_options import SERVER_HELP, add_bootstrap, java_integer
from tools.command_line.java_texts import Uncaught, uncaught
from tools.command_line.standard_streams import one_line
from tools.kafka.feature_tables import Terse
from tools.kafka.running import run_command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from tools.client.admin import Admin
    from tools.command_line.arguments import Arguments

COLUMNS = ("NodeId", "DirectoryId", "LogEndOffset", "Lag", "LastFetchTimestamp", "LastCaughtUpTimestamp", "Status")


def main() -> int:
    """Run the tool with the arguments of this process."""
    from tools.command_line.standard_streams import running

    return running(run, "kafka-metadata-quorum")


def run(arguments: list[str]) -> int:
    """Run the tool with these arguments; returns the exit code."""
    return run_command(parser(), COMMANDS, arguments)


def parser() -> Parser:
    """The arguments of the tool; the texts are those of its help."""
    top = Parser("kafka-metadata-quorum", description="This tool describes kraft metadata quorum status.")
    add_bootstrap(
        top,
        SERVER_HELP,
        "A comma-separated list of host:port pairs to use for establishing the connection to the Kafka controllers.",
    )
    top.add(
        "--command-config",
        help="Property file containing configs to be passed to Admin Client. For add-controller, the file is used to "
        "specify the controller properties as well.",
    )
    describing = top.add_command("describe", "Describe the metadata quorum info")
    describing.add(
        "--status",
        action="store_true",
        group="Status",
        help="A short summary of the quorum status and the other provides detailed information about the status of "
        "replication.",
    )
    describing.add(
        "--replication",
        action="store_true",
        group="Replication",
        help="Detailed information about the status of replication",
    )
    describing.add("--human-readable", action="store_true", group="Replication", help="Human-readable output")
    adding = top.add_command("add-controller", "Add a controller to the KRaft controller cluster")
    _add_dry_run(adding)
    removing = top.add_command("remove-controller", "Remove a controller from the KRaft controller cluster")
    removing.add(
        "--controller-id", "-i", required=True, convert=java_integer, help="The id of the controller to remove."
    )
    removing.add("--controller-directory-id", "-d", required=True, help="The directory ID of the controller to remove.")
    _add_dry_run(removing)
    removing.add(
        "--unregister",
        action="store_true",
        help="If set, also unregister the controller after successfully removing it from the voter set.",
    )
    return top


def _add_dry_run(command: Parser) -> None:
    command.add("--dry-run", action="store_true", help="True if we should print what would be done, but not do it.")


def _properties(given: Arguments) -> dict[str, str]:
    from tools.client.settings import read_file

    if given.command_config is None:
        return {}
    try:
        return read_file(given.command_config)
    except FileNotFoundError:
        raise Terse(f"Properties file {given.command_config} does not exist.") from None
    except OSError as error:
        raise uncaught(error) from None


def _admin(given: Arguments, properties: Mapping[str, str]) -> Admin:
    from tools.client.admin import Admin
    from tools.client.settings import settings_of

    return Admin(settings_of(given.bootstrap_server, given.bootstrap_controller, properties))


def describe(given: Arguments) -> None:
    """`describe`. Raises Terse, Uncaught."""
    with _admin(given, _properties(given)) as admin:
        if given.status and given.replication:
            raise Terse("Only one of --status or --replication should be specified with describe sub-command")
        if given.replication:
            _describe_replication(admin, given.human_readable)
        elif given.status:
            if given.human_readable:
                raise Terse("The option --human-readable is only supported along with --replication")
            _describe_status(admin)
        else:
            raise Terse("One of --status or --replication must be specified with describe sub-command")


def _describe_status(admin: Admin) -> None:
    from tools.kafka.cluster_calls import describe_cluster
    from tools.kafka.quorum_calls import describe_quorum

    cluster_id = describe_cluster(admin).cluster_id
    quorum, endpoints = describe_quorum(admin)
    voters = quorum.current_voters
    leader = _leader(quorum)
    last = min(voters, key=lambda voter: int(voter.log_end_offset))
    if last is leader:
        lag_ms = 0
    elif leader.last_caught_up_timestamp != -1 and last.last_caught_up_timestamp != -1:
        lag_ms = leader.last_caught_up_timestamp - last.last_caught_up_timestamp
    else:
        lag_ms = -1
    rows = (
        ("ClusterId:", one_line(cluster_id)),
        ("LeaderId:", quorum.leader_id),
        ("LeaderEpoch:", quorum.leader_epoch),
        ("HighWatermark:", quorum.high_watermark),
        ("MaxFollowerLag:", leader.log_end_offset - last.log_end_offset),
        ("MaxFollowerLagTimeMs:", lag_ms),
        ("CurrentVoters:", _replicas_text(voters, endpoints)),
        ("CurrentObservers:", _replicas_text(quorum.observers, endpoints)),
    )
    sys.stdout.write("".join(f"{name:24}{value}\n" for name, value in rows))


def _leader(quorum: Any) -> Any:
    """The state of the leader. Raises Uncaught if it is not a voter, as while it is removed."""
    for voter in quorum.current_voters:
        if voter.replica_id == quorum.leader_id:
            return voter
    raise Uncaught("java.util.NoSuchElementException", "No value present")


def _replicas_text(replicas: Sequence[Any], endpoints: Mapping[int, list[str]]) -> str:
    from records.uuids import ZERO_UUID, uuid_text

    texts = []
    for replica in replicas:
        text = f'"id": {replica.replica_id}'
        if replica.replica_directory_id != ZERO_UUID:
            text += f', "directoryId": "{uuid_text(replica.replica_directory_id)}"'
        if listed := endpoints.get(replica.replica_id):
            text += ', "endpoints": [' + ", ".join(f'"{one_line(endpoint)}"' for endpoint in listed) + "]"
        texts.append(f"{{{text}}}")
    return f"[{', '.join(texts)}]"


def _describe_replication(admin: Admin, human_readable: bool) -> None:
    from records.uuids import uuid_text
    from tools.kafka.quorum_calls import describe_quorum

    quorum, _ = describe_quorum(admin)
    leader = _leader(quorum)
    followers = [voter for voter in quorum.current_voters if voter is not leader]
    rows = [COLUMNS]
    for status, replicas in (("Leader", [leader]), ("Follower", followers), ("Observer", quorum.observers)):
        rows += [
            (
                str(replica.replica_id),
                uuid_text(replica.replica_directory_id),
                str(replica.log_end_offset),
                str(leader.log_end_offset - replica.log_end_offset),
                _time_text(replica.last_fetch_timestamp, "last fetch", human_readable),
                _time_text(replica.last_caught_up_timestamp, "last caught up", human_readable),
                status,
            )
            for replica in replicas
        ]
    widths = [max(len(row[number]) for row in rows) for number in range(len(COLUMNS))]
    for row in rows:
        sys.stdout.write("".join(f"{text:{width}}\t" for text, width in zip(row, widths, strict=True)) + "\n")


def _time_text(timestamp_ms: int, what: str, human_readable: bool) -> str:
    """A time of the leader's clock; -1 where unknown. Raises Uncaught if it is after the time of this machine."""
    import time

    if timestamp_ms == -1 or not human_readable:
        return str(timestamp_ms)
    now_ms = time.time_ns() // 1_000_000
    if not 0 < timestamp_ms <= now_ms:
        raise Uncaught(
            "org.apache.kafka.common.KafkaException",
            "Error while computing relative time, possible drift in system clock.\n"
            f"Current timestamp is {now_ms}, {what} timestamp is {timestamp_ms}",
        )
    return f"{now_ms - timestamp_ms} ms ago"


def add_controller(given: Arguments) -> None:
    """`add-controller`: the new voter is the controller of the properties file. Raises Terse, Uncaught."""
    from records.uuids import uuid_text
    from tools.kafka.new_voter import new_voter
    from tools.kafka.quorum_calls import add_voter

    properties = _properties(given)
    with _admin(given, properties) as admin:
        if given.command_config is None:
            raise Terse(
                "You must supply the configuration file of the controller you are adding when using add-controller."
            )
        voter = new_voter(properties)
        if not given.dry_run:
            add_voter(admin, voter)
    where = ", ".join(f"{name}://{f'[{host}]' if ':' in host else host}:{port}" for name, host, port in voter.endpoints)
    sys.stdout.write(
        f"{'DRY RUN of adding' if given.dry_run else 'Added'} controller {voter.id} with directory id "
        f"{uuid_text(voter.directory_id)} and endpoints: {where}\n"
    )


def remove_controller(given: Arguments) -> None:
    """`remove-controller`; with `--unregister` its registration too (KIP-1312). Raises Terse, Uncaught."""
    from records.uuids import parse_uuid, uuid_text

    controller_id = given.controller_id
    with _admin(given, _properties(given)) as admin:
        if given.controller_id < 0:
            raise Terse(f"Invalid negative --controller-id: {given.controller_id}")
        try:
            directory_id = parse_uuid(given.controller_directory_id)
        except ValueError as error:
            raise Terse(f"Failed to parse --controller-directory-id: {error}") from None
        if not given.dry_run:
            _remove_voter(admin, controller_id, directory_id, given.unregister)
        sys.stdout.write(
            f"{'DRY RUN of removing' if given.dry_run else 'Removed'} KRaft controller {controller_id} with "
            f"directory id {uuid_text(directory_id)}\n"
        )
        if given.unregister:
            if not given.dry_run:
                _unregister(admin, controller_id)
            sys.stdout.write(
                f"{'DRY RUN of unregistering' if given.dry_run else 'Unregistered'} KRaft controller {controller_id}\n"
            )


def _remove_voter(admin: Admin, controller_id: int, directory_id: bytes, unregister: bool) -> None:
    """Raises Terse where only the registration may be left, Uncaught."""
    from records.errors import Error
    from tools.client.exceptions import KafkaError
    from tools.kafka.quorum_calls import remove_voter

    try:
        remove_voter(admin, controller_id, directory_id)
    except Uncaught as error:
        cause = error.cause
        is_left = isinstance(cause, KafkaError) and cause.code in (Error.UNSUPPORTED_VERSION, Error.VOTER_NOT_FOUND)
        if not unregister or not is_left:
            raise
        raise Terse(_way_to_unregister("remove KRaft voter", controller_id, error)) from None


def _unregister(admin: Admin, controller_id: int) -> None:
    """Raises Terse."""
    from tools.kafka.cluster_calls import unregister_controller

    try:
        unregister_controller(admin, controller_id)
    except Uncaught as error:
        raise Terse(_way_to_unregister("unregister controller", controller_id, error)) from None


def _way_to_unregister(what: str, controller_id: int, error: Uncaught) -> str:
    message = error.cause.message if isinstance(error.cause, Uncaught) else error.message
    return (
        f"Failed to {what} {controller_id}: {message}. To unregister the controller from the cluster, run "
        f"`kafka-cluster.sh unregister-controller --id {controller_id}`."
    )


COMMANDS: dict[str, Callable[[Arguments], None]] = {
    "describe": describe,
    "add-controller": add_controller,
    "remove-controller": remove_controller,
}
