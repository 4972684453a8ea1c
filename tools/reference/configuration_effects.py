"""What each key of a node's file does on our controller: rows for `docs/configuration.md`, not imported by a node."""

from __future__ import annotations

# Our own keys: what the value means, and what follows from it.
OWN_TEXTS = {
    "kraft.pre.vote.on.lost.connection": "If the connection to the leader is lost, and the leader's machine refuses a"
    " new one, the node requests pre-votes at once. If false, it waits for `controller.quorum.fetch.timeout.ms`.",
    "kraft.first.election.timeout.ms": "A voter that starts and knows no leader waits for one to two times this long"
    " (ms) before it requests pre-votes. 0: at once.",
    "kraft.quorum.bootstrap.expect": "How many controllers with empty disks make one quorum when they are started,"
    " without `kafka-storage format`; `controller.quorum.bootstrap.servers` names exactly these"
    " ([operations.md](operations.md#a-quorum-that-forms-itself)). 0: a directory must be formatted.",
    "kraft.quorum.bootstrap.cluster.id": "The cluster id of a quorum that forms itself. If it is not set, it is made"
    " from the directory ids. With it, a controller joins no other cluster.",
    "kraft.quorum.voter.overrides": "Where voters may be, as a list of `id@host:port`, while kraft.version is 1. In an"
    " election, a voter that does not answer at its address in the voter set is asked here, and at"
    " `controller.quorum.bootstrap.servers`, by its directory id"
    " ([operations.md](operations.md#the-names-of-all-controllers-change)).",
    "kraft.autopilot.enable": "Whether this node, while it is the active controller, adds and removes voters by itself"
    " ([autopilot.md](autopilot.md)). Set it on all controllers.",
    "kraft.autopilot.stabilization.ms": "For how long an observer must have the leader's log without an interruption"
    " before it becomes a voter.",
    "kraft.autopilot.dead.after.ms": "A voter that has not fetched for this long is dead: it is removed if a spare is"
    " ready to take its place, or three other voters are healthy. Registrations of controllers that are gone for this"
    " long are removed too. 0: no voter is ever taken for dead.",
    "kraft.autopilot.voters.max": "The autopilot makes no more voters than this; an even number means one less.",
    "kraft.autopilot.zones": "The zone of each controller, as a list of `id:zone`: the autopilot adds no voter to a"
    " zone that has one. A node that is not listed may always be added.",
    "kraft.autopilot.leave.on.stop": "Whether a voter that gets SIGTERM is removed as a voter before it stops, if at"
    " least three voters stay and a majority of them is healthy ([autopilot.md](autopilot.md#leave-on-stop)). It takes"
    " 8 s at most; a second SIGTERM ends it.",
    "kraft.release": "The release of Kafka whose levels of features, APIs and rules the node has. `4.3`: those of"
    " 4.3.1, so metadata.version stays at 4.3-IV0 or below, and UnregisterController is unknown"
    " ([operations.md](operations.md#kafka-44)). Set it on all controllers.",
    "kraft.preview.release": "For releases of Kafka after 4.4, before they are here whole. `4.5`: as leader, the node"
    " sends ApiVersions to a voter's new address, and takes the UpdateRaftVoter only when the voter has answered there"
    " (KAFKA-20661). `4.4` is accepted, since it was a preview once, and changes nothing.",
    "kraft.log.format": "The format of the log lines on stderr: `console` for people, `json` for one JSON object a line"
    " ([logs.md](logs.md)).",
    "kraft.log.level": "The level of the root logger until it is changed at run time.",
    "kraft.audit.log": "The file of the audit log ([audit.md](audit.md)): who asked for a change, with which outcome,"
    " at which offset. Not set or empty: off.",
    "kraft.audit.log.bytes": "The greatest size of the file. Before a line that would exceed it, the file is renamed to"
    " FILE.1, FILE.1 to FILE.2, and so on.",
    "kraft.audit.log.files": "How many renamed files are kept. 0: a full file is deleted.",
    "kraft.audit.log.requests": "What has a line besides the requests that changed the metadata: `refused`, requests"
    " that were refused, and `reads`, requests that only read.",
    "kraft.http.listener": "The address (`HOST:PORT`) of probes, metrics and the status page. Not set: the port is"
    " off, and takes no memory.",
    "kraft.http.tls.certificate.path": "A PEM file with the certificate of the HTTP port and its intermediate"
    " certificates. A renewed file is used for new connections without a restart.",
    "kraft.http.tls.key.path": "A PEM file with the private key of that certificate.",
    "kraft.http.tls.client.ca.path": "A PEM file with the authorities that sign clients' certificates. If it is set, a"
    " client must have a certificate, and `kraft.http.allow` must list one of its names.",
    "kraft.http.allow": "The names of clients that may send requests, as in their certificates: `CN=…`, `DNS=…`,"
    " `URI=…`, `EMAIL=…`, `IP=…`; `*` allows every certificate of the authority.",
    "kraft.http.token.path": "A file of bearer tokens, one a line. A request must have one of them; probes without one"
    " get a short answer. A renewed file is used without a restart.",
    "kraft.http.hosts": "Names by which clients address the port, besides localhost, the machine's own and those of"
    " controllers in this file: of a proxy or a service, without a port. A request in plain text for another name gets"
    " status 421, unless it has a token; an IP address is always served. `*` allows every name.",
    "kraft.http.connections.max": "The most connections at a time, those of open pages included. One more closes the"
    " connection that has been idle for longest.",
    "kraft.agent.port": "The port on which a pod of Strimzi's operator answers it in the place of its Kafka agent, when"
    " `KAFKA_OPTS` has that agent ([strimzi.md](strimzi.md)).",
    "kraft.agent.local.port": "The port, on localhost, on which it answers the scripts of the pod.",
    "kraft.jaas.config.path": "The JAAS file, as `-Djava.security.auth.login.config=` in `KAFKA_OPTS` of a stock node."
    " It applies where no key has a login module. It is read when the node starts.",
    "kraft.scram.credentials.path": "A file of SCRAM credentials, for controllers that authenticate to each other"
    " before they have the log ([security.md](security.md)). A renewed file is used without a restart.",
    "kraft.delegation.tokens.max": "How many delegation tokens there may be, expired ones that are not removed yet"
    " included. One more is refused with POLICY_VIOLATION. Default: no limit, as in Kafka.",
    "kraft.delegation.tokens.owner.max": "How many delegation tokens one owner may have. Default: no limit.",
    "kraft.grpc.listener": "The address (`HOST:PORT`) of the watch service ([watch.md](watch.md)); it needs the extra"
    " `grpc`. Not set: the service is off.",
    "kraft.grpc.tls.certificate.path": "As `kraft.http.tls.certificate.path`, for the watch service.",
    "kraft.grpc.tls.key.path": "As `kraft.http.tls.key.path`, for the watch service.",
    "kraft.grpc.tls.client.ca.path": "As `kraft.http.tls.client.ca.path`, for the watch service.",
    "kraft.grpc.allow": "As `kraft.http.allow`, for the watch service.",
    "kraft.grpc.token.path": "A file of bearer tokens, one a line. A call must have one of them; the health service"
    " needs none.",
    "kraft.grpc.watchers.max": "The most streams of Watch and Snapshot at a time. One more is refused with"
    " RESOURCE_EXHAUSTED.",
    "kraft.grpc.write.timeout.ms": "How long a message may wait for a client that does not read. Then the stream ends"
    " with the offset to continue from.",
}  # fmt: skip

