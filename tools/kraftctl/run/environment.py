"""A node's configuration from environment variables, as the official Kafka image maps them."""

from __future__ import annotations

from controller.config.keys.own import BOOTSTRAP_CLUSTER_ID, BOOTSTRAP_EXPECT
from records.java.config_error import ConfigError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

PREFIX = "KAFKA_"
# Variables of the image for Java, its logging and its start script, which are not keys.
NOT_MAPPED = frozenset(
    {
        "KAFKA_VERSION", "KAFKA_HEAP_OPTS", "KAFKA_LOG4J_OPTS", "KAFKA_OPTS", "KAFKA_JMX_OPTS",
        "KAFKA_JVM_PERFORMANCE_OPTS", "KAFKA_GC_LOG_OPTS", "KAFKA_LOG4J_ROOT_LOGLEVEL", "KAFKA_LOG4J_LOGGERS",
        "KAFKA_TOOLS_LOG4J_LOGLEVEL",
    }
)  # fmt: skip
ROOT_LEVEL = "KAFKA_LOG4J_ROOT_LOGLEVEL"
# The cluster id that stock's image uses if none is given.
DEFAULT_CLUSTER_ID = "5L6g3nShT-eMCtK--X86sw"
DATA_DIRECTORY = "/var/lib/kafka/data"

# The default if there is neither a file nor a variable: stock's default file, without its broker.
DEFAULT_PROPERTIES = {
    "process.roles": "controller",
    "node.id": "1",
    "controller.quorum.voters": "1@localhost:9093",
    "controller.listener.names": "CONTROLLER",
    "listeners": "CONTROLLER://:9093",
    "listener.security.protocol.map": "CONTROLLER:PLAINTEXT",
}


def key_of(name: str) -> str:
    """The key of a variable: without `KAFKA_`, in lower case, `___` to hyphen, `__` to underscore, `_` to dot."""
    dotted = name.removeprefix(PREFIX).lower().replace("_", ".")
    return dotted.replace("...", "-").replace("..", "_")


def keys_of_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The keys that the environment sets, sorted."""
    return {
        key_of(name): value
        for name, value in sorted(environment.items())
        if name.startswith(PREFIX) and name not in NOT_MAPPED and key_of(name)
    }


def container_properties(environment: Mapping[str, str], mounted: Mapping[str, str] | None) -> dict[str, str]:
    """The configuration of a node in a container.

    mounted: the keys of a mounted file, None without one; variables override them. If neither a file nor a variable
    sets a key, the default is a quorum of one voter. Two things differ from stock's image: the default log directory is
    the data volume, since the rest of the image is read-only; and the level of stock's root logger sets
    `kraft.log.level`.

    Where controllers form their quorum by themselves, CLUSTER_ID is its id. Without a `node.id` it is then the ordinal
    at the end of the host name, as that of a pod of a StatefulSet; and so it is where KAFKA_NODE_ID is empty, as with
    a Kubernetes before 1.28, whose pods have no label with their ordinal.

    Raises ConfigError if a controller has advertised listeners, which stock's image refuses too.
    """
    keys = keys_of_environment(environment)
    if not keys.get("advertised.listeners", "x"):
        del keys["advertised.listeners"]  # an empty variable counts as not set
    if keys.get("process.roles") == "controller" and "advertised.listeners" in keys:
        raise ConfigError("KAFKA_ADVERTISED_LISTENERS is not supported on a KRaft controller.")
    has_empty_id = keys.get("node.id") == ""
    if has_empty_id:
        del keys["node.id"]
    properties = {**(mounted or {}), **keys} or dict(DEFAULT_PROPERTIES)
    if not {"log.dirs", "log.dir", "metadata.log.dir"} & properties.keys():
        properties["log.dirs"] = DATA_DIRECTORY
    if environment.get(ROOT_LEVEL):
        properties.setdefault("kraft.log.level", environment[ROOT_LEVEL].upper())
    forms_quorum = properties.get(BOOTSTRAP_EXPECT, "0").strip() != "0"
    if forms_quorum and environment.get("CLUSTER_ID"):
        properties.setdefault(BOOTSTRAP_CLUSTER_ID, environment["CLUSTER_ID"])
    if forms_quorum or has_empty_id:
        ordinal = environment.get("HOSTNAME", "").partition(".")[0].rpartition("-")[2]
        if not {"node.id", "broker.id"} & properties.keys() and ordinal.isascii() and ordinal.isdigit():
            properties["node.id"] = ordinal
    return properties
