"""The deliberate differences: those of docs/differences.md, each with a sequence in `deliberate/`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from records.uuids import parse_uuid
from tests.oracle.commands import Pass, Request
from tests.oracle.compare import answer_tree

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.oracle.commands import Answer, Command
    from tests.oracle.compare import Difference
    from tests.oracle.picture import Picture

    # A topic's name, or its id where no topic has it, and the number of a partition.
    Place = tuple[str, int]


class Met(NamedTuple):
    """A difference and the command after which it was found.

    command: that of the answer, else the one that was just run. ours: what ours did when the difference was met.
    before: the state of ours before the command.
    """

    command: Command
    difference: Difference
    ours: Answer
    before: Picture

    @property
    def where(self) -> str:
        return self.difference.where

    def asks(self, *api_keys: int) -> bool:
        return isinstance(self.command, Request) and self.command.api_key in api_keys

    @property
    def body(self) -> dict[str, Any]:
        return self.command.body if isinstance(self.command, Request) else {}

    def name(self, topic_id: str) -> str:
        """The name of the topic with an id; the id where there is none."""
        return next((name for name, id_ in self.before.topics.items() if id_ == topic_id), topic_id)

    def records(self) -> list[dict[str, Any]]:
        """The differing records of both sides; empty where something else differs."""
        if not self.where.startswith("batches"):
            return []
        found = [tree for tree in self.difference.within if "type" in tree][:1]
        return found or [*entries(self.difference.ours), *entries(self.difference.stock)]

    def differ_in(self, *kinds: str) -> bool:
        """Whether only records differ, and all of them are of these kinds."""
        records = self.records()
        return bool(records) and all(record.get("type") in kinds for record in records)

    def places(self) -> set[Place]:
        """The partitions of the records that differ."""
        return {
            (self.name(record["topicId"]), record["partitionId"]) for record in self.records() if "topicId" in record
        }


class Deliberate(NamedTuple):
    """ends: whether the states of both differ from then on, so that the sequence ends there."""

    name: str
    ends: bool
    holds: Callable[[Met], bool]


CREATE_TOPICS, DELETE_TOPICS, CREATE_PARTITIONS = 19, 20, 37
ELECT_LEADERS, ALTER_REASSIGNMENTS, LIST_REASSIGNMENTS = 43, 45, 46
ALTER_PARTITION, UPDATE_FEATURES, REGISTRATION, HEARTBEAT, UNREGISTER, ASSIGN_REPLICAS = 56, 57, 62, 63, 64, 73
# Those that change partitions that they name.
PARTITION_APIS = (ELECT_LEADERS, ALTER_REASSIGNMENTS, ALTER_PARTITION, ASSIGN_REPLICAS)
# Those that have elections, and so ask for the min.insync.replicas of topics.
ELECTING = (*PARTITION_APIS, REGISTRATION, HEARTBEAT, UNREGISTER)
# Those of them that look for the partitions of a broker or of a directory.
LOOKING = (REGISTRATION, HEARTBEAT, UNREGISTER, ASSIGN_REPLICAS)
# SaslHandshake, SaslAuthenticate.
CREATE_ACLS, DESCRIBE_CONFIGS, INCREMENTAL_ALTER, REGISTER_CONTROLLER = 30, 32, 44, 70
# Operations of IncrementalAlterConfigs.
SET, DELETE, SUBTRACT = 0, 1, 3
TOPIC = 2
UNKNOWN_SERVER_ERROR, NOT_CONTROLLER = -1, 41
UNKNOWN_TOPIC, UNKNOWN_TOPIC_ID = 3, 100
CHANGE, NEW, FENCING = "PartitionChangeRecord", "PartitionRecord", "BrokerRegistrationChangeRecord"
REFERENCE = re.compile(r"\$topic_id\((.*)\)")
UNSUPPORTING = re.compile(r"Broker (-?\d+) (?:does not support this feature|only supports versions .*?)\.")
INCONSISTENT = re.compile(
    r"The manual partition assignment includes a partition with \d+ replica\(s\), but this is not consistent with "
    r"previous partitions, which have (\d+) replica\(s\)\."
)
# What stock says of itself when it fails: at min.insync.replicas that is no int, at a broker in an ISR or ELR that is
# no replica, and at partitions of deleted topics.
NO_INT = re.compile(
    r"fault: \w+: event failed with (NumberFormatException|PeriodicControlTaskException) .*For input string", re.DOTALL
)
NO_REPLICA = re.compile(r"event failed with IllegalArgumentException .*Replica \d+ is not assigned to this partition")
NO_TOPIC = re.compile(r"event failed with RuntimeException .*Topic ID .* existed in isrMembers, but not in", re.DOTALL)


def entries(tree: Any) -> list[dict[str, Any]]:
    """The trees in nested lists."""
    if isinstance(tree, list):
        return [found for item in tree for found in entries(item)]
    return [tree] if isinstance(tree, dict) else []


# Requests that stock fails at.


def is_unknown_error(met: Met) -> bool:
    """Stock answers -1 after an unexpected exception in its controller."""
    if not met.where.endswith("errorCode") or met.difference.stock != UNKNOWN_SERVER_ERROR or not has_cause(met):
        return is_unparsable_change(met)
    within = met.difference.within
    if met.asks(ALTER_REASSIGNMENTS) and len(within) == 3:
        return is_hard_to_reassign(met, (within[1]["name"], within[2]["partitionIndex"]))
    return True


def is_hard_to_reassign(met: Met, place: Place) -> bool:
    """Whether stock fails at a partition: at its topic's min.insync.replicas, or at its ELR."""
    strangers = [(met.name(topic_id), index) for topic_id, index in met.before.with_strangers()]
    return place[0] in met.before.unparsable or place in strangers