# Keys that the configuration takes and that Kafka does not define: they are those of the authorizer.
OF_THE_AUTHORIZER = {
    "super.users": "Principals that may do everything, separated by semicolons: `User:admin;User:CN=c1`.",
    "allow.everyone.if.no.acl.found": "Whether an operation on a resource without any ACL is allowed. Default: false.",
}

# Stock's keys that change what this node does.
IN_USE = frozenset({
    "advertised.listeners", "alter.config.policy.class.name", "authorizer.class.name", "auto.leader.rebalance.enable",
    "broker.heartbeat.interval.ms", "broker.id", "broker.session.timeout.ms", "config.providers",
    "connection.failed.authentication.delay.ms", "connections.max.idle.ms", "connections.max.reauth.ms",
    "controller.listener.names", "controller.quorum.append.linger.ms", "controller.quorum.auto.join.enable",
    "controller.quorum.bootstrap.servers", "controller.quorum.election.backoff.max.ms",
    "controller.quorum.election.timeout.ms", "controller.quorum.fetch.max.bytes",
    "controller.quorum.fetch.snapshot.max.bytes", "controller.quorum.fetch.timeout.ms",
    "controller.quorum.request.timeout.ms", "controller.quorum.retry.backoff.ms", "controller.quorum.voters",
    "controller.quota.window.num", "controller.quota.window.size.seconds", "create.topic.policy.class.name",
    "default.replication.factor", "delegation.token.expiry.check.interval.ms", "delegation.token.expiry.time.ms",
    "delegation.token.max.lifetime.ms", "delegation.token.secret.key", "delete.topic.enable", "early.start.listeners",
    "fetch.max.bytes", "internal.metadata.max.batch.size.in.bytes", "kafka.metrics.reporters",
    "leader.imbalance.check.interval.seconds", "listener.security.protocol.map", "listeners", "log.dir", "log.dirs",
    "max.connections", "metadata.log.dir", "metadata.log.max.record.bytes.between.snapshots",
    "metadata.log.max.snapshot.interval.ms", "metadata.log.segment.bytes", "metadata.log.segment.ms",
    "metadata.max.idle.interval.ms", "metadata.max.retention.bytes", "metadata.max.retention.ms", "metric.reporters",
    "min.insync.replicas", "node.id", "num.partitions", "process.roles", "remote.log.storage.system.enable",
    "request.timeout.ms", "sasl.enabled.mechanisms", "sasl.jaas.config", "sasl.kerberos.principal.to.local.rules",
    "sasl.kerberos.service.name", "sasl.login.connect.timeout.ms", "sasl.login.read.timeout.ms",
    "sasl.login.refresh.buffer.seconds", "sasl.login.refresh.min.period.seconds", "sasl.login.refresh.window.factor",
    "sasl.login.refresh.window.jitter", "sasl.login.retry.backoff.ms", "sasl.mechanism.controller.protocol",
    "sasl.oauthbearer.allow.unverified.audience", "sasl.oauthbearer.allow.unverified.issuer",
    "sasl.oauthbearer.client.credentials.client.id", "sasl.oauthbearer.client.credentials.client.secret",
    "sasl.oauthbearer.clock.skew.seconds", "sasl.oauthbearer.expected.audience", "sasl.oauthbearer.expected.issuer",
    "sasl.oauthbearer.jwks.endpoint.refresh.ms", "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms",
    "sasl.oauthbearer.jwks.endpoint.retry.backoff.ms", "sasl.oauthbearer.jwks.endpoint.url", "sasl.oauthbearer.scope",
    "sasl.oauthbearer.scope.claim.name", "sasl.oauthbearer.sub.claim.name", "sasl.oauthbearer.token.endpoint.url",
    "sasl.server.max.receive.size", "socket.request.max.bytes", "ssl.cipher.suites", "ssl.client.auth",
    "ssl.enabled.protocols", "ssl.endpoint.identification.algorithm", "ssl.key.password",
    "ssl.keystore.certificate.chain", "ssl.keystore.key", "ssl.keystore.location", "ssl.keystore.password",
    "ssl.keystore.type", "ssl.principal.mapping.rules", "ssl.protocol", "ssl.truststore.certificates",
    "ssl.truststore.location", "ssl.truststore.password", "ssl.truststore.type", "unclean.leader.election.enable",
    "unclean.leader.election.interval.ms", "unstable.api.versions.enable", "unstable.feature.versions.enable",
})  # fmt: skip

