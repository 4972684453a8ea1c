"""kafka-topics: creates, lists, describes, alters and deletes topics (KIP-195, KIP-516, KIP-966)."""

from __future__ import annotations

import sys

from records.java.java_forms import integer
from tools.command_line.java_texts import Uncaught
from tools.command_line.option_tools import HELP, VERSION, Exit, check_excluded, check_required, usage
from tools.command_line.options import REQUIRED_VALUE, Option, OptionError, Options
from tools.command_line.standard_streams import complain, one_line
from tools.kafka.running import run_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from tools.client.admin import Admin
    from tools.kafka.topics.topic_reader import TopicReader

ILLEGAL_ARGUMENT = "java.lang.IllegalArgumentException"
DESCRIPTION = "This tool helps to create, delete, describe, or change a topic."
NO_ARGUMENTS = "Create, delete, describe, or change a topic."
_CONFIGS_ELSEWHERE = " (To alter topic configurations, the kafka-configs tool can be used.)"


class _Config(Option):
    """`--config`, whose help lists the keys of topics: they are imported for help alone."""

    __slots__ = ()

    def description(self) -> str:
        from controller.config.keys.topic import KEYS

        names = "\n".join(f"\t{name}" for name in sorted(key.name for key in KEYS if not key.internal))
        return (
            f"A topic configuration override for the topic being created. The following is a list of valid "
            f"configurations: \n{names}\nSee the Kafka documentation for full details on the topic configs. It is "
            f"supported only in combination with --create.{_CONFIGS_ELSEWHERE}"
        )


def _number(name: str, help: str, described_as: str) -> Option:  # noqa: A002 - the word of every option parser
    return Option(
        name, help, value=REQUIRED_VALUE, type_name="Integer", described_as=described_as, convert=integer
    )  # fmt: skip


OPTIONS = (
    HELP,
    VERSION,
    Option(
        "bootstrap-server",
        "REQUIRED: The Kafka server to connect to.",
        value=REQUIRED_VALUE,
        described_as="server to connect to",
    ),
    Option(
        "command-config",
        "Property file containing configs to be passed to Admin Client.",
        value=REQUIRED_VALUE,
        described_as="command config property file",
    ),
    Option("list", "List all available topics."),
    Option("create", "Create a new topic."),
    Option("delete", "Delete a topic."),
    Option("alter", f"Alter the number of partitions and replica assignment.{_CONFIGS_ELSEWHERE}"),
    Option("describe", "List details for the given topics."),
    Option(
        "topic",
        "The topic to create, alter, describe or delete. It also accepts a regular expression, except for --create "
        "option.",
        value=REQUIRED_VALUE,
        described_as="topic",
    ),
    Option("topic-id", "The topic-id to describe.", value=REQUIRED_VALUE, described_as="topic-id"),
    _Config("config", "A config of the topic being created.", value=REQUIRED_VALUE, described_as="name=value"),
    Option(
        "delete-config",
        "This option is no longer supported and has been deprecated since 4.0",
        value=REQUIRED_VALUE,
        described_as="name",
    ),
    _number(
        "partitions",
        "The number of partitions for the topic being created or altered. If not supplied with --create, the topic "
        "uses the cluster default. (WARNING: If partitions are increased for a topic that has a key, the partition "
        "logic or ordering of the messages will be affected).",
        "# of partitions",
    ),
    _number(
        "replication-factor",
        "The replication factor for each partition in the topic being created. If not supplied, the topic uses the "
        "cluster default.",
        "replication factor",
    ),
    Option(
        "replica-assignment",
        "A list of manual partition-to-broker assignments for the topic being created or altered.",
        value=REQUIRED_VALUE,
        described_as="broker_id_for_part1_replica1 : broker_id_for_part1_replica2 , broker_id_for_part2_replica1 : "
        "broker_id_for_part2_replica2 , ...",
    ),
    Option("under-replicated-partitions", "If set when describing topics, only show under-replicated partitions."),
    Option(
        "unavailable-partitions",
        "If set when describing topics, only show partitions whose leader is not available.",
    ),
    Option(
        "under-min-isr-partitions",
        "If set when describing topics, only show partitions whose isr count is less than the configured minimum.",
    ),
    Option(
        "at-min-isr-partitions",
        "If set when describing topics, only show partitions whose isr count is equal to the configured minimum.",
    ),
    Option("topics-with-overrides", "If set when describing topics, only show topics that have overridden configs."),
    Option(
        "if-exists",
        "If set when altering or deleting or describing topics, the action will only execute if the topic exists.",
    ),
    Option(
        "if-not-exists",
        "If set when creating topics, the create request will not fail if the topic already exists, but the request "
        "will still be sent.",
    ),
    Option(
        "exclude-internal",
        "Exclude internal topics when listing or describing topics. By default, the internal topics are included.",
    ),
    _number(
        "partition-size-limit-per-response",
        "The maximum partition size to be included in one DescribeTopicPartitions response.",
        "maximum number of partitions per response",
    ),
)
ACTIONS = ("create", "list", "alter", "describe", "delete")
# Only these partitions are described.
REPORTS = ("under-replicated-partitions", "under-min-isr-partitions", "at-min-isr-partitions", "unavailable-partitions")
OVERRIDES = "topics-with-overrides"
# Option -> the actions that take it, in the order in which stock checks them.
TAKEN_BY: dict[str, tuple[str, ...]] = {
    "config": ("alter", "create"),
    "partitions": ("alter", "create"),
    "replication-factor": ("create",),
    "replica-assignment": ("alter", "create"),
    **dict.fromkeys((*REPORTS, OVERRIDES), ("describe",)),
    "if-exists": ("alter", "delete", "describe"),
    "if-not-exists": ("create",),
    "exclude-internal": ("list", "describe"),
}


