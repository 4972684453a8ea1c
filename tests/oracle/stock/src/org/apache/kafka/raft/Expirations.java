package org.apache.kafka.raft;

import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.utils.Time;

/** Futures that fail at a time. Time is told to it, and it tells when the next one is due. */
final class Expirations implements ExpirationService {
    private record Due(long atMs, long number, CompletableFuture<?> future) {
    }

    private final Time time;
    private final PriorityQueue<Due> waiting =
        new PriorityQueue<>(Comparator.comparingLong(Due::atMs).thenComparingLong(Due::number));
    private long count;

    Expirations(Time time) {
        this.time = time;
    }

    @Override
    public <T> CompletableFuture<T> failAfter(long timeoutMs) {
        CompletableFuture<T> future = new CompletableFuture<>();
        waiting.add(new Due(time.milliseconds() + timeoutMs, count++, future));
        return future;
    }

    /** In how many ms the next one is due that is still waited for. */
    long nextInMs() {
        while (!waiting.isEmpty() && waiting.peek().future.isDone()) {
            waiting.poll();
        }
        return waiting.isEmpty() ? Long.MAX_VALUE : waiting.peek().atMs - time.milliseconds();
    }

    void expire() {
        while (!waiting.isEmpty() && waiting.peek().atMs <= time.milliseconds()) {
            waiting.poll().future.completeExceptionally(new TimeoutException());
        }
    }
}
