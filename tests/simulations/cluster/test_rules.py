"""The rules of requests: violations that they detect, and records and responses that they accept."""

from dataclasses import replace
from typing import Any

import pytest

from records.batch import build_batch
from records.errors import Error
from records.frame import encode_record
from records.messages.brokers import UnregisterBrokerRequest, UnregisterBrokerResponse
from records.messages.configs import IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse
from records.messages.features import UpdateFeaturesRequest, UpdateFeaturesResponse
from records.messages.partitions import AlterPartitionRequest
from records.messages.topics import CreateTopicsRequest, CreateTopicsResponse, DeleteTopicsRequest
from records.messages.versions import ApiVersionsRequest, ApiVersionsResponse
from records.metadata.brokers import BrokerRegistrationChangeRecord, UnregisterBrokerRecord
from records.metadata.configs import FeatureLevelRecord
from records.metadata.topics import PartitionChangeRecord, PartitionRecord, RemoveTopicRecord, TopicRecord
from records.metadata.transactions import BeginTransactionRecord, EndTransactionRecord
from records.schema import replace as changed
from simulations.cluster.metadata.image import Broker, Image, Partition
from simulations.cluster.rules import configs, elections, nodes, partitions, topics, written
from simulations.cluster.rules import placement as rng
from simulations.cluster.rules.case import Case
from simulations.cluster.rules.elections import Change
from simulations.cluster.rules.mirror import Mirror
from simulations.world.violation import Violation

TOPIC = b"t" * 16
LEVEL = {"metadata.version": 12}
LEVELS = {"metadata.version": (7, 30), "group.version": (0, 1), "kraft.version": (0, 1)}


def image(partition: Partition) -> Image:
    found = Image()
    found.features = dict(LEVEL)
    found.brokers = {each: Broker(each, b"i", fenced=False, leaving=False) for each in (101, 102, 103)}
    found.topics, found.names, found.counts = {TOPIC: "here"}, {"here": TOPIC}, {TOPIC: 1}
    found.partitions = {(TOPIC, 0): partition}
    return found


def partition(**fields: Any) -> Partition:
    plain = Partition((101, 102, 103), (101, 102), 101, 5, 7, (), (), (), ())
    return replace(plain, **fields)


def case(request: Any, records: list[Any], of: Image | None = None) -> Case:
    return Case(1, of or image(partition()), request, 3, records, {}, "cluster", (1, 2, 3))


def log_rules(before: Image, after: Image, replicas_max: int = 3, **fields: Any) -> None:
    record = PartitionChangeRecord(partition_id=0, topic_id=TOPIC, **fields)
    Change(before, after, record, lost=(), by_broker=-1, min_isr=1, replicas_max=replicas_max).log_rules(1)


def test_the_first_valid_replica_leads_if_the_leader_cannot() -> None:
    before, after = image(partition(isr=(103, 102, 101))), image(partition(isr=(103, 102, 101)))
    after.brokers[101].fenced = True

    log_rules(before, after, isr=(103, 102), leader=102)

    with pytest.raises(Violation, match="103 leads, and 102 comes before it"):
        log_rules(before, after, isr=(103, 102), leader=103)


def test_a_leader_epoch_does_not_rise_for_nothing() -> None:
    both = image(partition())

    with pytest.raises(Violation, match="the leader epoch rises without need"):
        log_rules(both, both, isr=(101, 102, 103), leader=101)


def test_a_field_that_does_not_change_is_not_written() -> None:
    both = image(partition())

    with pytest.raises(Violation, match="isr did not change"):
        log_rules(both, both, isr=(101, 102))


def test_a_partition_that_could_be_led_is_not_left_without_a_leader() -> None:
    both = image(partition())

    with pytest.raises(Violation, match="no replica leads, but"):
        log_rules(both, both, leader=-1)


def test_a_reassignment_completes_when_all_added_replicas_are_in_sync() -> None:
    both = image(partition(adding=(103,), removing=(102,)))

    with pytest.raises(Violation, match="the move goes on, and could be over"):
        log_rules(both, both, isr=(101, 102, 103))