def has_cause(met: Met) -> bool:
    """Whether stock fails at something that the request needs."""
    if met.asks(*ELECTING) and met.before.unparsable:
        return True
    if met.asks(INCREMENTAL_ALTER) and is_odd_operation(met.body):
        return True
    if met.asks(DELETE_TOPICS, DESCRIBE_CONFIGS) and is_wildcard_user(met.command):
        return True
    if met.asks(ALTER_REASSIGNMENTS) and met.before.with_strangers():
        return True
    return met.asks(*LOOKING) and bool(met.before.deleted or met.before.with_strangers())


def is_wildcard_user(command: Command) -> bool:
    """Whether the sender is the user `*`, which stock's authorizer takes for a pattern, and fails."""
    return isinstance(command, Request) and command.principal == ("User", "*")


def is_odd_operation(body: dict[str, Any]) -> bool:
    """Whether a request alters a config by an unknown operation, or by one that lacks its operand."""
    configs = [config for resource in body.get("resources", ()) for config in resource.get("configs", ())]
    operations = [(config.get("configOperation", SET), config.get("value", "")) for config in configs]
    return any(kind not in (SET, DELETE) and (kind > SUBTRACT or value is None) for kind, value in operations)


def is_unparsable_change(met: Met) -> bool:
    """Partitions that stock does not reassign; its answer says so."""
    if not met.asks(ALTER_REASSIGNMENTS) or not met.differ_in(CHANGE) or met.difference.stock:
        return False
    return all(is_hard_to_reassign(met, place) for place in met.places())


def is_failure(met: Met) -> bool:
    """An event or a periodic task of stock's controller raised an unexpected exception."""
    if met.where != "notes" or met.difference.ours or not met.difference.stock:
        return False
    text = str(met.difference.stock[0])
    if NO_INT.search(text):
        return bool(met.before.unparsable) and (isinstance(met.command, Pass) or met.asks(*ELECTING))
    if met.asks(INCREMENTAL_ALTER):
        return is_odd_operation(met.body)
    if NO_REPLICA.search(text):
        return bool(met.before.with_strangers()) and met.asks(*LOOKING)
    return bool(NO_TOPIC.search(text)) and met.before.deleted and met.asks(*LOOKING)


# Two changes of one partition.


def is_named_twice(met: Met) -> bool:
    """A partition that a request names twice: its records, and its answer."""
    if not met.asks(*PARTITION_APIS):
        return False
    named = partitions_of(met.body)
    twice = {place for place in named if named.count(place) > 1}
    if met.differ_in(CHANGE):
        return met.places() <= twice
    places = answered_places(met)
    return bool(places) and places <= twice


def partitions_of(tree: Any, topic: str = "") -> list[Place]:
    """The partitions that a body names, by topic, with repetitions."""
    if isinstance(tree, list):
        return [place for item in tree for place in partitions_of(item, topic)]
    if not isinstance(tree, dict):
        return []
    topic = str(tree.get("name") or tree.get("topic") or tree.get("topicId") or topic)
    reference = REFERENCE.fullmatch(topic)
    topic = reference[1] if reference else topic
    found = []
    if "topics" not in tree and "topicPartitions" not in tree and "directories" not in tree:
        for key in ("partitions", "partitionIndexes"):
            found += [
                (topic, int(item.get("partitionIndex", 0) if isinstance(item, dict) else item))
                for item in tree.get(key, [])
            ]
    for key in ("topics", "topicPartitions", "directories"):
        found += partitions_of(tree.get(key) or [], topic)
    return found


