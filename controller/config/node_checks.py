"""Checks between the keys of a node, in stock's order and with its texts (the checks of 4.4 at start)."""

from __future__ import annotations

from controller.config.keys.own import BOOTSTRAP_EXPECT, LEAVE_ON_STOP
from controller.config.keys.topic import HOURS, MINUTES
from controller.config.values.definition import ILLEGAL_ARGUMENT, NUMBER_FORMAT, parse_map
from controller.config.values.listeners import PROTOCOL_MAP, WILDCARD_HOST, normalise, parse_listeners, parse_protocol
from records.java.config_error import ConfigError
from records.java.java_values import parse_integer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from controller.config.values.listeners import Endpoint
    from controller.config.values.node_values import NodeValues

ROLES = "process.roles"
LISTENERS = "listeners"
ADVERTISED = "advertised.listeners"
NAMES = "controller.listener.names"
VOTERS = "controller.quorum.voters"
INTER_BROKER_NAME = "inter.broker.listener.name"
INTER_BROKER_PROTOCOL = "security.inter.broker.protocol"
OVERRIDES = "max.connections.per.ip.overrides"
HOST_CHARACTERS = frozenset("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-%._:")


def check_values(config: NodeValues) -> None:
    """Check the keys that do not depend on advertised listeners. Raises ConfigError for the first violation."""
    _check_early_start(config)
    _check_rebalance_protocols(config)
    if config.node_id != config.number("broker.id"):
        raise ConfigError(
            "`node.id` and `broker.id` must be set to the same value. `broker.id` is deprecated, please use `node.id` "
            "instead."
            if config.release.deprecates_broker_id
            else "You must set `node.id` to the same value as `broker.id`."
        )
    _check_logs(config)
    _check_heartbeats(config)


def check_addresses(config: NodeValues) -> None:
    """Check roles, listeners and connections against each other. Raises ConfigError for the first violation."""
    advertised = _advertised_broker_listeners(config)
    _check_roles(config)
    if "broker" in config.process_roles:
        _check_broker_listeners(config, advertised)
        _check_cordoned(config)
    for host in (
        *(endpoint.host for endpoint in advertised),
        *(endpoint.host for endpoint in config.advertised_listeners),
    ):
        _require(
            host != WILDCARD_HOST,
            f"{ADVERTISED} cannot use the nonroutable meta-address 0.0.0.0. Use a routable IP address.",
        )
    _check_sasl(config)
    _check_connections(config)
    _check_formation(config)
    _check_leaving(config)


def _check_leaving(config: NodeValues) -> None:
    if not config.flag(LEAVE_ON_STOP):
        return
    if not config.flag("kraft.autopilot.enable"):
        raise ConfigError(
            f"{LEAVE_ON_STOP}=true needs kraft.autopilot.enable=true: without it no voter that has left for a restart "
            "becomes a voter again"
        )
    if config.flag("controller.quorum.auto.join.enable"):
        raise ConfigError(
            f"{LEAVE_ON_STOP}=true needs controller.quorum.auto.join.enable=false: a voter that has left would join "
            "again before it has stopped"
        )


def _check_formation(config: NodeValues) -> None:
    """Keys of our own: which nodes can form a quorum."""
    key = BOOTSTRAP_EXPECT
    number = config.number(key)
    if not number:
        return
    if config.process_roles != ("controller",):
        raise ConfigError(
            f"{key}={number} is for nodes whose only role is controller; process.roles is {config.process_roles}"
        )
    if config.voters:
        raise ConfigError(f"{key}={number} makes a quorum with dynamic voters; remove {VOTERS}")
    if len(config.bootstrap_servers) != number:
        # Of more, one that is silent may belong to a quorum while the others form another.
        raise ConfigError(
            f"{key}={number}, and controller.quorum.bootstrap.servers has {len(config.bootstrap_servers)}: name the "
            f"{number} controllers that form the quorum, and no others"
        )
    if {*config.log_dirs} != {config.text("metadata.log.dir") or config.log_dirs[0]}:
        raise ConfigError(f"{key}={number} is for controllers with one directory; set log.dirs to one")
    if not config.flag("kraft.autopilot.enable") and not config.flag("controller.quorum.auto.join.enable"):
        config.warnings.append(
            f"{key}={number}, and neither kraft.autopilot.enable nor controller.quorum.auto.join.enable is set: a "
            "controller that has lost its disk joins the quorum as an observer, and does not become a voter by itself"
        )


def _require(holds: bool, text: str) -> None:
    if not holds:
        raise ConfigError(f"requirement failed: {text}", ILLEGAL_ARGUMENT)


def _check_early_start(config: NodeValues) -> None:
    known = {endpoint.name for endpoint in config.listeners}
    for name in filter(None, config.list("early.start.listeners")):
        if name not in known:
            raise ConfigError(
                f"early.start.listeners contains listener {name}, but this is not contained in {LISTENERS} or {NAMES}"
            )


def _check_rebalance_protocols(config: NodeValues) -> None:
    if "classic" not in config.list("group.coordinator.rebalance.protocols"):
        raise ConfigError("Disabling the 'classic' protocol is not supported.")


