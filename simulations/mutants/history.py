"""Bugs that projects once had, each with the mutants that put it into our code.

Kafka's are named by the issue whose fix is in its history; the sources of the others are the lists
of SandTable (PySyncObj, RaftOS, DaosRaft, Xraft) and the projects' own trackers. Bugs of voter changes have no mutant
yet: voters that change come with KIP-853.
"""

from __future__ import annotations

from typing import NamedTuple


class Bug(NamedTuple):
    """issue: where the project describes it; summary: what was wrong; mutants: ids, none where our code cannot have it yet."""

    issue: str
    summary: str
    mutants: tuple[str, ...]


BUGS = (
    # Kafka's raft
    Bug("KAFKA-10511", "epochs did not start at offsets that rise", ("R46", "R47")),
    Bug("KAFKA-10527", "a leader led on in its epoch after a restart", ("R05", "R05b")),
    Bug("KAFKA-10533", "appends were not flushed before they counted", ("D01", "D02", "D03")),
    Bug("KAFKA-10632", "followers' state machines were not given what is committed", ("H08",)),
    Bug("KAFKA-10661", "a leader that restarted had no role of its own, and stood again", ("R05b",)),
    Bug("KAFKA-10677", "fetches that wait were not answered when the leader resigned", ("R34",)),
    Bug("KAFKA-10817", "fetches of another cluster were served", ("H13",)),
    Bug("KAFKA-12181", "a leader stopped when a voter with an empty disk fetched", ("H01",)),
    Bug("KAFKA-12205", "snapshots before the log's start stayed", ("H10",)),
    Bug("KAFKA-12331", "the record of an election did not have the log's end for its offset", ("H02",)),
    Bug("KAFKA-12440", "votes and what leaders tell came from other clusters", ("H14", "X04")),
    Bug("KAFKA-12460", "a follower truncated what was committed", ("R26",)),
    Bug("KAFKA-12619", "a high watermark was shown before the epoch's first record was committed", ("R14", "Q01b")),
    Bug("KAFKA-13603", "a start asked for the index of an empty segment", ()),
    Bug("KAFKA-14104", "batches of the log were read without a look at their CRC", ("H06",)),
    Bug("KAFKA-14238", "segments were deleted past the newest snapshot", ("D15", "D15b")),
    Bug("KAFKA-14240", "a start took a log without its snapshot", ("D11",)),
    Bug("KAFKA-14273", "quorum-state was renamed before it was on disk", ("D04b", "D04c")),
    Bug("KAFKA-14618", "the id of a snapshot was one off", ("D13", "Q34b")),
    Bug("KAFKA-15100", "a fetch that expired was answered from the state of a later epoch", ("R34",)),
    Bug("KAFKA-15312", "a snapshot was renamed before it was on disk", ("D05", "D05b")),
    Bug("KAFKA-15345", "a leader was told so before it had applied all", ("R43", "Q05")),
    Bug("KAFKA-15412", "a quorum-state of an unknown version counted as none", ("D10",)),
    Bug("KAFKA-15489", "a leader without a majority led on", ("R31b", "R31c")),
    Bug("KAFKA-16144", "a sole voter resigned for want of a majority", ("R31",)),
    Bug("KAFKA-16286", "a listener was not notified of the leader", ("H17",)),
    Bug("KAFKA-16536", "voters were told of their leader once only", ("H07",)),
    Bug("KAFKA-17030", "voters that know no leader asked nobody", ("H16",)),
    Bug("KAFKA-17333", "a leader that resigned told its listeners of it wrongly", ("H11",)),
    Bug("KAFKA-17426", "directory ids were not looked at", ("M08", "X03")),
    Bug("KAFKA-17642", "a voter stood without having won the pre-vote", ("R36",)),
    Bug("KAFKA-17713", "a snapshot ended in the midst of a batch or transaction", ("Q49",)),
    Bug("KAFKA-17751", "a follower asked again and again without a pause", ("H04",)),
    Bug("KAFKA-18345", "elections were lost again and again, as nobody drew rng", ("R37",)),
    Bug("KAFKA-19605", "an observer asked again and again without a pause", ("H04",)),
    # Kafka's controller
    Bug("KAFKA-12376", "records of one operation were not appended together", ("Q08",)),
    Bug("KAFKA-12403", "what a removed topic had stayed", ("Q48",)),
    Bug("KAFKA-12897", "replicas were placed on brokers that are fenced, to lead", ("Q53",)),
    Bug("KAFKA-13083", "new partitions had fenced brokers in sync", ("Q43",)),
    Bug("KAFKA-13100", "what was not committed was not taken back", ("Q04",)),
    Bug("KAFKA-13114", "the state was not reverted when leadership was lost", ("Q04",)),
    Bug("KAFKA-13173", "of several brokers that are gone not all were fenced", ("Q16", "Q58")),
    Bug("KAFKA-13357", "snapshots had no producer ids", ("Q34",)),
    Bug("KAFKA-13682", "preferred leaders were not elected, or when not in sync", ("Q37", "Q57")),
    Bug("KAFKA-13916", "fenced replicas came into sync", ("Q20b", "Q28")),
    Bug("KAFKA-13959", "brokers were let in too early or never", ("Q17",)),
    Bug("KAFKA-14204", "batches that are too large were written in part", ("Q08",)),
    Bug("KAFKA-14292", "brokers that want to stop waited too long", ("Q47",)),
    Bug("KAFKA-14457", "what is not committed was shown", ("Q02",)),
    Bug("KAFKA-14538", "metadata transactions and who tells of them", ("Q54", "Q55", "Q56")),
    Bug("KAFKA-14617", "a former incarnation came into sync", ("Q20c",)),
    Bug("KAFKA-14894", "a snapshot was loaded over what was there", ("Q34c",)),
    Bug("KAFKA-14996", "operations that are too large were done in part", ("Q08",)),
    Bug("KAFKA-15109", "leader epochs did not rise at some metadata versions", ("Q50",)),
    Bug("KAFKA-15586", "an unclean start was taken for a clean one", ("Q17b",)),
    Bug("KAFKA-15665", "a move was over before all were in sync", ("Q25",)),
    Bug("KAFKA-15860", "snapshots had no registrations of controllers", ("Q51",)),
    Bug("KAFKA-16540", "eligible replicas stayed when min.insync.replicas changed", ("Q52",)),
    Bug("KAFKA-16952", "an incarnation that registers again got another epoch", ("Q42",)),
    Bug("KAFKA-18106", "after an unclean start leaders and ISRs stayed", ("Q46",)),
    Bug("KAFKA-18138", "a new active controller did not track all brokers", ("Q44",)),
    Bug("KAFKA-19522", "a fenced broker was elected as the last known leader", ("Q45",)),
    # others
    Bug("etcd #14370", "a sole voter answered before its log was on disk", ("D02",)),
    Bug("LogCabin #44", "records of earlier epochs were committed by counting", ("R14",)),
    Bug("PySyncObj #166", "the commit index fell", ("R20",)),
    Bug("PySyncObj #169", "records of earlier terms were committed", ("R14",)),
    Bug("RaftOS #26", "old messages erased what was there", ("R29",)),
    Bug("ScyllaDB #9965", "a follower took for committed what it had not matched", ("R21",)),
    Bug("NuRaft #185", "what was committed was rolled back", ("R26",)),
    Bug("DaosRaft #70", "a leader voted for another of its term", ("H09",)),
    Bug("Xraft #33", "two led in one term", ("R12",)),
    Bug("Xraft #40", "reads were answered by who led no more", ("R44", "Q02b")),
    Bug("PostgreSQL, fsyncgate", "a sync that failed was tried again, and then said well", ("D08", "D08b")),
    # Voters that change
    Bug("KAFKA-16530", "the high watermark counted a leader that is no voter", ()),
    Bug("KAFKA-16531", "check-quorum counted a leader that is no voter", ()),
    Bug("KAFKA-16533", "an update of a voter lost it", ()),
    Bug("KAFKA-17332", "an observer that was added had not flushed", ()),
    Bug("KAFKA-17608", "an active controller that was removed crashed", ()),
    Bug("redpanda #17675", "a second change of voters began before the first was committed", ()),
)
