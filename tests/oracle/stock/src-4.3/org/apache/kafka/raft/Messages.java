package org.apache.kafka.raft;

import java.util.ArrayDeque;
import java.util.OptionalLong;

/** The requests that wait for the replica, and how long it was ready to wait for the next one. */
final class Messages implements RaftMessageQueue {
    private final ArrayDeque<RaftMessage> waiting = new ArrayDeque<>();
    private OptionalLong lastPollTimeoutMs = OptionalLong.empty();

    OptionalLong lastPollTimeoutMs() {
        return lastPollTimeoutMs;
    }

    @Override
    public RaftMessage poll(long timeoutMs) {
        lastPollTimeoutMs = OptionalLong.of(timeoutMs);
        return waiting.poll();
    }

    @Override
    public void add(RaftMessage message) {
        waiting.add(message);
    }

    @Override
    public boolean isEmpty() {
        return waiting.isEmpty();
    }

    @Override
    public void wakeup() {
    }
}