def test_a_replica_that_leaves_an_isr_below_the_minimum_stays_eligible() -> None:
    both = image(partition())
    both.features["eligible.leader.replicas.version"] = 1
    both.configs[2, "here"] = {"min.insync.replicas": "2"}
    both.brokers[102].fenced = True

    log_rules(both, both, isr=(101,), eligible_leader_replicas=(102,))

    with pytest.raises(Violation, match="the ELR is "):
        log_rules(both, both, isr=(101,))


def test_the_min_isr_is_bounded_by_the_replicas_of_partition_0_before_the_operation() -> None:
    both = image(partition())
    both.features["eligible.leader.replicas.version"] = 1
    both.configs[2, "here"] = {"min.insync.replicas": "2"}
    both.brokers[102].fenced = True

    log_rules(both, both, replicas_max=1, isr=(101,))

    with pytest.raises(Violation, match="the ELR is "):
        log_rules(both, both, replicas_max=1, isr=(101,), eligible_leader_replicas=(102,))


def test_the_last_known_leader_leads_again_where_no_replica_is_eligible() -> None:
    both = image(partition(leader=-1, isr=(), last_known=(101,)))
    both.features["eligible.leader.replicas.version"] = 1

    assert elections.leads_nobody(both, 101) == [(TOPIC, 0)]
    assert elections.leads_nobody(both, 102) == []


def test_an_unclean_election_elects_an_unfenced_replica() -> None:
    both = image(partition(leader=-1, isr=(103,)))
    before = elections.leaderless_partitions(both, 102, {})
    both.configs[4, ""] = {"unclean.leader.election.enable": "true"}

    assert (before, elections.leaderless_partitions(both, 102, {})) == ([], [(TOPIC, 0)])


def test_a_reassignment_stays_open_while_its_last_in_sync_replica_is_fenced() -> None:
    both = image(partition(isr=(103,), adding=(103,), replicas=(101, 103)))
    both.brokers[103].fenced = True

    log_rules(both, both, leader=-1)


def created(**fields: Any) -> Case:
    wanted = CreateTopicsRequest.CreatableTopic(
        name="new", num_partitions=1, replication_factor=2, assignments=(), configs=()
    )
    request = CreateTopicsRequest(topics=(wanted,), timeout_ms=1)
    new = PartitionRecord(
        partition_id=0, topic_id=b"n" * 16, replicas=(102, 103), isr=(102, 103), leader=102, leader_epoch=0,
        partition_epoch=0, removing_replicas=(), adding_replicas=(),
    )  # fmt: skip
    return case(request, [TopicRecord(name="new", topic_id=b"n" * 16), changed(new, **fields)])


def test_a_new_partition_is_led_by_the_first_active_replica() -> None:
    topics.check_creation(created())

    with pytest.raises(Violation, match="partition 0: "):
        topics.check_creation(created(leader=103))


def test_a_valid_topic_is_not_refused() -> None:
    read = topics.check_creation(created())
    result = CreateTopicsResponse.CreatableTopicResult(name="new", error_code=Error.INVALID_REQUEST, error_message=None)

    with pytest.raises(Violation, match="is answered by INVALID_REQUEST, not NONE"):
        read(CreateTopicsResponse(throttle_time_ms=0, topics=(result,)))


def test_a_request_takes_effect_at_one_batch_boundary() -> None:
    gone = [encode_record(RemoveTopicRecord(topic_id=bytes([each] * 16)), 0) for each in (1, 2)]
    begin, end = (encode_record(record, 0) for record in (BeginTransactionRecord(), EndTransactionRecord()))
    request = DeleteTopicsRequest(topics=(), timeout_ms=1)
    mirror = Mirror(1, 1, Image(), {}, ("cluster", (1,), 0))

    def log(*parts: bytes) -> list[bytes]:
        return [build_batch([part], base_offset=0, leader_epoch=1, timestamp_ms=0) for part in parts]

    mirror.takes_as_a_whole(request, log(begin, *gone, end))
    mirror.takes_as_a_whole(AlterPartitionRequest(broker_id=1, broker_epoch=1, topics=()), log(*gone))
    for parts in (log(*gone), log(begin, gone[0], end, gone[1])):
        with pytest.raises(Violation, match="brings a DeleteTopicsRequest into effect in parts of"):
            mirror.takes_as_a_whole(request, parts)