def answered_places(met: Met) -> set[Place]:
    """The partitions of the differing parts of an answer."""
    difference = met.difference
    if not difference.number:
        return set()
    trees = [*difference.within, *entries(difference.ours), *entries(difference.stock)]
    topics = [tree for tree in trees if "topic" in tree or "name" in tree or "topicId" in tree]
    numbers = [tree.get("partitionIndex", tree.get("partitionId")) for tree in trees]
    if len(topics) != 1:
        return set()
    topic = topics[0]
    name = topic.get("topic") or topic.get("name") or met.name(str(topic.get("topicId")))
    return {(str(name), number) for number in numbers if number is not None}


def is_offline_heartbeat(met: Met) -> bool:
    """A heartbeat with offline directories and by which its broker changes its state: partitions in them."""
    offline = met.body.get("offlineLogDirs")
    if not met.asks(HEARTBEAT) or not offline or "broker_state_changed" not in met.ours.events:
        return False
    if not met.differ_in(CHANGE, FENCING) or not has_same_fencing(met):
        return False
    broker_id = met.body.get("brokerId", 0)
    directories = {parse_uuid(text) for text in offline}
    in_them = {
        (met.name(topic_id), index)
        for (topic_id, index), partition in met.before.partitions.items()
        if broker_id in partition.replicas and not directories.isdisjoint(partition.directories)
    }
    return met.places() <= in_them


def has_same_fencing(met: Met) -> bool:
    """Whether both sides wrote the same records of brokers, or one of them nothing else."""
    sides = [
        sorted(str(record) for record in entries(side) if record.get("type") == FENCING)
        for side in (met.difference.ours, met.difference.stock)
    ]
    return sides[0] == sides[1] or not met.places()


def is_offline_assignment(met: Met) -> bool:
    """Replicas that are put into a directory that is offline."""
    if not met.asks(ASSIGN_REPLICAS) or not met.differ_in(CHANGE):
        return False
    broker = met.before.brokers.get(met.body.get("brokerId", 0))
    if broker is None:
        return False
    offline = [
        directory
        for directory in met.body.get("directories", [])
        if not broker.has_online(parse_uuid(directory.get("id", "AAAAAAAAAAAAAAAAAAAAAA")))
    ]
    return met.places() <= set(partitions_of(offline))


# Indexes and tables that keep what is gone.


def is_stale_index(met: Met) -> bool:
    """Partitions that Kafka finds by an index of ELRs from which ClearElrRecord took nothing.

    A partition that enters such an index again is there twice, and where both leave it, a 0 remains: partition 0.
    """
    if not met.asks(REGISTRATION, UNREGISTER) or met.where != f"batches[] (|{CHANGE})":
        return False
    broker_id = met.body.get("brokerId", 0)
    stale = {place for place, brokers in met.before.cleared.items() if broker_id in brokers}
    found = {(record["topicId"], record["partitionId"]) for record in met.records()}
    return found <= stale | {(topic_id, 0) for topic_id, _ in stale}


def is_stable_lookup(met: Met) -> bool:
    """DeleteTopics of a topic whose creation, or whose first deletion, is not committed yet."""
    if not met.asks(DELETE_TOPICS):
        return False
    if met.where == "DeleteTopics.responses[].errorCode":
        deleted = met.before.uncommitted - set(met.before.topics.values())
        codes = (met.difference.ours, met.difference.stock)
        return codes == (UNKNOWN_TOPIC, UNKNOWN_TOPIC_ID) and bool(deleted)
    if not met.where.endswith("(RemoveTopicRecord|)"):
        return False
    return met.differ_in("RemoveTopicRecord") and all(
        record["topicId"] in met.before.uncommitted for record in met.records()
    )


def is_swept_again(met: Met) -> bool:
    """A removal of a delegation token in stock alone while the first is not committed yet, or in ours alone while the
    token's creation is not.
    """
    removals = ("(|RemoveDelegationTokenRecord)", "(RemoveDelegationTokenRecord|)")
    if not isinstance(met.command, Pass) or not met.where.endswith(removals):
        return False
    return all(record["tokenId"] in met.before.uncommitted for record in met.records())


