"""kafka-reassign-partitions: moves partitions between brokers, replicas between log directories (KIP-113, KIP-455)."""

from __future__ import annotations

import sys

from records.java.java_forms import integer
from tools.command_line.java_texts import Uncaught
from tools.command_line.option_tools import HELP, VERSION, Exit, check_help, check_required, usage
from tools.command_line.options import (
    OPTIONAL_VALUE,
    REQUIRED_VALUE,
    Option,
    OptionError,
    Options,
    read,
)
from tools.command_line.standard_streams import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from controller.rules.placement import RandomSource
    from tools.client.admin import Admin


def _long(text: str) -> int:
    return integer(text, 64)


def _limit(name: str, help: str, described_as: str, default: int = -1) -> Option:  # noqa: A002 - as in option parsers
    return Option(
        name, help, value=REQUIRED_VALUE, type_name="Long", described_as=described_as, default=default, convert=_long
    )


DESCRIPTION = "This tool helps to move topic partitions between replicas."
ASSIGNMENT, TOPICS, BROKERS = "reassignment-json-file", "topics-to-move-json-file", "broker-list"
SERVER, CONTROLLER = "bootstrap-server", "bootstrap-controller"
THROTTLE, DIRECTORY_THROTTLE = "throttle", "replica-alter-log-dirs-throttle"
FIXED_FACTOR = "disallow-replication-factor-change"
_RESUBMIT = (
    "This option can be included with --execute when a reassignment is started, and it can be altered by resubmitting "
    "the current reassignment along with the --additional flag. The throttle rate should be at least 1 KB/s."
)
OPTIONS = (
    HELP,
    VERSION,
    Option(
        "verify",
        "Verify if the reassignment completed as specified by the --reassignment-json-file option. If there is a "
        "throttle engaged for the replicas specified, and the rebalance has completed, the throttle will be removed",
    ),
    Option(
        "generate",
        "Generate a candidate partition reassignment configuration. Note that this only generates a candidate "
        "assignment, it does not execute it.",
    ),
    Option("execute", "Kick off the reassignment as specified by the --reassignment-json-file option."),
    Option("cancel", "Cancel an active reassignment."),
    Option("list", "List all active partition reassignments."),
    Option(
        SERVER,
        "the server(s) to use for bootstrapping.",
        value=OPTIONAL_VALUE,
        described_as="Server(s) to use for bootstrapping",
    ),
    Option(
        "command-config",
        "Property file containing configs to be passed to Admin Client.",
        value=REQUIRED_VALUE,
        described_as="Admin client property file",
    ),
    Option(
        ASSIGNMENT,
        "The JSON file with the partition reassignment configurationThe format to use is - \n"
        '{"partitions":\n\t[{"topic": "foo",\n\t  "partition": 1,\n\t  "replicas": [1,2,3],\n'
        '\t  "log_dirs": ["dir1","dir2","dir3"] }],\n"version":1\n}\n'
        'Note that "log_dirs" is optional. When it is specified, its length must equal the length of the replicas '
        'list. The value in this list can be either "any" or the absolution path of the log directory on the broker. '
        "If absolute log directory path is specified, the replica will be moved to the specified log directory on the "
        "broker.",
        value=REQUIRED_VALUE,
        described_as="manual assignment json file path",
    ),
    Option(
        TOPICS,
        "Generate a reassignment configuration to move the partitions of the specified topics to the list of brokers "
        "specified by the --broker-list option. The format to use is - \n"
        '{"topics":\n\t[{"topic": "foo"},{"topic": "foo1"}],\n"version":1\n}',
        value=REQUIRED_VALUE,
        described_as="topics to reassign json file path",
    ),
    Option(
        BROKERS,
        'The list of brokers to which the partitions need to be reassigned in the form "0,1,2". This is required if '
        "--topics-to-move-json-file is used to generate reassignment configuration",
        value=REQUIRED_VALUE,
        described_as="brokerlist",
    ),
    Option(
        CONTROLLER,
        "The controller to use for reassignment. By default, the tool will get the quorum controller. This option "
        "supports the actions --cancel and --list.",
        value=OPTIONAL_VALUE,
        described_as="bootstrap controller to connect to",
    ),
    Option("disable-rack-aware", "Disable rack aware replica assignment"),
    _limit(
        THROTTLE,
        f"The movement of partitions between brokers will be throttled to this value (bytes/sec). {_RESUBMIT}",
        "throttle",
    ),
    _limit(
        DIRECTORY_THROTTLE,
        "The movement of replicas between log directories on the same broker will be throttled to this value "
        f"(bytes/sec). {_RESUBMIT}",
        "replicaAlterLogDirsThrottle",
    ),
    _limit(
        "timeout", "The maximum time in ms to wait for log directory replica assignment to begin.", "timeout", 10000
    ),
    Option(
        "additional",
        "Execute this reassignment in addition to any other ongoing ones. This option can also be used to change the "
        "throttle of an ongoing reassignment.",
    ),
    Option("preserve-throttles", "Do not modify broker or topic throttles."),
    Option(
        FIXED_FACTOR,
        "Denies the ability to change a partition's replication factor as part of this reassignment through adding "
        "validation against it.",
    ),
)
# Action -> the options that it needs, and those that it may have beside them.
ACTIONS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "generate": ((TOPICS, BROKERS), (SERVER, "command-config", "disable-rack-aware")),
    "execute": (
        (ASSIGNMENT,),
        ("additional", SERVER, "command-config", THROTTLE, DIRECTORY_THROTTLE, "timeout", FIXED_FACTOR),
    ),
    "verify": ((ASSIGNMENT,), (SERVER, "command-config", "preserve-throttles")),
    "cancel": ((ASSIGNMENT,), (SERVER, CONTROLLER, "command-config", "preserve-throttles", "timeout")),
    "list": ((), (SERVER, CONTROLLER, "command-config")),
}
CLIENT_ID = "reassign-partitions-tool"