def _check_logs(config: NodeValues) -> None:
    roll_ms = config.number_or_none("log.roll.ms")
    roll_ms = HOURS * config.number("log.roll.hours") if roll_ms is None else roll_ms
    _require(roll_ms >= 1, "log.roll.ms must be greater than or equal to 1")
    jitter_ms = config.number_or_none("log.roll.jitter.ms")
    jitter_ms = HOURS * config.number("log.roll.jitter.hours") if jitter_ms is None else jitter_ms
    _require(jitter_ms >= 0, "log.roll.jitter.ms must be greater than or equal to 0")
    retained = "log.retention.ms must be unlimited (-1) or, greater than or equal to 1"
    _require(retention_ms(config) != 0, retained)
    threads = config.number("log.cleaner.threads")
    if threads == 0:
        raise ConfigError("log.cleaner.threads must not be 0", "java.lang.ArithmeticException")
    _require(
        config.number("log.cleaner.dedupe.buffer.size") // threads > 1 << 20,
        "log.cleaner.dedupe.buffer.size must be at least 1MB per cleaner thread.",
    )
    wait_ms = config.number("replica.fetch.wait.max.ms")
    _require(
        wait_ms <= config.number("replica.socket.timeout.ms"),
        "replica.socket.timeout.ms should always be at least replica.fetch.wait.max.ms to prevent unnecessary socket "
        "timeouts",
    )
    _require(
        wait_ms <= config.number("replica.lag.time.max.ms"),
        "replica.fetch.wait.max.ms should always be less than or equal to replica.lag.time.max.ms to prevent frequent "
        "changes in ISR",
    )


def retention_ms(config: NodeValues) -> int:
    """The retention of logs by the node's keys: milliseconds before minutes before hours; -1 for unlimited."""
    milliseconds = config.number_or_none("log.retention.ms")
    if milliseconds is None:
        minutes = config.number_or_none("log.retention.minutes")
        milliseconds = HOURS * config.number("log.retention.hours") if minutes is None else MINUTES * minutes
    return max(milliseconds, -1)


def _check_heartbeats(config: NodeValues) -> None:
    interval_ms = config.number("broker.heartbeat.interval.ms")
    session_ms = config.number("broker.session.timeout.ms")
    # Stock says so and goes on.
    if interval_ms * 2 > session_ms:
        config.warnings.append(
            f"broker.heartbeat.interval.ms ({interval_ms} ms) must be less than or equal to half of the "
            f"broker.session.timeout.ms ({session_ms} ms). The broker.session.timeout.ms is configured on "
            "controller. The "
            "broker.heartbeat.interval.ms is configured on broker. If a broker doesn't send heartbeat request within "
            "broker.session.timeout.ms, it loses broker lease. Please increase broker.session.timeout.ms or decrease "
            "broker.heartbeat.interval.ms."
        )


def _advertised_broker_listeners(config: NodeValues) -> tuple[Endpoint, ...]:
    advertised = config.list(ADVERTISED)
    endpoints = (
        parse_listeners(advertised, config.security_protocols, distinct_ports=False) if advertised else config.listeners
    )
    return tuple(endpoint for endpoint in endpoints if endpoint.name not in config.controller_listener_names)


def _check_roles(config: NodeValues) -> None:
    roles = set(config.process_roles)
    voters = f"{VOTERS}={_set_text(config.voters)}"
    if not config.voters and not config.bootstrap_servers:
        raise ConfigError(
            f"If using {ROLES}, either controller.quorum.bootstrap.servers must contain the set of bootstrap "
            "controllers "
            f"or {VOTERS} must contain a parseable set of controllers."
        )
    if roles == {"broker"}:
        _check_broker_only(config, voters)
        return
    if roles == {"controller"}:
        _require(
            len(config.advertised_listeners) == len(config.listeners),
            f"The {LISTENERS} config must only contain KRaft controller listeners from {NAMES} when {ROLES}=controller",
        )
        if config.text(INTER_BROKER_NAME) is not None:
            name, _ = _inter_broker(config)
            _require(
                name not in config.controller_listener_names,
                f"{NAMES} must not contain an explicitly set {INTER_BROKER_NAME} configuration value when "
                f"{ROLES}=controller'",
            )
    _require(
        not config.voters or config.node_id in config.voters,
        f"If {ROLES} contains the 'controller' role, the node id {config.node_id} must be included in the set of "
        "voters "
        f"{voters}",
    )
    _require(
        bool(config.advertised_listeners),
        f"{NAMES} must contain at least one value appearing in the '{LISTENERS}' configuration when running the KRaft "
        "controller role",
    )
    bound = {endpoint.name for endpoint in config.listeners}
    _require(
        bound >= set(config.controller_listener_names),
        f"{NAMES} must only contain values appearing in the '{LISTENERS}' configuration when running the KRaft "
        "controller "
        "role",
    )