def test_only_the_requested_topics_are_deleted() -> None:
    topic = DeleteTopicsRequest.DeleteTopicState(name="elsewhere", topic_id=bytes(16))
    request = DeleteTopicsRequest(topics=(topic,), timeout_ms=1)

    with pytest.raises(Violation, match="the removed topics"):
        topics.check_deletion(case(request, [RemoveTopicRecord(topic_id=TOPIC)]))


def test_a_request_with_an_old_leader_epoch_gets_that_error() -> None:
    member = AlterPartitionRequest.TopicData.PartitionData.BrokerState(broker_id=101, broker_epoch=101)
    asked = AlterPartitionRequest.TopicData.PartitionData(
        partition_index=0, leader_epoch=4, new_isr_with_epochs=(member,), partition_epoch=7
    )
    wanted = AlterPartitionRequest.TopicData(topic_id=TOPIC, partitions=(asked,))
    request = AlterPartitionRequest(broker_id=101, broker_epoch=101, topics=(wanted,))

    found = partitions.find_refusals(case(request, []), partition(), asked)

    assert found == {Error.FENCED_LEADER_EPOCH}


def updated(name: str, level: int, kind: int = 1, **of: Any) -> Any:
    """The result of UpdateFeatures with these records, if all nodes support levels up to 1."""
    update = UpdateFeaturesRequest.FeatureUpdateKey(feature=name, max_version_level=level, upgrade_type=kind)
    before = image(partition())
    before.controllers = dict.fromkeys((1, 2, 3), LEVELS)
    for broker in before.brokers.values():
        broker.levels = dict(LEVELS)
    before.features["metadata.version"] = 23
    request = UpdateFeaturesRequest(feature_updates=(update,))
    found = case(request, [FeatureLevelRecord(name=name, feature_level=level)] if of.get("is_written") else [], before)
    found.levels = LEVELS
    return nodes.check_features(found)


def test_a_level_that_all_nodes_support_is_set() -> None:
    refused = UpdateFeaturesResponse(throttle_time_ms=0, error_code=Error.INVALID_UPDATE_VERSION, error_message=None)

    for asked in (("group.version", 2), ("group.version", -1), ("group.version", 1, 2), ("no.version", 1)):
        updated(*asked)(refused)

    with pytest.raises(Violation, match="is answered by INVALID_UPDATE_VERSION, not NONE"):
        updated("group.version", 1, is_written=True)(refused)
    with pytest.raises(Violation, match="the records: "):
        updated("group.version", 1)


def test_kraft_version_is_raised_if_the_voters_have_reported_the_level() -> None:
    refused = UpdateFeaturesResponse(throttle_time_ms=0, error_code=Error.INVALID_UPDATE_VERSION, error_message=None)
    done = changed(refused, error_code=Error.NONE)

    read = updated("kraft.version", 1)
    read(refused)
    read(done)

    for wrong in (("kraft.version", 1, 2), ("kraft.version", -1)):
        with pytest.raises(Violation, match="is answered by NONE, not INVALID_UPDATE_VERSION"):
            updated(*wrong)(done)


def test_api_versions_must_name_the_client_software() -> None:
    request = ApiVersionsRequest(client_software_name="a b", client_software_version="1")
    read = nodes.versions(case(request, []))
    refused = ApiVersionsResponse(error_code=Error.INVALID_REQUEST, api_keys=())

    read(refused)

    with pytest.raises(Violation, match="is answered by NONE, not INVALID_REQUEST"):
        read(changed(refused, error_code=Error.NONE))