def main() -> int:
    """Run the tool with the arguments of this process."""
    from tools.command_line.standard_streams import running

    return running(run, "kafka-reassign-partitions")


def run(arguments: list[str], rng: RandomSource | None = None) -> int:
    """Run the tool with these arguments; returns the exit code. rng: places replicas; None for random numbers."""
    from tools.command_line.standard_streams import complain
    from tools.kafka.running import run_reporting

    try:
        options = read(OPTIONS, arguments)
        check_help(options, arguments, OPTIONS, DESCRIPTION)
        action = _check_action(options)
    except Exit as end:
        return end.code
    except OptionError as error:
        complain(f'Exception in thread "main" {error}\n')
        return 1
    return run_reporting(lambda: _work(action, options, rng), "Error: ")


def _check_action(options: Options) -> str:
    """The one action. Raises Exit for options that do not go together."""
    actions = [action for action in ACTIONS if options.has(action)]
    if len(actions) != 1:
        raise usage(
            f"Command must include exactly one action: {', '.join(f'--{action}' for action in ACTIONS)}", OPTIONS
        )
    if options.has(SERVER) and options.has(CONTROLLER):
        raise usage("Please don't specify both --bootstrap-server and --bootstrap-controller", OPTIONS)
    if not options.has(SERVER) and not options.has(CONTROLLER):
        raise usage("Please specify either --bootstrap-server or --bootstrap-controller", OPTIONS)
    (action,) = actions
    needed, allowed = ACTIONS[action]
    check_required(options, needed, OPTIONS)
    for name in options.given:
        if name != action and name not in needed and name not in allowed:
            raise usage(f'Option "[{name}]" can\'t be used with action "[{action}]"', OPTIONS)
    return action


def _work(action: str, options: Options, rng: RandomSource | None) -> None:
    """Run an action. Raises Exit, OptionError, Uncaught."""
    with _admin(options) as admin:
        if action == "generate":
            generate(admin, options, rng)
        elif action == "execute":
            execute(admin, options)
        elif action == "verify":
            verify(admin, options)
        elif action == "cancel":
            cancel(admin, options)
        else:
            show(admin)


def _admin(options: Options) -> Admin:
    """The client of the options. Raises OptionError, Uncaught for a file or settings that are not valid."""
    from tools.client.admin import Admin
    from tools.client.settings import read_given, settings_of

    given = read_given(options.value("command-config"))
    name = CONTROLLER if options.has(CONTROLLER) else SERVER
    address = options.value(name)
    if address is None:
        raise Uncaught("java.lang.IllegalArgumentException", f"Option {name} needs a value, such as localhost:9092")
    given.setdefault("client.id", CLIENT_ID)
    return Admin(settings_of(address if name == SERVER else None, address if name == CONTROLLER else None, given))


def generate(admin: Admin, options: Options, rng: RandomSource | None) -> None:
    """`--generate`. Raises OptionError, Uncaught."""
    from tools.kafka.reassign.reassignment_file import text_in
    from tools.kafka.reassign.reassignment_plan import generate as propose

    text = text_in(options.value(TOPICS))
    propose(admin, text, options.value(BROKERS), with_racks=not options.has("disable-rack-aware"), rng=rng)


def execute(admin: Admin, options: Options) -> None:
    """`--execute`. Raises Exit, OptionError, Uncaught."""
    from tools.kafka.reassign.reassignment_execution import Limits, start
    from tools.kafka.reassign.reassignment_file import text_in

    text = text_in(options.value(ASSIGNMENT))
    limits = Limits(options.value(THROTTLE), options.value(DIRECTORY_THROTTLE), options.value("timeout"))
    start(
        admin, text, limits, additional=options.has("additional"), fixed_factor=options.has(FIXED_FACTOR)
    )  # fmt: skip


def verify(admin: Admin, options: Options) -> None:
    """`--verify`. Raises OptionError, Uncaught."""
    from tools.kafka.reassign.reassignment_file import text_in
    from tools.kafka.reassign.reassignment_states import report

    report(admin, text_in(options.value(ASSIGNMENT)), keep_throttles=options.has("preserve-throttles"))


def cancel(admin: Admin, options: Options) -> None:
    """`--cancel`. Raises Exit, OptionError, Uncaught."""
    from tools.kafka.reassign.reassignment_execution import stop
    from tools.kafka.reassign.reassignment_file import text_in

    text = text_in(options.value(ASSIGNMENT))
    stop(admin, text, options.value("timeout"), keep_throttles=options.has("preserve-throttles"))


def show(admin: Admin) -> None:
    """`--list`. Raises Uncaught."""
    from tools.kafka.reassign.reassignment_calls import reassignments_in_progress

    reassignments = reassignments_in_progress(admin)
    if not reassignments:
        sys.stdout.write("No partition reassignments found.\n")
        return
    sys.stdout.write("Current partition reassignments:\n")
    for (topic, index), moving in sorted(reassignments.items()):
        parts = [f"replicas: {_ids(moving.replicas)}."]
        parts += [f"adding: {_ids(moving.adding)}."] if moving.adding else []
        parts += [f"removing: {_ids(moving.removing)}."] if moving.removing else []
        sys.stdout.write(f"{one_line(topic)}-{index}: {' '.join(parts)}\n")


def _ids(numbers: tuple[int, ...]) -> str:
    return ",".join(map(str, numbers))
