"""One-line mutants of Kafka's own Raft code, and the mutant of ours that each is translated to.

Kafka's simulation (`RaftEventSimulationTest`, at its defaults) was run against 18 of them, and killed 10. What it lets
live is what its model leaves out: crashes within a step, stale answers, time-outs that nobody needs in its runs.
"""

from __future__ import annotations

from typing import NamedTuple

KILLED, SURVIVED, NOT_TRIED = "killed", "survived", "not tried"


class Translation(NamedTuple):
    """where: class and method of Kafka's module raft; change: what the one line does no more, or does else; theirs: what
    Kafka's own simulation did with it; mutant_id: ours.
    """

    where: str
    change: str
    theirs: str
    mutant_id: str


TRANSLATIONS = (
    Translation("UnattachedState.canGrantVote", "grants though it has voted for another", KILLED, "R01"),
    Translation("QuorumState.unattachedAddVotedState", "the vote is not written to the store", SURVIVED, "R02b"),
    Translation("QuorumState.transitionToUnattached", "the higher epoch is not written to the store", KILLED, "R04"),
    Translation("QuorumState.durableTransitionTo", "the leader is not written to the store", KILLED, "R05"),
    Translation("UnattachedState.canGrantVote", "ignores whether the log is up to date", KILLED, "R07"),
    Translation("KafkaRaftClient.handleVoteRequest", "compares offsets, not epochs", KILLED, "R08"),
    Translation("KafkaRaftClient.handleVoteResponse", "takes answers of an earlier epoch", SURVIVED, "R10"),
    Translation("LeaderState.maybeUpdateHighWatermark", "commits below the start of its epoch", KILLED, "R14"),
    Translation("LeaderState.maybeUpdateHighWatermark", "takes the offset of one voter less", KILLED, "R17"),
    Translation("LeaderState.maybeUpdateHighWatermark", "the high watermark may fall", SURVIVED, "R19"),
    Translation("KafkaRaftClient.validateLeaderOnlyRequest", "the request's epoch is not checked", KILLED, "R22"),
    Translation("KafkaRaftClient.maybeHandleCommonResponse", "takes answers of former leaders", SURVIVED, "R23"),
    Translation("KafkaRaftLog.truncateToEndOffset", "truncates what is committed", SURVIVED, "R26"),
    Translation("FollowerState.resetFetchTimeoutForSuccessfulFetch", "does not reset the timer", SURVIVED, "R32"),
    Translation("KafkaRaftClient.appendAsFollower", "does not flush", KILLED, "D01"),
    Translation("KafkaRaftClient.flushLeaderLog", "counts itself before the flush", SURVIVED, "D02"),
    Translation("KafkaRaftClient.createSnapshot", "the id ends one offset late", KILLED, "D13"),
    Translation("VoterSet.isVoter", "the directory id is ignored", SURVIVED, "M08"),
    Translation("FollowerState.updateHighWatermark", "takes one that is beyond its log", NOT_TRIED, "R21"),
    Translation("KafkaRaftClient.onBecomeLeader", "appends no LeaderChangeMessage", NOT_TRIED, "R16"),
    Translation("EpochElection.isVoteGranted", "half of the voters are enough", NOT_TRIED, "R12"),
    Translation("EpochElection.recordVote", "a refusal counts as a vote", NOT_TRIED, "R11"),
    Translation("RaftLog.validateOffsetAndEpoch", "an epoch that is not there is not looked at", NOT_TRIED, "R27b"),
    Translation("RaftLog.validateOffsetAndEpoch", "an offset beyond the epoch's end is well", NOT_TRIED, "R27c"),
    Translation("QuorumState.initialize", "a former leader stands again in its epoch", NOT_TRIED, "R05b"),
    Translation("FollowerState.canGrantVote", "gives pre-votes while its leader lives", NOT_TRIED, "R35b"),
    Translation("BatchAccumulator.append", "the epoch of the append is not checked", NOT_TRIED, "R42"),
    Translation("LeaderState.timeUntilCheckQuorumExpires", "never expires", NOT_TRIED, "R31b"),
)
