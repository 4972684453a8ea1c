"""The audit log: who asked for what, with which outcome, at which offsets of the metadata log.

One JSON object a line, made when the outcome of a request is known: where its response leaves the node. docs/audit.md
has the fields. The node that decides writes the line, which is the active controller for every change of the metadata.
"""

from __future__ import annotations

import json
from time import gmtime, strftime
from typing import TYPE_CHECKING, Any

from controller.core.apis import APIS, CLUSTER_ACTION, Kind
from controller.interface import effects
from controller.interface.inputs import Written
from controller.node.audit.audit_file import AuditFile
from controller.node.audit.audit_limit import AuditLimit
from controller.node.audit.audit_resources import resources_of
from raft.interface import effects as raft_effects
from records.errors import Error, error_name
from records.messages.quorum import DescribeQuorumRequest
from records.messages.voters import AddRaftVoterRequest, RemoveRaftVoterRequest, UpdateRaftVoterRequest
from records.release import AUDIT_FORMAT
from records.schema import schema_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from collections.abc import Set as AbstractSet

    from controller.config.node import NodeConfig
    from controller.core.apis import Api
    from controller.interface.inputs import RequestContext
    from raft.interface.inputs import Source
    from raft.state.replica import Replica

# A line names so many resources, and counts the others. Texts are cut: a peer chooses them.
RESOURCES_MAX = 100
TEXT_CHARACTERS_MAX = 256
REFUSED, READS = "refused", "reads"
COMMITTED, UNKNOWN, REFUSED_OUTCOME, DONE = "committed", "unknown", "refused", "done"

_UNAUTHORIZED = {
    Error.TOPIC_AUTHORIZATION_FAILED, Error.GROUP_AUTHORIZATION_FAILED, Error.CLUSTER_AUTHORIZATION_FAILED,
    Error.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, Error.DELEGATION_TOKEN_AUTHORIZATION_FAILED,
}  # fmt: skip
# The answers of a node that decides nothing, because it does not lead.
_DECIDED_ELSEWHERE = {Error.NOT_CONTROLLER, Error.NOT_LEADER_OR_FOLLOWER}
_VOTER_CHANGES = {
    schema_of(request).api_key for request in (AddRaftVoterRequest, RemoveRaftVoterRequest, UpdateRaftVoterRequest)
}
_DESCRIBE_QUORUM = schema_of(DescribeQuorumRequest).api_key
_OF_QUORUM = _VOTER_CHANGES | {_DESCRIBE_QUORUM}


def open_audit(
    path: str, config: NodeConfig, wall_ms: Callable[[], int], note: Callable[[str, dict[str, Any]], None]
) -> AuditLog:
    """The audit log of a node in the file at `path`. Raises OSError if that can never be written."""
    file = AuditFile(path, config.number("kraft.audit.log.bytes"), config.number("kraft.audit.log.files"), note)
    return AuditLog(file, config.node_id, frozenset(config.list("kraft.audit.log.requests")), wall_ms, note)


