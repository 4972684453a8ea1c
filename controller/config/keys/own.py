"""The keys of our own: all begin with `kraft.`, so that a stock node ignores them."""

from __future__ import annotations

from controller.config.values.addresses import Address
from controller.config.values.definition import Check, Definition, Importance, Key, Type, Value, invalid
from controller.config.values.quorum_addresses import VoterOverrides
from controller.config.values.valid import ListOf, OneOf, at_least, between
from controller.config.values.zones import Zones
from records.features.levels import CURRENT, RELEASES

PREFIX = "kraft."
# Dynamic configs of all nodes (BROKER with an empty name), which are in the metadata and in no file: the autopilot of
# every leader is paused; followed by the id of a controller that it makes no voter. A stock voter keeps them as any
# config key that it does not know. DescribeConfigs hides the values of such keys, so one without the others is needed.
AUTOPILOT_PAUSED = "kraft.autopilot.paused"
AUTOPILOT_DRAINED = "kraft.autopilot.drained."
BOOTSTRAP_EXPECT = "kraft.quorum.bootstrap.expect"
BOOTSTRAP_CLUSTER_ID = "kraft.quorum.bootstrap.cluster.id"
# Whether a voter is removed from the voter set at SIGTERM, before it stops, if enough healthy voters stay.
LEAVE_ON_STOP = "kraft.autopilot.leave.on.stop"
UNLIMITED = 2**31 - 1
# The release of Kafka that comes next, of which a node has some rules with `kraft.preview.release`.
PREVIEW = "4.5"
LEVELS = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")


class Preview(Check):
    """A release of Kafka that is previewed, or nothing. One that is there whole stays valid, and changes nothing."""

    __slots__ = ()

    def __call__(self, name: str, value: Value) -> None:
        if value not in {"", CURRENT.name, PREVIEW}:
            text = f"{PREVIEW} is expected, or nothing, or {CURRENT.name}, which a node is without this key"
            raise invalid(name, value, text)

    def __str__(self) -> str:
        return f"[{CURRENT.name}, {PREVIEW}]"