def main() -> int:
    """Run the tool with the arguments of this process."""
    from tools.command_line.standard_streams import running

    return running(run, "kafka-topics")


def run(arguments: list[str]) -> int:
    """Run the tool with these arguments; returns the exit code."""
    return run_options(OPTIONS, DESCRIPTION if arguments else NO_ARGUMENTS, arguments, _run)


def _run(options: Options) -> None:
    """Run the action that the options name. Raises Exit, OptionError, Uncaught."""
    _check(options)
    with _admin(options) as admin:
        try:
            action = next(action for action in ACTIONS if options.has(action))
            COMMANDS[action](admin, options)
        except (OptionError, Uncaught) as error:
            _report(error)
            raise Exit(1) from None


def _report(error: OptionError | Uncaught) -> None:
    """Print an error as stock does: the message on stdout, and a line of its log with the exception on stderr."""
    import time

    sys.stdout.write(f"Error while executing topic command : {error.message or 'null'}\n")
    now = time.time()
    stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(now))
    lines = [str(error)]
    cause = getattr(error, "cause", None)
    while cause is not None:
        lines.append(f"Caused by: {cause}")
        cause = getattr(cause, "cause", None)
    trace = "\n".join(lines)
    complain(f"[{stamp},{int(now * 1000) % 1000:03}] ERROR {trace}\n (org.apache.kafka.tools.TopicCommand)\n")


def _check(options: Options) -> None:
    """Check the options. Raises Exit, Uncaught for those that do not go together."""
    if sum(options.has(action) for action in ACTIONS) != 1:
        text = "Command must include exactly one action: --list, --describe, --create, --alter or --delete"
        raise usage(text, OPTIONS)
    if options.has("delete-config"):
        complain(
            "delete-config option is no longer supported and deprecated since version 4.0. The config will be fully "
            "removed in future releases.\n"
        )
    _check_required(options)
    for name, actions in TAKEN_BY.items():
        others = [action for action in ACTIONS if action not in actions]
        check_excluded(options, name, [*others, OVERRIDES] if name in REPORTS else others, OPTIONS)
        if name == "replica-assignment" and options.has("create"):
            check_excluded(options, name, ("partitions", "replication-factor"), OPTIONS)


def _check_required(options: Options) -> None:
    """Check that the needed options are given. Raises Exit, Uncaught for one that is missing."""
    if not options.has("bootstrap-server") and not options.has("bootstrap-controller"):
        raise Uncaught(ILLEGAL_ARGUMENT, "--bootstrap-server must be specified")
    if options.has("bootstrap-server") and options.has("bootstrap-controller"):
        raise Uncaught(ILLEGAL_ARGUMENT, "You cannot specify both --bootstrap-controller and --bootstrap-server.")
    if options.has("describe") and options.has("if-exists"):
        if not options.has("topic") and not options.has("topic-id"):
            raise usage("--topic or --topic-id is required to describe a topic", OPTIONS)
        if options.has("topic") and options.has("topic-id"):
            sys.stdout.write(
                "Only topic id will be used when both --topic and --topic-id are specified and topicId is not "
                "Uuid.ZERO_UUID\n"
            )
    if not options.has("list") and not options.has("describe"):
        check_required(options, ("topic",), OPTIONS)
    if options.has("alter"):
        if options.has("config"):
            # Stock names the two options in an order that differs from run to run.
            where = "bootstrap-server" if options.has("bootstrap-server") else "bootstrap-controller"
            combination = f'Option combination "[[{where}], [config]]" can\'t be used with option "[alter]"'
            raise usage(f"{combination}{_CONFIGS_ELSEWHERE}", OPTIONS)
        check_required(options, ("partitions",), OPTIONS)


def _admin(options: Options) -> Admin:
    """The client of the options. Raises OptionError, Uncaught for a file or settings that are not valid."""
    from tools.client.admin import Admin
    from tools.client.exceptions import not_created
    from tools.client.settings import CONTROLLERS, SERVERS, read_given, settings_of

    given = read_given(options.value("command-config"))
    servers, controllers = options.value("bootstrap-server"), options.value("bootstrap-controller")
    if servers is not None and given.get(CONTROLLERS, "").strip():
        raise not_created(f"You cannot set both {SERVERS} and {CONTROLLERS}")
    return Admin(settings_of(servers, controllers, given))