def is_listed_twice(met: Met) -> bool:
    """Reassignments that both list, stock twice."""
    if not met.asks(LIST_REASSIGNMENTS) or met.where != "ListPartitionReassignments.topics (|entry)":
        return False
    body = dict(met.ours.responses).get(met.difference.number)
    listed = answer_tree(LIST_REASSIGNMENTS, 0, body)["topics"]
    return met.body.get("topics") is None and all(topic in listed for topic in met.difference.stock)


def is_deleted_config(met: Met) -> bool:
    """Configs of topics in stock's image only."""
    if met.where != "snapshot (|ConfigRecord)":
        return False
    return all(record["resourceType"] == TOPIC for record in met.difference.stock)


def is_elr_in_image(met: Met) -> bool:
    """ELRs and last known ELRs in our snapshot only: the feature is off, and stock omits them."""
    return met.where.endswith((".eligibleLeaderReplicas", ".lastKnownElr")) and met.where.startswith("snapshot")


# The rest.


def is_other_broker(met: Met) -> bool:
    """The broker that an error of UpdateFeatures names, of several that do not support the level."""
    if met.where != "UpdateFeatures.errorMessage":
        return False
    texts = [str(text) for text in (met.difference.ours, met.difference.stock)]
    named = [UNSUPPORTING.search(text) for text in texts]
    if not all(named) or len({UNSUPPORTING.sub("", text) for text in texts}) != 1:
        return False
    return all(int(found[1]) in met.before.brokers for found in named if found is not None)


def is_refused_and_written(met: Met) -> bool:
    """Partitions that stock writes although it refuses their topic: the first of the requested ones, not all."""
    if not met.asks(CREATE_PARTITIONS) or not met.where.endswith(f"(|{NEW})"):
        return False
    wanted = {topic["name"]: topic.get("count", 0) for topic in met.body["topics"] if topic.get("assignments") is None}
    by_topic: dict[str, list[int]] = {}
    for name, index in sorted(met.places()):
        by_topic.setdefault(name, []).append(index)
    for name, indexes in by_topic.items():
        first = met.before.partition_count(name)
        if indexes != list(range(first, first + len(indexes))) or first + len(indexes) >= wanted.get(name, 0):
            return False
    return True


def is_unequal_factor(met: Met) -> bool:
    """The replication factor of new partitions, where that of the others is not the same."""
    if not met.asks(CREATE_PARTITIONS):
        return False
    unequal = {name for name in met.before.topics if len(met.before.counts(name)) > 1}
    if met.differ_in(NEW):
        return {name for name, _ in met.places()} <= unequal
    within = met.difference.within
    if not met.where.startswith("CreatePartitions.results[].error") or len(within) < 2:
        return False
    topic = within[1]["name"]
    if met.where.endswith("errorCode"):
        return topic in unequal
    texts = [text for text in (met.difference.ours, met.difference.stock) if text is not None]
    named = [INCONSISTENT.fullmatch(str(text)) for text in texts]
    # Also the refusal of placement: there are not as many brokers as the greater factor wants.
    counts = met.before.counts(topic)
    return topic in unequal and all(found is None or int(found[1]) in counts for found in named)


def is_bad_registration(met: Met) -> bool:
    """A registration with a negative id, or a listener without a name, with that of another or an unknown protocol."""
    if not met.asks(REGISTRATION, REGISTER_CONTROLLER):
        return False
    listeners = met.body.get("listeners", [])
    named = [listener.get("name", "") for listener in listeners]
    is_odd = any(listener.get("securityProtocol", 0) not in range(4) for listener in listeners)
    return met.body.get("brokerId", 0) < 0 or is_odd or "" in named or len(set(named)) < len(named)


def is_refused_upgrade(met: Met) -> bool:
    """The control records of an upgrade of kraft.version that was refused together with another feature."""
    if not met.asks(UPDATE_FEATURES) or met.where != "batches (|)" or met.difference.ours:
        return False
    features = [update["feature"] for update in met.body["featureUpdates"]]
    return "kraft.version" in features and len(set(features)) > 1 and not met.ours.batches


def is_applied_before(met: Met) -> bool:
    """A config in effect, or where it is from, while this node cannot apply its dynamic configs."""
    if not met.asks(DESCRIBE_CONFIGS, CREATE_TOPICS) or ".configs[]." not in met.where:
        return False
    return not met.before.is_applicable()


def is_refused_entry(met: Met) -> bool:
    """An invalid ACL in a request to a controller that is not active."""
    if not met.asks(CREATE_ACLS) or not met.where.startswith("CreateAcls.results[].error"):
        return False
    within = met.difference.within
    return within[-1]["errorCode"] == NOT_CONTROLLER


