"""Records as watchers see them: Kafka's JSON names, and no secrets."""

from __future__ import annotations

import pytest

from controller.server.grpc.record_trees import TYPE_NAMES, tree_of
from records.metadata.configs import ConfigRecord
from records.metadata.security import UserScramCredentialRecord

TOPIC, BROKER = 2, 4


def test_types_have_the_names_that_kafkas_own_tool_prints() -> None:
    assert (TYPE_NAMES[2], TYPE_NAMES[21]) == ("TOPIC_RECORD", "ZK_MIGRATION_STATE_RECORD")


def test_a_scram_credential_is_sent_without_salt_and_keys() -> None:
    record = UserScramCredentialRecord(
        name="alice", mechanism=1, salt=b"salt", stored_key=b"stored", server_key=b"server", iterations=4096
    )

    assert tree_of(record, 0) == (
        {
            "name": "alice",
            "mechanism": 1,
            "salt": None,
            "storedKey": None,
            "serverKey": None,
            "iterations": 4096,
        },
        ["salt", "storedKey", "serverKey"],
    )


@pytest.mark.parametrize(
    ("kind", "key", "is_hidden"),
    [
        (TOPIC, "retention.ms", False),
        (TOPIC, "nobody.knows.this", True),
        (BROKER, "log.retention.ms", False),
        (BROKER, "ssl.keystore.password", True),
        (BROKER, "listener.name.external.ssl.key.password", True),
        (BROKER, "listener.name.external.plain.sasl.jaas.config", True),
        (BROKER, "password.of.a.plugin", True),
        (99, "retention.ms", True),
    ],
)
def test_a_value_is_hidden_as_by_describe_configs(kind: int, key: str, is_hidden: bool) -> None:
    record = ConfigRecord(resource_type=kind, resource_name="x", name=key, value="1")

    tree, hidden = tree_of(record, 0)

    assert tree["value"] == (None if is_hidden else "1")
    assert hidden == (["value"] if is_hidden else [])


def test_a_removed_value_is_not_hidden() -> None:
    record = ConfigRecord(resource_type=BROKER, resource_name="1", name="ssl.key.password", value=None)

    assert tree_of(record, 0)[1] == []
