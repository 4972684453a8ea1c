"""The options of kafka-acls, and which of them go together."""

from __future__ import annotations

from tools.command_line.option_tools import HELP, VERSION, check_excluded, check_help, usage
from tools.command_line.options import (
    OPTIONAL_VALUE,
    REQUIRED_VALUE,
    NotOneOf,
    Option,
    OptionError,
    Options,
    read,
)
from tools.offline.acl_names import ALL, OPERATION_NAMES, PATTERN_TYPES


def _pattern_type(text: str) -> str:
    name = text.upper()
    if name == "UNKNOWN":
        raise NotOneOf(f"Unknown resource-pattern-type: {text}")
    if name not in PATTERN_TYPES:
        raise NotOneOf(f"Value [{text}] is not one of [{'|'.join(PATTERN_TYPES)}]")
    return name


def _named_option(name: str, help: str) -> Option:  # noqa: A002 - the word of every option parser
    """An option whose value has the name of the option in help."""
    return Option(name, help, value=REQUIRED_VALUE, described_as=name)


DESCRIPTION = "This tool helps to manage acls on kafka."
_ADDRESSES = (
    "A list of host/port pairs to use for establishing the connection to the Kafka cluster. This list should be in the "
    "form host1:port1,host2:port2,... This config is required for acl management using admin client API."
)
OPTIONS = (
    HELP,
    VERSION,
    Option("bootstrap-server", _ADDRESSES, value=REQUIRED_VALUE, described_as="server to connect to"),
    Option("bootstrap-controller", _ADDRESSES, value=REQUIRED_VALUE, described_as="controller to connect to"),
    Option(
        "command-config",
        "A property file containing configs to be passed to Admin Client.",
        value=OPTIONAL_VALUE,
        described_as="command-config",
    ),
    _named_option(
        "topic",
        "topic to which ACLs should be added or removed. A value of '*' indicates ACL should apply to all topics.",
    ),
    Option("cluster", "Add/Remove cluster ACLs."),
    _named_option(
        "group",
        "Consumer Group to which the ACLs should be added or removed. A value of '*' indicates the ACLs should apply "
        "to all groups.",
    ),
    _named_option(
        "transactional-id",
        "The transactionalId to which ACLs should be added or removed. A value of '*' indicates the ACLs should apply "
        "to all transactionalIds.",
    ),
    Option(
        "idempotent",
        "Enable idempotence for the producer. This should be used in combination with the --producer option. Note that "
        "idempotence is enabled automatically if the producer is authorized to a particular transactional-id.",
    ),
    _named_option(
        "delegation-token",
        "Delegation token to which ACLs should be added or removed. A value of '*' indicates ACL should apply to all "
        "tokens.",
    ),
    Option(
        "resource-pattern-type",
        "The type of the resource pattern or pattern filter. When adding acls, this should be a specific pattern type, "
        "e.g. 'literal' or 'prefixed'. When listing or removing acls, a specific pattern type can be used to list or "
        "remove acls from specific resource patterns, or use the filter values of 'any' or 'match', where 'any' will "
        "match any pattern type, but will match the resource name exactly, where as 'match' will perform pattern "
        "matching to list or remove all acls that affect the supplied resource(s). WARNING: 'match', when used in "
        "combination with the '--remove' switch, should be used with care.",
        value=REQUIRED_VALUE,
        type_name="|".join(PATTERN_TYPES),
        default="LITERAL",
        convert=_pattern_type,
    ),
    Option("add", "Indicates you are trying to add ACLs."),
    Option("remove", "Indicates you are trying to remove ACLs."),
    Option(
        "list",
        "List ACLs for the specified resource, use --topic <topic> or --group <group> or --cluster to specify a "
        "resource.",
    ),
    Option(
        "operation",
        "Operation that is being allowed or denied. Valid operation names are: \n"
        + "\n".join(f"\t{name}" for name in OPERATION_NAMES)
        + "\n",
        value=REQUIRED_VALUE,
        default=ALL,
    ),
    _named_option(
        "allow-principal",
        "principal is in principalType:name format. Note that principalType must be supported by the Authorizer being "
        "used. For example, User:'*' is the wild card indicating all users.",
    ),
    _named_option(
        "deny-principal",
        "principal is in principalType:name format. By default anyone not added through --allow-principal is denied "
        "access. You only need to use this option as negation to already allowed set. Note that principalType must be "
        "supported by the Authorizer being used. For example if you wanted to allow access to all users in the system "
        "but not test-user you can define an ACL that allows access to User:'*' and specify "
        "--deny-principal=User:test@EXAMPLE.COM. AND PLEASE REMEMBER DENY RULES TAKES PRECEDENCE OVER ALLOW RULES.",
    ),
    Option(
        "principal",
        "List ACLs for the specified principal. principal is in principalType:name format. Note that principalType "
        "must be supported by the Authorizer being used. Multiple --principal option can be passed.",
        value=OPTIONAL_VALUE,
        described_as="principal",
    ),
    _named_option(
        "allow-host",
        "Host from which principals listed in --allow-principal will have access. If you have specified "
        "--allow-principal then the default for this option will be set to '*' which allows access from all hosts.",
    ),
    _named_option(
        "deny-host",
        "Host from which principals listed in --deny-principal will be denied access. If you have specified "
        "--deny-principal then the default for this option will be set to '*' which denies access from all hosts.",
    ),
    Option(
        "producer",
        "Convenience option to add/remove ACLs for producer role. This will generate ACLs that allows WRITE,DESCRIBE "
        "and CREATE on topic.",
    ),
    Option(
        "consumer",
        "Convenience option to add/remove ACLs for consumer role. This will generate ACLs that allows READ,DESCRIBE on "
        "topic and READ on group.",
    ),
    Option("force", "Assume Yes to all queries and do not prompt."),
    _named_option(
        "user-principal",
        "Specifies a user principal as a resource in relation with the operation. For instance one could grant "
        "CreateTokens or DescribeTokens permission on a given user principal.",
    ),
)


