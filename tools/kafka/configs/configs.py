"""kafka-configs: shows and alters configs of topics, brokers, clients, users and others (KIP-226, KIP-546, KIP-554)."""

from __future__ import annotations

from tools.command_line.java_texts import Uncaught
from tools.command_line.option_tools import HELP, VERSION, Exit, check_excluded, check_help, usage
from tools.command_line.options import REQUIRED_VALUE, Option, OptionError, Options, read
from tools.command_line.standard_streams import complain
from tools.kafka.configs.config_arguments import (
    BROKERS,
    CLIENT_METRICS,
    CLIENTS,
    GROUPS,
    IP_QUOTAS,
    IPS,
    QUOTAS,
    SCRAM,
    TOPICS,
    USERS,
    check_entities,
    entities_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

DESCRIPTION = (
    "This tool helps to manipulate and describe entity config for a topic, client, user, broker, ip, client-metrics or "
    "group"
)
# Exceptions whose message alone is printed.
TERSE = (
    "java.lang.IllegalArgumentException",
    "java.lang.NumberFormatException",
    "org.apache.kafka.common.errors.InvalidConfigurationException",
    "org.apache.kafka.common.errors.InvalidTopicException",
    "org.apache.kafka.common.errors.UnsupportedVersionException",
)


class _AddConfig(Option):
    """`--add-config`, whose help lists the keys of each type: they are imported for help alone."""

    __slots__ = ()

    def description(self) -> str:
        from controller.config.keys import client_metrics, group, server, topic
        from controller.config.keys.dynamic import DYNAMIC

        names = {
            TOPICS: [key.name for key in topic.KEYS if not key.internal],
            BROKERS: [*(key.name for key in server.BROKER_QUOTA_KEYS), *DYNAMIC],
            USERS: [*QUOTAS, *SCRAM],
            CLIENTS: QUOTAS,
            IPS: IP_QUOTAS,
            CLIENT_METRICS: [key.name for key in client_metrics.KEYS],
            GROUPS: [key.name for key in group.KEYS],
        }
        listed = "".join(f"For entity-type '{kind}': {_list_names(keys)}" for kind, keys in names.items())
        return (
            "Key Value pairs of configs to add. Square brackets can be used to group values which contain commas: "
            f"'k1=v1,k2=[v1,v2,v2],k3=v3'. The following is a list of valid configurations: {listed}Entity types "
            "'users' and 'clients' may be specified together to update config for clients of a specific user."
        )


def _list_names(names: Iterable[str]) -> str:
    return "\n" + "\n".join(f"\t{name}" for name in sorted(set(names))) + "\n"


def _named_option(name: str, help: str, described_as: str = "") -> Option:  # noqa: A002 - the word of every option parser
    return Option(name, help, value=REQUIRED_VALUE, described_as=described_as)


OPTIONS = (
    HELP,
    VERSION,
    _named_option("bootstrap-server", "The Kafka servers to connect to.", "server to connect to"),
    _named_option("bootstrap-controller", "The Kafka controllers to connect to.", "controller to connect to"),
    _named_option(
        "command-config",
        "Property file containing configs to be passed to Admin Client. This is used only with --bootstrap-server "
        "option for describing and altering broker configs.",
        "command config property file",
    ),
    Option("alter", "Alter the configuration for the entity."),
    Option("describe", "List configs for the given entity."),
    Option("all", "List all configs for the given entity, including static configs if available."),
    _named_option(
        "entity-type",
        "Type of entity (topics/clients/users/brokers/broker-loggers/ips/client-metrics/groups)",
    ),
    _named_option(
        "entity-name",
        "Name of entity (topic name/client id/user principal name/broker id/ip/client metrics/group id)",
    ),
    Option(
        "entity-default", "Default entity name for clients/users/brokers/ips (applies to corresponding entity type)"
    ),
    _AddConfig("add-config", "Configs to add: k1=v1,k2=[v1,v2],k3=v3.", value=REQUIRED_VALUE),
    _named_option(
        "add-config-file",
        "Path to a properties file with configs to add. See add-config for a list of valid configurations.",
    ),
    _named_option("delete-config", "config keys to remove 'k1,k2'"),
    _named_option("topic", "The topic's name."),
    _named_option("client", "The client's ID."),
    Option("client-defaults", "The config defaults for all clients."),
    _named_option("user", "The user's principal name."),
    Option("user-defaults", "The config defaults for all users."),
    _named_option("broker", "The broker's ID."),
    Option("broker-defaults", "The config defaults for all brokers."),
    _named_option("broker-logger", "The broker's ID for its logger config."),
    Option("ip-defaults", "The config defaults for all IPs."),
    _named_option("ip", "The IP address."),
    _named_option("group", "The group's ID."),
    _named_option("client-metrics", "The client metrics config resource name."),
)


def main() -> int:
    """Run the tool with the arguments of this process."""
    from tools.command_line.standard_streams import running

    return running(run, "kafka-configs")


def run(arguments: list[str]) -> int:
    """Run the tool with these arguments; returns the exit code."""
    try:
        options = read(OPTIONS, arguments)
        check_help(options, arguments, OPTIONS, DESCRIPTION)
        _check(options)
        _work(options)
    except Exit as end:
        return end.code
    except OptionError as error:
        complain(f"{error.message}\n")
        return 1
    except Uncaught as error:
        complain(_failure(error, arguments))
        return 1
    return 0


def _failure(error: Uncaught, arguments: Sequence[str]) -> str:
    """What stock prints for an exception: a message, or the arguments and the trace, here without secrets."""
    if error.java_class in TERSE:
        return f"{error.message}\n"
    lines = [f"Error while executing config command with args '{' '.join(_without_secrets(arguments))}'", str(error)]
    cause = error.cause
    while cause is not None:
        lines.append(f"Caused by: {cause}")
        cause = getattr(cause, "cause", None)
    return "\n".join([*lines, ""])


def _without_secrets(arguments: Sequence[str]) -> list[str]:
    """The arguments; of configs that are added only the keys where a key or value may be a password."""
    import re

    key = r"[\w.-]*(?:password|secret|key)[\w.-]*|SCRAM-SHA-\d+|[\w.-]*jaas\.config"
    secret = re.compile(rf"(?is)((?:{key})\s*=).*")
    return [secret.sub(r"\1[hidden]", argument) for argument in arguments]


def _check(options: Options) -> None:
    """Check the options. Raises Exit, OptionError, Uncaught for those that do not go together."""
    if options.has("alter") == options.has("describe"):
        raise usage("Command must include exactly one action: --describe, --alter", OPTIONS)
    check_excluded(options, "describe", ("alter", "add-config", "delete-config"), OPTIONS)
    check_entities(options)


def _work(options: Options) -> None:
    """Describe or alter the entities. Raises OptionError, Uncaught."""
    from tools.client.admin import Admin
    from tools.client.settings import CONTROLLERS, SERVERS, read_given, settings_of

    entities = entities_of(options)
    given = read_given(options.value("command-config"))
    for name in (SERVERS, CONTROLLERS):
        given.pop(name, None)
    if options.has("alter") and len(entities.types) != len(entities.names):
        raise Uncaught(TERSE[0], "An entity name must be specified for every entity type")
    settings = settings_of(options.value("bootstrap-server"), options.value("bootstrap-controller"), given)
    with Admin(settings) as admin:
        if options.has("describe"):
            from tools.kafka.configs.config_describe import describe

            describe(admin, entities, everything=options.has("all"))
        else:
            from tools.kafka.configs.config_alter import alter

            alter(admin, entities, options)
