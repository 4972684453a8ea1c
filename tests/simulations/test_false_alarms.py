"""Worlds in which a property, the specification or the recovery phase was wrong, and the product was not (see
FINDINGS.md).
"""

from __future__ import annotations

import pytest

from simulations.levels.table import load


@pytest.mark.parametrize(
    ("level", "seed"),
    [
        ("raft", 1632),  # S26: a voter whose disk was emptied is the one that it was
        ("raft", 7567),
        ("raft", 7104),  # no disk is whole, so the recovery phase has nobody to cut off
        ("raft", 7132),  # L01: forty syncs of a start on a slow disk
        ("raft", 183),  # L04: a pre-vote given in time arrives when its voter follows a leader again
        ("raft", 7221),  # S28: an order waits while an election is saved
        ("raft-long", 1013),  # T01: a download is whole in the step in which its follower stands
        ("controller", 242),  # C21: directories that are cordoned are a list, of which some can be taken away
        ("controller", 263),  # C18: no topic can be deleted, and nothing else is looked at
        ("controller", 10023),  # S24: a node whose disk has failed takes in nothing more
        ("controller", 856),  # C21: a dynamic config takes the place of a static one that means the same
        ("controller", 329),  # C05: a fuzz client replaced what admin clients had set for all brokers
        ("controller", 123),  # C21: UpdateFeatures raises kraft.version, if the voters have reported the level
        ("controller", 211),  # C21: topics grow in the order of Kafka's hash map, not of the request
        ("controller", 116),  # C03: a ClearElrRecord where no partition has an ELR changes no partition
        ("controller", 163),  # C21: a reassignment names a broker whose directories are all cordoned
        ("controller", 106),  # C21: a cancelled reassignment has as its target what it had before
        ("node", 32),  # W06, then C05: a client reads no answers; more is asked than a standby describes in any state
        ("node", 139),  # W06: of a client that reads no answers no more requests are handled
        ("node", 184),
        ("node", 52),  # L11: each read of a client asks the followers to confirm the leader
        ("node", 74),  # L02: a long step with a pause at each of 10,000 entries lasted longer than the recovery phase
        ("controller", 167),
        ("controller", 20006),  # L05: a request waited for a long step, and its connection was closed meanwhile
        ("controller", 173),
        ("controller", 244),  # C03: an ElectLeaders that timed out before its step names each partition
        ("node", 865),  # C09: the answer to a heartbeat left long after its arrival
        ("secured", 296),  # C05: a rogue client that may unregisters a broker, which no history records
        ("members", 1782),  # L01: two inputs of one moment came to raft in the wrong order
        ("members", 2267),  # L06: a paused process takes a request when it is awake
        ("members", 2516),  # L13: a voter was removed and added between two checks
        ("members", 3107),  # S18: a process was killed while it ended after a failed sync
        ("members", 4913),  # S24: a request left in the step that ended its role
        ("members", 7200),  # S19: a leader of the past adds to a voter set that is not the newest committed one
        ("members", 7335),  # S19: a new voter is forgotten while its record waits for an offset
        ("members", 7435),  # S17: a process died before it could report its snapshot
        ("members", 7449),  # S25: a pre-vote at a voter whose removal is not committed
        ("members", 1426),  # S06: a leader of the past has an observer truncate what a later one has committed
        ("members", 811),  # L15: a part of a snapshot was being written for longer than a fetch timeout
        ("members", 371),  # T01: a FetchSnapshot timed out while it waited for a save, and was answered later
        ("members", 3079),  # the newest voter set on a failed disk is torn
        ("members", 2599),  # S01: a sole voter lost power before its election was saved
        ("members", 4169),  # T01: a snapshot without voters, on a node without static ones
        ("members", 3002070),  # S31: an observer lost its disk when it was about to become a voter
        ("members", 3003780),  # L07: each snapshot was deleted before its last part was fetched
        ("members", 3004859),  # T01: a leader asked a voter at its new endpoint while a voter set was not committed
        ("members", 3005650),  # S26: a static voter got its directory id, and was removed before it fetched again
        ("members", 3006107),  # L16: a former leader heard a peer after it had decided to end, and saved its election
        ("controller", 18),  # C21: a long step on a standby was abandoned when that became the active controller
        ("members", 3001849),  # L01: a directory that an observer has lost became a voter, by a bug of the product
    ],
)
def test_a_former_false_alarm_is_no_violation(level: str, seed: int) -> None:
    found = load(level)

    outcome, _ = found.play(found.draw(seed))

    assert outcome.is_well, outcome.text