def is_standby_lookup(met: Met) -> bool:
    """DeleteTopics on a standby: stock looks up the topics before it checks whether it is active."""
    return met.asks(DELETE_TOPICS) and not met.before.is_active and met.where.startswith("DeleteTopics.")


def is_late_on_standby(met: Met) -> bool:
    """A request with a timeout of 0 to a standby: stock checks the timeout first, ours whether it is active."""
    if met.before.is_active or met.body.get("timeoutMs", 0) > 0 or ".error" not in met.where:
        return False
    return met.asks(CREATE_TOPICS, DELETE_TOPICS, CREATE_PARTITIONS, ELECT_LEADERS, ALTER_REASSIGNMENTS)


def is_lost_credential(met: Met) -> bool:
    """SCRAM credentials in our image only."""
    return met.where == "snapshot (UserScramCredentialRecord|)"


EXCEPTIONS: tuple[Deliberate, ...] = (
    Deliberate("stock-answers-unknown", True, is_unknown_error),
    Deliberate("stock-fails", True, is_failure),
    # Kafka computes both changes from one base, ours the second from what the first has left.
    Deliberate("partition-twice", True, is_named_twice),
    # Kafka computes both changes of a partition from one base, and can leave a leader outside the ISR.
    Deliberate("heartbeat-offline-and-state", True, is_offline_heartbeat),
    # Kafka computes the leaving of the ISR from the base before the assignment, and can leave the replica as leader.
    Deliberate("assign-offline-directory", True, is_offline_assignment),
    # The ELR of a partition that was cleared is emptied once more when a broker that was in it comes back.
    Deliberate("stale-elr-index", True, is_stale_index),
    # DeleteTopics looks names up in the latest state; Kafka in what is committed.
    Deliberate("delete-looks-up-latest", True, is_stable_lookup),
    # So do RenewDelegationToken, ExpireDelegationToken and the removal of expired tokens.
    Deliberate("tokens-of-latest", True, is_swept_again),
    # Kafka's tables, read as of what is committed, give twice what was taken away and put back by a lost leadership.
    Deliberate("reassignments-listed-twice", False, is_listed_twice),
    # CreatePartitions of a topic ends at the first partition without an active replica; Kafka keeps those before it.
    Deliberate("refused-partitions-written", True, is_refused_and_written),
    # Kafka takes the factor of the first partition in a hash table, which depends on all writes since the last restart.
    Deliberate("unequal-replication-factor", True, is_unequal_factor),
    # In Kafka's image the configs of a deleted topic stay, and come back with a snapshot or a topic of that name.
    Deliberate("deleted-topic-configs", False, is_deleted_config),
    # Stock's snapshot loses the ELRs while their feature is off, so a restarted controller differs from the others.
    Deliberate("elr-in-image", True, is_elr_in_image),
    # Stock's image loses a credential that is written in one delta with the removal of all others.
    Deliberate("scram-in-image", True, is_lost_credential),
    # Of several brokers that do not support a level Kafka names the first in a hash table, ours the lowest id.
    Deliberate("first-broker", False, is_other_broker),
    # Stock takes brokers and controllers that nobody can reach by their listeners.
    Deliberate("bad-registration", True, is_bad_registration),
    # A refused UpdateFeatures changes nothing; in stock kraft.version is raised, and does not fall again.
    Deliberate("refused-kraft-version", True, is_refused_upgrade),
    # Where dynamic configs cannot be applied, those of the file are in effect; in stock those that were applied last.
    Deliberate("dynamic-configs-applied-before", False, is_applied_before),
    Deliberate("late-on-standby", False, is_late_on_standby),
    # A standby refuses; stock's looks the topics up in what is committed.
    Deliberate("delete-on-standby", False, is_standby_lookup),
    # Stock looks at the entries first, ours at whether it may serve the request.
    Deliberate("refused-acls-not-controller", False, is_refused_entry),
)


def names() -> tuple[set[str], set[str]]:
    """The names of the deliberate differences, and of those that are not corrected yet."""
    from tests.oracle.pending import PENDING

    return {row.name for row in EXCEPTIONS}, {row.name for row in PENDING}


def is_known(met: Met) -> tuple[str, bool] | None:
    """The name of a known difference, and whether the sequence ends there; None for an unknown one."""
    from tests.oracle.pending import PENDING  # it is written over this module

    for exception in (*EXCEPTIONS, *PENDING):
        if exception.holds(met):
            return exception.name, exception.ends
    return None
