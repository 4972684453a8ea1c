"""The tree of an image in the shell: directories, which have names, and leaves, which have a text.

As in stock, a name that is not listed may be found (`/image/features/finalized_x` is 0 for any x), and a listed name
may have no node (a default client quota).
"""

from __future__ import annotations

from records.uuids import parse_uuid, uuid_text
from tools.kafka.shell import texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from tools.offline.image import Image, Topic

    Children = Mapping[str, Callable[[], "Directory | str"]]


# In stock's order.
CONFIG_TYPES = {32: "GROUP", 16: "CLIENT_METRICS", 8: "BROKER_LOGGER", 4: "BROKER", 2: "TOPIC", 0: "UNKNOWN"}
MECHANISMS = {"SCRAM-SHA-256": 1, "SCRAM-SHA-512": 2}
_FINALIZED = "finalized_"


class Directory:
    """names: the listed names, in any order; child: the node of a name, a leaf's text, None if there is none.

    kind: the name of Kafka's class, for one of its errors.
    """

    __slots__ = ("child", "kind", "names")

    def __init__(
        self, kind: str, names: Callable[[], Iterable[str]], child: Callable[[str], Directory | str | None]
    ) -> None:
        self.kind = kind
        self.names = names
        self.child = child

    def sorted_names(self) -> list[str]:
        return sorted(self.names(), key=java_order)


def java_order(name: str) -> bytes:
    """Java compares texts by their UTF-16 units."""
    return name.encode("utf-16-be", "surrogatepass")


def fixed_directory(kind: str, children: Children) -> Directory:
    """A directory with fixed names."""
    return Directory(kind, lambda: children, lambda name: children[name]() if name in children else None)


def by_number(kind: str, numbers: Mapping[int, object], text: Callable[[int], str]) -> Directory:
    """A directory of numbers. `+1` and `01` find 1, as `Integer.valueOf` does."""

    def child(name: str) -> str | None:
        number = java_int(name)
        return text(number) if number is not None and number in numbers else None

    return Directory(kind, lambda: map(str, numbers), child)


def java_int(text: str) -> int | None:
    """`Integer.parseInt`; None if it throws."""
    from records.java.java_forms import integer

    try:
        return integer(text)
    except ValueError:
        return None


def parse_uuid_name(name: str) -> bytes | None:
    try:
        return parse_uuid(name)
    except ValueError:
        return None


def root(image: Image) -> Directory:
    """The whole tree of an image."""
    from records.release import KAFKA_COMMIT_ID, KAFKA_VERSION

    local: Children = {"version": lambda: KAFKA_VERSION, "commitId": lambda: KAFKA_COMMIT_ID}
    children: Children = {
        "acls": lambda: fixed_directory("AclsImageNode", {"byId": lambda: acls(image)}),
        "clientQuotas": lambda: quotas(image),
        "cluster": lambda: cluster(image),
        "configs": lambda: configs(image),
        "delegationToken": lambda: tokens(image),
        "features": lambda: features(image),
        "producerIds": lambda: producer_ids(image),
        "provenance": lambda: provenance(image),
        "scram": lambda: scram(image),
        "topics": lambda: topics(image),
    }
    return fixed_directory(
        "RootShellNode",
        {
            "local": lambda: fixed_directory("LocalShellNode", local),
            "image": lambda: fixed_directory("MetadataImageNode", children),
        },
    )


def provenance(image: Image) -> str:
    time = texts.instant_text(image.last_time_ms)
    return f"offset {image.last_offset}, epoch {image.last_epoch}, time {time}"


def features(image: Image) -> Directory:
    from records.features.levels import METADATA_VERSION, known_metadata_version

    finalized = {name: level for name, level in image.features.items() if name != METADATA_VERSION}

    def child(name: str) -> str | None:
        if name == "metadataVersion":
            level = image.features.get(METADATA_VERSION)
            return "Optional.empty" if level is None else f"Optional[{known_metadata_version(level).name}]"
        return str(finalized.get(name.removeprefix(_FINALIZED), 0)) if name.startswith(_FINALIZED) else None

    return Directory(
        "FeaturesImageNode", lambda: ["metadataVersion", *(_FINALIZED + name for name in finalized)], child
    )


