"""What Strimzi's operator decides from the answers of controllers, restated from its source of August 2026: whether a
node differs from its rendered file (and would be restarted again and again), and which controller may be rolled next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from controller.config.keys import server

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

DEFAULT_SOURCE = 5
# The keys whose values the operator compares on a controller that is no broker.
CONTROLLER_KEYS = (
    "alter.config.policy.class.name", "authorizer.class.name", "auto.create.topics.enable", "background.threads",
    "broker.heartbeat.interval.ms", "broker.session.timeout.ms", "connection.failed.authentication.delay.ms",
    "connections.max.idle.ms", "connections.max.reauth.ms", "controlled.shutdown.enable",
    "controlled.shutdown.max.retries", "controlled.shutdown.retry.backoff.ms", "controller.listener.names",
    "controller.quorum.append.linger.ms", "controller.quorum.election.backoff.max.ms",
    "controller.quorum.election.timeout.ms", "controller.quorum.fetch.timeout.ms",
    "controller.quorum.request.timeout.ms", "controller.quorum.retry.backoff.ms", "controller.quorum.voters",
    "controller.quota.window.num", "controller.quota.window.size.seconds", "controller.socket.timeout.ms",
    "create.topic.policy.class.name", "default.replication.factor", "delete.topic.enable", "early.start.listeners",
    "kafka.metrics.polling.interval.secs", "kafka.metrics.reporters", "leader.imbalance.check.interval.seconds",
    "leader.imbalance.per.broker.percentage", "listener.security.protocol.map", "listeners", "log.dir", "log.dirs",
    "min.insync.replicas", "max.connection.creation.rate", "max.connections.per.ip.overrides", "max.connections.per.ip",
    "max.connections", "metadata.log.dir", "metadata.log.max.record.bytes.between.snapshots",
    "metadata.log.max.snapshot.interval.ms", "metadata.log.segment.bytes", "metadata.log.segment.min.bytes",
    "metadata.log.segment.ms", "metadata.max.idle.interval.ms", "metadata.max.retention.bytes",
    "metadata.max.retention.ms", "metric.reporters", "metrics.num.samples", "metrics.recording.level",
    "metrics.sample.window.ms", "num.io.threads", "num.network.threads", "num.partitions",
    "offsets.topic.replication.factor", "principal.builder.class", "process.roles", "replica.selector.class",
    "reserved.broker.max.id", "sasl.kerberos.kinit.cmd", "sasl.kerberos.min.time.before.relogin",
    "sasl.kerberos.principal.to.local.rules", "sasl.kerberos.service.name", "sasl.kerberos.ticket.renew.jitter",
    "sasl.kerberos.ticket.renew.window.factor", "sasl.login.callback.handler.class", "sasl.login.class",
    "sasl.login.connect.timeout.ms", "sasl.login.read.timeout.ms", "sasl.login.refresh.buffer.seconds",
    "sasl.login.refresh.min.period.seconds", "sasl.login.refresh.window.factor", "sasl.login.refresh.window.jitter",
    "sasl.login.retry.backoff.max.ms", "sasl.login.retry.backoff.ms", "sasl.mechanism.controller.protocol",
    "sasl.oauthbearer.clock.skew.seconds", "sasl.oauthbearer.expected.audience", "sasl.oauthbearer.expected.issuer",
    "sasl.oauthbearer.jwks.endpoint.refresh.ms", "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms",
    "sasl.oauthbearer.jwks.endpoint.retry.backoff.ms", "sasl.oauthbearer.jwks.endpoint.url",
    "sasl.oauthbearer.scope.claim.name", "sasl.oauthbearer.sub.claim.name", "sasl.oauthbearer.token.endpoint.url",
    "sasl.server.callback.handler.class", "sasl.server.max.receive.size", "security.providers",
    "server.max.startup.time.ms", "socket.connection.setup.timeout.max.ms", "socket.connection.setup.timeout.ms",
    "socket.listen.backlog.size", "socket.receive.buffer.bytes", "socket.request.max.bytes", "socket.send.buffer.bytes",
    "ssl.cipher.suites", "ssl.client.auth", "ssl.enabled.protocols", "ssl.endpoint.identification.algorithm",
    "ssl.engine.factory.class", "ssl.key.password", "ssl.keymanager.algorithm", "ssl.keystore.certificate.chain",
    "ssl.keystore.key", "ssl.keystore.location", "ssl.keystore.password", "ssl.keystore.type",
    "ssl.principal.mapping.rules", "ssl.protocol", "ssl.provider", "ssl.secure.random.implementation",
    "ssl.trustmanager.algorithm", "ssl.truststore.certificates", "ssl.truststore.location", "ssl.truststore.password",
    "ssl.truststore.type", "super.users", "transaction.state.log.min.isr", "transaction.state.log.replication.factor",
    "queued.max.requests", "queued.max.requests.bytes", "unclean.leader.election.enable",
)  # fmt: skip


class Entry(NamedTuple):
    """One config as DescribeConfigs answers it. source: 5 for a default."""

    name: str
    value: str | None
    source: int


def differences(rendered: Mapping[str, str], described: Collection[Entry]) -> dict[str, tuple[str | None, str | None]]:
    """Key -> (in the file, on the node) of what the operator would change; texts are compared as they are."""
    found: dict[str, tuple[str | None, str | None]] = {}
    answered = {entry.name: entry for entry in described}
    for name in CONTROLLER_KEYS:
        if name not in server.KEYS:
            continue  # a custom option, such as super.users: never compared
        entry = answered.get(name)
        given = rendered.get(name)
        if given is None:
            if entry is not None and entry.source != DEFAULT_SOURCE:
                found[name] = (None, entry.value)
        elif entry is None or ("null" if entry.value is None else entry.value) != given:
            found[name] = (given, None if entry is None else entry.value)
    return found


class Voter(NamedTuple):
    """A voter as DescribeQuorum answers it. caught_up_ms: when it had last caught up with the leader, -1 for never."""

    id: int
    caught_up_ms: int


def may_roll(voters: Sequence[Voter], leader_id: int, node_id: int, fetch_timeout_ms: int = 2000) -> bool:
    """Whether enough of the other controllers have caught up with the leader for this one to be restarted."""
    if len(voters) == 1:
        return True
    led_ms = next(voter.caught_up_ms for voter in voters if voter.id == leader_id)
    caught_up = sum(
        voter.id != node_id
        and voter.caught_up_ms >= 0
        and (voter.id == leader_id or led_ms - voter.caught_up_ms < fetch_timeout_ms)
        for voter in voters
    )
    return caught_up >= (1 if len(voters) == 2 else (len(voters) + 2) // 2)
