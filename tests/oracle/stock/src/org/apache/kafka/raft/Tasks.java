package org.apache.kafka.raft;

import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.concurrent.Delayed;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.util.Scheduler;

/** The background tasks of a log. Those that are due run, in this thread, when another one is scheduled. */
final class Tasks implements Scheduler {
    private static final class Task extends FutureTask<Void> implements ScheduledFuture<Void> {
        private final long periodMs;
        private final Time time;
        private long atMs;

        Task(Runnable task, long atMs, long periodMs, Time time) {
            super(task, null);
            this.atMs = atMs;
            this.periodMs = periodMs;
            this.time = time;
        }

        /** Run it; whether it is to run again. */
        boolean runs() {
            if (periodMs < 0) {
                run();
                return false;
            }
            atMs += periodMs;
            return runAndReset();
        }

        @Override
        public long getDelay(TimeUnit unit) {
            return unit.convert(atMs - time.milliseconds(), TimeUnit.MILLISECONDS);
        }

        @Override
        public int compareTo(Delayed other) {
            return Long.compare(getDelay(TimeUnit.MILLISECONDS), other.getDelay(TimeUnit.MILLISECONDS));
        }
    }

    private final PriorityQueue<Task> tasks = new PriorityQueue<>(Comparator.comparingLong(task -> task.atMs));
    private final Time time;

    Tasks(Time time) {
        this.time = time;
    }

    void clear() {
        tasks.clear();
    }

    @Override
    public void startup() {
    }

    @Override
    public void shutdown() {
        clear();
    }

    @Override
    public ScheduledFuture<?> schedule(String name, Runnable task, long delayMs, long periodMs) {
        Task scheduled = new Task(task, time.milliseconds() + delayMs, periodMs, time);
        tasks.add(scheduled);
        while (!tasks.isEmpty() && tasks.peek().atMs <= time.milliseconds()) {
            Task due = tasks.poll();
            if (due.runs()) {
                tasks.add(due);
            }
        }
        return scheduled;
    }

    @Override
    public void resizeThreadPool(int size) {
    }
}
