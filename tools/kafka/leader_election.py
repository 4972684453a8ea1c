"""kafka-leader-election: elects the preferred leaders of partitions, or unclean ones (KIP-183, KIP-460)."""

from __future__ import annotations

import sys

from records.errors import Error
from records.java.java_forms import integer
from records.java.java_order import partition_order
from tools.client.exceptions import PACKAGE, execution_exception
from tools.command_line.java_texts import Uncaught, uncaught
from tools.command_line.option_tools import HELP, VERSION, check_excluded
from tools.command_line.options import REQUIRED_VALUE, Option, Options, one_of
from tools.command_line.standard_streams import one_line
from tools.kafka.running import run_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tools.client.admin import Admin
    from tools.client.exceptions import KafkaError
    from tools.command_line.options import Options
    from tools.kafka.election_calls import Partition

FAILED = "org.apache.kafka.tools.AdminCommandFailedException"
DESCRIPTION = (
    "This tool attempts to elect a new leader for a set of topic partitions. The type of elections supported are "
    "preferred replicas and unclean replicas."
)
DEPRECATED = (
    "Option --admin.config has been deprecated and will be removed in a future version. Use --command-config instead."
)
OPTIONS = (
    HELP,
    VERSION,
    Option(
        "bootstrap-server",
        "A hostname and port for the broker to connect to, in the form host:port. Multiple comma separated URLs can be "
        "given. REQUIRED.",
        value=REQUIRED_VALUE,
        described_as="host:port",
    ),
    Option(
        "admin.config",
        "(DEPRECATED) Configuration properties files to pass to the admin client. This option will be removed in a "
        "future version. Use --command-config instead.",
        value=REQUIRED_VALUE,
        described_as="config file",
    ),
    Option(
        "command-config",
        "Config properties file to pass to the admin client.",
        value=REQUIRED_VALUE,
        described_as="Config file",
    ),
    Option(
        "path-to-json-file",
        "The JSON file with the list  of partition for which leader elections should be performed. This is an example "
        'format. \n{"partitions":\n\t[{"topic": "foo", "partition": 1},\n\t {"topic": "foobar", "partition": 2}]\n}\n'
        "Not allowed if --all-topic-partitions or --topic flags are specified.",
        value=REQUIRED_VALUE,
        described_as="Path to JSON file",
    ),
    Option(
        "topic",
        "Name of topic for which to perform an election. Not allowed if --path-to-json-file or --all-topic-partitions "
        "is specified.",
        value=REQUIRED_VALUE,
        described_as="topic name",
    ),
    Option(
        "partition",
        "Partition id for which to perform an election. REQUIRED if --topic is specified.",
        value=REQUIRED_VALUE,
        type_name="Integer",
        described_as="partition id",
        convert=integer,
    ),
    Option(
        "all-topic-partitions",
        "Perform election on all of the eligible topic partitions based on the type of election (see the "
        "--election-type flag). Not allowed if --topic or --path-to-json-file is specified.",
    ),
    Option(
        "election-type",
        'Type of election to attempt. Possible values are "preferred" for preferred leader election or "unclean" for '
        "unclean leader election. If preferred election is selection, the election is only performed if the current "
        "leader is not the preferred leader for the topic partition. If unclean election is selected, the election is "
        "only performed if there are no leader for the topic partition. REQUIRED.",
        value=REQUIRED_VALUE,
        type_name="[PREFERRED,UNCLEAN]",
        described_as="election type",
        convert=one_of("PREFERRED", "UNCLEAN"),
    ),
)
WHICH = ("topic", "all-topic-partitions", "path-to-json-file")
API_TIMEOUT_MS = 30000


class _Unelected(Uncaught):
    """Elections failed. suppressed: their exceptions."""

    def __init__(self, suppressed: list[KafkaError]) -> None:
        super().__init__(FAILED, f"{len(suppressed)} replica(s) could not be elected")
        self.suppressed = suppressed


def main() -> int:
    """Run the tool with the arguments of this process."""
    from tools.command_line.standard_streams import running

    return running(run, "kafka-leader-election")


def run(arguments: list[str]) -> int:
    """Run the tool with these arguments; returns the exit code."""
    return run_options(OPTIONS, DESCRIPTION, arguments, _run)


def _run(options: Options) -> None:
    """Check the options, and elect leaders. Raises Exit, OptionError, Uncaught."""
    _check_required(options)
    check_excluded(options, "admin.config", ["command-config"], OPTIONS)
    _check_which(options)
    _elect(options)


