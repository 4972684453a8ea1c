"""librdkafka and kafka-python as clients of stock brokers on controllers of ours, secured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, admin
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.admin import (
    ACL,
    ACLFilter,
    ACLOperation,
    ACLPermissionType,
    ACLResourcePatternType,
    ConfigResource,
    ConfigResourceType,
    ResourcePattern,
    ResourcePatternFilter,
    ResourceType,
    ScramMechanism,
    UserScramCredentialDeletion,
    UserScramCredentialUpsertion,
)
from kafka.errors import TopicAuthorizationFailedError

from tests.interop.cluster import OURS, eventually
from tests.interop.secured import ADMIN, ANN, MECHANISM, PASSWORDS, secured
from tests.raft.network.certificates import authority, needs_openssl

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.interop.secured import Secured
    from tests.interop.stock import Stock

pytestmark = needs_openssl
RECORDS = 300
SECONDS = 30
TOPIC_AUTHORIZATION_FAILED = 29


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory, stock: Stock) -> Iterator[Secured]:
    with secured(tmp_path_factory.mktemp("clients"), stock, [OURS, OURS, OURS]) as made:
        yield made


def librdkafka(found: Secured, user: str, password: str | None = None, **settings: Any) -> dict[str, Any]:
    return {
        "bootstrap.servers": found.bootstrap,
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": MECHANISM,
        "sasl.username": user,
        "sasl.password": password or PASSWORDS[user],
        "ssl.ca.location": str(authority() / "ca.pem"),
        "log_level": 0,
        **settings,
    }


def results(futures: dict[Any, Any]) -> dict[Any, Any]:
    """What each future comes to: its result, or the code of its error."""
    found = {}
    for key, future in futures.items():
        try:
            found[key] = future.result(SECONDS)
        except KafkaException as error:
            found[key] = error.args[0].code()
    return found


def test_librdkafka(found: Secured) -> None:
    root = admin.AdminClient(librdkafka(found, ADMIN))
    ann = admin.AdminClient(librdkafka(found, ANN))
    assert root.list_topics(timeout=SECONDS).brokers.keys() == {101}
    topic = admin.NewTopic("ann-rd", 3, 1, config={"retention.ms": "3600000"})
    assert results(ann.create_topics([topic])) == {"ann-rd": TOPIC_AUTHORIZATION_FAILED}

    # Rights by the admin client, and what they allow.
    bindings = [acl("ann-", operation) for operation in ("CREATE", "WRITE", "READ", "DESCRIBE_CONFIGS", "ALTER")]
    bindings.append(acl("ann-", "READ", kind=admin.ResourceType.GROUP))
    assert results(root.create_acls(bindings)) == dict.fromkeys(bindings)
    of_ann = admin.AclBindingFilter(
        admin.ResourceType.ANY, None, admin.ResourcePatternType.ANY, f"User:{ANN}", None,
        admin.AclOperation.ANY, admin.AclPermissionType.ANY,
    )  # fmt: skip
    eventually(lambda: set(root.describe_acls(of_ann).result(SECONDS)) == set(bindings), "the broker knows the ACLs")
    eventually(lambda: results(ann.create_topics([topic])).get("ann-rd") in {None, 36}, "ann may create a topic")
    eventually(lambda: described(ann, "ann-rd") == 3, "the topic")
    assert results(ann.create_partitions([admin.NewPartitions("ann-rd", 5)])) == {"ann-rd": None}
    eventually(lambda: described(ann, "ann-rd") == 5, "its new partitions")

    consumed = through(found)
    assert sorted(consumed) == list(range(RECORDS))

    # A credential that is made and removed.
    mechanism = admin.ScramMechanism.SCRAM_SHA_512
    bob = admin.UserScramCredentialUpsertion("bob", admin.ScramCredentialInfo(mechanism, 4096), b"bobs-secret", b"salt")
    assert results(root.alter_user_scram_credentials([bob])) == {"bob": None}
    eventually(lambda: may_log_in(found, "bob", "bobs-secret"), "bob may log in")
    gone = admin.UserScramCredentialDeletion("bob", mechanism)
    assert results(root.alter_user_scram_credentials([gone])) == {"bob": None}
    eventually(lambda: not may_log_in(found, "bob", "bobs-secret"), "bob may log in no more")

    # Rights that are taken away.
    assert sorted(map(repr, root.delete_acls([of_ann])[of_ann].result(SECONDS))) == sorted(map(repr, bindings))
    eventually(lambda: delivered(found) == TOPIC_AUTHORIZATION_FAILED, "ann may write no more")
    assert results(root.delete_topics(["ann-rd"])) == {"ann-rd": None}


def acl(name: str, operation: str, kind: Any = admin.ResourceType.TOPIC) -> Any:
    return admin.AclBinding(
        kind, name, admin.ResourcePatternType.PREFIXED, f"User:{ANN}", "*", admin.AclOperation[operation],
        admin.AclPermissionType.ALLOW,
    )  # fmt: skip


def described(client: Any, topic: str) -> int:
    """The number of its partitions; 0 while there is no such topic."""
    found = client.list_topics(timeout=SECONDS).topics.get(topic)
    return 0 if found is None or found.error else len(found.partitions)


def through(found: Secured) -> list[int]:
    """Numbers that ann writes, as ann's group reads them."""
    producer = Producer(librdkafka(found, ANN, **{"enable.idempotence": True}))
    failures: list[Any] = []

    def delivered_to(error: Any, _record: Any) -> None:
        if error is not None:
            failures.append(error)

    for number in range(RECORDS):
        producer.produce("ann-rd", str(number), on_delivery=delivered_to)
    assert producer.flush(SECONDS) == 0
    assert failures == []
    consumer = Consumer(librdkafka(found, ANN, **{"group.id": "ann-group", "auto.offset.reset": "earliest"}))
    consumer.subscribe(["ann-rd"])
    read: list[int] = []

    def whole() -> bool:
        read.extend(int(record.value()) for record in consumer.consume(RECORDS, 1.0) if not record.error())
        return len(read) >= RECORDS

    eventually(whole, "all records", 60)
    consumer.close()
    return read


