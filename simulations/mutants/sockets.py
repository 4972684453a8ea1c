"""Mutants of what is between the cores and the wire: frames, channels, the listener and its connections."""

from __future__ import annotations

from simulations.mutants.row import Edit, Mutant

CHANNEL, CONNECTION, SERVER = "raft.network.channel", "raft.network.connection", "raft.network.server"
FRAMER, REQUESTS, VERSIONS = "raft.network.framer", "raft.network.requests", "raft.network.versions"


def _row(
    number: str, name: str, subject: str, expected: tuple[str, ...], *edits: Edit, seeds: int = 60, ci: bool = False
) -> Mutant:
    return Mutant(number, name, subject, "own", expected, edits, ci=ci, seeds=seeds, level="node")


MUTANTS = (
    _row(
        "N01", "a response is accepted with any correlation id", "channels", ("W01", "W04"),
        Edit(CHANNEL, "Channel.on_frame", "... or correlation_id != awaited.correlation_id or ...", "... or ..."),
    ),
    _row(
        "N02", "a request is sent while another waits for its response", "channels", ("W01",),
        Edit(CHANNEL, "Channel.send", "self._asked is not None and self._asked.is_sent", "False"),
        ci=True,
    ),
    _row(
        "N03", "a channel waits for ever for ApiVersions", "channels", ("W05",),
        Edit(CHANNEL, "Channel._open", "self._set_timer(VERSIONS_MS_MAX, self._miss_versions)", ""),
    ),
    _row(
        "N04", "the versions of one connection are used on the next", "channels", ("W01",),
        Edit(CHANNEL, "Channel._lose", "self.versions = None", ""),
    ),
    _row(
        "N05", "a channel speaks its own newest version", "versions", ("W01",),
        Edit(VERSIONS, "common_version", "min(ours[1], range_[1])", "ours[1]"),
    ),
    _row(
        "N06", "a lost connection is not reported to the waiting request", "channels", ("W05",),
        Edit(CHANNEL, "Channel._lose", "self._fail(Error.BROKER_NOT_AVAILABLE)", ""),
    ),
    _row(
        "N07", "a connection that fails is made again at once", "channels", ("W05", "L11"),
        Edit(
            CHANNEL, "Channel._back_off",
            "min(BACKOFF_MS * (1 << min(self._failures, 10)), BACKOFF_MS_MAX)", "1",
        ),
    ),
    _row(
        "N08", "a connection waits for one byte more than its frame has", "frames", ("L01", "L02", "W06"),
        Edit(FRAMER, "Framer.feed", "len(self._rest) < self._need", "len(self._rest) <= self._need"),
    ),
    _row(
        "N10", "the header of a flexible version is read without its tags", "frames", ("L01", "W02"),
        Edit(
            REQUESTS, "decode_header",
            "request_header_version(cls, version)", "min(1, request_header_version(cls, version))",
        ),
    ),
    _row(
        "N11", "a request of an unsupported version is accepted", "versions", ("W11",),
        Edit(
            REQUESTS, "parse_request",
            "served[0] <= version <= served[1]", "served[0] <= version <= served[1] + 1",
        ),
    ),
    _row(
        "N13", "a response has the correlation id of its position, not of its request", "answers", ("W03",),
        Edit(
            SERVER, "Server.reply",
            "response_frame(..., slot.correlation_id)", "response_frame(..., slot.number)",
        ),
    ),
    _row(
        "N14", "a response is sent on another connection", "answers", ("W03", "ASSERT"),
        Edit(
            SERVER, "Server._find_request",
            "connection = self.connections.get(source.connection)",
            "connection = next(reversed(self.connections.values()), None)",
        ),
    ),
    _row(
        "N16", "a request is handled before the one before it is answered", "answers", ("W02",),
        Edit(CONNECTION, "Connection._is_blocked", "... or self._slot is not None or ...", "... or ..."),
        Edit(CONNECTION, "Connection.expect_answer", "assert self._slot is None, ...", ""),
    ),
    _row(
        "N18", "a connection with invalid bytes stays open", "bounds", ("W06", "W02"),
        Edit(SERVER, "Server._handle", "connection.refuse(str(error))", ""),
    ),
    _row(
        "N19", "a silent connection stays open", "bounds", ("W06",),
        Edit(SERVER, "Server._close_idle", "connection.last_active < oldest", "False"),
    ),
    _row(
        "N20", "memory of a closed connection is never released", "bounds", ("W06",),
        Edit(
            CONNECTION, "Connection._end", "self._count_held()", "self.held = 0",
        ),
    ),
    _row(
        "N21", "a standby answers an envelope as if it were active", "envelopes", ("W07",),
        Edit("controller.node.envelope", "seal", "has_error(response, wrong)", "False"),
    ),
)  # fmt: skip