def _check_required(options: Options) -> None:
    missing = [] if options.has("bootstrap-server") or options.has("bootstrap-controller") else ["bootstrap-server"]
    missing += [] if options.has("election-type") else ["election-type"]
    if missing:
        raise Uncaught(FAILED, f"Missing required option(s): {', '.join(missing)}")
    if options.has("bootstrap-server") and options.has("bootstrap-controller"):
        raise Uncaught(FAILED, "You cannot specify both --bootstrap-controller and --bootstrap-server.")


def _check_which(options: Options) -> None:
    if sum(options.has(name) for name in WHICH) != 1:
        raise Uncaught(FAILED, f"One and only one of the following options is required: {', '.join(WHICH)}")
    if options.has("topic") and not options.has("partition"):
        raise Uncaught(FAILED, "Missing required option(s): partition")
    if options.has("partition") and not options.has("topic"):
        raise Uncaught(FAILED, "Option partition is only allowed if topic is used")


def _elect(options: Options) -> None:
    """Elect the leaders of the named partitions, or of all. Raises OptionError, Uncaught."""
    kind = options.value("election-type")
    path = options.value("path-to-json-file")
    partitions: list[Partition] | None = None
    if path is not None:
        from tools.kafka.election_file import partitions_in

        partitions = partitions_in(path)
    topic, index = options.value("topic"), options.value("partition")
    if topic is not None:
        partitions = [(topic, index)]
    with _admin(options) as admin:
        _print(kind, _elections(admin, kind, partitions))


def _admin(options: Options) -> Admin:
    from tools.client.admin import Admin
    from tools.client.settings import read_file, settings_of

    path = options.value("command-config")
    if options.has("admin.config"):
        sys.stdout.write(f"{DEPRECATED}\n")
        path = options.value("admin.config")
    try:
        given = {} if path is None else read_file(path)
    except OSError as error:
        raise uncaught(error) from None
    given.setdefault("default.api.timeout.ms", str(API_TIMEOUT_MS))
    given.setdefault("request.timeout.ms", str(API_TIMEOUT_MS // 2))
    return Admin(settings_of(options.value("bootstrap-server"), options.value("bootstrap-controller"), given))


def _elections(admin: Admin, kind: str, partitions: list[Partition] | None) -> dict[Partition, KafkaError | None]:
    """The outcome of each partition, in the order in which Java lists them. Raises Uncaught."""
    from tools.kafka.election_calls import elect_leaders

    try:
        outcomes = elect_leaders(admin, kind, partitions)
    except Uncaught as error:
        if error.java_class == f"{PACKAGE}.TimeoutException":
            text, cause = "Timeout waiting for election results", error
        elif getattr(error, "code", None) == Error.CLUSTER_AUTHORIZATION_FAILED:
            text, cause = "Not authorized to perform leader election", None
        else:
            waited = execution_exception(error)
            raise Uncaught("java.lang.RuntimeException", str(waited), waited) from None
        sys.stdout.write(f"{text}\n")
        raise Uncaught(FAILED, text, cause) from None
    return {partition: outcomes[partition] for partition in partition_order(outcomes)}


def _print(kind: str, outcomes: dict[Partition, KafkaError | None]) -> None:
    """Print the outcomes. Raises _Unelected if an election failed."""

    def names(partitions: list[Partition]) -> str:
        return ", ".join(f"{one_line(topic)}-{index}" for topic, index in partition_order(partitions))

    elected = [partition for partition, error in outcomes.items() if error is None]
    valid = [each for each, error in outcomes.items() if error and error.code == Error.ELECTION_NOT_NEEDED]
    failed = {
        partition: error
        for partition, error in outcomes.items()
        if error is not None and error.code != Error.ELECTION_NOT_NEEDED
    }
    if elected:
        sys.stdout.write(f"Successfully completed leader election ({kind}) for partitions {names(elected)}\n")
    if valid:
        sys.stdout.write(f"Valid replica already elected for partitions {names(valid)}\n")
    for topic, index in partition_order(failed):
        error = failed[topic, index]
        sys.stdout.write(
            f"Error completing leader election ({kind}) for partition: {one_line(topic)}-{index}: {error}\n"
        )
    if failed:
        raise _Unelected([failed[partition] for partition in partition_order(failed)])
