"""A client with permissions for one topic sends random requests for others: it changes nothing and learns nothing.

Each mutant removes one check, and the client must detect it.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from controller.config.node import NodeConfig
from controller.core.serving import write_result
from controller.interface.access import Access
from controller.interface.effects import SetLogLevel
from controller.interface.inputs import Principal, Ticked
from controller.interface.loggers import Loggers
from controller.interface.results import Result
from controller.rules.authorizer import StandardAuthorizer
from controller.state.tables.acl import AclOperation
from records.errors import Error
from records.messages.acls import CreateAclsRequest, DeleteAclsRequest, DescribeAclsRequest
from records.messages.brokers import UnregisterBrokerRequest
from records.messages.configs import DescribeConfigsRequest, IncrementalAlterConfigsRequest
from records.messages.producer_ids import AllocateProducerIdsRequest
from records.messages.quotas import AlterClientQuotasRequest
from records.messages.scram import AlterUserScramCredentialsRequest
from records.messages.tokens import CreateDelegationTokenRequest
from records.messages.topics import CreatePartitionsRequest, CreateTopicsRequest, DeleteTopicsRequest
from records.metadata.security import AccessControlEntryRecord
from tests.controller.handlers.cluster_of_configs import NODE
from tests.controller.rig import Rig, new_topic

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT, MALLORY = Principal("User", "root"), Principal("User", "mallory")
HIDDEN, ABSENT, MINE = "hidden", "absent", "mine"
TOPIC, BROKER, LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32
SEEDS = range(4)
REQUESTS = 60


class World:
    """A controller with a hidden topic, and one that Mallory may do everything to."""

    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)
        self.rig = rig = Rig(
            seed=seed,
            node_id=1,
            access=Access(StandardAuthorizer({"User:root"})),
            delegation_token_secret_key="key",
        ).lead()
        rig.controller.env.config = NodeConfig(NODE)
        rig.controller.env.loggers = Loggers({"root": "INFO", "raft": None})
        rig.brokers_as(ROOT, 0)
        for name in (HIDDEN, MINE):
            rig.create_as(ROOT, name, (0,))
        record = AccessControlEntryRecord(
            id=bytes(15) + b"\1", resource_type=TOPIC, resource_name=MINE, pattern_type=3, principal=str(MALLORY),
            host="*", operation=AclOperation.ALL, permission_type=3,
        )  # fmt: skip
        write_result(rig.controller, Result(None, [(record, 0)]))
        rig.step(Ticked())

    def name(self) -> str:
        return self.rng.choice((HIDDEN, HIDDEN, ABSENT))

    def request(self) -> Any:
        rng, name = self.rng, self.name()
        kind = rng.choice((TOPIC, BROKER, LOGGER, CLIENT_METRICS, GROUP))
        named = {TOPIC: name, BROKER: "", LOGGER: "1", CLIENT_METRICS: "m", GROUP: "g"}[kind]
        config = {TOPIC: ("retention.ms", "5"), LOGGER: ("raft", "DEBUG"), CLIENT_METRICS: ("interval.ms", "1000")}.get(
            kind, ("min.insync.replicas", "1")
        )
        item, entry = IncrementalAlterConfigsRequest.AlterConfigsResource, AlterClientQuotasRequest.EntryData
        partitions = CreatePartitionsRequest.CreatePartitionsTopic
        token = CreateDelegationTokenRequest(
            owner_principal_type="User", owner_principal_name="root", renewers=(), max_lifetime_ms=-1
        )
        choices: tuple[Any, ...] = (
            UnregisterBrokerRequest(broker_id=0),
            AllocateProducerIdsRequest(broker_id=0, broker_epoch=self.rig.state.brokers[0].epoch),
            AlterClientQuotasRequest(
                entries=(
                    entry(
                        entity=(entry.EntityData(entity_type="user", entity_name="a"),),
                        ops=(entry.OpData(key="request_percentage", value=1.0, remove=False),),
                    ),
                ),
                validate_only=False,
            ),
            AlterUserScramCredentialsRequest(
                deletions=(),
                upsertions=(
                    AlterUserScramCredentialsRequest.ScramCredentialUpsertion(
                        name="m", mechanism=1, iterations=4096, salt=b"s", salted_password=b"p"
                    ),
                ),
            ),
            CreateAclsRequest(
                creations=(
                    CreateAclsRequest.AclCreation(
                        resource_type=TOPIC, resource_name="*", principal=str(MALLORY), host="*", operation=2,
                        permission_type=3,
                    ),
                )
            ),
            DeleteAclsRequest(filters=(DeleteAclsRequest.DeleteAclsFilter(**_EVERY),)),
            DescribeAclsRequest(**_EVERY),
            CreateTopicsRequest(topics=(new_topic(MINE, (0,)), new_topic(f"{ABSENT}-{rng.randrange(99)}", (0,)))),
            DeleteTopicsRequest(
                topics=(DeleteTopicsRequest.DeleteTopicState(name=name, topic_id=bytes(16)),), timeout_ms=1000
            ),
            DeleteTopicsRequest(
                topics=(DeleteTopicsRequest.DeleteTopicState(name=None, topic_id=self.rig.state.topic_ids[HIDDEN]),),
                timeout_ms=1000,
            ),
            CreatePartitionsRequest(
                topics=(
                    partitions(name=MINE, count=1, assignments=None), partitions(name=name, count=9, assignments=None),
                ),
                timeout_ms=1000, validate_only=False,
            ),
            IncrementalAlterConfigsRequest(
                resources=(
                    item(
                        resource_type=kind, resource_name=named,
                        configs=(item.AlterableConfig(name=config[0], config_operation=0, value=config[1]),),
                    ),
                ),
                validate_only=False,
            ),
            DescribeConfigsRequest(
                resources=tuple(
                    DescribeConfigsRequest.DescribeConfigsResource(
                        resource_type=each, resource_name=its, configuration_keys=None
                    )
                    for each, its in ((TOPIC, HIDDEN), (TOPIC, ABSENT), (GROUP, "g"))
                ),
                include_synonyms=False, include_documentation=False,
            ),
            token,
        )  # fmt: skip
        return rng.choice(choices)


_EVERY: dict[str, Any] = {
    "resource_type_filter": 1, "resource_name_filter": None, "pattern_type_filter": 1, "principal_filter": None,
    "host_filter": None, "operation": 1, "permission_type": 1,
}  # fmt: skip


def violations(seed: int) -> list[str]:
    """The first forbidden things that Mallory achieved; empty if there are none."""
    found = []
    world = World(seed)
    rig = world.rig
    for _ in range(REQUESTS):
        request = world.request()
        before, effects = rig.state.digest(), len(rig.others)
        # In an envelope: only an authenticated client may have tokens.
        answer = rig.ask(request, principal=MALLORY, forwarded=not isinstance(request, AllocateProducerIdsRequest))
        name = type(request).__name__
        if rig.state.digest() != before:
            found.append(f"{name} changed the metadata")
        if any(isinstance(effect, SetLogLevel) for effect in rig.others[effects:]):
            found.append(f"{name} changed the level of a logger")
        found += [f"{name} got {code.name}" for code in revealing_errors(answer)]
        if isinstance(request, DeleteTopicsRequest) and request.topics[0].name is None and answer.responses[0].name:
            found.append("the answer has the name of a hidden topic")
        if found:
            break
    return found


# Errors that say whether something exists.
_REVEALING = (Error.UNKNOWN_TOPIC_OR_PARTITION, Error.UNKNOWN_TOPIC_ID, Error.INVALID_PARTITIONS)


def revealing_errors(answer: Any) -> list[Error]:
    items = [answer, *getattr(answer, "responses", ()), *getattr(answer, "results", ())]
    codes = [item.error_code for item in items if hasattr(item, "error_code")]
    allowed = MINE, None
    own = [item.error_code for item in items if getattr(item, "name", "") in allowed[:1]]
    return [error for error in _REVEALING if error in codes and error not in own]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_client_allowed_one_topic_changes_and_learns_nothing_else(seed: int) -> None:
    assert violations(seed) == []


# Module, what stands there, and what takes its place.
MUTANTS = {
    "no API needs anything": (
        "controller.core.authorization", "if needs is None or env.access is None:", "if api is not None:",
    ),
    "topics are created by everyone": (
        "controller.handlers.topics",
        "return permission_on(state, context, env, AclOperation.CREATE, topic_type, names)",
        "return lambda name: True",
    ),
    "topics are deleted by everyone": (
        "controller.handlers.topic_deletion",
        "return self._all or allows(*self._asked, AclOperation.DELETE, AclResourceType.TOPIC, name)", "return True",
    ),
    "everyone learns whether a topic exists": (
        "controller.handlers.topic_deletion",
        "return self._all or self.describes(name)", "return True",
    ),
    "partitions are added by everyone": (
        "controller.handlers.partition_creation",
        "if may_alter(name):", "if name:",
    ),
    "configs are altered by everyone": (
        "controller.handlers.configs", "if may_alter[type_](name):",
        "if name is not None:",
    ),
    "levels of loggers are altered by everyone": (
        "controller.handlers.configs",
        "if not allows(state, context, env, AclOperation.CLUSTER_ACTION, AclResourceType.CLUSTER, CLUSTER_NAME):",
        "if resource is None:",
    ),
    "tokens of others are made by everyone": (
        "controller.handlers.security.delegation_tokens", "elif owner[:2] != context.principal[:2] and not allows(",
        "elif owner is None and not allows(",
    ),
    "a decision on one resource counts for all": (
        "controller.rules.permissions", "key = operation, resource_type, resource_name",
        "key = operation, resource_type, ''",
    ),
    "topics are described to everyone": (
        "controller.handlers.describe_configs",
        "if not may_describe[type_](name):",
        "if name is None:",
    ),
    "an ACL of one topic covers all": (
        "controller.state.tables.acl_index", "pattern = self._find(_LITERAL, resource_type, name)",
        "pattern = self._find(_LITERAL, resource_type, 'mine')",
    ),
}  # fmt: skip


@contextlib.contextmanager
def mutated(module_name: str, before: str, after: str) -> Iterator[None]:
    """The functions of a module with other code, for as long as the block runs."""
    module = importlib.import_module(module_name)
    source = inspect.getsource(module)
    assert source.count(before) == 1, (module_name, before)
    changed = dict(module.__dict__)
    exec(compile(source.replace(before, after), module.__file__ or "", "exec"), changed)
    swapped = []
    for owner, other in [(module, changed), *((c, changed[c.__name__].__dict__) for c in classes(module))]:
        for name, function in list(vars(owner).items()):
            if inspect.isfunction(function) and function.__module__ == module_name and name in other:
                swapped.append((function, function.__code__))
                function.__code__ = other[name].__code__
    try:
        yield
    finally:
        for function, code in swapped:
            function.__code__ = code


def classes(module: Any) -> list[Any]:
    return [each for each in vars(module).values() if inspect.isclass(each) and each.__module__ == module.__name__]


@pytest.mark.parametrize("name", MUTANTS)
def test_a_removed_permission_check_is_detected(name: str) -> None:
    with mutated(*MUTANTS[name]):
        found = [each for seed in SEEDS for each in violations(seed)]

    assert found != []
