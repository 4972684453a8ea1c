"""Names, listeners, certificates and the other controllers as `kraftctl doctor` finds them. It only asks."""

from __future__ import annotations

import contextlib
import socket
import time
from ipaddress import ip_address
from typing import NamedTuple

from controller.config.edges import EDGES, HTTP
from controller.config.values.addresses import parse_address
from raft.storage.meta_properties import META_PROPERTIES
from records.errors import Error
from records.java.config_error import ConfigError
from records.messages.fetch import FetchRequest
from records.uuids import uuid_text
from tools.client.connection import Connection
from tools.client.quorum import FAILURES, NoLeader, describe_cluster_request, look_in_parallel
from tools.client.quorum_options import node_security
from tools.kraftctl.doctor.doctor_directories import CLOCK_MS
from tools.kraftctl.doctor.doctor_way_out import Around
from tools.kraftctl.findings import ERROR, OK, WARNING, Finding, Obstacle
from tools.kraftctl.nodes.http_page import ANYWHERE, Caller, HttpPage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from ssl import SSLContext

    from controller.config.node import NodeConfig
    from raft.network.security import ClientSecurity
    from tools.client.quorum import Address, View
    from tools.kraftctl.doctor.doctor_directories import Own

CLIENT_ID = "kraftctl-doctor"
EXPIRES_S = 14 * 24 * 3600
# X509_V_ERR_HOSTNAME_MISMATCH and X509_V_ERR_IP_ADDRESS_MISMATCH of OpenSSL.
NAME_ERRORS = {62, 64}


class Peer(NamedTuple):
    """What a controller answered. places: the addresses of the registered controllers, with their ids. error: why there
    is no answer.

    is_of_ours: whether it accepts the cluster id of this node; None where it was not asked, or does not say.
    """

    address: Address
    cluster_id: str = ""
    places: tuple[tuple[Address, int], ...] = ()
    error: str = ""
    is_of_ours: bool | None = None


def examine_network(config: NodeConfig, own: Own, now_ms: int, timeout_s: float) -> tuple[list[Finding], Around]:
    """What is wrong around the node, and what was found there. own: what its disk says; timeout_s: for each answer."""
    now_s = now_ms // 1000
    findings = [*listeners(config, own, timeout_s), *own_problems(config, own, timeout_s)]
    findings += [*certificates(config, now_s), *edges(config, now_s)]
    try:
        security = node_security(config)
    except (ConfigError, ValueError, OSError) as error:
        return [
            *findings,
            Obstacle(ERROR, "security", str(error), "correct the keys and files of the listener"),
        ], Around()
    addresses = controllers(config, own)
    reached = [address for address in addresses if not _is_unresolved(address, findings)]
    peers = ask_all(reached, security, timeout_s, own.mark.cluster_id if own.mark is not None else None)
    findings += list(peer_findings(peers, config, own))
    around = Around(
        None, tuple(dict.fromkeys(peer.cluster_id for peer in peers if peer.cluster_id)),
        tuple(peer.address for peer in peers if peer.error), tuple(addresses),
    )  # fmt: skip
    if not reached:
        return findings, around
    try:
        view = look_in_parallel(reached, CLIENT_ID, timeout_s, security)
    except NoLeader as error:
        findings.append(
            Finding(ERROR, "quorum", f"no leader: {error}", "start a majority of the voters; `kraftctl status`")
        )
        return findings, around
    places = dict(place for peer in peers for place in peer.places)
    registered = {node for peer in peers for _, node in peer.places}
    findings += [*live_voters(view, registered, config, own), *static_voters(view, places, config)]
    return findings, around._replace(view=view)


def own_problems(config: NodeConfig, own: Own, timeout_s: float) -> Iterator[Finding]:
    """What the running node reports on its HTTP port."""
    listener = parse_address(config.text(HTTP.listener) or "")
    if not own.is_running or listener is None:
        return
    page = HttpPage(listener, Caller().or_of(config), timeout_s)
    try:
        view = page.view()
    except (OSError, ConfigError, LookupError) as error:
        reason = str(error) or type(error).__name__
        yield Finding(WARNING, HTTP.listener, f"the port does not answer: {reason}", "look at the node's log")
        return
    finally:
        page.close()
    level = ERROR if view.not_ready else WARNING
    for problem in view.problems:
        yield Finding(level, f"node {config.node_id}", problem, "docs/runbook.md")