def may_log_in(found: Secured, user: str, password: str) -> bool:
    errors: list[int] = []
    client = admin.AdminClient(librdkafka(found, user, password, error_cb=lambda error: errors.append(error.code())))
    try:
        return client.list_topics(timeout=3).cluster_id is not None
    except KafkaException:
        return False


def delivered(found: Secured) -> int:
    """The error of a record that ann writes; 0 for none."""
    codes: list[int] = []
    producer = Producer(librdkafka(found, ANN, **{"message.timeout.ms": 5000}))
    producer.produce("ann-rd", b"x", on_delivery=lambda error, _: codes.append(error.code() if error else 0))
    producer.flush(SECONDS)
    return codes[0]


def test_kafka_python(found: Secured) -> None:
    root = KafkaAdminClient(**python(found, ADMIN))
    ann = KafkaAdminClient(**python(found, ANN))
    topic = {"ann.py": {"num_partitions": 2, "replication_factor": 1, "configs": {"retention.ms": "3600000"}}}
    with pytest.raises(TopicAuthorizationFailedError):
        ann.create_topics(topic)

    pattern = ResourcePattern(ResourceType.TOPIC, "ann.", ACLResourcePatternType.PREFIXED)
    acls = [
        ACL(f"User:{ANN}", "*", operation, ACLPermissionType.ALLOW, pattern)
        for operation in (ACLOperation.CREATE, ACLOperation.WRITE, ACLOperation.READ, ACLOperation.ALTER_CONFIGS)
    ]
    made = root.create_acls(acls)
    assert (set(made["succeeded"]), made["failed"]) == (set(acls), [])
    every = ACLFilter(
        f"User:{ANN}", None, ACLOperation.ANY, ACLPermissionType.ANY,
        ResourcePatternFilter(ResourceType.TOPIC, None, ACLResourcePatternType.ANY),
    )  # fmt: skip
    eventually(lambda: set(root.describe_acls(every)[0]) == set(acls), "the broker knows the ACLs")
    eventually(lambda: not refused(lambda: ann.create_topics(topic)), "ann may create a topic")
    eventually(lambda: "ann.py" in ann.list_topics(), "the topic")

    producer = KafkaProducer(**python(found, ANN), acks="all")
    sent = [producer.send("ann.py", str(number).encode()) for number in range(RECORDS)]
    assert {each.get(SECONDS).topic for each in sent} == {"ann.py"}
    producer.close()
    consumer = KafkaConsumer("ann.py", **python(found, ANN), auto_offset_reset="earliest", consumer_timeout_ms=10_000)
    read = [int(record.value) for record, _ in zip(consumer, range(RECORDS), strict=False)]
    consumer.close()
    assert sorted(read) == list(range(RECORDS))

    ann.alter_configs([ConfigResource(ConfigResourceType.TOPIC, "ann.py", {"retention.ms": "7200000"})])
    assert root.describe_metadata_quorum()["topics"][0]["partitions"][0]["leader_id"] in {1, 2, 3}

    root.alter_user_scram_credentials(
        [UserScramCredentialUpsertion("cat", ScramMechanism.SCRAM_SHA_512, "cats-secret")]
    )
    # kafka-python leaves the sockets of refused connections open; so it tries where nothing is refused.
    eventually(lambda: may_log_in(found, "cat", "cats-secret"), "cat may log in")
    KafkaAdminClient(**python(found, "cat", "cats-secret")).close()
    root.alter_user_scram_credentials([UserScramCredentialDeletion("cat", ScramMechanism.SCRAM_SHA_512)])
    eventually(lambda: "cat" not in root.describe_user_scram_credentials(), "there is no credential of cat")

    removed = root.delete_acls([every])
    assert set(removed[0][1]) == set(acls)
    eventually(lambda: "ann.py" not in ann.list_topics(), "ann sees the topic no more")
    root.delete_topics(["ann.py"])
    root.close()
    ann.close()


def python(found: Secured, user: str, password: str | None = None) -> dict[str, Any]:
    return {
        "bootstrap_servers": found.bootstrap,
        "security_protocol": "SASL_SSL",
        "sasl_mechanism": MECHANISM,
        "sasl_plain_username": user,
        "sasl_plain_password": password or PASSWORDS[user],
        "ssl_cafile": str(authority() / "ca.pem"),
    }


def refused(call: Any) -> bool:
    try:
        call()
    except TopicAuthorizationFailedError:
        return True
    return False
