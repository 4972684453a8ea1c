package org.apache.kafka.raft;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.network.ListenerName;

/** Keeps the requests that the replica sends, by destination, in order. */
final class CollectingChannel implements NetworkChannel {
    private final ListenerName listener;
    private final Map<Integer, List<RaftRequest.Outbound>> byDestination = new HashMap<>();
    private int correlation;
    List<RaftRequest.Outbound> sent = new ArrayList<>();

    CollectingChannel(ListenerName listener) {
        this.listener = listener;
    }

    @Override
    public int newCorrelationId() {
        return correlation++;
    }

    @Override
    public void send(RaftRequest.Outbound request) {
        sent.add(request);
        byDestination.computeIfAbsent(request.destination().id(), id -> new ArrayList<>()).add(request);
    }

    @Override
    public ListenerName listenerName() {
        return listener;
    }

    /** The n-th request, from 0, that was sent to this destination; null where there was none. */
    RaftRequest.Outbound request(int destination, int number) {
        List<RaftRequest.Outbound> requests = byDestination.getOrDefault(destination, List.of());
        return number < requests.size() ? requests.get(number) : null;
    }
}
