"""The installed commands, a row each: a new tool is one module and one row.

The entry points (`setup.py`), the completion, the manual pages, the table of docs/tools.md, the benchmark of the start
and the tests of all tools follow from the rows.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

# Of the packages: empty in the repository, `kraft_quorum.` in an installation.
_ABOVE = (__package__ or "").removesuffix("tools")


class Tool:
    """A command. module: has `main`; one of Kafka's also what it parses its arguments with: `parser` or `OPTIONS`.

    help: its sub-commands, or what it does, for the documents. No NamedTuple: `typing` costs every command 10 ms.
    """

    __slots__ = ("help", "module", "name")

    def __init__(self, name: str, module: str, help: str) -> None:  # noqa: A002 - as argparse names it
        self.name = name
        self.module = module
        self.help = help

    @property
    def function(self) -> str:
        """The name of its entry point in `kraft_quorum.commands`."""
        return self.name.replace("-", "_")

    @property
    def scripts(self) -> tuple[str, ...]:
        """The names under which it is installed: one of Kafka's also with the `.sh` of stock's scripts."""
        return (self.name, f"{self.name}.sh") if self in KAFKA_TOOLS else (self.name,)

    def load(self) -> ModuleType:
        """The module, which is imported here."""
        return import_module(f"{_ABOVE}{self.module}")


KAFKA_TOOLS = (
    Tool(
        "kafka-storage", "tools.kafka.storage",
        "`info`, `format`, `version-mapping`, `feature-dependencies`, `random-uuid`",
    ),
    Tool("kafka-dump-log", "tools.kafka.dump_log.dump_log", "files of the metadata log; of other logs the batches"),
    Tool(
        "kafka-metadata-shell", "tools.kafka.shell.metadata_shell",
        "a snapshot, a segment or live metadata as a tree",
    ),
    Tool(
        "kafka-metadata-quorum", "tools.kafka.metadata_quorum",
        "`describe`, `add-controller`, `remove-controller`",
    ),
    Tool(
        "kafka-features", "tools.kafka.features",
        "`describe`, `upgrade`, `downgrade`, `disable`, `version-mapping`, `feature-dependencies`",
    ),
    Tool(
        "kafka-cluster",
        "tools.kafka.cluster",
        "`cluster-id`, `unregister`, `unregister-controller`, `list-endpoints`, `api-versions`",
    ),
    Tool("kafka-leader-election", "tools.kafka.leader_election", "elects preferred or unclean leaders"),
    Tool("kafka-acls", "tools.kafka.acls.acls", "`--add`, `--remove`, `--list`"),
    Tool("kafka-delegation-tokens", "tools.kafka.delegation_tokens", "`--create`, `--renew`, `--expire`, `--describe`"),
    Tool("kafka-topics", "tools.kafka.topics.topics", "`--create`, `--list`, `--describe`, `--alter`, `--delete`"),
    Tool(
        "kafka-reassign-partitions", "tools.kafka.reassign.reassign_partitions",
        "`--generate`, `--execute`, `--verify`, `--cancel`, `--list`",
    ),
    Tool("kafka-configs", "tools.kafka.configs.configs", "`--describe`, `--alter`"),
    Tool(
        "kafka-broker-api-versions", "tools.kafka.broker_api_versions",
        "the versions of each API that each broker serves",
    ),
)  # fmt: skip
TOOLS = (
    Tool("kraftctl", "tools.kraftctl.main", "runs and administers a quorum"),
    Tool("kraft-pipeline", "pipeline.commands.main", "takes metadata logs into tables, and reports on them"),
    *KAFKA_TOOLS,
)


def tool_of(name: str) -> Tool:
    """The row of a command. Raises KeyError."""
    for tool in TOOLS:
        if tool.name == name:
            return tool
    raise KeyError(name)


def entry_points() -> list[str]:
    """The console scripts of the distribution."""
    return [f"{script} = kraft_quorum.commands:{tool.function}" for tool in TOOLS for script in tool.scripts]