def configured(key: str, value: str | None, before: Image) -> set[Error]:
    """The possible errors of setting a key of all brokers."""
    resource = IncrementalAlterConfigsRequest.AlterConfigsResource
    change = resource.AlterableConfig(name=key, config_operation=0, value=value)
    one = resource(resource_type=4, resource_name="", configs=(change,))
    request = IncrementalAlterConfigsRequest(resources=(one,), validate_only=True)
    answer = IncrementalAlterConfigsResponse.AlterConfigsResourceResponse
    read = configs.check_alter(case(request, [], before))
    found = set()
    for code in (Error.NONE, Error.INVALID_CONFIG):
        result = answer(error_code=code, error_message=None, resource_type=4, resource_name="")
        try:
            read(IncrementalAlterConfigsResponse(throttle_time_ms=0, responses=(result,)))
            found.add(code)
        except Violation:
            pass
    return found


def test_a_controller_may_remove_cordoned_directories_but_not_add_any() -> None:
    before = image(partition())
    before.features["metadata.version"] = 30
    before.configs[4, ""] = {"cordoned.log.dirs": "/one,/two"}

    found = [configured("cordoned.log.dirs", value, before) for value in (None, "", "/two", "/two,/three")]

    assert found == [{Error.NONE}] * 3 + [{Error.INVALID_CONFIG}]


def batch(record: Any, version: int, timestamp_ms: int = 7) -> bytes:
    return build_batch([encode_record(record, version)], base_offset=0, leader_epoch=1, timestamp_ms=timestamp_ms)


def test_records_have_the_version_of_the_level_and_batches_the_present_time() -> None:
    change = BrokerRegistrationChangeRecord(broker_id=101, broker_epoch=5, log_dirs=(TOPIC,))

    written.log_rules(1, 30, batch(change, 2), 7)

    with pytest.raises(Violation, match=r"writes .* in version 3"):
        written.log_rules(1, 30, batch(change, 3), 7)
    with pytest.raises(Violation, match="writes at 8, but its batch has the timestamps"):
        written.log_rules(1, 30, batch(change, 2), 8)


def test_a_broker_epoch_ends_when_the_broker_is_unregistered() -> None:
    request = UnregisterBrokerRequest(broker_id=102)
    read = nodes.check_unregistration(case(request, [UnregisterBrokerRecord(broker_id=102, broker_epoch=102)]))

    read(UnregisterBrokerResponse(throttle_time_ms=0, error_code=Error.NONE, error_message=None))

    with pytest.raises(Violation, match="the unregistered broker"):
        nodes.check_unregistration(case(request, []))


def test_one_broker_does_not_lead_the_first_partition_of_every_topic() -> None:
    placing = rng.Placing()
    wanted = CreateTopicsRequest.CreatableTopic(
        name="new", num_partitions=1, replication_factor=1, assignments=(), configs=()
    )
    request = CreateTopicsRequest(topics=(wanted,), timeout_ms=1)
    made = TopicRecord(name="new", topic_id=TOPIC)

    def led_by(leader: int) -> Case:
        first = PartitionRecord(
            partition_id=0, topic_id=TOPIC, replicas=(leader,), isr=(leader,), removing_replicas=(),
            adding_replicas=(), leader=leader, leader_epoch=0, partition_epoch=0,
        )  # fmt: skip
        return case(request, [made, first])

    for _ in range(19):
        placing.on_created(led_by(101))
    placing.on_created(led_by(102))
    for _ in range(19):
        placing.on_created(led_by(101))

    with pytest.raises(Violation, match="20 topics in a row"):
        placing.on_created(led_by(101))


def test_a_broker_that_is_unfenced_leads_what_it_can_but_a_directory_that_fails_brings_no_leader() -> None:
    leaderless = partition(isr=(), leader=-1, elr=(101,))
    mirror = Mirror(1, 1, Image(), {}, ("cluster", (1,), 0))
    mirror.image = image(leaderless)
    mirror.image.brokers[101].fenced = True

    def log(**fields: Any) -> list[bytes]:
        return [batch(BrokerRegistrationChangeRecord(broker_id=101, broker_epoch=101, **fields), version=2)]

    with pytest.raises(Violation, match="node 1 unfences broker 101, which could lead"):
        mirror.wrote(log(fenced=-1))

    mirror.image = image(leaderless)
    mirror.wrote(log(log_dirs=(b"d" * 16,)))
