"""The settings that the controller's rules use from the configuration."""

from dataclasses import fields

from controller.config.node import NodeConfig
from controller.interface.settings import Settings, settings_of

GIVEN = {
    "process.roles": "controller",
    "node.id": "1",
    "listeners": "CONTROLLER://127.0.0.1:9093",
    "controller.listener.names": "CONTROLLER",
    "controller.quorum.voters": "1@127.0.0.1:9093",
    "log.dirs": "data",
}


def test_by_default_the_settings_are_kafkas():
    assert settings_of(NodeConfig(GIVEN)) == Settings()


def test_each_setting_is_that_of_its_key():
    keys = {
        "broker.session.timeout.ms": "8001",
        "broker.heartbeat.interval.ms": "1002",
        "default.replication.factor": "3",
        "num.partitions": "4",
        "delete.topic.enable": "false",
        "auto.leader.rebalance.enable": "false",
        "leader.imbalance.check.interval.seconds": "305",
        "unclean.leader.election.interval.ms": "300006",
        "min.insync.replicas": "2",
        "unclean.leader.election.enable": "true",
        "metadata.max.idle.interval.ms": "507",
        "metadata.log.max.record.bytes.between.snapshots": "20000008",
        "metadata.log.max.snapshot.interval.ms": "3600009",
        "internal.metadata.max.batch.size.in.bytes": "8000010",
        "controller.quota.window.num": "14",
        "controller.quota.window.size.seconds": "15",
        "delegation.token.max.lifetime.ms": "604800011",
        "delegation.token.expiry.time.ms": "86400012",
        "delegation.token.expiry.check.interval.ms": "3600013",
        "delegation.token.secret.key": "key",
        "kraft.delegation.tokens.max": "16",
        "kraft.delegation.tokens.owner.max": "17",
    }

    found = settings_of(NodeConfig({**GIVEN, **keys}))

    names = [field.name for field in fields(Settings) if field.name != "has_static_quotas"]
    assert {name: str(getattr(found, name)).lower() for name in names} == {
        key.replace(".", "_").removeprefix("internal_").removeprefix("kraft_"): value for key, value in keys.items()
    }
