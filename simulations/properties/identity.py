"""Identity: requests for another node or cluster change nothing.

S20 IdentityFencing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulations.world.violation import Violation

if TYPE_CHECKING:
    from raft.interface.inputs import Requested
    from simulations.world.ledger import Ledger
    from simulations.world.messages import Frame
    from simulations.world.process import Connection, Process


class Identity:
    """Checks that requests for another cluster or voter change nothing."""

    def __init__(self, _ledger: Ledger) -> None:
        self._before = 0
        self.asked = {"Vote": self._on_vote}
        self.took = {"Vote": self._took_vote}
        self.leaves = {"VoteAnswer": self._vote_leaves}

    def _on_vote(self, process: Process, frame: Frame, _requested: Requested) -> None:
        if frame.stray:
            self._before = process.replica.epoch

    def _took_vote(self, process: Process, frame: Frame, _requested: Requested) -> None:
        """A request of another cluster does not even change the epoch."""
        if frame.stray == "cluster" and process.replica.epoch > max(self._before, 0) + 1:
            text = f"a Vote of another cluster took node {process.node.id} from epoch {self._before} to"
            raise Violation("S20", f"{text} {process.replica.epoch}")

    def _vote_leaves(self, connection: Connection, frame: Frame, _is_answer: bool) -> None:
        if frame.stray and len(frame.gist) > 3 and frame.gist[3]:
            server = connection.server
            voter = 0 if server is None else server.node.id
            raise Violation(
                "S20", f"node {voter} grants a vote that was not requested of it: the {frame.stray} is wrong"
            )
