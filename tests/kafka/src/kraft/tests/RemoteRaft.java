package kraft.tests;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import com.fasterxml.jackson.databind.JsonNode;

import org.apache.kafka.raft.KafkaRaftClient;
import org.apache.kafka.raft.LeaderAndEpoch;
import org.apache.kafka.raft.LogOffsetMetadata;
import org.apache.kafka.raft.RaftLog;
import org.apache.kafka.server.common.ApiMessageAndVersion;
import org.apache.kafka.server.common.OffsetAndEpoch;
import org.apache.kafka.snapshot.FileRawSnapshotReader;
import org.apache.kafka.snapshot.SnapshotPath;
import org.apache.kafka.snapshot.Snapshots;

import org.mockito.Mockito;
import org.mockito.invocation.InvocationOnMock;

import kafka.raft.KafkaRaftManager;

/** The replica of a process, as far as tests ask for it: its leader, the end of its log and its newest snapshot. */
public final class RemoteRaft {
    private RemoteRaft() {
    }

    @SuppressWarnings("unchecked")
    public static KafkaRaftManager<ApiMessageAndVersion> make(Process process) {
        RaftLog log = Mockito.mock(RaftLog.class, call -> switch (call.getMethod().getName()) {
            case "endOffset" -> new LogOffsetMetadata(process.awaitQuorum().get("log").get("end_offset").asLong());
            case "latestSnapshotId" -> latestSnapshotId(process);
            case "latestSnapshot" -> latestSnapshotId(process).map(id -> FileRawSnapshotReader.open(log(process), id));
            default -> throw unserved(call);
        });
        KafkaRaftClient<ApiMessageAndVersion> client = Mockito.mock(KafkaRaftClient.class, call -> switch (call.getMethod().getName()) {
            case "leaderAndEpoch" -> leaderAndEpoch(process.awaitQuorum().get("quorum"));
            case "shutdown" -> {
                process.beginStop();
                yield CompletableFuture.runAsync(process::stop);
            }
            default -> throw unserved(call);
        });
        return Mockito.mock(KafkaRaftManager.class, call -> switch (call.getMethod().getName()) {
            case "raftLog" -> log;
            case "client" -> client;
            case "shutdown" -> {
                process.stop();
                yield null;
            }
            default -> throw unserved(call);
        });
    }

    private static LeaderAndEpoch leaderAndEpoch(JsonNode quorum) {
        JsonNode leader = quorum.get("leader_id");
        return new LeaderAndEpoch(
            leader.isNull() ? OptionalInt.empty() : OptionalInt.of(leader.asInt()), quorum.get("epoch").asInt());
    }

    private static Optional<OffsetAndEpoch> latestSnapshotId(Process process) throws IOException {
        try (Stream<Path> files = Files.list(log(process))) {
            return files.map(Snapshots::parse).flatMap(Optional::stream)
                .filter(each -> !each.partial() && !each.deleted()).map(SnapshotPath::snapshotId)
                .max(Comparator.naturalOrder());
        }
    }

    private static Path log(Process process) {
        return process.directory().resolve("__cluster_metadata-0");
    }

    /** The error for what only a controller in this JVM could answer. */
    public static UnsupportedOperationException unserved(InvocationOnMock call) {
        String type = call.getMethod().getDeclaringClass().getSimpleName();
        return new UnsupportedOperationException("in memory: " + type + "." + call.getMethod().getName());
    }
}