class AuditLog:
    """Makes the lines of one node. requests: which are in it besides changes, of REFUSED and READS."""

    def __init__(
        self,
        file: AuditFile,
        node_id: int,
        requests: frozenset[str],
        wall_ms: Callable[[], int],
        note: Callable[[str, dict[str, Any]], None],
    ) -> None:
        self.file = file
        self._node_id = node_id
        self._requests = requests
        self._wall_ms = wall_ms
        self._note = note
        # Requests of the quorum, which are answered without their context: by source, with the epoch and the offset of
        # the newest voter set when they came.
        self._asked: dict[Source, tuple[RequestContext, int, int]] = {}
        self._limit = AuditLimit()
        self._replica: Replica

    def begin(self, replica: Replica) -> None:
        """Start with the node's parts, once all are made."""
        self._replica = replica

    def around(self, kind: type, act: Callable[[Any], None]) -> Callable[[Any], None]:
        """For `Node.wrap_effects`: see the answers, after they are sent."""

        def reply_of_raft(effect: raft_effects.Reply) -> None:
            act(effect)
            context = self.context_of(effect.source)
            if context is not None:
                self.on_answer(context, effect.response)

        def reply(effect: effects.Reply) -> None:
            act(effect)
            if not effect.context.is_long:  # its line is made where its answer is encoded
                self.on_answer(effect.context, effect.response)

        if kind is raft_effects.Reply:
            return reply_of_raft
        return reply if kind is effects.Reply else act

    def has(self, api: Api) -> bool:
        """Whether requests of this API of the quorum may be in the log: their contexts are given to `on_request`."""
        return api.api_key in _OF_QUORUM

    def on_request(self, api: Api, context: RequestContext, request: Any) -> None:
        """A request goes to the quorum."""
        if self.has(api):
            context.request = request
            self._asked[context.source] = context, self._replica.epoch, self._voters_offset()

    def context_of(self, source: Source) -> RequestContext | None:
        """The context of a request that the quorum answers, with what it has written; None for other requests."""
        asked = self._asked.pop(source, None)
        if asked is None:
            return None
        context, epoch, before = asked
        offset = self._voters_offset()
        # One change is under way at a time, so a newer set is of this request, also if it is answered with an error:
        # the leader lost its epoch, or did not wait for the commit any longer.
        if context.api_key in _VOTER_CHANGES and offset > before:
            context.written = Written(epoch, offset, offset)
        return context

    def on_disconnected(self, closed: AbstractSet[int]) -> None:
        """Connections are closed: what they asked is not answered any more, but for changes of the voters."""
        for source in [source for source in self._asked if source.connection in closed]:
            if self._asked[source][0].api_key not in _VOTER_CHANGES:
                del self._asked[source]

    def on_answer(self, context: RequestContext, response: Any) -> None:
        """The response of a request leaves, also if its connection is closed."""
        line = self.line(context, response)
        if line is not None:
            self.file.put(line)

    def line(self, context: RequestContext, response: Any) -> bytes | None:
        """The line of a request, None if it has none; for a long request called on another thread."""
        try:
            return self._line(context, response)
        except Exception as error:  # whatever it is: an observer must not stop the node
            # Where, and no more: the text of an exception may quote a value of the request.
            trace = error.__traceback__
            while trace is not None and trace.tb_next is not None:
                trace = trace.tb_next
            line_number = -1 if trace is None else trace.tb_lineno
            fields = {"api": _api_name(context), "error": type(error).__name__, "line": line_number}
            self._note("audit_line_failed", fields)
            return None

    def close(self) -> None:
        self.file.close()

    def _voters_offset(self) -> int:
        last = self._replica.voter_sets.last()
        return -1 if last is None else last[0]

    def _line(self, context: RequestContext, response: Any) -> bytes | None:
        """The line of a request; None if it has none."""
        api = APIS[context.api_key]
        is_read = api.kind is Kind.READ or context.api_key == _DESCRIBE_QUORUM
        if api.kind is Kind.LOCAL or (api.kind is Kind.RAFT and context.api_key not in _OF_QUORUM):
            return None
        code = getattr(response, "error_code", 0)
        resources, count, codes = [], 0, {code}
        for fields, its_code in resources_of(context.api_key, context.request, response):
            codes.add(its_code)
            count += 1
            if count <= RESOURCES_MAX:
                bounded = {name: _limit_value(value) for name, value in fields.items()}
                resources.append({**bounded, "error": error_name(its_code)} if its_code else bounded)
        codes.discard(Error.NONE)
        written = context.written
        if written is None:
            if not self._is_wanted(codes, is_of_cluster=api.needs is CLUSTER_ACTION, is_read=is_read):
                return None
            outcome = REFUSED_OUTCOME if codes else DONE
        else:
            outcome = UNKNOWN if self._may_be_lost(context, written, codes) else COMMITTED
        time_ms = self._wall_ms()
        principal = str(context.principal)
        is_limited = written is None and not context.is_own
        if is_limited and not self._limit.may_write(principal, time_ms):
            return None
        said: dict[str, Any] = {
            "time": f"{strftime('%Y-%m-%dT%H:%M:%S', gmtime(time_ms // 1000))}.{time_ms % 1000:03}Z",
            "format": AUDIT_FORMAT,
            "node_id": self._node_id,
            "api": _api_name(context),
            "version": context.version,
            "principal": None if context.is_own else _limit_value(principal),
            "client_id": _limit_value(context.client_id),
            "client_address": None if context.is_own else context.client_address,
            "listener": context.listener,
        }
        if context.principal.token:
            said["token"] = True
        if context.forwarder is not None:
            said["forwarder"] = {
                "principal": _limit_value(str(context.forwarder.principal)), "address": context.forwarder.address,
            }  # fmt: skip
        if getattr(context.request, "validate_only", False):
            said["validate_only"] = True
        said["outcome"] = outcome
        if written is not None:
            said |= {"epoch": written.epoch, "first_offset": written.first_offset, "last_offset": written.last_offset}
        if code:
            said["error"] = error_name(code)
        said["resources"] = resources
        if count > len(resources):
            said["more_resources"] = count - len(resources)
        omitted = self._limit.take_omitted(principal)
        if omitted:
            said["omitted"] = omitted
        line = json.dumps(said, separators=(",", ":")).encode() + b"\n"
        if is_limited:
            self._limit.spend(principal, len(line))
        return line

    def _is_wanted(self, codes: set[int], *, is_of_cluster: bool, is_read: bool) -> bool:
        """Whether a request that wrote nothing has a line. codes: its errors; is_of_cluster: of brokers and
        controllers, which repeat a request that they may make until it succeeds.
        """
        if len(codes) == 1 and codes <= _DECIDED_ELSEWHERE:
            return False
        if is_read and READS in self._requests:
            return True
        if codes and REFUSED not in self._requests:
            return False
        if is_of_cluster or is_read:
            return not codes.isdisjoint(_UNAUTHORIZED)
        return True

    def _may_be_lost(self, context: RequestContext, written: Written, codes: set[int]) -> bool:
        """Whether the records of a request may yet be lost: its leader answered without knowing."""
        if context.api_key in _VOTER_CHANGES:
            return (self._replica.high_watermark or 0) <= written.last_offset
        return codes == {Error.NOT_CONTROLLER}


def _api_name(context: RequestContext) -> str:
    return APIS[context.api_key].request.__name__.removesuffix("Request")


def _limit_value(value: Any) -> Any:
    """A value of a line, cut to its limits."""
    if isinstance(value, str) and len(value) > TEXT_CHARACTERS_MAX:
        return f"{value[:TEXT_CHARACTERS_MAX]}… ({len(value)} characters)"
    if isinstance(value, list) and value:
        kept = [_limit_value(each) for each in value[:RESOURCES_MAX]]
        return kept if len(value) <= RESOURCES_MAX else [*kept, f"… {len(value) - RESOURCES_MAX} more"]
    return value
