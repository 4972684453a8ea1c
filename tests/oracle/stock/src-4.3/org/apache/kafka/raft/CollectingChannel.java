package org.apache.kafka.raft;

import java.util.concurrent.CompletionStage;
import org.apache.kafka.common.network.ListenerName;
import org.apache.kafka.common.utils.LogContext;

/** Requests of 4.3 carry the futures of their answers. */
final class CollectingChannel extends SentRequests {
    CollectingChannel(ListenerName listener) {
        super(listener);
    }

    @Override
    public void send(RaftRequest.Outbound request) {
        keep(request);
    }

    @Override
    void complete(RaftRequest.Outbound request, RaftResponse.Inbound response) {
        request.completion.complete(response);
    }

    /** Give a request to the replica. */
    static CompletionStage<RaftResponse.Outbound> ask(KafkaRaftClient<?> client, RaftRequest.Inbound request) {
        client.handle(request);
        return request.completion;
    }

    static LogContext logContext() {
        return new LogContext();
    }
}
