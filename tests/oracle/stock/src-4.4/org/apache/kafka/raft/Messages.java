package org.apache.kafka.raft;

import java.util.ArrayDeque;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** The requests that wait for the replica, and how long it was ready to wait for the next one. */
final class Messages implements RaftMessageQueue {
    /** A message, and since 4.4 the future of what is answered to it. */
    private record Entry(RaftMessage message, CompletableFuture<RaftMessage> future) implements QueueEntry { }

    private final ArrayDeque<QueueEntry> waiting = new ArrayDeque<>();
    private OptionalLong lastPollTimeoutMs = OptionalLong.empty();

    OptionalLong lastPollTimeoutMs() {
        return lastPollTimeoutMs;
    }

    @Override
    public Optional<QueueEntry> poll(long timeoutMs) {
        lastPollTimeoutMs = OptionalLong.of(timeoutMs);
        return Optional.ofNullable(waiting.poll());
    }

    @Override
    public CompletionStage<RaftMessage> add(RaftMessage message) {
        Entry entry = new Entry(message, new CompletableFuture<>());
        waiting.add(entry);
        return entry.future();
    }

    @Override
    public boolean isEmpty() {
        return waiting.isEmpty();
    }

    @Override
    public void wakeup() {
    }
}
