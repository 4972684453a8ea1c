"""No answer leaves before what it shows is committed: refusals, reads, and changes that were there already.

For each request that wrote nothing, the handler gets it a second time with the state as of the earliest commit at which
the answer may leave: it must give the same answer, and have nothing to write. So an answer that rests on a record which
may yet be lost is found whatever the API, with no list of what each of them reads.
"""

from __future__ import annotations

import copy
from collections import Counter
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from controller.config.node import NodeConfig
from controller.core.apis import APIS
from controller.handlers.security.delegation_tokens import Secrets
from controller.interface.inputs import Principal, Requested
from controller.interface.refusals import error_response
from controller.rules.mutation_quotas import with_throttle
from records.batch import batches
from records.errors import ApiError
from records.messages.brokers import BrokerHeartbeatRequest
from records.messages.configs import AlterConfigsRequest, DescribeConfigsRequest, IncrementalAlterConfigsRequest
from records.messages.features import UpdateFeaturesRequest
from records.messages.quotas import AlterClientQuotasRequest
from records.messages.reassignments import AlterPartitionReassignmentsRequest, ElectLeadersRequest
from records.messages.scram import AlterUserScramCredentialsRequest
from records.messages.tokens import (
    CreateDelegationTokenRequest,
    ExpireDelegationTokenRequest,
    RenewDelegationTokenRequest,
)
from records.messages.topics import CreatePartitionsRequest, CreateTopicsRequest
from tests.controller.handlers.cluster_of_configs import BROKER, NODE, TOPIC
from tests.controller.rig import set_config
from tests.controller.test_random_requests import BROKERS, NAMES, WEIGHTS, Life, Reassignable, replayed

if TYPE_CHECKING:
    from controller.interface.env import Env
    from controller.interface.inputs import RequestContext

KEY = "a key"
# The names of the resources of type BROKER that a controller describes: all nodes, and itself.
NODES = ("", "3000")
VOTER = {"node.id": "3000", "controller.quorum.voters": "3000@127.0.0.1:9093"}
DESCRIBED = ("min.insync.replicas", "unclean.leader.election.enable")
# Whose rate of changes of topics may be limited, and the versions that are served with a throttle time nevertheless.
LIMITED = {"principal": Principal("User", "ann"), "client_id": "c"}
PERMISSIVE = {CreateTopicsRequest: 5, CreatePartitionsRequest: 2}
# Whether a broker may stop is decided by what it leads now, also if that is not committed: it then stops later.
NOT_COMPARED = (BrokerHeartbeatRequest,)


