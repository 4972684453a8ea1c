"""The recovery phase of a world whose voters change: the voter set must settle, and a last change must succeed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raft.state.roles import Leader
from simulations.members.administrator import Wish
from simulations.raft.recovery_phase import CATCH_UP_MS, RecoveryPhase
from simulations.world.violation import Violation

if TYPE_CHECKING:
    from simulations.members.world import MembersWorld
    from simulations.world.process import Node, Process

# Nodes that join by themselves ask once a fetch timeout, one after the other.
SETTLE_MS = 30_000

# So often is a change tried in the recovery phase, with so long a pause.
TRIES = 40
TRY_EVERY_MS = 250


class MembersRecovery(RecoveryPhase):
    """All nodes are healthy: the voter set must settle, and a last change must succeed."""

    def __init__(self, run: MembersWorld) -> None:
        super().__init__(run)
        self._members = run

    def _choose_core(self) -> list[Node]:
        return [node for node in self._run.nodes.values() if not node.broken]

    def _outsiders(self) -> list[int]:
        return []

    def _leader(self) -> Process | None:
        """A leader that may write, and that a majority of the committed voters follows."""
        voters = self._run.ledger.committed_voters
        processes = [node.process for node in self._core if node.process is not None and node.process.is_listening]
        for process in processes:
            if process.machine.leads is not None:
                known = [
                    each for each in processes
                    if voters.holds(each.node.key) and each.replica.epoch == process.replica.epoch
                    and each.replica.leader_id == process.node.id
                ]  # fmt: skip
                if len(known) >= voters.majority:
                    return process
        return None

    def _is_settled(self) -> bool:
        """The newest voter set of the leader is committed and up to date, and no change is under way."""
        leader = self._leader()
        if leader is None:
            return False
        ledger, plan = self._run.ledger, self._run.plan
        voters = ledger.committed_voters
        role = leader.replica.role
        if not isinstance(role, Leader) or role.state.change is not None or ledger.voters(leader) != voters:
            return False
        if not ledger.voter_sets.level(ledger.history.log.last):
            return True
        # Voters that have moved tell so, and nodes that join by themselves are voters.
        hosts = dict(zip(voters.ids, voters.hosts, strict=True))
        joins = bool(plan.config.get("auto_join"))
        if self._members.autopilots is not None and not self._members.autopilots.has_healed(voters):
            return False
        return all(
            voters.holds(node.key) and hosts[node.id] == node.host if voters.holds(node.key) or joins else True
            for node in self._core
        )

    def _keep_the_leader(self) -> None:
        self._wait("L06", "a change of the voters does not end", self._is_settled, SETTLE_MS)
        self._wait("L07", "not all catch up", lambda: self._all_have(0), CATCH_UP_MS)
        super()._keep_the_leader()
        self._change_once_more()

    def _change_once_more(self) -> None:
        """A healthy quorum adds or removes a voter, also its leader."""
        run = self._members
        self._wait("L01", "no leader", self._leader, self.elect_within_ms)
        leader = self._leader()
        assert leader is not None, "there is a leader"
        if not run.ledger.voter_sets.level(run.ledger.history.log.last):
            return
        rng = run.stream("last change")
        voters = run.ledger.committed_voters
        observers = [node for node in run.nodes.values() if node.id not in voters.ids]
        wishes = [Wish("add", node.key) for node in observers[:1]]
        if len(voters.keys) > 1 and not run.ledger.lost_voters:
            follower = next(key for key in voters.keys if key[0] != leader.node.id)
            wishes += [Wish("remove", follower), Wish("remove", leader.node.key)]
        if not wishes:
            return
        wish = wishes[int(rng.random() * len(wishes))]
        results: list[bool] = []
        run.administrator.want(wish, TRIES, TRY_EVERY_MS, results.append)
        self._wait("L06", f"{wish.kind} of node {wish.key[0]} does not succeed", lambda: results, TRIES * TRY_EVERY_MS)
        if not results[0] and not self._was_made(wish):
            raise Violation("L06", f"{wish.kind} of node {wish.key[0]} fails; {self._state()}")
        self._wait("L01", "no leader after a change of the voters", self._leader, self.elect_within_ms)
        end = run.ledger.history.end
        if run.plan.recovery.quiet:
            return  # nobody writes any more
        self._wait("L02", "nothing is committed after a change of the voters", lambda: self._commits(end), 5_000)

    def _was_made(self, wish: Wish) -> bool:
        """An earlier try may have succeeded, so that a later one was refused; or the node did it by itself."""
        return self._run.ledger.committed_voters.holds(wish.key) == (wish.kind == "add")
