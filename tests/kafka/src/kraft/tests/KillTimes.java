package kraft.tests;

import java.util.HashMap;
import java.util.Map;

/** When the active controller of a cluster is to be killed: soon after it is first seen active, and at an interval then. */
final class KillTimes {
    private final long first;
    private final long interval;
    private final Map<String, Long> due = new HashMap<>();

    /** In any unit that the moments have too. first: from the first sight of an active controller to its kill. */
    KillTimes(long first, long interval) {
        this.first = first;
        this.interval = interval;
    }

    /** Whether to look for the active controller of a cluster: none was seen so far, or a kill is due. */
    boolean isAwaited(String cluster, long now) {
        return now >= due.getOrDefault(cluster, now);
    }

    /** Take note that a cluster has an active controller; returns whether to kill it. */
    boolean seen(String cluster, long now) {
        return now >= due.computeIfAbsent(cluster, any -> now + first);
    }

    /** The active controller of a cluster was killed: the next one is after the interval. */
    void killed(String cluster, long now) {
        due.put(cluster, now + interval);
    }
}