def _check_broker_only(config: NodeValues, voters: str) -> None:
    _require(
        config.node_id not in config.voters,
        f"If {ROLES} contains just the 'broker' role, the node id {config.node_id} must not be included in the set of "
        f"voters {voters}",
    )
    _require(
        not config.controller_listeners,
        f"{NAMES} must not contain a value appearing in the '{LISTENERS}' configuration when running KRaft with just "
        "the "
        "broker role",
    )
    for name in map(normalise, config.controller_listener_names):
        if name not in config.security_protocols:
            raise ConfigError(
                f"Controller listener with name {name} defined in {NAMES} not found in {PROTOCOL_MAP}  (an explicit "
                f"security mapping for each controller listener is required if {PROTOCOL_MAP} is non-empty, or if "
                "there "
                "are security protocols other than PLAINTEXT in use)"
            )
    _require(
        not config.flag("controller.quorum.auto.join.enable"),
        f"controller.quorum.auto.join.enable is only supported when {ROLES} contains the 'controller' role.",
    )


def _inter_broker(config: NodeValues) -> tuple[str, str]:
    """The name and security protocol of the listener between brokers."""
    given = config.text(INTER_BROKER_NAME)
    if given is None:
        protocol = parse_protocol(config.text(INTER_BROKER_PROTOCOL) or "", INTER_BROKER_PROTOCOL)
        return protocol, protocol
    if INTER_BROKER_PROTOCOL in config.originals:
        raise ConfigError(f"Only one of {INTER_BROKER_NAME} and {INTER_BROKER_PROTOCOL} should be set.")
    name = normalise(given)
    if name not in config.security_protocols:
        raise ConfigError(f"Listener with name {name} defined in {INTER_BROKER_NAME} not found in {PROTOCOL_MAP}.")
    return name, config.security_protocols[name]


def _check_broker_listeners(config: NodeValues, advertised: tuple[Endpoint, ...]) -> None:
    names = [endpoint.name for endpoint in advertised]
    perhaps = f" Perhaps all listeners appear in {NAMES}?"
    _require(bool(names), f"There must be at least one broker advertised listener.{perhaps}")
    inter_broker, _ = _inter_broker(config)
    _require(
        inter_broker in names,
        f"{INTER_BROKER_NAME} must be a listener name defined in {ADVERTISED}. The valid options based on currently "
        f"configured listeners are {','.join(names)}",
    )
    bound = [endpoint.name for endpoint in config.listeners]
    _require(
        set(names) <= set(bound),
        f"{ADVERTISED} listener names must be equal to or a subset of the ones defined in {LISTENERS}. Found "
        f"{','.join(names)}. The valid options based on the current configuration are {','.join(bound)}",
    )


def _check_cordoned(config: NodeValues) -> None:
    cordoned = config.list("cordoned.log.dirs")
    if "*" in cordoned:
        _require(len(cordoned) == 1, "When cordoned.log.dirs is set to *, it must not contain other values")
        return
    missing = [directory for directory in cordoned if directory not in config.log_dirs]
    _require(
        not missing,
        "All entries in cordoned.log.dirs must be present in log.dirs or log.dir. Missing entries : "
        f"{', '.join(missing)}",
    )


def _check_sasl(config: NodeValues) -> None:
    name, protocol = _inter_broker(config)
    if not protocol.startswith("SASL"):
        return
    mechanism = config.text("sasl.mechanism.inter.broker.protocol")
    own = config.originals.get(f"listener.name.{name.lower()}.sasl.enabled.mechanisms")
    enabled = config.list("sasl.enabled.mechanisms") if own is None else tuple(part.strip() for part in own.split(","))
    _require(
        mechanism in enabled,
        "sasl.mechanism.inter.broker.protocol must be included in sasl.enabled.mechanisms when SASL is used for "
        "inter-broker communication",
    )


def _check_connections(config: NodeValues) -> None:
    queued = config.number("queued.max.request.bytes")
    _require(
        queued <= 0 or queued >= config.number("socket.request.max.bytes"),
        "queued.max.request.bytes must be larger or equal to socket.request.max.bytes",
    )
    overrides = parse_map(OVERRIDES, config.text(OVERRIDES) or "")
    for count in overrides.values():
        number = parse_integer(count)
        if number is None or not -(1 << 31) <= number < 1 << 31:
            raise ConfigError(f'For input string: "{count}"', NUMBER_FORMAT)
    if config.number("max.connections.per.ip") == 0:
        _require(bool(overrides), f"max.connections.per.ip can be set to zero only if {OVERRIDES} property is set.")
    wrong = [address for address in overrides if not set(address) <= HOST_CHARACTERS]
    if wrong:
        raise ConfigError(f"{OVERRIDES} contains invalid addresses : {','.join(wrong)}", ILLEGAL_ARGUMENT)
    idle_ms = config.number("connections.max.idle.ms")
    delay_ms = config.number("connection.failed.authentication.delay.ms")
    _require(
        idle_ms < 0 or delay_ms < idle_ms,
        f"connection.failed.authentication.delay.ms={delay_ms} should always be less than "
        f"connections.max.idle.ms={idle_ms} "
        "to prevent failed authentication responses from timing out",
    )


def _set_text(ids: Iterable[int]) -> str:
    shown = sorted(ids)
    return f"{'HashSet' if len(shown) > 4 else 'Set'}({', '.join(map(str, shown))})"
