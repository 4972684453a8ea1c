package kraft.oracle;

import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.requests.RequestContext;
import org.apache.kafka.common.requests.RequestHeader;
import org.apache.kafka.metadata.MetadataRecordSerde;
import org.apache.kafka.raft.RaftClient;
import org.apache.kafka.raft.RaftLog;
import org.apache.kafka.raft.RaftManager;
import org.apache.kafka.server.common.ApiMessageAndVersion;
import org.apache.kafka.server.common.serialization.RecordSerde;

/** The request layer wants a RaftManager; the requests of the quorum are not compared here. */
record NoRaft(LocalLog log) implements RaftManager<ApiMessageAndVersion> {
    @Override
    public CompletableFuture<ApiMessage> handleRequest(
        RequestContext context, RequestHeader header, ApiMessage request, long createdTimeMs
    ) {
        throw new UnsupportedOperationException("requests of the quorum are compared at its own level");
    }

    @Override
    public RaftClient<ApiMessageAndVersion> client() {
        return log;
    }

    @Override
    public RaftLog raftLog() {
        throw new UnsupportedOperationException("there is no log on disk");
    }

    @Override
    public RecordSerde<ApiMessageAndVersion> recordSerde() {
        return new MetadataRecordSerde();
    }
}
