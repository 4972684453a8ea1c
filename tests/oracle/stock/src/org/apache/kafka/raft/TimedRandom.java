package org.apache.kafka.raft;

import java.util.Random;
import org.apache.kafka.common.utils.Time;

/**
 * Numbers that are a function of a seed, of the time, and of the bound: whoever draws at one moment draws the same,
 * however often it has drawn before. The twin of it is in tests/oracle/raft/ours.py.
 *
 * Static voters are the bootstrap servers too, and stock may ask itself for the leader, which ours does not: where
 * one of them is drawn, the place of the replica itself is left out.
 */
final class TimedRandom extends Random {
    /** Timeouts have larger bounds. */
    private static final int SERVERS_MAX = 10;

    private final long key;
    private final Time time;
    private final int ownPlace;

    /** ownPlace: of the replica among the bootstrap servers, -1 where it is none of them. */
    TimedRandom(long key, Time time, int ownPlace) {
        super(0);
        this.ownPlace = ownPlace;
        this.key = key;
        this.time = time;
    }

    @Override
    public int nextInt(int bound) {
        if (ownPlace < 0 || bound > SERVERS_MAX) {
            return drawn(bound);
        }
        int place = bound == 1 ? 0 : drawn(bound - 1);
        return bound > 1 && place >= ownPlace ? place + 1 : place;
    }

    private int drawn(int bound) {
        long value = key + time.milliseconds() * 0x9E3779B97F4A7C15L + bound * 0xD1B54A32D192ED03L;
        value = (value ^ (value >>> 30)) * 0xBF58476D1CE4E5B9L;
        value = (value ^ (value >>> 27)) * 0x94D049BB133111EBL;
        return (int) ((value >>> 33) % bound);
    }
}
