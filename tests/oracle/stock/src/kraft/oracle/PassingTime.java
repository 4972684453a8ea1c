package kraft.oracle;

/**
 * Time that passes by command. Kafka's event queue puts off an event by a nanosecond where another one is due at the
 * same moment; so each passing of time is a little longer than it is asked to be, or such an event would be late by a
 * whole step.
 */
final class PassingTime extends ManualTime {
    /** More than all that is added in one sequence. */
    static final long LONGER_NS_MAX = 999_000;
    private static final long LONGER_NS = 50;
    private volatile long moreNs = 0;

    PassingTime(long startMs) {
        super(startMs, startMs * 1_000_000);
    }

    @Override
    public void sleep(long ms) {
        moreNs += LONGER_NS;
        super.sleep(ms);
    }

    @Override
    public long nanoseconds() {
        return super.nanoseconds() + moreNs;
    }
}
