package kraft.oracle;

import org.apache.kafka.common.utils.Time;

/** Time that passes when it is told to. */
public class ManualTime implements Time {
    private volatile long nowMs;
    private volatile long nowNs;

    public ManualTime(long startMs, long startNs) {
        nowMs = startMs;
        nowNs = startNs;
    }

    @Override
    public long milliseconds() {
        return nowMs;
    }

    @Override
    public long nanoseconds() {
        return nowNs;
    }

    @Override
    public synchronized void sleep(long ms) {
        nowMs += ms;
        nowNs += ms * 1_000_000;
    }

    /** Only clients wait so. */
    @Override
    public void waitObject(Object object, java.util.function.Supplier<Boolean> condition, long deadlineMs) {
        throw new UnsupportedOperationException("nothing waits here");
    }
}