# Stock's keys that name Java code, or a login that is not served: checked in served.py, security_checks.py and
# bearer_checks.py of `controller/config`.
REFUSED = {
    "client.quota.callback.class": "Any class but Strimzi's `io.strimzi.kafka.quotas.StaticQuotaCallback` is"
    " refused; with it no `controller_mutation_rate` applies.",
    "principal.builder.class": "Any class but the default is refused.",
    "sasl.client.callback.handler.class": "Any class but those that Kafka's OAUTHBEARER has is refused.",
    "sasl.login.callback.handler.class": "Any class but those that Kafka's OAUTHBEARER has is refused.",
    "sasl.login.class": "Set: refused.",
    "sasl.oauthbearer.assertion.claim.iss": "Set: refused; the login uses the client credentials.",
    "sasl.oauthbearer.assertion.file": "Set: refused; the login uses the client credentials.",
    "sasl.oauthbearer.jwt.retriever.class": "Any class but Kafka's own is refused.",
    "sasl.oauthbearer.jwt.validator.class": "Any class but Kafka's own is refused.",
    "sasl.server.callback.handler.class": "Any class but those that Kafka's OAUTHBEARER has is refused.",
    "ssl.engine.factory.class": "Set: refused.",
    "ssl.provider": "Set: refused.",
    "ssl.secure.random.implementation": "Set: refused.",
}

# Where this node differs from what stock's documentation of the key says.
NOTES = {
    "alter.config.policy.class.name": "A class of your own in Python: `python:module:attribute`. Java classes are"
    " refused.",
    "authorizer.class.name": "`org.apache.kafka.metadata.authorizer.StandardAuthorizer`, or a class of your own in"
    " Python: `python:module:attribute`. Other Java classes are refused.",
    "controller.quorum.append.linger.ms": "Not set: 0 here, because the node commits in groups by itself; 25 in stock.",
    "create.topic.policy.class.name": "A class of your own in Python: `python:module:attribute`. Java classes are"
    " refused.",
    "kafka.metrics.reporters": "Not run here: each gives a line in the log. Metrics are served on"
    " `kraft.http.listener`; for Strimzi's reporter also on its port, under its names.",
    "max.connections": "Here also limited by the number of open files that the process may have.",
    "metric.reporters": "Not run here: each but Kafka's own gives a line in the log. Metrics are served on"
    " `kraft.http.listener`; for Strimzi's reporter also on its port, under its names.",
    "process.roles": "Only `controller` is accepted here.",
    "sasl.login.retry.backoff.ms": "At least 100 ms here.",
    "socket.request.max.bytes": "At most 4 MiB here, of an AlterPartition 16 MiB.",
}  # fmt: skip