# fmt: off
KEYS = Definition(
    # A connection to the leader that was lost and is refused when made again starts a pre-vote at once.
    Key("kraft.pre.vote.on.lost.connection", Type.BOOLEAN, True, None, Importance.MEDIUM),
    # A voter that starts without a known leader waits once to twice this long before it requests pre-votes.
    Key("kraft.first.election.timeout.ms", Type.INT, 50, at_least(0), Importance.LOW),
    # How many controllers with empty disks make a quorum, without `kafka-storage format`; 0: a format is needed. Its
    # cluster id; made from the controllers' directory ids if it is not set.
    Key(BOOTSTRAP_EXPECT, Type.INT, 0, between(0, 99), Importance.MEDIUM),
    Key(BOOTSTRAP_CLUSTER_ID, Type.STRING, None, None, Importance.LOW),
    # Where voters may be, if they do not answer at their addresses in the voter set.
    Key("kraft.quorum.voter.overrides", Type.LIST, (), VoterOverrides(), Importance.LOW),
    # Whether the active controller adds and removes voters by itself, and when: times for which an observer must be
    # level, and a voter silent (0: no voter is taken for dead), the most voters, and the zone of each node.
    Key("kraft.autopilot.enable", Type.BOOLEAN, False, None, Importance.MEDIUM),
    Key("kraft.autopilot.stabilization.ms", Type.INT, 10_000, at_least(0), Importance.LOW),
    Key("kraft.autopilot.dead.after.ms", Type.INT, 0, at_least(0), Importance.MEDIUM),
    Key("kraft.autopilot.voters.max", Type.INT, 5, between(1, 99), Importance.LOW),
    Key("kraft.autopilot.zones", Type.LIST, (), Zones(), Importance.LOW),
    Key(LEAVE_ON_STOP, Type.BOOLEAN, False, None, Importance.MEDIUM),
    # The release of Kafka whose levels of features and APIs the node has.
    Key("kraft.release", Type.STRING, CURRENT.name, OneOf(*RELEASES), Importance.LOW),
    # A release of Kafka that is not here whole yet, whose rules the node has too, as far as they are here.
    Key("kraft.preview.release", Type.STRING, "", Preview(), Importance.LOW),
    Key("kraft.log.format", Type.STRING, "console", OneOf("console", "json"), Importance.LOW),
    Key("kraft.log.level", Type.STRING, "INFO", OneOf(*LEVELS), Importance.LOW),
    # The file of the audit log; off if not set or empty. Its size, the number of rotated files, and what is in it
    # besides changes of the metadata.
    Key("kraft.audit.log", Type.STRING, None, None, Importance.MEDIUM),
    Key("kraft.audit.log.bytes", Type.INT, 16 << 20, between(64 << 10, 1 << 30), Importance.LOW),
    Key("kraft.audit.log.files", Type.INT, 10, between(0, 1000), Importance.LOW),
    Key("kraft.audit.log.requests", Type.LIST, ("refused",), ListOf("refused", "reads"), Importance.LOW),
    # Where probes, metrics and the status page are served, as host:port; off if not set.
    Key("kraft.http.listener", Type.STRING, None, Address(), Importance.MEDIUM),
    # PEM files: its certificate chain, its private key, and the authorities that may sign clients' certificates.
    Key("kraft.http.tls.certificate.path", Type.STRING, None, None, Importance.MEDIUM),
    Key("kraft.http.tls.key.path", Type.STRING, None, None, Importance.MEDIUM),
    Key("kraft.http.tls.client.ca.path", Type.STRING, None, None, Importance.MEDIUM),
    # Who may call, by a name in the client's certificate: CN=name, DNS=name, URI=uri, EMAIL=address, IP=address; or *.
    Key("kraft.http.allow", Type.LIST, None, ListOf(null=True), Importance.MEDIUM),
    # A file of bearer tokens, one a line: a request must have one of them. Probes answer without one, in short.
    Key("kraft.http.token.path", Type.STRING, None, None, Importance.MEDIUM),
    # Names in the Host header besides those of the configuration; * for any.
    Key("kraft.http.hosts", Type.LIST, (), ListOf(), Importance.LOW),
    # The most connections at a time, those of open pages included; one more closes the one that is idle for longest.
    Key("kraft.http.connections.max", Type.INT, 64, between(1, 1024), Importance.LOW),
    # Where a pod of Strimzi's operator answers in the place of its Kafka agent: the operator, and scripts of the pod.
    Key("kraft.agent.port", Type.INT, 8443, between(1, 65535), Importance.LOW),
    Key("kraft.agent.local.port", Type.INT, 8080, between(1, 65535), Importance.LOW),
    # The JAAS file, as `-Djava.security.auth.login.config=` in KAFKA_OPTS; it is used where no key has a login module.
    Key("kraft.jaas.config.path", Type.STRING, None, None, Importance.MEDIUM),
    # A file of SCRAM credentials, for controllers that authenticate to each other before they have the log.
    Key("kraft.scram.credentials.path", Type.STRING, None, None, Importance.MEDIUM),
    # How many delegation tokens there may be in all, and of one owner. The default is no limit, as stock has none.
    Key("kraft.delegation.tokens.max", Type.INT, UNLIMITED, at_least(1), Importance.LOW),
    Key("kraft.delegation.tokens.owner.max", Type.INT, UNLIMITED, at_least(1), Importance.LOW),
    # Where the watch service (gRPC) is served, as host:port; off if not set.
    Key("kraft.grpc.listener", Type.STRING, None, Address(), Importance.MEDIUM),
    # PEM files: its certificate chain, its private key, and the authorities that may sign clients' certificates.
    Key("kraft.grpc.tls.certificate.path", Type.STRING, None, None, Importance.MEDIUM),
    Key("kraft.grpc.tls.key.path", Type.STRING, None, None, Importance.MEDIUM),
    Key("kraft.grpc.tls.client.ca.path", Type.STRING, None, None, Importance.MEDIUM),
    # Who may watch, by a name in the client's certificate: CN=name, DNS=name, URI=uri, EMAIL=address, IP=address; or *.
    Key("kraft.grpc.allow", Type.LIST, None, ListOf(null=True), Importance.MEDIUM),
    # A file of bearer tokens, one a line: a call must have one of them. The health service answers without one.
    Key("kraft.grpc.token.path", Type.STRING, None, None, Importance.MEDIUM),
    # The most streams of watches and snapshots at a time; further streams are refused.
    Key("kraft.grpc.watchers.max", Type.INT, 64, between(1, 1024), Importance.LOW),
    # How long a message may wait for a client that does not read; then the stream ends with the offset to resume from.
    Key("kraft.grpc.write.timeout.ms", Type.INT, 10_000, between(100, 600_000), Importance.LOW),
)
# fmt: on