class Watched(Life):
    """Random requests, more of them about what is not committed yet.

    early: the answers that may leave too early, each with that of the committed state. compared: request -> how many of
    its answers may leave while something that was there before it is not committed.
    """

    def __init__(self, seed: int) -> None:
        super().__init__(seed, delegation_token_secret_key=KEY)
        self.rig.controller.env.config = NodeConfig(NODE | VOTER)
        self.repeatable: list[tuple[Any, int, dict[str, Any]]] = []
        self.token_ids: dict[str, None] = {}
        self.sender: dict[str, Any] = {}
        self.early: list[Any] = []
        self.compared: Counter[str] = Counter()
        self.begin()
        self._step, self.rig.step = self.rig.step, self.step

    def begin(self) -> None:
        """Brokers, and topics whose reassignments cannot be cancelled without an unclean election."""
        rig = self.rig
        rig.auto = True
        rig.brokers(*BROKERS)
        for name in ("foo", "bar", "x"):
            rig.create(name, (0, 1), unclean_leader_election_enable=self.pick(("true", "false")))
            part = Reassignable.ReassignablePartition(partition_index=0, replicas=(2, 3))
            rig.ask(AlterPartitionReassignmentsRequest(topics=(Reassignable(name=name, partitions=(part,)),)))
            rig.alter(name, (0, 1, 2))
        rig.fence(0, 1).unfence(0, 1)
        rig.auto = False

    def send(self, request: Any, version: int | None = None, **context: Any) -> None:
        if self.sender and self.random.random() < 0.3:
            version = PERMISSIVE.get(type(request))
        super().send(request, version, **self.sender, **context)

    # What may happen, beside what Life does.

    def repeat(self) -> None:
        """A client that had no answer sends a request again: what it asks for may be done, and not committed."""
        if self.repeatable:
            request, version, sender = self.pick(self.repeatable[-12:])
            self.send(request, version, **sender)

    def alter_configs(self) -> None:
        name, key, values = self.pick(
            (
                (self.pick(NAMES), "min.insync.replicas", ("1", "2", "many")),
                (self.pick(NAMES), "unclean.leader.election.enable", ("true", "false")),
                (str(self.pick(BROKERS)), "min.insync.replicas", ("1", "2")),
                (self.pick(NODES), "min.insync.replicas", ("1", "2")),
                (self.pick(NODES), "unclean.leader.election.enable", ("true", "false")),
            )
        )
        is_incremental = self.random.random() < 0.7
        cls: Any = IncrementalAlterConfigsRequest if is_incremental else AlterConfigsRequest
        fields = {"config_operation": self.pick((0, 0, 1))} if is_incremental else {}
        config = cls.AlterConfigsResource.AlterableConfig(name=key, value=self.pick(values), **fields)
        kind = TOPIC if name in NAMES else BROKER
        resource = cls.AlterConfigsResource(resource_type=kind, resource_name=name, configs=(config,))
        self.send(cls(resources=(resource,), validate_only=self.random.random() < 0.3))

    def describe_configs(self) -> None:
        of = DescribeConfigsRequest.DescribeConfigsResource
        kind, name = self.pick((*((TOPIC, name) for name in NAMES), *((BROKER, name) for name in NODES)))
        asked = of(resource_type=kind, resource_name=name, configuration_keys=DESCRIBED)
        self.send(DescribeConfigsRequest(resources=(asked,), include_synonyms=self.random.random() < 0.5))

    def cancel(self) -> None:
        """Cancel a reassignment, maybe just when whether its topic allows unclean elections is changed."""
        partitions = self.rig.state.partitions
        running = [(topic.name, index) for topic, index, partition in partitions if partition.is_reassigning]
        if not running:
            return
        name, index = self.pick(running)
        if self.random.random() < 0.5:
            kind, resource = self.pick(((TOPIC, name), (BROKER, "")))
            set_config(self.rig, kind, resource, "unclean.leader.election.enable", self.pick(("true", "false")))
        part = Reassignable.ReassignablePartition(partition_index=index, replicas=None)
        self.send(AlterPartitionReassignmentsRequest(topics=(Reassignable(name=name, partitions=(part,)),)))

    def create_token(self) -> None:
        request = CreateDelegationTokenRequest(
            owner_principal_type=None,
            owner_principal_name=None,
            renewers=(),
            max_lifetime_ms=self.pick((5000, 60_000)),
        )
        self.send(request, **self.owner())

    def renew_token(self) -> None:
        request = RenewDelegationTokenRequest(hmac=self.secret(), renew_period_ms=self.pick((1000, 20_000)))
        self.send(request, **self.owner())

    def expire_token(self) -> None:
        request = ExpireDelegationTokenRequest(hmac=self.secret(), expiry_time_period_ms=self.pick((-1, 0, 3000)))
        self.send(request, **self.owner())

    def owner(self) -> dict[str, Any]:
        """Who sends a request about tokens."""
        return {"principal": Principal("User", self.pick(("ann", "bob"))), "forwarded": True}

    def secret(self) -> bytes:
        """The secret of one of the last tokens, which may be gone, or not committed."""
        self.token_ids.update(dict.fromkeys(self.rig.state.tokens))
        return Secrets(KEY).hmac(self.pick(["none", *self.token_ids][-4:]))

    def grow_in_a_dry_run(self) -> None:
        name, count = self.partition()
        topic = CreatePartitionsRequest.CreatePartitionsTopic(name=name, count=count + 1, assignments=None)
        self.send(CreatePartitionsRequest(topics=(topic,), timeout_ms=1000, validate_only=True))

    def elect_named(self) -> None:
        name, index = self.partition()
        named = ElectLeadersRequest.TopicPartitions(topic=name, partitions=(index,))
        self.send(ElectLeadersRequest(election_type=self.random.randint(0, 1), topic_partitions=(named,)))

    def alter_quotas(self) -> None:
        self.alter_quota(self.pick(("ann", "bob")), "producer_byte_rate", self.pick((1.0, 2.0)))

    def alter_quota(self, user: str, key: str, value: float) -> None:
        entry = AlterClientQuotasRequest.EntryData
        op = entry.OpData(key=key, value=value, remove=self.random.random() < 0.3)
        entity = entry.EntityData(entity_type="user", entity_name=user)
        entries = (entry(entity=(entity,), ops=(op,)),)
        self.send(AlterClientQuotasRequest(entries=entries, validate_only=self.random.random() < 0.2))

    def limit(self) -> None:
        """Change how fast a user may change topics: what it has asked for before may be too much then."""
        self.alter_quota("ann", "controller_mutation_rate", self.pick((0.01, 0.1, 5.0)))

    def change_topics(self) -> None:
        """Requests of the user whose rate may be limited, maybe just when that is changed, and maybe beyond it."""
        if self.random.random() < 0.5:
            self.limit()
        self.sender = LIMITED
        for _ in range(self.random.randint(1, 3)):
            self.pick((self.create, self.delete, self.grow, self.grow_in_a_dry_run))()
        self.sender = {}

    def alter_scram(self) -> None:
        cls = AlterUserScramCredentialsRequest
        user = self.pick(("ann", "bob"))
        if self.random.random() < 0.5:
            self.send(cls(deletions=(cls.ScramCredentialDeletion(name=user, mechanism=1),), upsertions=()))
        else:
            new = cls.ScramCredentialUpsertion(
                name=user, mechanism=1, iterations=4096, salt=b"salt", salted_password=b"salted"
            )
            self.send(cls(deletions=(), upsertions=(new,)))

    def update_features(self) -> None:
        """A level on which what a broker's config may be, and which requests there are, rests."""
        name, level = self.pick(
            (("eligible.leader.replicas.version", 0), ("eligible.leader.replicas.version", 1), ("metadata.version", 29),
             ("metadata.version", 30), ("group.version", 1))
        )  # fmt: skip
        update = UpdateFeaturesRequest.FeatureUpdateKey(
            feature=name, max_version_level=level, upgrade_type=self.pick((1, 2))
        )
        self.send(UpdateFeaturesRequest(feature_updates=(update,), validate_only=self.random.random() < 0.2))

    # Watching.

    def step(self, event: Any) -> list[Any]:
        if not isinstance(event, Requested) or not self.rig.controller.is_active:
            return self._step(event)
        env = copy.copy(self.rig.controller.env)
        env.random = Random()
        env.random.setstate(self.rig.controller.env.random.getstate())
        env.wall_ms += self.rig.now_ms - env.now_ms
        env.now_ms = self.rig.now_ms
        env.sessions = copy.deepcopy(env.sessions)
        env.mutation_buckets = copy.deepcopy(env.mutation_buckets)
        context, end_offset = copy.copy(event.context), self.rig.end_offset
        sender = {name: getattr(context, name) for name in ("principal", "forwarded", "client_id")}
        self.repeatable.append((event.request, context.version, sender))
        effects = self._step(event)
        leaves = self.earliest(event.context)
        if event.context.written is None and leaves < end_offset and not isinstance(event.request, NOT_COMPARED):
            self.compare(leaves, event.context, context, env)
        return effects

    def earliest(self, context: RequestContext) -> int:
        """The least end of the committed records with which the answer to this request leaves."""
        committed = self.rig.state.committed_end_offset
        needed = [waiter.offset + 1 for waiter in self.rig.controller.waiting if waiter.context is context]
        ends = [committed, *(next(batches(data)).last_offset + 1 for data in self.rig.log)]
        return min(end for end in ends if end >= max([committed, *needed]))

    def compare(self, end_offset: int, served: RequestContext, context: RequestContext, env: Env) -> None:
        """Compare an answer with that of a controller which has the records below `end_offset` alone.

        served, context: of the request, with the throttle time that it was served with, and as it came.
        """
        request = served.request
        (response,) = [
            *(waiter.response for waiter in self.rig.controller.waiting if waiter.context.source == context.source),
            *(self.rig.replies[number] for number in (context.source.correlation,) if number in self.rig.replies),
        ]
        handler = APIS[context.api_key].handler
        assert handler is not None
        try:
            result = handler(replayed(self.rig.log, end_offset), context, request, env)
        except ApiError as error:
            expected, writes = error_response(request, error, context.version), False
        else:
            expected, writes = result.response, bool(result.records)
        if served.throttled_until_ms:
            response = with_throttle(served, response, env.now_ms)
        if context.throttled_until_ms:
            expected = with_throttle(context, expected, env.now_ms)
        self.compared[type(request).__name__] += 1
        if writes or expected != response:
            self.early.append((request, response, expected, writes))


KINDS = {
    **WEIGHTS, "repeat": 30, "alter_configs": 8, "grow_in_a_dry_run": 4, "elect_named": 10, "commit": 6, "lose": 1,
    "delete": 4, "alter": 25, "unregister": 3, "alter_quotas": 6, "alter_scram": 6, "update_features": 3,
    "describe_configs": 8, "cancel": 6, "create_token": 4, "renew_token": 5, "expire_token": 5,
    "limit": 2, "change_topics": 10,
}  # fmt: skip


@pytest.mark.parametrize("seed", range(30))
def test_no_answer_leaves_before_what_it_shows_is_committed(seed: int) -> None:
    life = Watched(seed)
    kinds = [kind for kind, weight in KINDS.items() for _ in range(weight)]

    for _ in range(300):
        getattr(life, life.pick(kinds))()

    assert life.early == []
    assert life.compared.total() > 20
