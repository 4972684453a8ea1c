"""From the options of kafka-acls: the resources, principals and hosts, and the ACLs that they stand for."""

from __future__ import annotations

from records.java.java_order import DEFAULT_CAPACITY, bucket_order, hash_code
from tools.command_line.java_texts import Uncaught
from tools.command_line.option_tools import usage
from tools.kafka.acls.acl_arguments import OPTIONS
from tools.kafka.acls.acl_calls import ANY, Entry, Pattern
from tools.offline.acl_names import ALL, OPERATION_NAMES, OPERATIONS, PATTERNS, PERMISSIONS, TYPES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from tools.command_line.options import Options

    Entries = list[Entry]

LITERAL = PATTERNS.index("LITERAL")
TOPIC, GROUP, CLUSTER_TYPE, TRANSACTIONAL_ID, DELEGATION_TOKEN, USER = range(2, len(TYPES))
CLUSTER = Pattern(CLUSTER_TYPE, "kafka-cluster", LITERAL)
WILDCARD_HOST = "*"
UNKNOWN_OPERATION, ALL_OPERATIONS = OPERATIONS.index("UNKNOWN"), OPERATIONS.index("ALL")
# What an ACL for a resource may be about, beside ALL (`AclEntry`).
SUPPORTED = {
    TOPIC: ("READ", "WRITE", "CREATE", "DELETE", "ALTER", "DESCRIBE", "DESCRIBE_CONFIGS", "ALTER_CONFIGS"),
    GROUP: ("READ", "DELETE", "DESCRIBE", "DESCRIBE_CONFIGS", "ALTER_CONFIGS"),
    CLUSTER_TYPE: (
        "CREATE", "ALTER", "DESCRIBE", "CLUSTER_ACTION", "DESCRIBE_CONFIGS", "ALTER_CONFIGS", "IDEMPOTENT_WRITE",
    ),
    TRANSACTIONAL_ID: ("WRITE", "DESCRIBE", "TWO_PHASE_COMMIT"),
    DELEGATION_TOKEN: ("DESCRIBE",),
    USER: ("CREATE_TOKENS", "DESCRIBE_TOKENS"),
}  # fmt: skip
PRODUCER_ON_TOPIC, PRODUCER_ON_ID = ("WRITE", "DESCRIBE", "CREATE"), ("WRITE", "DESCRIBE")
CONSUMER_ON_TOPIC, CONSUMER_ON_GROUP = ("READ", "DESCRIBE"), ("READ",)
# Option -> the type of the resources that it names, in the order in which stock adds them.
RESOURCES = {
    "topic": TOPIC, "group": GROUP, "transactional-id": TRANSACTIONAL_ID, "delegation-token": DELEGATION_TOKEN,
    "user-principal": USER,
}  # fmt: skip
_SPACE = "".join(map(chr, range(33)))


def _trim(text: str) -> str:
    """Without the characters at both ends that Java's `trim` takes away."""
    return text.strip(_SPACE)


def patterns_of(options: Options) -> list[Pattern]:
    """The resources that the options name, in order of type and name. Raises OptionError."""
    how = PATTERNS.index(options.value("resource-pattern-type"))
    patterns = set()
    for name, kind in RESOURCES.items():
        for text in options.given.get(name, ()):
            # Stock takes a transactional id as it is.
            patterns.add(Pattern(kind, text if kind == TRANSACTIONAL_ID else _trim(text), how))
    if how == LITERAL and (options.has("cluster") or options.has("idempotent")):
        patterns.add(CLUSTER)
    return sorted(patterns)


def _patterns_that_must_be(options: Options) -> list[Pattern]:
    """The patterns of the named resources. Raises Exit if there is none."""
    patterns = patterns_of(options)
    if not patterns:
        raise usage(
            "You must provide at least one resource: --topic <topic> or --cluster or --group <group> or "
            "--delegation-token <Delegation Token ID>",
            OPTIONS,
        )
    return patterns


