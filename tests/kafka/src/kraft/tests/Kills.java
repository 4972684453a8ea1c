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

/** Kills the active controller at each interval and starts it anew, where the harness asked for that. */
final class Kills {
    private static final int SECONDS = Integer.getInteger("kraft.tests.kill.seconds", 0);
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

    static void add(Process process) {
        RUNNING.add(process);
    }

    static void remove(Process process) {
        RUNNING.remove(process);
    }

    private static void run() {
        try {
            while (true) {
                TimeUnit.SECONDS.sleep(SECONDS);
                for (Process each : RUNNING) {
                    if (each.isActive() && each.killAndStart()) {
                        Files.writeString(Path.of(System.getProperty("kraft.tests.logs"), "kills.txt"),
                            Instant.now() + " " + each.nodeId() + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
                    }
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
