"""The rules of the committed log about members: supported levels, directories of replicas, and batches that belong
together.

C10 for registrations that end, C13 of metadata transactions, C19 FeaturesSupported, C20 DirectoriesOnline.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from records.metadata.transactions import AbortTransactionRecord, BeginTransactionRecord, EndTransactionRecord
from simulations.cluster.metadata.image import NOBODY, UNCHANGED, decode_batch, levels_of
from simulations.world.violation import Violation

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from records.metadata.brokers import (
        BrokerRegistrationChangeRecord,
        RegisterBrokerRecord,
        RegisterControllerRecord,
        UnregisterBrokerRecord,
    )
    from records.metadata.configs import FeatureLevelRecord
    from records.metadata.topics import PartitionChangeRecord, PartitionRecord
    from simulations.cluster.metadata.image import Broker, Image, Levels, Partition

METADATA_VERSION = "metadata.version"
KRAFT_VERSION = "kraft.version"
ELR = "eligible.leader.replicas.version"
MIN_ISR = "min.insync.replicas"
UNCLEAN = "unclean.leader.election.enable"
TOPIC, BROKER = 2, 4  # types of config resources
PRODUCER_IDS = 1000  # in a block
# From these on: registrations of controllers, directories of replicas, cordoned ones, eligible leader replicas.
CONTROLLERS_SINCE, DIRECTORIES_SINCE, CORDONED_SINCE, ELR_SINCE = 15, 17, 30, 23
# Records of these levels hold what a level below has no place for.
LOSSY = (7, 8, 11, 13, 14, 15, 17, 23, 30, 32, 33)


def supports(levels: Levels, name: str, level: int) -> bool:
    """Whether a node with these supported levels supports a level of a feature; of a feature that it does not name,
    only 0.
    """
    low, high = levels.get(name, (0, 0))
    return low <= level <= high


def forbids_level(image: Image, name: str, level: int, metadata_version: int) -> str:
    """Why a feature cannot get a level beside this metadata.version (KIP-584, KIP-778); empty where it can.

    Registered nodes support the level; metadata.version does not fall below what existing records need.
    """
    nodes = [(f"broker {each}", broker.levels) for each, broker in image.brokers.items()]
    now = image.features.get(METADATA_VERSION, 0)
    if now >= CONTROLLERS_SINCE:
        nodes += [(f"controller {each}", levels) for each, levels in image.controllers.items()]
    for node, levels in nodes:
        if not supports(levels, name, level):
            return f"{node} supports {levels.get(name, (0, 0))}"
    if name == METADATA_VERSION and any(level < lossy <= now for lossy in LOSSY):
        return f"it was {now}, and the change would lose metadata"
    if name == ELR and level and metadata_version < ELR_SINCE:
        return f"{METADATA_VERSION} is {metadata_version}"
    return ""


def sets_feature(image: Image, record: FeatureLevelRecord, offset: int) -> None:
    """C19: a feature gets an allowed level."""
    name, level = record.name, record.feature_level
    wrong = forbids_level(image, name, level, image.features.get(METADATA_VERSION, 0))
    if wrong:
        raise Violation("C19", f"at {offset} {name} becomes {level}; {wrong}")


def shares_min_isr(image: Image, end_offset: int) -> None:
    """While ELRs are kept, min.insync.replicas is set for all brokers, and for no single one."""
    if not image.features.get(ELR, 0):
        return
    named = [name for (kind, name), values in image.configs.items() if kind == BROKER and name and MIN_ISR in values]
    if named or MIN_ISR not in image.configs.get((BROKER, ""), {}):
        raise Violation(
            "C19", f"before {end_offset} {ELR} is finalized, but {MIN_ISR} differs between brokers: {named}"
        )


def registers_broker(image: Image, record: RegisterBrokerRecord, offset: int) -> None:
    """A broker supports the finalized levels, and no other broker has its directories."""
    _supports_all(image, levels_of(record), f"broker {record.broker_id}", offset)
    if not directories_of_others(image, record.broker_id).isdisjoint(map(bytes, record.log_dirs)):
        raise Violation("C20", f"at {offset} broker {record.broker_id} has a directory of another broker")


def registers_controller(image: Image, record: RegisterControllerRecord, offset: int) -> None:
    """A controller supports the finalized levels."""
    _supports_all(image, levels_of(record), f"controller {record.controller_id}", offset)


def directories_of_others(image: Image, broker_id: int) -> set[bytes]:
    """The directories of all brokers but one."""
    return {each for other, broker in image.brokers.items() if other != broker_id for each in broker.directories}


def _supports_all(image: Image, levels: Levels, node: str, offset: int) -> None:
    for name, level in image.features.items():
        if not supports(levels, name, level):
            raise Violation("C19", f"at {offset} {name} is {level}, but {node} supports {levels.get(name, (0, 0))}")


def allows_unclean(image: Image, key: tuple[bytes, int], properties: Mapping[str, str]) -> bool:
    """Whether any replica may lead, by the topic's config, that of all brokers, or the node's properties file."""
    for resource in ((TOPIC, image.topics[key[0]]), (BROKER, "")):
        value = image.configs.get(resource, {}).get(UNCLEAN)
        if value is not None:
            return value.strip().lower() == "true"
    return properties.get(UNCLEAN) == "true"


def is_active(broker: Broker | None) -> bool:
    """Whether a broker may lead, and be in an ISR."""
    return broker is not None and not broker.fenced and not broker.leaving


def takes_replicas(broker: Broker) -> bool:
    """Whether one of its directories, if they are known, is not cordoned (KIP-1066)."""
    return not broker.directories or not set(broker.directories) <= set(broker.cordoned)


def are_active(image: Image, members: Iterable[int], text: str) -> None:
    """A broker added to an ISR is unfenced and not shutting down (KIP-841, KIP-903)."""
    for member in members:
        broker = image.brokers.get(member)
        if not is_active(broker):
            raise Violation("C06", f"{text}; {member} is {broker}")


def unregisters(image: Image, record: UnregisterBrokerRecord, offset: int) -> None:
    broker = image.brokers.get(record.broker_id)
    if broker is None or broker.epoch != record.broker_epoch:
        text = f"at {offset} broker {record.broker_id} of epoch {record.broker_epoch} is unregistered"
        raise Violation("C10", f"{text}; it is {broker}")


# Directories


def elects(image: Image, key: tuple[bytes, int], record: PartitionChangeRecord, offset: int) -> None:
    """A new leader has its replica in an online directory.

    A leader that is named again, as where a move ends, may be in one that has just failed, or get one: that is judged
    at the end of the batch.
    """
    partition = image.partitions[key]
    if record.leader in (UNCHANGED, NOBODY, partition.leader):
        return
    replicas = partition.replicas if record.replicas is None else tuple(record.replicas)
    directories = partition.directories if record.directories is None else tuple(map(bytes, record.directories))
    broker = image.brokers.get(record.leader)
    if broker is None or len(directories) != len(replicas) or record.leader not in replicas:
        return
    if not broker.serves(directories[replicas.index(record.leader)]):
        text = f"at {offset} {record.leader} becomes leader of {key[0].hex()[:8]}-{key[1]}, but its replica is offline"
        raise Violation("C20", f"{text}: of {broker}")


def places(image: Image, record: PartitionRecord, offset: int) -> None:
    """New partitions are placed in directories that their brokers have."""
    if image.features.get(METADATA_VERSION, 0) < DIRECTORIES_SINCE:
        return
    text = f"at {offset} partition {record.partition_id} of {bytes(record.topic_id).hex()[:8]} is created"
    if len(record.directories) != len(record.replicas):
        raise Violation("C20", f"{text} with {len(record.directories)} directories for {len(record.replicas)} replicas")
    for broker_id, directory in zip(record.replicas, record.directories, strict=True):
        broker = image.brokers.get(broker_id)
        if broker is None:
            continue
        if not broker.serves(bytes(directory)):
            raise Violation("C20", f"{text} in a directory that broker {broker_id} does not have")


def loses_directories(image: Image, record: BrokerRegistrationChangeRecord) -> list[tuple[bytes, int]]:
    """The partitions of which a broker has its replica in a directory that is now offline."""
    if not record.log_dirs:
        return []
    gone = set(image.brokers[record.broker_id].directories) - set(map(bytes, record.log_dirs))
    return [key for key, partition in image.partitions.items() if partition.directory_of(record.broker_id) in gone]


def moves_offline(image: Image, partition: Partition, record: PartitionChangeRecord) -> list[int]:
    """The brokers whose replica gets another directory, which is offline."""
    if record.directories is None:
        return []
    replicas = partition.replicas if record.replicas is None else record.replicas
    return [
        broker_id
        for broker_id, directory in zip(replicas, map(bytes, record.directories), strict=False)
        if directory != partition.directory_of(broker_id)
        and broker_id in image.brokers
        and not image.brokers[broker_id].serves(directory)
    ]


def is_out(partition: Partition, broker_id: int, text: str) -> None:
    """A replica in a directory that went offline leads nothing, and is in the ISR only as its last member."""
    if partition.leader == broker_id or (broker_id in partition.isr and len(partition.isr) > 1):
        raise Violation("C20", f"{text}; the directory of {broker_id} is offline")


# Transactions


class Transactions:
    """Batches from a begin record to its end belong together (KIP-868): the leader that began a transaction may end it,
    a later leader aborts it.
    """

    def __init__(self) -> None:
        self._epoch: int | None = None  # of the batch in which the one that is open was begun

    def take(self, batch: bytes) -> int:
        """One more committed batch. Returns how many transactions it aborts."""
        aborted = 0
        epoch = int.from_bytes(batch[12:16], "big", signed=True)
        for offset, record in decode_batch(batch):
            kind = type(record)
            if kind is BeginTransactionRecord:
                self._check(self._epoch is None, offset, "a transaction begins within another")
                self._epoch = epoch
            elif kind is AbortTransactionRecord:
                self._check(self._epoch is not None, offset, "a transaction is aborted that is not there")
                aborted += 1
                self._epoch = None
            elif self._epoch is not None:
                self._check(epoch == self._epoch, offset, f"epoch {epoch} goes on with a transaction of {self._epoch}")
                if kind is EndTransactionRecord:
                    self._epoch = None
            else:
                self._check(kind is not EndTransactionRecord, offset, "a transaction ends that is not there")
        return aborted

    def _check(self, holds: bool, offset: int, text: str) -> None:
        if not holds:
            raise Violation("C13", f"at {offset} {text}")
