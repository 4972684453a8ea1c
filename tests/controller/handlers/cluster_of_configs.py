"""A small cluster for tests that call handlers directly: its state, its node, and short forms of requests."""

from __future__ import annotations

from random import Random
from typing import Any

from controller.config.node import NodeConfig
from controller.interface.env import Env
from controller.interface.inputs import RequestContext
from controller.interface.loggers import Loggers
from controller.interface.settings import settings_of
from controller.state.state import State
from records.metadata.brokers import RegisterBrokerRecord, RegisterControllerRecord
from records.metadata.configs import ConfigRecord, FeatureLevelRecord
from records.schema import default_of, replace

TOPIC, BROKER, LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32
SET, DELETE, APPEND, SUBTRACT = 0, 1, 2, 3

NODE = {
    "process.roles": "controller",
    "node.id": "1",
    "listeners": "CONTROLLER://127.0.0.1:9093",
    "controller.listener.names": "CONTROLLER",
    "controller.quorum.voters": "1@127.0.0.1:9093",
    "log.dirs": "/data/1",
}


def context(version: int = 0, *, forwarded: bool = False) -> RequestContext:
    return RequestContext(
        source=None,  # type: ignore[arg-type]
        api_key=0,
        version=version,
        listener="CONTROLLER",
        forwarded=forwarded,
    )


def env(file: dict[str, str] | None = None, **changes: Any) -> Env:
    """The Env of the active controller, node 1. file: keys that override NODE; changes: fields of Env."""
    config = NodeConfig(NODE | (file or {}))
    loggers = Loggers({"root": "INFO", "raft": "DEBUG", "raft.storage": None, "controller": None})
    made = Env("cluster-id", 1, Random(1), settings_of(config), config=config, epoch=1, leader_id=1, loggers=loggers)
    for name, value in changes.items():
        setattr(made, name, value)
    return made


def level(name: str, feature_level: int) -> FeatureLevelRecord:
    return FeatureLevelRecord(name=name, feature_level=feature_level)


def config(kind: int, name: str, key: str, value: str | None) -> ConfigRecord:
    return ConfigRecord(resource_type=kind, resource_name=name, name=key, value=value)


def broker(broker_id: int, *features: tuple[str, int, int]) -> RegisterBrokerRecord:
    """A broker that supports levels of features: name, least, greatest."""
    return replace(
        default_of(RegisterBrokerRecord),
        broker_id=broker_id,
        broker_epoch=100 + broker_id,
        features=tuple(
            RegisterBrokerRecord.BrokerFeature(name=name, min_supported_version=least, max_supported_version=most)
            for name, least, most in features
        ),
    )


def controller(controller_id: int, *features: tuple[str, int, int], listener: str = "CONTROLLER") -> Any:
    endpoint = RegisterControllerRecord.ControllerEndpoint(
        name=listener, host=f"host-{controller_id}", port=9000 + controller_id, security_protocol=0
    )
    return replace(
        default_of(RegisterControllerRecord),
        controller_id=controller_id,
        end_points=(endpoint,),
        features=tuple(
            RegisterControllerRecord.ControllerFeature(
                name=name, min_supported_version=least, max_supported_version=most
            )
            for name, least, most in features
        ),
    )


def replay(state: State, *records: Any, commit: bool = True) -> None:
    """Replay the next records of the log."""
    for record in records:
        offset = state.end_offset
        state.replay(record, offset)
        if commit:
            state.commit(offset + 1)


def state(*records: Any, metadata_version: int = 30, elr: int = 0) -> State:
    """The committed state of a cluster at a metadata.version, after these records."""
    found = State()
    first = [level("metadata.version", metadata_version)]
    if elr:
        first.append(level("eligible.leader.replicas.version", elr))
    replay(found, *first, *records)
    return found