def controllers(config: NodeConfig, own: Own) -> list[Address]:
    """The addresses of the controllers, in the configuration and the voter set; this node's if it runs."""
    by_node = [*config.voters.items(), *((-1, address) for address in config.bootstrap_servers)]
    for node, voter in {} if own.image is None else own.image.voters.items():
        for endpoint in voter["endpoints"].values():
            host, _, port = endpoint.rpartition(":")
            by_node.append((node, (host, int(port))))
    mine = {address for node, address in by_node if node == config.node_id}
    mine |= {(each.host or "", each.port) for each in (*config.advertised_listeners, *config.controller_listeners)}
    addresses = [address for _, address in by_node if own.is_running or address not in mine]
    return list(dict.fromkeys(addresses))


def _is_unresolved(address: Address, findings: list[Finding]) -> bool:
    host, port = address
    try:
        addresses = {str(each[4][0]) for each in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)}
    except OSError as error:
        findings.append(
            Finding(ERROR, host, f"the name is not resolved: {error.strerror or error}", "correct DNS or /etc/hosts")
        )
        return True
    if host not in {"localhost", *addresses} and any(
        ip_address(each.partition("%")[0]).is_loopback for each in addresses
    ):
        text = f"the name of another controller is resolved to {', '.join(sorted(addresses))}, which is this machine"
        findings.append(Finding(WARNING, host, text, "remove the line from /etc/hosts"))
    return False


