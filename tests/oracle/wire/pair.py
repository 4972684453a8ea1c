"""Both nodes and a conversation with each, compared."""

from __future__ import annotations

import contextlib
import time
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

from records.messages.configs import DescribeConfigsRequest
from records.messages.envelope import EnvelopeRequest, EnvelopeResponse
from records.messages.quotas import AlterClientQuotasRequest
from records.wire import DecodeError
from simulations.chaos.ports import free_ports
from tests.interop.ask import describe_quorum
from tests.interop.cluster import eventually
from tests.oracle.compare import Difference, diff
from tests.oracle.release import RELEASE
from tests.oracle.wire.answers import Asked, answer_of, asked, tree_of
from tests.oracle.wire.conversation import Conversation, Reply, Talk
from tests.oracle.wire.known import name_of, names_partition_twice
from tests.oracle.wire.names import Names
from tests.oracle.wire.nodes import two_nodes
from tests.oracle.wire.partition_changes import changes_since, stale_changes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from tests.oracle.wire.nodes import WireNode


# What stock logs when its own registration is committed.
REGISTERED = "Our registration has been persisted to the metadata log."


# The exit codes of a process that ended because of SIGTERM: ours, and that of a JVM.
ENDED_BY_SIGTERM = (0, 143)

# What stock answers from its metadata image, which it publishes a moment after a change is committed: ApiVersions,
# DescribeAcls, DescribeConfigs, DescribeCluster.
FROM_IMAGE = (18, 29, 32, 60)
PUBLISHED_S = 5.0

REQUEST_QUOTA = "request_percentage"

# The known differences after which the logs are not equal.
LOGS_DIFFER = ("negative-broker", "partition-twice", "stock-answers-unknown", "stock-is-silent")


class Found(NamedTuple):
    """A difference. request: the one whose answers differ, None where only the ends of the connections do.

    stock_code: of the answer of stock as a whole, None where it has none. stock_has_ended: whether its process ended;
    stock_gave_up: whether its controller gave up leadership, and an
    answer of it in the conversation has the error code -1. cannot_apply: whether one of the nodes could not
    apply its dynamic values when they were last changed; looked up for DescribeConfigs alone. stale_changes: how many
    records stock wrote because of its index of ELRs (`partition_changes`), where the logs have other ends.
    has_request_quota: whether a request so far set the quota request_percentage. names_partition_twice: whether a
    request of the conversation did, where the logs have other ends.
    """

    request: Asked | None
    difference: Difference
    stock_code: int | None = None
    stock_has_ended: bool = False
    stock_gave_up: bool = False
    cannot_apply: bool = False
    stale_changes: int = 0
    has_request_quota: bool = False
    names_partition_twice: bool = False

    @property
    def inner(self) -> Asked | None:
        """The request, the inner one of an envelope."""
        return None if self.request is None else unwrapped(self.request)

    @property
    def message(self) -> Any:
        """The body of the request, of the inner one of an envelope; None where it cannot be read."""
        return None if self.inner is None else self.inner.message

    @property
    def is_from_image(self) -> bool:
        """Whether stock answers the request from its metadata image."""
        return self.request is not None and self.request.api_key in FROM_IMAGE

    @property
    def signature(self) -> str:
        return f"{self.request or 'connection'}: {self.difference.where}"

    def __str__(self) -> str:
        return f"{self.request or 'connection'}: {self.difference}"


