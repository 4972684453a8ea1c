package org.apache.kafka.raft;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.apache.kafka.common.network.ListenerName;
import org.apache.kafka.common.utils.internals.LogContext;

/** Since 4.4 the channel makes the futures of the answers. */
final class CollectingChannel extends SentRequests {
    private final Map<RaftRequest.Outbound, CompletableFuture<RaftResponse.Inbound>> answers = new HashMap<>();

    CollectingChannel(ListenerName listener) {
        super(listener);
    }

    @Override
    public CompletionStage<RaftResponse.Inbound> send(RaftRequest.Outbound request) {
        keep(request);
        CompletableFuture<RaftResponse.Inbound> answer = new CompletableFuture<>();
        answers.put(request, answer);
        return answer;
    }

    @Override
    void complete(RaftRequest.Outbound request, RaftResponse.Inbound response) {
        answers.get(request).complete(response);
    }

    /** Give a request to the replica. */
    static CompletionStage<RaftResponse.Outbound> ask(KafkaRaftClient<?> client, RaftRequest.Inbound request) {
        return client.handle(request);
    }

    static LogContext logContext() {
        return new LogContext();
    }
}
