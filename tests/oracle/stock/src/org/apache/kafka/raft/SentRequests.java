package org.apache.kafka.raft;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.network.ListenerName;

/** The requests that the replica has sent, by destination, in order. How one is answered depends on the release. */
abstract class SentRequests implements NetworkChannel {
    private final ListenerName listener;
    private final Map<Integer, List<RaftRequest.Outbound>> byDestination = new HashMap<>();
    private int correlation;
    List<RaftRequest.Outbound> sent = new ArrayList<>();

    SentRequests(ListenerName listener) {
        this.listener = listener;
    }

    /** Answer a request that was sent; a second answer to it is ignored. */
    abstract void complete(RaftRequest.Outbound request, RaftResponse.Inbound response);

    void keep(RaftRequest.Outbound request) {
        sent.add(request);
        byDestination.computeIfAbsent(request.destination().id(), id -> new ArrayList<>()).add(request);
    }

    @Override
    public int newCorrelationId() {
        return correlation++;
    }

    @Override
    public ListenerName listenerName() {
        return listener;
    }

    @Override
    public void close() {
    }

    /** The n-th request, from 0, that was sent to this destination; null where there was none. */
    RaftRequest.Outbound request(int destination, int number) {
        List<RaftRequest.Outbound> requests = byDestination.getOrDefault(destination, List.of());
        return number < requests.size() ? requests.get(number) : null;
    }
}
