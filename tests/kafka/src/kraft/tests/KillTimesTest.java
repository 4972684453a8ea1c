package kraft.tests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.function.LongPredicate;

import org.junit.jupiter.api.Test;

class KillTimesTest {
    private final KillTimes times = new KillTimes(2, 20);

    @Test
    void eachClusterMeetsAKillSoonAfterItsFirstActivationThenAtTheInterval() {
        assertEquals(List.of(5L, 25L, 45L), kills("A", 60, now -> now >= 3));
        assertEquals(List.of(64L, 84L), kills("B", 90, now -> now >= 62));
    }

    @Test
    void aKillThatIsDueWhileNoControllerIsActiveMeetsTheNextOne() {
        assertEquals(List.of(2L, 31L, 51L), kills("A", 60, now -> now < 10 || now > 30));
    }

    @Test
    void aClusterOfWhichNoControllerIsActiveIsAskedUntilOneIs() {
        assertTrue(times.isAwaited("A", 5));

        assertFalse(times.seen("A", 5));

        assertFalse(times.isAwaited("A", 6));
        assertTrue(times.isAwaited("A", 7));
        assertTrue(times.isAwaited("B", 6));
    }

    /** The moments of kills, of those before the end. isActive: whether the cluster has an active controller then. */
    private List<Long> kills(String cluster, long end, LongPredicate isActive) {
        List<Long> kills = new ArrayList<>();
        for (long now = 0; now < end; now++) {
            if (times.isAwaited(cluster, now) && isActive.test(now) && times.seen(cluster, now)) {
                times.killed(cluster, now);
                kills.add(now);
            }
        }
        return kills;
    }
}