def parse_options(arguments: list[str]) -> Options:
    """The options, which go together. Raises Exit if they do not, or if the help was asked for."""
    try:
        options = read(OPTIONS, arguments)
    except OptionError as error:
        raise usage(error.message, OPTIONS) from None
    check_help(options, arguments, OPTIONS, DESCRIPTION)
    _check(options)
    return options


def _check(options: Options) -> None:
    """Check the options. Raises Exit for those that do not go together."""
    if options.has("bootstrap-server") and options.has("bootstrap-controller"):
        raise usage("Only one of --bootstrap-server or --bootstrap-controller must be specified", OPTIONS)
    if not options.has("bootstrap-server") and not options.has("bootstrap-controller"):
        raise usage("One of --bootstrap-server or --bootstrap-controller must be specified", OPTIONS)
    if sum(options.has(action) for action in ("add", "remove", "list")) != 1:
        raise usage("Command must include exactly one action: --list, --add, --remove. ", OPTIONS)
    who = ("allow-host", "allow-principal", "deny-host", "deny-principal")
    check_excluded(options, "list", ("producer", "consumer", *who), OPTIONS)
    for role in ("producer", "consumer"):
        check_excluded(options, role, ("operation", "deny-principal", "deny-host"), OPTIONS)
    if options.has("principal") and not options.has("list"):
        raise usage("The --principal option is only available if --list is set", OPTIONS)
    _check_roles(options)


def _check_roles(options: Options) -> None:
    """Check the options of producers and consumers. Raises Exit for those that do not go together."""
    if options.has("producer") and not options.has("topic"):
        raise usage("With --producer you must specify a --topic", OPTIONS)
    if options.has("idempotent") and not options.has("producer"):
        raise usage("The --idempotent option is only available if --producer is set", OPTIONS)
    if not options.has("consumer"):
        return
    foreign = not options.has("producer") and (options.has("cluster") or options.has("transactional-id"))
    if foreign or not options.has("topic") or not options.has("group"):
        raise usage(
            "With --consumer you must specify a --topic and a --group and no --cluster or --transactional-id option "
            "should be specified.",
            OPTIONS,
        )