def ask_all(
    addresses: list[Address], security: ClientSecurity | None, timeout_s: float, cluster_id: str | None = None
) -> list[Peer]:
    """What each controller answers, asked at the same time. cluster_id: of this node; None where it has none."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(max(1, len(addresses))) as threads:
        return list(threads.map(lambda address: _ask(address, security, timeout_s, cluster_id), addresses))


def _ask(address: Address, security: ClientSecurity | None, timeout_s: float, cluster_id: str | None) -> Peer:
    try:
        try:
            with Connection(*address, CLIENT_ID, timeout_s, security) as connection:
                answer = connection.ask(describe_cluster_request())
        except TimeoutError:
            # One of ours answers when it knows a leader; whether it has our cluster id it says at once.
            answer = None
        if answer is None or answer.error_code:
            with Connection(*address, CLIENT_ID, timeout_s, security) as connection:
                # No leader yet: the quorum says why.
                return Peer(address, is_of_ours=_accepts(connection, cluster_id) if cluster_id else None)
    except FAILURES as error:
        return Peer(address, error=str(error) or type(error).__name__)
    return Peer(address, answer.cluster_id, tuple(((node.host, node.port), node.broker_id) for node in answer.brokers))


def _accepts(connection: Connection, cluster_id: str) -> bool | None:
    """Whether a controller that knows no leader has this cluster id; None where it does not say.

    It checks the id of each Fetch first. This Fetch names no partition, so it has no other effect than an answer.
    """
    request = FetchRequest(cluster_id=cluster_id, max_wait_ms=0, min_bytes=0, topics=())
    code = connection.ask(request).error_code
    return {Error.INCONSISTENT_CLUSTER_ID: False, Error.INVALID_REQUEST: True}.get(code)


def peer_findings(peers: list[Peer], config: NodeConfig, own: Own) -> Iterator[Finding]:
    """What the answers of the other controllers say of each."""
    mine = None if own.mark is None else own.mark.cluster_id
    for peer in peers:
        where = f"{peer.address[0]}:{peer.address[1]}"
        if peer.error:
            remedy = "start that controller, or open the port; with TLS or SASL compare the listener's settings"
            yield Finding(WARNING, where, f"it does not answer: {peer.error}", remedy)
        elif peer.cluster_id and mine is not None and peer.cluster_id != mine:
            yield Obstacle(
                ERROR, where, f"its cluster.id is {peer.cluster_id}, and {mine} in "
                f"{config.metadata_log_dir}/{META_PROPERTIES}",
                "mount the disk of this cluster, or correct the address; do not edit the id",
            )  # fmt: skip
        elif peer.is_of_ours is False:
            text = (
                f"it refuses {mine}, the cluster.id in {config.metadata_log_dir}/{META_PROPERTIES}: its own is another"
            )
            yield Obstacle(
                ERROR, where, text, "mount the disk of this cluster, or correct the address; do not edit the id"
            )
        elif peer.is_of_ours:
            yield Finding(OK, where, f"it answers, and knows no leader; cluster.id={mine}")
        elif not peer.cluster_id:
            text = "it answers, and cannot name its cluster.id: it knows no leader, or has no metadata yet"
            remedy = "compare cluster.id in its meta.properties; start a majority of the voters, and run this again"
            yield Finding(WARNING, where, text, remedy)
        else:
            yield Finding(OK, where, f"it answers, cluster.id={peer.cluster_id}")


def live_voters(view: View, registered: set[int], config: NodeConfig, own: Own) -> Iterator[Finding]:
    """What the leader says, against the configuration and this disk. registered: ids of the registered controllers."""
    voters = ", ".join(map(str, sorted(view.voters)))
    yield Finding(OK, "quorum", f"node {view.leader_id} leads epoch {view.epoch}, voters {voters}")
    if config.voters and set(config.voters) != set(view.voters):
        named = ", ".join(map(str, sorted(config.voters)))
        text = f"it has nodes {named}, the quorum has voters {voters}"
        yield Finding(ERROR, "controller.quorum.voters", text, "make it the same in the configuration of every node")
    member = view.voters.get(config.node_id)
    directory_id = None if own.mark is None or own.mark.directory_id is None else uuid_text(own.mark.directory_id)
    if member is not None and member.directory_id and directory_id is not None and member.directory_id != directory_id:
        text = (
            f"the quorum has node {config.node_id} with directory id {member.directory_id}, this disk is {directory_id}"
        )
        yield Finding(
            ERROR, "quorum", text,
            f"start this node, and then: kraftctl quorum replace --id {config.node_id}",
        )  # fmt: skip
    if member is None and own.mark is not None:
        text = f"node {config.node_id} is no voter"
        yield Finding(
            WARNING, "quorum", text, "kafka-metadata-quorum add-controller on this machine, if it should be one"
        )
    for ghost in sorted(node for node in registered if not view.is_member(node)):
        yield Finding(
            WARNING, f"controller {ghost}", "it is registered, and is neither a voter nor an observer: its old feature "
            "ranges can block an upgrade of metadata.version",
            f"if it is gone: kraftctl controllers prune --id {ghost}",
        )  # fmt: skip
    fetched = view.voters[view.leader_id].last_fetch_ms if view.leader_id in view.voters else -1
    if fetched >= 0 and abs(fetched - view.taken_ms) > CLOCK_MS:
        text = f"it differs by {abs(fetched - view.taken_ms) / 1000:.1f} s from that of the leader"
        yield Finding(WARNING, "clock", text, "synchronise the clocks of all nodes: chrony or ntp")


def static_voters(view: View, places: dict[Address, int], config: NodeConfig) -> Iterator[Finding]:
    """Where this node's list of static voters differs from the leader's, or leads to another controller than it says: a
    list that was changed on some nodes only. places: the addresses of the registered controllers, with their ids.

    The leader shows its own list in DescribeQuorum. Dynamic voters have directory ids, and no list counts.
    """
    if any(member.directory_id for member in view.voters.values()):
        return
    remedy = "make it the same in the configuration of every node, and restart each that is changed"
    for node, address in sorted(config.voters.items()):
        where, theirs = f"{address[0]}:{address[1]}", view.listeners.get(node, {})
        there = places.get(address, node)
        if there != node:
            text = f"it has node {node} at {where}, which is the address of controller {there}"
            yield Finding(ERROR, "controller.quorum.voters", text, remedy)
        elif theirs and address not in theirs.values():
            named = ", ".join(f"{host}:{port}" for host, port in theirs.values())
            text = f"it has node {node} at {where}, and the list of the leader, node {view.leader_id}, at {named}"
            yield Finding(WARNING, "controller.quorum.voters", text, remedy)


def listeners(config: NodeConfig, own: Own, timeout_s: float) -> Iterator[Finding]:
    """Whether the listeners are those of this node, and can be reached by others."""
    for endpoint in config.controller_listeners:
        where = f"{endpoint.name}://{endpoint.host or ''}:{endpoint.port}"
        host = "localhost" if (endpoint.host or "") in ANYWHERE else endpoint.host or ""
        if not _is_local(host):
            yield Obstacle(
                ERROR, where, f"{host} is no address of this machine", "name one of it, or leave the host empty"
            )
            continue
        answers = False
        with contextlib.suppress(OSError), socket.create_connection((host, endpoint.port), timeout_s):
            answers = True
        if answers and not own.is_running:
            text = "another process listens on the port, and the node does not run"
            yield Obstacle(
                ERROR, where, text, f"end that process (ss -ltnp 'sport = :{endpoint.port}'), or change the port"
            )
        elif own.is_running and not answers:
            yield Finding(ERROR, where, "the node runs, and the port does not answer", "look at the node's log")
    others = {host for node, (host, _) in config.voters.items() if node != config.node_id}
    others |= {host for host, _ in config.bootstrap_servers}
    for endpoint in config.advertised_listeners:
        if _is_loopback(endpoint.host or "") and not all(_is_loopback(each) for each in others):
            text = f"{endpoint.host} is advertised, which each other machine takes for itself"
            yield Obstacle(ERROR, endpoint.name, text, "set advertised.listeners to a name that the others resolve")


def _is_local(host: str) -> bool:
    """Whether a socket can be bound to an address of the name; a name that is not resolved is reported elsewhere."""
    try:
        for family, _, _, _, address in socket.getaddrinfo(host, 0, type=socket.SOCK_DGRAM):
            with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as one:
                one.bind(address)
                return True
    except OSError:
        return False
    return False


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def certificates(config: NodeConfig, now_s: int) -> Iterator[Finding]:
    """The certificates of the controller listeners: whether they can be read, and when they end."""
    secured = [each for each in config.controller_listeners if each.protocol in ("SSL", "SASL_SSL")]
    if not secured:
        return
    from controller.config.security.listener_values import ListenerValues
    from controller.security.contexts import Contexts

    for endpoint in secured:
        try:
            certificate = Contexts(ListenerValues(config, endpoint.name), time.monotonic, lambda *_: None).certificate()
        except (ConfigError, ValueError, OSError) as error:
            yield Obstacle(ERROR, endpoint.name, str(error), "correct the ssl.… keys and files of the listener")
            continue
        if certificate is not None:
            yield until(endpoint.name, *certificate, now_s)


def edges(config: NodeConfig, now_s: int) -> Iterator[Finding]:
    """The certificates of the HTTP port and the watch service: the pair with the key, the name, and when they end."""
    for edge in EDGES:
        where, file = config.text(edge.listener), config.text(edge.certificate)
        if where is None or file is None:
            continue
        from controller.security.edges import EdgeSecurity

        try:
            security = EdgeSecurity(config, edge, now=time.monotonic, note=lambda *_: None)
            context, certificate = security.context(), security.certificate()
        except (ValueError, OSError) as error:
            yield Finding(ERROR, edge.listener, str(error), f"correct {edge.certificate}, {edge.key}, or the files")
            continue
        if certificate is not None:
            yield until(edge.listener, *certificate, now_s)
        address = parse_address(where)
        host = "" if address is None else address[0]
        # A port on all addresses is called by names that are not known here.
        if host not in ANYWHERE and (text := name_error(context, file, host)):
            yield Finding(
                WARNING, file, f"{edge.listener}={where}: {text}",
                f"clients that check the name need a certificate with {host}, or call the port by one of its names",
            )  # fmt: skip


def name_error(server: SSLContext, file: str, host: str) -> str:
    """Why a client that calls `host` refuses the name in the certificate; empty if it does not.

    server: of the port; file: its certificate, which the client trusts, so that only the name is in question.
    """
    import ssl

    client = ssl.create_default_context(cafile=file)
    client.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    client.verify_flags &= ~ssl.VERIFY_X509_STRICT
    to_client, to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
    calling = client.wrap_bio(to_client, to_server, server_hostname=host)
    answering = server.wrap_bio(to_server, to_client, server_side=True)
    try:
        for side in (calling, answering, calling):
            with contextlib.suppress(ssl.SSLWantReadError):
                side.do_handshake()
    except ssl.SSLCertVerificationError as error:
        return str(error.verify_message) if error.verify_code in NAME_ERRORS else ""
    except ssl.SSLError:
        return ""
    return ""


def until(listener: str, file: str, expires_s: int, now_s: int) -> Finding:
    """The end of a certificate. expires_s: of the first of its chain that expires, in s since 1970."""
    when = f"the certificate of {listener} {'expired' if expires_s <= now_s else 'expires'} " + time.strftime(
        "%Y-%m-%d %H:%M:%S UTC", time.gmtime(expires_s)
    )
    if expires_s - now_s < EXPIRES_S:
        level = ERROR if expires_s <= now_s else WARNING
        return Finding(level, file, when, "replace the file; a node reads it again without a restart")
    return Finding(OK, file, when)