class WirePair:
    """Stock's node and ours, running. root: a directory for what they write; settings: beyond those of `nodes.py`.

    equal_end: where both logs ended when they were last looked at and ended alike.
    died: what was in the log of a node that ended by itself, since the nodes were made.
    """

    def __init__(self, root: Path, settings: Mapping[str, str] | None = None) -> None:
        self.nodes: tuple[WireNode, ...] = ()
        self.names = (Names(), Names())
        self._root = root
        self._settings = settings or {}
        self._stock = replace(RELEASE.stock, quick=True)
        self._lives = count(1)
        self._epochs: tuple[int, ...] = ()
        self.equal_end = 0
        self._has_request_quota = False

    def renew(self) -> None:
        """Two empty nodes."""
        self.close()
        self._has_request_quota = False
        self.names = (Names(), Names())
        # Names in answers replace a node's port: it must be no number that is the value of a config.
        tries = iter(lambda: free_ports(2), [])
        ports = next(each for each in tries if all(port % 100 for port in each))
        self.nodes = two_nodes(self._root / str(next(self._lives)), self._stock, ports)
        for node in self.nodes:
            node.write(self._settings)
            done = node.format()
            assert done.returncode == 0, done.stderr
        self._start()

    def stop(self) -> None:
        """End both nodes in order."""
        for node in self.nodes:
            assert node.stop() in ENDED_BY_SIGTERM

    def exchange_directories(self) -> None:
        """Start each node from the other one's directory; both must have stopped."""
        stock, ours = self.nodes
        aside = self._root / "aside"
        (stock.directory / "data").rename(aside)
        (ours.directory / "data").rename(stock.directory / "data")
        aside.rename(ours.directory / "data")
        self.names = (self.names[1], self.names[0])
        (stock.directory / "log").unlink()
        self._start()

    def _start(self) -> None:
        for node in self.nodes:
            node.start()
        for node in self.nodes:
            node.await_leader()
        self._epochs = self._leader_epochs()
        settle(self)
        self.equal_end = 0

    def is_sound(self) -> bool:
        """Whether both nodes still run, and have led without a change since their start."""
        if any(node.process is None or node.process.poll() is not None for node in self.nodes):
            return False
        try:
            return all(node.is_leader() for node in self.nodes) and self._leader_epochs() == self._epochs
        except OSError:
            return False

    def has_equal_logs(self) -> bool:
        """Whether both logs end at one offset. A node that another one took the id of registers again by itself."""
        end = time.monotonic() + PUBLISHED_S
        while time.monotonic() < end:
            ends = [self._log_end(node) for node in self.nodes]
            if len(set(ends)) == 1:
                self.equal_end = ends[0]
                return True
            time.sleep(0.02)
        return False

    def has_equal_changes(self, offset: int) -> bool:
        """Whether the changes of partitions are equal from an offset on, which both logs must have."""
        stock, ours = (changes_since(node.directory / "data", offset) for node in self.nodes)
        return stock == ours

    def _leader_epochs(self) -> tuple[int, ...]:
        return tuple(describe_quorum(node.port).leader_epoch for node in self.nodes)

    def close(self) -> None:
        for node in self.nodes:
            node.kill()

    def run(self, conversation: Conversation) -> list[Found]:
        """Run a conversation with both; returns the differences."""
        stock, ours = self._talk(conversation)
        requests = [asked(frame[4:]) for frame in conversation.frames]
        self._has_request_quota |= any(map(sets_request_quota, requests))
        for names, reply in zip(self.names, (stock, ours), strict=True):
            learn(names, requests, reply)
        found = list(self._differences(requests, stock, ours))
        late = {each.request for each in found if each.is_from_image and name_of(each) is None}
        for frame, request in zip(conversation.frames, requests, strict=True):
            if request in late and self._is_equal_later(Conversation((frame,))):
                found = [each for each in found if each.request != request]
        sorts = {name_of(each) for each in found}
        is_expected = not sorts & {None, *LOGS_DIFFER} and (not found or self.is_sound())
        if is_expected and not self.has_equal_logs():
            ends = [self._log_end(node) for node in reversed(self.nodes)]
            stale = stale_changes(self.nodes[0].directory / "data", self.equal_end)
            twice = any(names_partition_twice(unwrapped(request)) for request in requests)
            difference = Difference("log end", "log end", *ends)
            found.append(Found(None, difference, stale_changes=stale, names_partition_twice=twice))
        if not found:
            return []
        has_ended = self._has_ended()
        gave_up = not has_ended and any(map(says_unknown, found)) and self._leader_epochs() != self._epochs
        return [each._replace(stock_has_ended=has_ended, stock_gave_up=gave_up) for each in found]

    def _talk(self, conversation: Conversation) -> tuple[Reply, Reply]:
        """The answers of stock and of ours."""
        both = zip(self.nodes, self.names, strict=True)
        talks = [Talk(node.port, conversation, names.to_node) for node, names in both]
        for talk in talks:
            talk.send()
        stock, ours = (talk.read_all() for talk in talks)
        return stock, ours

    def _is_equal_later(self, conversation: Conversation) -> bool:
        """Whether the answers to a request become equal once stock has published the committed records."""
        requests = [asked(frame[4:]) for frame in conversation.frames]
        end = time.monotonic() + PUBLISHED_S
        while True:
            try:
                if all(map(name_of, self._differences(requests, *self._talk(conversation)))):
                    return True
            except OSError:
                return False
            if time.monotonic() > end:
                return False
            time.sleep(0.02)

    @staticmethod
    def _log_end(node: WireNode) -> int:
        """The high watermark; -1 where the node does not answer."""
        try:
            return high_watermark(node)
        except OSError:
            return -1

    def _has_ended(self) -> bool:
        """Whether stock's process has ended, or is ending: it answers no request."""
        process = self.nodes[0].process
        if process is None or process.poll() is not None:
            return True
        try:
            describe_quorum(self.nodes[0].port)
        except OSError:
            return True
        return False

    def _differences(self, requests: list[Asked], stock: Reply, ours: Reply) -> Iterator[Found]:
        for request, left, right in zip(requests, ours.answers, stock.answers, strict=False):
            left, right = self.names[1].from_node(left), self.names[0].from_node(right)
            if left == right:
                continue
            trees = tree_of(request, left, self.nodes[1]), tree_of(request, right, self.nodes[0])
            tree = trees[1] if isinstance(trees[1], dict) else {}
            inner = tree.get("responseData")
            code = (inner if isinstance(inner, dict) else tree).get("errorCode")
            found = [
                Found(request, difference, code, has_request_quota=self._has_request_quota)
                for difference in diff("answer", "answer", *trees)
            ]
            if found and isinstance(found[0].message, DescribeConfigsRequest):
                stock_node, our_node = self.nodes
                cannot_apply = stock_node.has_failed_to_apply() or not our_node.is_applicable()
                found = [each._replace(cannot_apply=cannot_apply) for each in found]
            yield from found
        if (len(stock.answers), stock.end) != (len(ours.answers), ours.end):
            ends = [f"{reply.end} after {len(reply.answers)} answers" for reply in (ours, stock)]
            at = min(len(ours.answers), len(stock.answers))
            yield Found(requests[at] if at < len(requests) else None, Difference("end", "end", *ends))


