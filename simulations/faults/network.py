"""Faults of the network. TCP hides lost packets, so they show as delays, and as connections that hang or break."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from records.codec import decode, encode
from records.messages.elections import VoteRequest
from records.schema import replace
from simulations.faults.targets import between, find, rest
from simulations.world.links import Latency
from simulations.world.machine import endpoint
from simulations.world.messages import NAMES
from simulations.world.triggers import Pending
from simulations.world.world import MS

if TYPE_CHECKING:
    from simulations.faults.interfaces import StruckRun
    from simulations.world.messages import Frame
    from simulations.world.process import Connection, Process

Args = dict[str, Any]
Ways = list[tuple[int, int]]


def _cut(run: StruckRun, ways: Ways, for_ms: int) -> bool:
    for way in ways:
        run.network.links.cut(*way)
    run.later(for_ms, _heal, run, ways)
    return bool(ways)


def _heal(run: StruckRun, ways: Ways) -> None:
    for way in ways:
        run.network.links.heal(*way)


def split(run: StruckRun, args: Args, _struck: Process | None) -> bool:
    """Partition the nodes into groups. groups: lists of ids; a node in none of them reaches all."""
    groups: list[list[int]] = args["groups"]
    ways: Ways = []
    for place, group in enumerate(groups):
        for other in groups[place + 1 :]:
            ways += between(run, group, other)
    return _cut(run, ways, args["for_ms"])


def isolate(run: StruckRun, args: Args, struck: Process | None) -> bool:
    """One node, from all others. direction: both, in (it receives nothing), out (nothing it sends arrives)."""
    node = find(run, args["whom"], struck)
    if node is None:
        return False
    return _cut(run, between(run, [node.id], rest(run, [node.id]), args.get("direction", "both")), args["for_ms"])


def part(run: StruckRun, args: Args, struck: Process | None) -> bool:
    """Cut two nodes off from each other, while both reach all others. whom, other; direction as of `isolate`."""
    one, other = find(run, args["whom"], struck), find(run, args["other"], struck)
    if one is None or other is None or one is other:
        return False
    return _cut(run, between(run, [one.id], [other.id], args.get("direction", "both")), args["for_ms"])


def bridge(run: StruckRun, args: Args, struck: Process | None) -> bool:
    """Split the nodes into two halves, and only one node reaches both."""
    node = find(run, args["whom"], struck)
    if node is None:
        return False
    others = rest(run, [node.id])
    half = len(others) // 2
    return _cut(run, between(run, others[:half], others[half:]), args["for_ms"])


def ring(run: StruckRun, args: Args, _struck: Process | None) -> bool:
    """Each node reaches only its two neighbours, so that majorities overlap in a circle."""
    ids = list(run.nodes)
    count = len(ids)
    ways = [
        (ids[one], ids[other])
        for one in range(count)
        for other in range(count)
        if one != other and (one - other) % count not in {1, count - 1}
    ]
    return _cut(run, ways, args["for_ms"])


def flap(run: StruckRun, args: Args, struck: Process | None) -> bool:
    """Cut one node off and reconnect it repeatedly: off for `on_ms`, reconnected for `off_ms`, `times` over."""
    node = find(run, args["whom"], struck)
    if node is None:
        return False
    ways = between(run, [node.id], rest(run, [node.id]), args.get("direction", "both"))
    period = args["on_ms"] + args["off_ms"]
    for time in range(args["times"]):
        run.later(time * period, _cut, run, ways, args["on_ms"])
    return True


def churn(run: StruckRun, args: Args, _struck: Process | None) -> bool:
    """The leader is cut off, then the next leader, `times` over: each for on_ms, off_ms after the one before."""
    for time in range(args["times"]):
        leader = {"whom": "leader", "direction": args["direction"], "for_ms": args["on_ms"]}
        run.later(time * (args["on_ms"] + args["off_ms"]), isolate, run, leader, None)
    return True


def succession(run: StruckRun, args: Args, _struck: Process | None) -> bool:
    """Cut leaders off one after the other, `times` over, each as soon as it has written a record that no other node
    has; then reconnect the one cut off before it. So logs come to differ by several epochs. for_ms: of the last one.
    """
    _await_successor(run, args["times"], args["for_ms"], [])
    return True


def _await_successor(run: StruckRun, left: int, for_ms: int, before: Ways) -> None:
    """before: the links that are cut of the one before."""

    def strike(process: Process) -> None:
        node_id = process.node.id
        if before and before[0][0] == node_id:
            # It writes on, and no follower receives it.
            run.triggers.arm("after:Append", Pending(1, 0, "Leader", strike))
            return
        ways = between(run, [node_id], rest(run, [node_id]))
        _heal(run, before)
        for way in ways:
            run.network.links.cut(*way)
        if left > 1:
            _await_successor(run, left - 1, for_ms, ways)
        else:
            run.later(for_ms, _heal, run, ways)

    run.triggers.arm("after:Append", Pending(1, 0, "Leader", strike))


def swizzle(run: StruckRun, args: Args, _struck: Process | None) -> bool:
    """Cut all nodes off one after the other, and heal them in another order. order: ids; gap_ms: between two."""
    order: list[int] = args["order"]
    gap_ms = args["gap_ms"]
    for place, node_id in enumerate(order):
        begin = place * gap_ms
        end = (len(order) + (place * 2 + 1) % len(order)) * gap_ms
        run.later(begin, _cut, run, between(run, [node_id], rest(run, [node_id])), end - begin)
    return True


def slow(run: StruckRun, args: Args, struck: Process | None) -> bool:
    """All packets from or to a node take longer. extra_ms: by how much."""
    node = find(run, args["whom"], struck)
    if node is None:
        return False
    links = [run.network.links.link(*way) for way in between(run, [node.id], rest(run, [node.id]), args["direction"])]
    for link in links:
        link.extra_us += args["extra_ms"] * MS

    def undo() -> None:
        for link in links:
            link.extra_us -= args["extra_ms"] * MS

    run.later(args["for_ms"], undo)
    return True


def tail(run: StruckRun, args: Args, _struck: Process | None) -> bool:
    """A share of all packets takes up to `tail_ms`: a lossy link, as seen above TCP."""
    links = [run.network.links.link(*way) for way in between(run, list(run.nodes), list(run.nodes), "out")]
    before = [link.latency for link in links]
    for link in links:
        link.latency = Latency(link.latency.least, link.latency.spread, args["share"], args["tail_ms"] * MS)

    def undo() -> None:
        for link, latency in zip(links, before, strict=True):
            link.latency = latency

    run.later(args["for_ms"], undo)
    return True


def narrow(run: StruckRun, args: Args, struck: Process | None) -> bool:
    """The bandwidth of a node is small, which delays snapshots. bytes_per_ms."""
    node = find(run, args["whom"], struck)
    if node is None:
        return False
    links = [run.network.links.link(node.id, other) for other in rest(run, [node.id])]
    for link in links:
        link.bytes_per_ms = args["bytes_per_ms"]

    def undo() -> None:
        for link in links:
            link.bytes_per_ms = 0

    run.later(args["for_ms"], undo)
    return True


def reset(run: StruckRun, args: Args, struck: Process | None) -> bool:
    """All connections of a node break; all bytes in flight are lost, whole frames and halves."""
    node = find(run, args["whom"], struck)
    if node is None:
        return False
    connections = [
        connection
        for connection in run.network.open_connections()
        if connection.client.node is node or (connection.server is not None and connection.server.node is node)
    ]
    for connection in connections:
        run.network.reset(connection)
    return bool(connections)


def hang(run: StruckRun, args: Args, struck: Process | None) -> bool:
    """All connections of a node go silent, in both directions: half-open. Connections made later work."""
    node = find(run, args["whom"], struck)
    if node is None:
        return False
    for connection in run.network.open_connections():
        if connection.client.node is node or (connection.server is not None and connection.server.node is node):
            connection.to_server.is_lost = connection.to_client.is_lost = True
    return True


def hold(run: StruckRun, args: Args, _struck: Process | None) -> bool:
    """The next message of a kind is held for a while; what follows it on its connection waits too. name."""
    name, for_us = args["name"], args["for_ms"] * MS
    network = run.network

    def rule(connection: Connection, frame: Frame, is_answer: bool) -> bool:
        if frame.name != name or not _is_from(args, connection, is_answer):
            return False
        network.rules.remove(rule)
        pipe = connection.to_client if is_answer else connection.to_server
        act = network.answer_arrives if is_answer else network.request_arrives
        pipe.arrived_us = max(pipe.arrived_us, run.world.now + for_us)
        network.links.carry(pipe, frame.size, act, connection, frame)
        return True

    assert name in NAMES, name
    network.rules.append(rule)
    return True


def drop(run: StruckRun, args: Args, _struck: Process | None) -> bool:
    """Messages of a kind are lost for a while, and their connections go silent. share: of them."""
    name, share = args["name"], args["share"]
    network = run.network
    rng = run.stream("drop", args["number"])

    def rule(connection: Connection, frame: Frame, is_answer: bool) -> bool:
        if frame.name != name or not _is_from(args, connection, is_answer) or rng.random() >= share:
            return False
        pipe = connection.to_client if is_answer else connection.to_server
        pipe.is_lost = True
        return True

    assert name in NAMES, name
    network.rules.append(rule)
    run.later(args["for_ms"], _forget_rule, run, rule)
    return True


def lose_answer(run: StruckRun, args: Args, _struck: Process | None) -> bool:
    """The next answer of a kind is lost after the request was carried out, and its connection breaks. name."""
    name = args["name"]
    network = run.network

    def rule(connection: Connection, frame: Frame, is_answer: bool) -> bool:
        if frame.name != name or not is_answer or not _is_from(args, connection, is_answer):
            return False
        network.rules.remove(rule)
        network.reset(connection)
        return True

    network.rules.append(rule)
    return True


def cross(run: StruckRun, args: Args, _struck: Process | None) -> bool:
    """Connections of one node to a second reach a third, as when an address is reassigned. whom, other, third."""
    whom, other, third = args["whom"], args["other"], args["third"]
    if len({whom, other, third}) < 3 or not {whom, other, third} <= set(run.nodes):
        return False
    key = (whom, endpoint(other).host)
    run.network.crossed[key] = run.nodes[third]
    for connection in run.network.open_connections():
        if connection.client.node.id == whom and connection.channel.host == key[1]:
            run.network.reset(connection)

    def undo() -> None:
        run.network.crossed.pop(key, None)
        for connection in run.network.open_connections():
            if connection.client.node.id == whom and connection.channel.host == key[1]:
                run.network.reset(connection)

    run.later(args["for_ms"], undo)
    return True


def stray(run: StruckRun, args: Args, _struck: Process | None) -> bool:
    """For a while the votes that a node requests name another cluster, or another voter. what: cluster or voter."""
    network = run.network

    def rule(connection: Connection, frame: Frame, is_answer: bool) -> bool:
        if is_answer or frame.name != "Vote" or connection.client.node.id != args["whom"]:
            return False
        payload = frame.payload
        request = decode(VoteRequest, frame.version, payload) if frame.is_bytes else payload
        wrong = {"cluster_id": "another"} if args["what"] == "cluster" else {"voter_id": request.voter_id + 100}
        request = replace(request, **wrong)
        frame.payload = encode(request, frame.version) if frame.is_bytes else request
        frame.stray = args["what"]
        return False

    network.rules.append(rule)
    run.later(args["for_ms"], _forget_rule, run, rule)
    return True


def _forget_rule(run: StruckRun, rule: Any) -> None:
    if rule in run.network.rules:
        run.network.rules.remove(rule)


def _is_from(args: Args, connection: Connection, is_answer: bool) -> bool:
    """Whether the fault targets the sender; 0 for any."""
    sender = args.get("sender", 0)
    if not sender:
        return True
    process = connection.server if is_answer else connection.client
    return process is not None and process.node.id == sender
