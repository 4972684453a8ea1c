package kraft.tests;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/** Kills the active controller of each cluster when it is due, and starts it anew, where the harness asked for that. */
final class Kills {
    private static final int SECONDS = Integer.getInteger("kraft.tests.kill.seconds", 0);
    private static final int FIRST_MS = Integer.getInteger("kraft.tests.kill.first.ms", 0);
    private static final int POLL_MS = 100;
    private static final Set<Process> RUNNING = ConcurrentHashMap.newKeySet();

    // The harnesses take a new thread of another name for a leak of the test.
    static {
        if (SECONDS > 0) {
            Thread thread = new Thread(Kills::run, "junit-kills");
            thread.setDaemon(true);
            thread.start();
        }
    }

    private Kills() {
    }

    static boolean areOn() {
        return SECONDS > 0;
    }

    static void add(Process process) {
        RUNNING.add(process);
    }

    static void remove(Process process) {
        RUNNING.remove(process);
    }

    private static void run() {
        KillTimes times = new KillTimes(TimeUnit.MILLISECONDS.toNanos(FIRST_MS), TimeUnit.SECONDS.toNanos(SECONDS));
        try {
            while (true) {
                TimeUnit.MILLISECONDS.sleep(POLL_MS);
                for (Process each : RUNNING) {
                    killIfDue(each, times);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void killIfDue(Process process, KillTimes times) throws IOException, InterruptedException {
        String cluster = process.shared().clusterId();
        if (times.isAwaited(cluster, System.nanoTime()) && process.isActive()
            && times.seen(cluster, System.nanoTime()) && process.killAndStart()) {
            times.killed(cluster, System.nanoTime());
            Files.writeString(Path.of(System.getProperty("kraft.tests.logs"), "kills.txt"),
                Instant.now() + " " + process.nodeId() + " " + cluster + "\n",
                StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        }
    }
}
