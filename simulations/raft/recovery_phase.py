"""The recovery phase after the faults: a core of the voters is healthy, and must elect a leader, commit, catch up, and
keep the leader.

L01 elect within ELECT_MS, L02 commit, L04 no disruption, L05 every request is answered, L07 all catch up. The bounds
are long compared with a normal run: a quorum that exceeds them never recovers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from raft.state.roles import Leader, Prospective
from simulations.faults.targets import between as ways_between
from simulations.world.violation import Violation
from simulations.world.world import MS

if TYPE_CHECKING:
    from simulations.raft.world import RaftWorld
    from simulations.world.process import Node, Process

# A connection attempt into a cut lasts for 10 s (socket.connection.setup.timeout.ms); then come elections.
CONNECT_MS = 10_000
COMMIT_MS = CONNECT_MS + 5_000  # a follower may have to connect to the new leader first
CATCH_UP_MS = 15_000
LOOK_MS = 25

# For how long the leader must stay, while nodes outside of the core join and leave.
STABLE_TIMEOUTS = 4

WRITE_EVERY_MS = 100

OF_CALM = {"L01", "L02", "L04", "L05", "L07"}


class RecoveryPhase:
    """elected_ms, committed_ms, caught_up_ms: since the phase began; -1 if not reached."""

    def __init__(self, run: RaftWorld) -> None:
        self._run = run
        self._core: list[Node] = []
        self._tries = 0
        self.elected_ms = self.committed_ms = self.caught_up_ms = -1

    @property
    def elect_within_ms(self) -> int:
        """The time within which a leader must be elected: voters that wait for a lost leader or an answer first time
        out, and split votes are repeated.
        """
        config = next(iter(self._run.nodes.values())).config
        return CONNECT_MS + config.fetch_timeout_ms + config.request_timeout_ms + 20 * config.election_timeout_ms

    def run(self) -> None:
        """Let the core recover. Raises Violation if it does not."""
        while True:
            try:
                self._attempt()
            except Violation as violation:
                # A rotten batch may be read for the first time in the recovery phase: then other voters are the core.
                is_rotten = any(node.broken and node.id in self._run.ledger.damaged for node in self._core)
                if violation.property_id not in OF_CALM or not is_rotten:
                    raise
                self._tries += 1
                self._run.network.links.heal_all()
            else:
                return

    def _attempt(self) -> None:
        run = self._run
        self._core = self._choose_core()
        for node in run.nodes.values():
            if node in self._core or run.plan.recovery.others == "join" or node.id not in run.ledger.voter_ids:
                node.start_after(0)
            elif run.plan.recovery.others == "off":
                node.stop()
                node.kill()
        self._set_apart()
        run.clients.set_pace(WRITE_EVERY_MS)
        begin = run.world.now
        run.world.run(begin + MS)
        if len(self._core) < run.ledger.majority:
            run.world.run(begin + 2000 * MS)  # too many disks are beyond repair
            return
        self.elected_ms = self._wait("L01", "no leader", self._leader, self.elect_within_ms)
        end = run.ledger.history.end
        self.committed_ms = self._wait("L02", "nothing is committed", lambda: self._commits(end), COMMIT_MS)
        end = run.ledger.history.end
        self.caught_up_ms = self._wait("L07", "not all catch up", lambda: self._all_have(end), CATCH_UP_MS)
        self._keep_the_leader()
        self._is_answered()
        self._is_confirmed()

    def _choose_core(self) -> list[Node]:
        """The voters of the plan's core that can be healthy; if they are too few, others too."""
        run = self._run
        ids = [each for each in run.plan.recovery.core if each in run.nodes]
        ids += [voter_id for voter_id in run.ledger.voter_ids if voter_id not in ids]
        for node_id in ids:
            node = run.nodes[node_id]
            if node_id in run.ledger.damaged and node.process is None and not node.broken:
                node.switch_on()
                node.start()  # whether it can start at all
        sound = [
            run.nodes[node_id]
            for node_id in ids
            if not run.nodes[node_id].broken and node_id not in run.ledger.lost_voters
        ]
        size = max(len(run.plan.recovery.core), run.ledger.majority)
        if run.plan.recovery.others == "join":
            size = len(ids)  # every healthy voter belongs to it, and may lead
        return sorted(sound[:size], key=lambda node: node.id)

    def _outsiders(self) -> list[int]:
        return [voter_id for voter_id in self._run.ledger.voter_ids if self._run.nodes[voter_id] not in self._core]

    def _set_apart(self) -> None:
        run = self._run
        others = run.plan.recovery.others
        if others in {"apart", "flap"} and self._outsiders() and self._core:
            self._cut(repeat=others == "flap")

    def _cut(self, *, repeat: bool) -> None:
        run = self._run
        ways = ways_between(run, self._outsiders(), [node.id for node in self._core], self._direction())
        for way in ways:
            run.network.links.cut(*way)
        if repeat:
            run.world.after(self._flap_us(), self._heal, ways, self._tries)

    def _heal(self, ways: list[tuple[int, int]], number: int) -> None:
        if number != self._tries:
            return
        for way in ways:
            self._run.network.links.heal(*way)
        self._run.world.after(self._flap_us(), self._cut_again, number)

    def _cut_again(self, number: int) -> None:
        if number == self._tries:
            self._cut(repeat=True)

    def _flap_us(self) -> int:
        rng = self._run.stream("flap", self._run.world.now)
        config = self._core[0].config
        return int((0.1 + 1.9 * rng.random()) * config.fetch_timeout_ms * MS)

    def _direction(self) -> str:
        return ("both", "in", "out", "both")[int(self._run.stream("way", self._run.world.now).random() * 4)]

    # Goals

    def _leader(self) -> Process | None:
        """A leader of the core that may write, and that a majority of the voters follows."""
        processes = [node.process for node in self._core if node.process is not None and node.process.is_listening]
        for process in processes:
            if process.machine.leads is not None:
                known = [
                    each for each in processes
                    if each.replica.epoch == process.replica.epoch and each.replica.leader_id == process.node.id
                ]  # fmt: skip
                if len(known) >= self._run.ledger.majority:
                    return process
        return None

    def _commits(self, end: int) -> bool:
        return self._run.ledger.history.end > end

    def _all_have(self, end: int) -> bool:
        """All healthy nodes have applied up to this offset, and the first record that their common leader wrote."""
        leader = self._leader()
        if leader is None:
            return False
        role = leader.replica.role
        end = max(end, role.state.start_offset + 1 if isinstance(role, Leader) else 0)
        members = [*self._core]
        if self._run.plan.recovery.others == "join":
            members = [node for node in self._run.nodes.values() if not node.broken]
        return all(
            node.process is not None
            and node.process.is_listening
            and node.process.machine.offset >= end
            and node.process.replica.epoch == leader.replica.epoch
            and node.process.replica.leader_id == leader.node.id
            for node in members
        )

    def _wait(self, property_id: str, what: str, goal: object, limit_ms: int) -> int:
        world = self._run.world
        begin = world.now
        assert callable(goal)
        while not goal():
            if world.now - begin > limit_ms * MS:
                raise Violation(property_id, f"{what} within {limit_ms} ms of the recovery phase;  {self._state()}")
            world.run(world.now + LOOK_MS * MS, self._run.events_max)
        return (world.now - begin) // MS

    def _keep_the_leader(self) -> None:
        """The epoch stays, whatever nodes outside of the core do: a pre-vote does not disturb the leader (KIP-996)."""
        run = self._run
        config = self._core[0].config
        leader = self._leader()
        assert leader is not None, "all have caught up with a leader"
        epoch = leader.replica.epoch
        if run.plan.recovery.quiet:
            run.clients.stop()
        if self._may_elect_another():
            return
        known = max(
            (node.process.replica.epoch for node in run.nodes.values() if node.process is not None and
             node.process.is_listening), default=0,
        )  # fmt: skip
        kept = max(run.ledger.durable(node).election.epoch for node in run.nodes.values())
        run.world.run(run.world.now + STABLE_TIMEOUTS * config.fetch_timeout_ms * MS, run.events_max)
        if max(known, kept) > epoch or any(node.release == "3.9" for node in run.nodes.values()):
            return  # an outsider had raised its epoch before, or knows no pre-vote
        now = self._leader()
        if now is not leader or now.replica.epoch != epoch:
            text = f"node {leader.node.id} led epoch {epoch} with a healthy majority; {self._state()}"
            raise Violation("L04", text)

    def _may_elect_another(self) -> bool:
        """Whether an outsider is a candidate with a pre-vote of a core voter, which may grant it while leaderless. The
        answer may still be on its way.
        """
        ids = {node.id for node in self._core}
        roles = [
            (node.id, node.process.replica.role) for node in self._run.nodes.values()
            if node not in self._core and node.process is not None and node.process.is_listening
        ]  # fmt: skip
        given = self._run.watch.elections.pre_votes_given
        since = self._run.world.now - self._core[0].config.request_timeout_ms * MS
        return any(
            isinstance(role, Prospective)
            and (
                ids & set(role.tally.granting)
                or any(given.get((node_id, role.epoch, voter_id), -1) >= max(since, 0) for voter_id in ids)
            )
            for node_id, role in roles
        )

    def _is_answered(self) -> None:
        run = self._run
        for node in self._core:
            if node.process is not None and node.process.is_listening:
                late = run.watch.progress.find_unanswered(node.process, run.world.now)
                if late is not None:
                    raise Violation("L05", late)

    def _is_confirmed(self) -> None:
        """A leader that asks for confirmation of its leadership gets it."""
        run = self._run
        leader = self._leader()
        if leader is None:
            return
        number, epoch = leader.machine.ask(), leader.replica.epoch
        run.world.run(run.world.now + self._core[0].config.fetch_timeout_ms * MS, run.events_max)
        if self._leader() is leader and leader.replica.epoch == epoch and run.watch.commits.is_waiting(leader, number):
            raise Violation(
                "L05", f"node {leader.node.id} asked for confirmation that it leads epoch {epoch}, and got none"
            )

    def _state(self) -> str:
        """The state of all nodes, as text for people."""
        rows = []
        for node in self._run.nodes.values():
            process = node.process
            if process is None or not process.is_listening:
                rows.append(f"{node.id}: {node.broken or ('off' if not node.is_on else 'down')}")
                continue
            replica = process.replica
            rows.append(
                f"{node.id}: {type(replica.role).__name__} of epoch {replica.epoch}, leader {replica.leader_id}, log"
                f" end {replica.log.end}, applied {process.machine.offset}"
            )
        return "; ".join(rows)