def _reader(admin: Admin) -> TopicReader:
    """Reads topics from the brokers; from the metadata log where the client has addresses of controllers."""
    if admin.settings.at_controllers:
        from tools.kafka.topics.topic_image import ImageReader

        return ImageReader(admin)
    from tools.kafka.topics.topic_reader import BrokerReader

    return BrokerReader(admin)


def _names(reader: TopicReader, options: Options) -> list[str]:
    """The topics that are asked for, in the order of their names. Raises OptionError, Uncaught."""
    wanted = options.value("topic")
    names = sorted(topic.name for topic in reader.list_topics())
    if options.has("exclude-internal"):
        from tools.kafka.topics.topic_reader import INTERNAL

        names = [name for name in names if name not in INTERNAL]
    if wanted is None:
        return names
    from tools.kafka.topics.topic_pattern import filter_names

    return filter_names(wanted, names)


def _existing(reader: TopicReader, options: Options) -> list[str]:
    """Like `_names`; raises Uncaught too where there is none, unless the topic may be absent."""
    names = _names(reader, options)
    if not names and options.value("topic") and not options.has("if-exists"):
        raise Uncaught(ILLEGAL_ARGUMENT, f"Topic '{options.value('topic')}' does not exist as expected")
    return names


def create(admin: Admin, options: Options) -> None:
    """`--create`. Raises OptionError, Uncaught."""
    from records.errors import Error
    from tools.kafka.topics.topic_arguments import new_topic
    from tools.kafka.topics.topic_calls import create_topic

    topic = new_topic(options)
    if "_" in topic.name or "." in topic.name:
        sys.stdout.write(
            "WARNING: Due to limitations in metric names, topics with a period ('.') or underscore ('_') could "
            "collide. To avoid issues it is best to use either, but not both.\n"
        )
    if topic.replication_factor is not None and not 1 <= topic.replication_factor <= (1 << 15) - 1:
        raise Uncaught(ILLEGAL_ARGUMENT, "The replication factor must be between 1 and 32767 inclusive")
    if topic.partitions is not None and topic.partitions < 1:
        raise Uncaught(ILLEGAL_ARGUMENT, "The partitions must be greater than 0")
    try:
        create_topic(admin, topic)
    except Uncaught as error:
        if options.has("if-not-exists") and getattr(error, "code", None) == Error.TOPIC_ALREADY_EXISTS:
            return
        raise
    sys.stdout.write(f"Created topic {topic.name}.\n")


def show_names(admin: Admin, options: Options) -> None:
    """`--list`. Raises OptionError, Uncaught."""
    names = _names(_reader(admin), options)
    sys.stdout.write("\n".join(map(one_line, names)) + "\n")


def alter(admin: Admin, options: Options) -> None:
    """`--alter`: add partitions. Raises OptionError, Uncaught."""
    from records.java.java_order import integer_order
    from tools.kafka.topics.topic_arguments import new_topic
    from tools.kafka.topics.topic_calls import create_partitions

    topic = new_topic(options)
    reader = _reader(admin)
    names = _existing(reader, options)
    if not names:
        return
    assert topic.partitions is not None
    added: dict[str, list[list[int]] | None] = dict.fromkeys(names)
    if topic.assignment:
        for each in reader.describe(names):
            first = len(each.partitions)
            indexes = integer_order(index for index in topic.assignment if index >= first)
            added[each.name] = [topic.assignment[index] for index in indexes]
    create_partitions(admin, topic.partitions, added)


def describe(admin: Admin, options: Options) -> None:
    """`--describe`. Raises OptionError, Uncaught."""
    from records.uuids import ZERO_UUID, parse_uuid, uuid_text
    from tools.kafka.topics.topic_describe import print_topics
    from tools.kafka.topics.topic_reader import DEFAULT_LIMIT

    reader = _reader(admin)
    text = options.value("topic-id")
    try:
        topic_id = ZERO_UUID if text is None else parse_uuid(text)
    except ValueError as error:
        raise Uncaught(ILLEGAL_ARGUMENT, str(error)) from None
    if topic_id != ZERO_UUID:
        hidden = options.has("exclude-internal")
        if any(topic.topic_id == topic_id for topic in reader.list_topics() if not (hidden and topic.is_internal)):
            topics = reader.describe_by_id(topic_id)
        elif options.has("if-exists"):
            topics = []
        else:
            raise Uncaught(ILLEGAL_ARGUMENT, f"TopicId '{uuid_text(topic_id)}' does not exist as expected")
    else:
        names = _existing(reader, options)
        limit = options.value("partition-size-limit-per-response")
        topics = reader.describe(names, DEFAULT_LIMIT if limit is None else limit) if names else []
    print_topics(admin, reader, topics, {name for name in (*REPORTS, OVERRIDES) if options.has(name)})


def delete(admin: Admin, options: Options) -> None:
    """`--delete`. Raises OptionError, Uncaught."""
    from tools.kafka.topics.topic_calls import delete_topics

    names = _existing(_reader(admin), options)
    if names:
        delete_topics(admin, names)


COMMANDS: dict[str, Callable[[Admin, Options], None]] = {
    "create": create,
    "list": show_names,
    "alter": alter,
    "describe": describe,
    "delete": delete,
}
