package kraft.tests;

import org.apache.kafka.raft.LogOffsetMetadata;
import org.apache.kafka.raft.RaftLog;
import org.apache.kafka.server.common.ApiMessageAndVersion;

import org.mockito.Mockito;
import org.mockito.invocation.InvocationOnMock;

import kafka.raft.KafkaRaftManager;

/** The replica of a process, as far as tests ask for it: the end of its log. */
public final class RemoteRaft {
    private RemoteRaft() {
    }

    @SuppressWarnings("unchecked")
    public static KafkaRaftManager<ApiMessageAndVersion> make(Process process) {
        RaftLog log = Mockito.mock(RaftLog.class, call -> switch (call.getMethod().getName()) {
            case "endOffset" -> new LogOffsetMetadata(process.awaitQuorum().get("log").get("end_offset").asLong());
            default -> throw unserved(call);
        });
        return Mockito.mock(KafkaRaftManager.class, call -> switch (call.getMethod().getName()) {
            case "raftLog" -> log;
            default -> throw unserved(call);
        });
    }

    /** The error for what only a controller in this JVM could answer. */
    public static UnsupportedOperationException unserved(InvocationOnMock call) {
        String type = call.getMethod().getDeclaringClass().getSimpleName();
        return new UnsupportedOperationException("in memory: " + type + "." + call.getMethod().getName());
    }
}
