"""Known bugs of Kafka and other projects, each with the mutants that introduce it into our code.

Kafka's are named by the issue whose fix is in its history; the sources of the others are the lists
of SandTable (PySyncObj, RaftOS, DaosRaft, Xraft) and the projects' own trackers. Those of voter changes are in `members`.
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
    Bug("KAFKA-10527", "a leader continued in its epoch after a restart", ("R05", "R05b")),
    Bug("KAFKA-10533", "appends were not flushed before they counted", ("D01", "D02", "D03")),
    Bug("KAFKA-10632", "followers did not notify their state machines of commits", ("H08",)),
    Bug("KAFKA-10661", "a leader that restarted became a candidate again", ("R05b",)),
    Bug("KAFKA-10677", "parked Fetches were not answered when the leader resigned", ("R34",)),
    Bug("KAFKA-10817", "fetches of another cluster were served", ("H13",)),
    Bug("KAFKA-12181", "a leader stopped when a voter with an empty disk fetched", ("H01",)),
    Bug("KAFKA-12205", "snapshots before the log's start were not deleted", ("H10",)),
    Bug("KAFKA-12331", "the LeaderChange record was not at the log's end offset", ("H02",)),
    Bug("KAFKA-12440", "Votes and BeginQuorumEpochs of other clusters were accepted", ("H14", "X04")),
    Bug("KAFKA-12460", "a follower truncated committed records", ("R26",)),
    Bug("KAFKA-12619", "a high watermark was shown before the epoch's first record was committed", ("R14", "Q01b")),
    Bug("KAFKA-13603", "a start read the index of an empty segment", ()),
    Bug("KAFKA-14104", "batches of the log were read without checking their CRC", ("H06",)),
    Bug("KAFKA-14238", "segments were deleted past the newest snapshot", ("D15", "D15b")),
    Bug("KAFKA-14240", "a start took a log without its snapshot", ("D11",)),
    Bug("KAFKA-14273", "quorum-state was renamed before it was on disk", ("D04b", "D04c")),
    Bug("KAFKA-14618", "the id of a snapshot was one off", ("D13", "Q34b")),
    Bug("KAFKA-15100", "a fetch that expired was answered from the state of a later epoch", ("R34",)),
    Bug("KAFKA-15312", "a snapshot was renamed before it was on disk", ("D05", "D05b")),
    Bug(
        "KAFKA-15345",
        "a leader's state machine was notified before it had applied all committed records",
        ("R43", "Q05"),
    ),
    Bug("KAFKA-15412", "a quorum-state of an unknown version counted as absent", ("D10",)),
    Bug("KAFKA-15489", "a leader without a majority did not resign", ("R31b", "R31c")),
    Bug("KAFKA-16144", "a sole voter resigned because no other voter fetched", ("R31",)),
    Bug("KAFKA-16286", "a listener was not notified of the leader", ("H17",)),
    Bug("KAFKA-16536", "BeginQuorumEpoch was sent once and not repeated", ("H07",)),
    Bug("KAFKA-17030", "voters that know no leader did not look for one", ("H16",)),
    Bug("KAFKA-17333", "a leader that resigned notified its listeners of a wrong epoch", ("H11",)),
    Bug("KAFKA-17426", "directory ids were not checked", ("M08", "X03")),
    Bug("KAFKA-17642", "a voter became a candidate without having won the pre-vote", ("R36",)),
    Bug("KAFKA-17713", "a snapshot ended within a batch or transaction", ("Q49",)),
    Bug("KAFKA-17751", "a follower fetched repeatedly without backoff", ("H04",)),
    Bug("KAFKA-18345", "elections were lost repeatedly because the backoff was not random", ("R37",)),
    Bug("KAFKA-19605", "an observer fetched repeatedly without backoff", ("H04",)),
    # Kafka's controller
    Bug("KAFKA-12376", "records of one operation were not appended together", ("Q08",)),
    Bug("KAFKA-12403", "state of a removed topic remained", ("Q48",)),
    Bug("KAFKA-12897", "fenced brokers were placed as leaders", ("Q53",)),
    Bug("KAFKA-13083", "new partitions had fenced brokers in the ISR", ("Q43",)),
    Bug("KAFKA-13100", "uncommitted changes were not reverted", ("Q04",)),
    Bug("KAFKA-13114", "the state was not reverted when leadership was lost", ("Q04",)),
    Bug("KAFKA-13173", "of several expired brokers not all were fenced", ("Q16", "Q58")),
    Bug("KAFKA-13357", "snapshots had no producer ids", ("Q34",)),
    Bug("KAFKA-13682", "preferred leaders were not elected, or when not in sync", ("Q37", "Q57")),
    Bug("KAFKA-13916", "fenced replicas joined the ISR", ("Q20b", "Q28")),
    Bug("KAFKA-13959", "brokers were unfenced too early or never", ("Q17",)),
    Bug("KAFKA-14204", "batches that are too large were written in part", ("Q08",)),
    Bug("KAFKA-14292", "controlled shutdowns waited too long", ("Q47",)),
    Bug("KAFKA-14457", "uncommitted records were shown", ("Q02",)),
    Bug("KAFKA-14538", "metadata transactions and their publication", ("Q54", "Q55", "Q56")),
    Bug("KAFKA-14617", "a former incarnation joined the ISR", ("Q20c",)),
    Bug("KAFKA-14894", "a snapshot was loaded without clearing the state", ("Q34c",)),
    Bug("KAFKA-14996", "operations that are too large were applied in part", ("Q08",)),
    Bug("KAFKA-15109", "leader epochs did not rise at some metadata versions", ("Q50",)),
    Bug("KAFKA-15586", "an unclean start was taken for a clean one", ("Q17b",)),
    Bug("KAFKA-15665", "a reassignment completed before all new replicas were in sync", ("Q25",)),
    Bug("KAFKA-15860", "snapshots had no registrations of controllers", ("Q51",)),
    Bug("KAFKA-16540", "the ELR stayed when min.insync.replicas changed", ("Q52",)),
    Bug("KAFKA-16952", "an incarnation that registered again got another epoch", ("Q42",)),
    Bug("KAFKA-18106", "after an unclean start leaders and ISRs stayed", ("Q46",)),
    Bug("KAFKA-18138", "a new active controller did not track all brokers", ("Q44",)),
    Bug("KAFKA-19522", "a fenced broker was elected as the last known leader", ("Q45",)),
    # others
    Bug("etcd #14370", "a sole voter answered before its log was on disk", ("D02",)),
    Bug("LogCabin #44", "records of earlier epochs were committed by counting", ("R14",)),
    Bug("PySyncObj #166", "the commit index fell", ("R20",)),
    Bug("PySyncObj #169", "records of earlier terms were committed", ("R14",)),
    Bug("RaftOS #26", "old messages erased newer entries", ("R29",)),
    Bug("ScyllaDB #9965", "a follower committed entries that it had not matched", ("R21",)),
    Bug("NuRaft #185", "committed entries were rolled back", ("R26",)),
    Bug("DaosRaft #70", "a leader voted for another candidate of its term", ("H09",)),
    Bug("Xraft #33", "one term had two leaders", ("R12",)),
    Bug("Xraft #40", "a former leader answered reads", ("R44", "Q02b")),
    Bug("PostgreSQL, fsyncgate", "a failed fsync was retried, and then reported success", ("D08", "D08b")),
    # Voters that change
    Bug("KAFKA-16530", "the high watermark counted a leader that is no voter", ("M05b",)),
    Bug("KAFKA-16531", "check-quorum counted a leader that is no voter", ("M05",)),
    Bug("KAFKA-16533", "an update of a voter removed it", ("M11",)),
    Bug("KAFKA-17332", "an added observer had not flushed its log", ()),
    Bug("KAFKA-17608", "an active controller that was removed crashed", ("M10",)),
    Bug("redpanda #17675", "a second change of voters began before the first was committed", ("M01",)),
)
