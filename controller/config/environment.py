"""A node's configuration from environment variables, as the official Kafka image maps them."""

from __future__ import annotations

from controller.config.values.definition import ConfigError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

PREFIX = "KAFKA_"
# Variables of the image that are for Java, its logging and its start script.
NOT_MAPPED = frozenset(
    {
        "KAFKA_VERSION", "KAFKA_HEAP_OPTS", "KAFKA_LOG4J_OPTS", "KAFKA_OPTS", "KAFKA_JMX_OPTS",
        "KAFKA_JVM_PERFORMANCE_OPTS", "KAFKA_GC_LOG_OPTS", "KAFKA_LOG4J_ROOT_LOGLEVEL", "KAFKA_LOG4J_LOGGERS",
        "KAFKA_TOOLS_LOG4J_LOGLEVEL",
    }
)  # fmt: skip
ROOT_LEVEL = "KAFKA_LOG4J_ROOT_LOGLEVEL"
# The id that stock's image takes where none is given.
DEFAULT_CLUSTER_ID = "5L6g3nShT-eMCtK--X86sw"
DATA_DIRECTORY = "/var/lib/kafka/data"

# What runs where neither a file nor a variable says anything: stock's file, without its broker.
DEFAULT_PROPERTIES = {
    "process.roles": "controller",
    "node.id": "1",
    "controller.quorum.voters": "1@localhost:9093",
    "controller.listener.names": "CONTROLLER",
    "listeners": "CONTROLLER://:9093",
    "listener.security.protocol.map": "CONTROLLER:PLAINTEXT",
}


def key_of(name: str) -> str:
    """The key for a variable: `KAFKA_` dropped, lower case, `___` a hyphen, `__` an underscore, `_` a dot."""
    dotted = name.removeprefix(PREFIX).lower().replace("_", ".")
    return dotted.replace("...", "-").replace("..", "_")


def mapped(environment: Mapping[str, str]) -> dict[str, str]:
    """The keys that the environment sets, sorted."""
    return {
        key_of(name): value
        for name, value in sorted(environment.items())
        if name.startswith(PREFIX) and name not in NOT_MAPPED and key_of(name)
    }


def container_properties(environment: Mapping[str, str], mounted: Mapping[str, str] | None) -> dict[str, str]:
    """What a node in a container runs with.

    mounted: the keys of a mounted file, None without one; the environment goes over it. Where neither sets a key, the
    default is a quorum of one. Two things are ours: where no directory is named it is the data volume, since all else
    in the image is read-only; and the level of stock's root logger is that of our log.

    Raises ConfigError for advertised listeners of a controller, which stock's image refuses too.
    """
    keys = mapped(environment)
    if not keys.get("advertised.listeners", "x"):
        del keys["advertised.listeners"]  # an empty one counts as not set
    if keys.get("process.roles") == "controller" and "advertised.listeners" in keys:
        raise ConfigError("KAFKA_ADVERTISED_LISTENERS is not supported on a KRaft controller.")
    found = {**(mounted or {}), **keys} or dict(DEFAULT_PROPERTIES)
    if not {"log.dirs", "log.dir", "metadata.log.dir"} & found.keys():
        found["log.dirs"] = DATA_DIRECTORY
    if environment.get(ROOT_LEVEL):
        found.setdefault("kraft.log.level", environment[ROOT_LEVEL].upper())
    return found