def cluster(image: Image) -> Directory:
    brokers, controllers = image.brokers, image.controllers
    return fixed_directory(
        "ClusterImageNode",
        {
            "brokers": lambda: by_number(
                "ClusterImageBrokersNode", brokers, lambda number: texts.broker_text(brokers[number])
            ),
            "controllers": lambda: by_number(
                "ClusterImageControllersNode", controllers, lambda number: texts.controller_text(controllers[number])
            ),
        },
    )


def topics(image: Image) -> Directory:
    def by_name(name: str) -> Directory | None:
        topic_id = image.topic_ids.get(name)
        return None if topic_id is None else topic_directory(image.topics[topic_id])

    def by_id(name: str) -> Directory | None:
        entry = image.topics.get(parse_uuid_name(name) or b"")
        return None if entry is None else topic_directory(entry)

    return fixed_directory(
        "TopicsImageNode",
        {
            "byName": lambda: Directory("TopicsImageByNameNode", lambda: image.topic_ids, by_name),
            "byId": lambda: Directory("TopicsImageByIdNode", lambda: map(uuid_text, image.topics), by_id),
        },
    )


def topic_directory(topic: Topic) -> Directory:
    def child(name: str) -> str | None:
        if name == "name":
            return topic.name
        if name == "id":
            return uuid_text(topic.topic_id)
        number = java_int(name)
        partition = None if number is None else topic.read_partitions().get(number)
        return None if partition is None else texts.partition_text(partition)

    return Directory("TopicImageNode", lambda: ["name", "id", *map(str, topic.read_partitions())], child)


def configs(image: Image) -> Directory:
    def name_of(resource: tuple[int, str]) -> str:
        kind = CONFIG_TYPES[resource[0]]
        return f"{kind}:{resource[1]}" if resource[1] else kind

    def child(name: str) -> Directory | None:
        for code, kind in CONFIG_TYPES.items():
            if name.startswith(kind):
                key = name[len(kind) :]
                return config_directory(image, (code, key[1:])) if key[:1] in ("", ":") else None
        return None

    return Directory("ConfigurationsImageNode", lambda: map(name_of, image.configs), child)


def config_directory(image: Image, resource: tuple[int, str]) -> Directory | None:
    values = image.configs.get(resource)
    return None if values is None else Directory("ConfigurationImageNode", lambda: values, values.get)


def quotas(image: Image) -> Directory:
    from records.java.java_values import java_text
    from tools.kafka.shell.quota_names import entity_name, named_entity

    def child(name: str) -> Directory | None:
        values = image.quotas.get(named_entity(name) or ())
        if values is None:
            return None
        return Directory(
            "ClientQuotaImageNode", lambda: values, lambda key: java_text(values[key]) if key in values else None
        )

    return Directory("ClientQuotasImageNode", lambda: map(entity_name, image.quotas), child)


def producer_ids(image: Image) -> Directory:
    def following() -> str:
        return str(next((value.next_id for value in image.producer_ids.values()), -1))

    return fixed_directory("ProducerIdsImageNode", {"nextProducerId": following})


def acls(image: Image) -> Directory:
    def child(name: str) -> str | None:
        acl = image.acls.get(parse_uuid_name(name) or b"")
        return None if acl is None else texts.acl_text(acl)

    return Directory("AclsImageByIdNode", lambda: map(uuid_text, image.acls), child)


def scram(image: Image) -> Directory:
    def users(mechanism: int) -> Directory:
        of_mechanism = {user: value for (user, number), value in image.scram.items() if number == mechanism}
        return Directory(
            "ScramMechanismNode",
            lambda: of_mechanism,
            lambda user: texts.scram_text(of_mechanism[user]) if user in of_mechanism else None,
        )

    def child(name: str) -> Directory | None:
        return users(MECHANISMS[name]) if name in MECHANISMS else None

    return Directory("ScramImageNode", lambda: MECHANISMS, child)


def tokens(image: Image) -> Directory:
    def child(name: str) -> str | None:
        return texts.token_text(image.tokens[name]) if name in image.tokens else None

    return Directory("DelegationTokenImageNode", lambda: image.tokens, child)