def principals_of(options: Options, name: str) -> list[str]:
    """The principals of an option, `Type:Name`, in the order of Java's set. Raises Uncaught."""
    principals = []
    for text in options.given.get(name, ()):
        trimmed = _trim(text)
        if ":" not in trimmed:
            refused = f"expected a string in format principalType:principalName but got {trimmed}"
            raise Uncaught("java.lang.IllegalArgumentException", refused)
        principals.append(trimmed)
    distinct = list(dict.fromkeys(principals))
    codes = []
    for principal in distinct:
        kind, _, rest = principal.partition(":")
        codes.append((31 * hash_code(kind) + hash_code(rest)) & 0xFFFFFFFF)
    return bucket_order(distinct, codes, DEFAULT_CAPACITY)


def _hosts(options: Options, name: str) -> set[str]:
    return {_trim(text) for text in options.given.get(name, ())} or {WILDCARD_HOST}


def _entries(options: Options, operations: Iterable[int]) -> Entries:
    """The entries for the principals and hosts of the options, in order. Raises Uncaught."""
    wanted = list(operations)
    who = {name: principals_of(options, f"{name}-principal") for name in ("allow", "deny")}
    if any(who.values()) and ANY in wanted:
        raise Uncaught("java.lang.IllegalArgumentException", "operation must not be ANY")
    return sorted(
        {
            Entry(principal, host, operation, PERMISSIONS.index(name.upper()))
            for name, principals in who.items()
            for principal in principals
            for host in _hosts(options, f"{name}-host")
            for operation in wanted
        }
    )


def _codes(names: Iterable[str]) -> list[int]:
    return [OPERATIONS.index(name) for name in names]


def _named_operation(text: str) -> int:
    """The code of an operation as a user writes it, in any case and without underscores; UNKNOWN if there is none."""
    names = [name.upper() for name in OPERATION_NAMES]
    word = _trim(text).upper()
    return names.index(word) + ALL_OPERATIONS if word in names else ANY if word == "ANY" else UNKNOWN_OPERATION


def entries_by_resource(options: Options) -> dict[Pattern, Entries]:
    """The entries for each resource, in order. Raises Exit, OptionError, Uncaught."""
    if options.has("producer") or options.has("consumer"):
        by_pattern = _of_roles(options)
    else:
        entries = _entries(options, map(_named_operation, options.given.get("operation", (ALL,))))
        by_pattern = dict.fromkeys(_patterns_that_must_be(options), entries)
    for pattern, entries in by_pattern.items():
        supported = ("ALL", *SUPPORTED[pattern.resource_type])
        if not {entry.operation for entry in entries} <= set(_codes(supported)):
            kind = TYPES[pattern.resource_type]
            raise usage(f"ResourceType {kind} only supports operations [{', '.join(supported)}]", OPTIONS)
    return by_pattern


def _of_roles(options: Options) -> dict[Pattern, Entries]:
    """The ACL entries for --producer, --consumer, --idempotent. Raises Exit, OptionError, Uncaught."""
    patterns = _patterns_that_must_be(options)
    needs: dict[Pattern, set[str]] = {}

    def need(kind: int, operations: tuple[str, ...]) -> None:
        for pattern in patterns:
            if pattern.resource_type == kind:
                needs.setdefault(pattern, set()).update(operations)

    if options.has("producer"):
        need(TOPIC, PRODUCER_ON_TOPIC)
        need(TRANSACTIONAL_ID, PRODUCER_ON_ID)
        if options.has("idempotent"):
            needs[CLUSTER] = {"IDEMPOTENT_WRITE"}
    if options.has("consumer"):
        need(TOPIC, CONSUMER_ON_TOPIC)
        need(GROUP, CONSUMER_ON_GROUP)
    return {pattern: _entries(options, _codes(needs[pattern])) for pattern in sorted(needs)}


def entries_to_add(options: Options) -> dict[Pattern, Entries]:
    """The entries to add, by pattern. Raises Exit, OptionError, Uncaught."""
    how = options.value("resource-pattern-type")
    if how not in ("LITERAL", "PREFIXED"):
        raise usage(f"A '--resource-pattern-type' value of '{how}' is not valid when adding acls.", OPTIONS)
    by_pattern = entries_by_resource(options)
    if not all(by_pattern.values()):
        raise usage("You must specify one of: --allow-principal, --deny-principal when trying to add ACLs.", OPTIONS)
    return by_pattern