def unwrapped(request: Asked) -> Asked:
    """The request, the inner one of an envelope."""
    envelope = request.message
    return asked(envelope.request_data) if isinstance(envelope, EnvelopeRequest) else request


def sets_request_quota(request: Asked) -> bool:
    """Whether a request sets the quota `request_percentage` of some user or client."""
    message = unwrapped(request).message
    if not isinstance(message, AlterClientQuotasRequest):
        return False
    return any(op.key == REQUEST_QUOTA for entry in message.entries for op in entry.ops)


def says_unknown(found: Found) -> bool:
    """Whether stock answers UNKNOWN_SERVER_ERROR, and ours something else."""
    return found.difference.where.endswith("rrorCode") and found.difference.stock == -1


def learn(names: Names, requests: list[Asked], reply: Reply) -> None:
    """Learn the names in the answers, also those within an envelope."""
    for request, data in zip(requests, reply.answers, strict=False):
        with contextlib.suppress(DecodeError):
            answer = None if request.message is None else answer_of(request, data)[1]
            if isinstance(answer, EnvelopeResponse):
                request = asked(request.message.request_data)
                has_answer = request.message is not None and bool(answer.response_data)
                answer = answer_of(request, bytes(answer.response_data))[1] if has_answer else None
            if answer is not None:
                names.learn(request.message, answer)


@contextlib.contextmanager
def running_pair(root: Path, settings: Mapping[str, str] | None = None) -> Iterator[WirePair]:
    """Both nodes, formatted and started; they end with the block."""
    pair = WirePair(root, settings)
    try:
        pair.renew()
        yield pair
    finally:
        pair.close()


def settle(pair: WirePair) -> None:
    """Wait until each node has its own registration in the log: it sends that by itself soon after it leads."""
    stock, ours = pair.nodes
    eventually(lambda: REGISTERED in (stock.directory / "log").read_text(), "the registration of stock")
    eventually(lambda: high_watermark(ours) == high_watermark(stock), "the registration of ours")


def high_watermark(node: WireNode) -> int:
    return int(describe_quorum(node.port).high_watermark)
