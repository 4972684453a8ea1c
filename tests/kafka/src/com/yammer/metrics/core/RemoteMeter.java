package com.yammer.metrics.core;

import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** A meter whose count another process keeps. In this package, since a meter's constructor is visible here alone. */
public final class RemoteMeter extends Meter {
    private final LongSupplier count;

    private RemoteMeter(ScheduledExecutorService ticks, LongSupplier count) {
        super(ticks, "events", TimeUnit.SECONDS, Clock.defaultClock());
        this.count = count;
    }

    /** Register a meter, where the registry has none of this name. */
    public static void register(MetricsRegistry registry, MetricName name, LongSupplier count) {
        ScheduledExecutorService ticks = Executors.newSingleThreadScheduledExecutor();
        RemoteMeter meter = new RemoteMeter(ticks, count);
        ticks.shutdownNow(); // the rates are not asked for
        registry.getOrAdd(name, meter);
    }

    @Override
    public long count() {
        return count.getAsLong();
    }
}
