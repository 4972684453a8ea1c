package kraft.tests;

import java.util.List;
import java.util.Locale;

import com.yammer.metrics.core.Gauge;
import com.yammer.metrics.core.MetricName;
import com.yammer.metrics.core.MetricsRegistry;
import com.yammer.metrics.core.RemoteMeter;

import org.apache.kafka.image.publisher.SnapshotEmitter;
import org.apache.kafka.image.publisher.metrics.SnapshotEmitterMetrics;
import org.apache.kafka.server.metrics.KafkaYammerMetrics;
import org.mockito.Mockito;

/** The metrics of a controller, which tests look for in the registry of their own JVM, from the process's HTTP port. */
public final class RemoteMetrics {
    private static final List<String> GAUGES = List.of(
        "ActiveControllerCount", "ActiveBrokerCount", "FencedBrokerCount", "GlobalTopicCount", "GlobalPartitionCount",
        "OfflinePartitionsCount", "PreferredReplicaImbalanceCount", "MetadataErrorCount");
    private static final List<String> LONG_GAUGES = List.of(
        "LastAppliedRecordLagMs", "LastAppliedRecordOffset", "LastAppliedRecordTimestamp", "LastCommittedRecordOffset");
    private static final List<String> METERS = List.of("UncleanLeaderElections", "ElectionFromEligibleLeaderReplicas");

    private RemoteMetrics() {
    }

    /** Register what is not there: of several controllers in one JVM the first is asked, as with Kafka's own. */
    static void register(Process process) {
        MetricsRegistry registry = KafkaYammerMetrics.defaultRegistry();
        for (String name : GAUGES) {
            registry.newGauge(name("KafkaController", name), new Gauge<Integer>() {
                @Override
                public Integer value() {
                    return (int) ask(process, "kafka_controller_kafkacontroller_" + name.toLowerCase(Locale.ROOT));
                }
            });
        }
        for (String name : LONG_GAUGES) {
            registry.newGauge(name("KafkaController", name), new Gauge<Long>() {
                @Override
                public Long value() {
                    return ask(process, "kafka_controller_kafkacontroller_" + name.toLowerCase(Locale.ROOT));
                }
            });
        }
        for (String name : METERS) {
            String there = "kafka_controller_controllerstats_" + name.toLowerCase(Locale.ROOT) + "_total";
            RemoteMeter.register(registry, name("ControllerStats", name + "PerSec"), () -> ask(process, there));
        }
    }

    static void remove() {
        MetricsRegistry registry = KafkaYammerMetrics.defaultRegistry();
        LONG_GAUGES.forEach(name -> registry.removeMetric(name("KafkaController", name)));
        GAUGES.forEach(name -> registry.removeMetric(name("KafkaController", name)));
        METERS.forEach(name -> registry.removeMetric(name("ControllerStats", name + "PerSec")));
    }

    /** The emitter of snapshots, as far as tests ask for it: its metrics. */
    public static SnapshotEmitter snapshotEmitter(Process process) {
        SnapshotEmitterMetrics metrics = Mockito.mock(SnapshotEmitterMetrics.class, call -> switch (call.getMethod().getName()) {
            case "latestSnapshotGeneratedBytes", "latestSnapshotGeneratedAgeMs" ->
                ask(process, "kafka_server_snapshotemitter_" + call.getMethod().getName().toLowerCase(Locale.ROOT));
            default -> throw RemoteRaft.unserved(call);
        });
        return Mockito.mock(SnapshotEmitter.class, call -> switch (call.getMethod().getName()) {
            case "metrics" -> metrics;
            default -> throw RemoteRaft.unserved(call);
        });
    }

    private static long ask(Process process, String name) {
        Double found = process.metric(name);
        return found == null ? 0 : found.longValue();
    }

    private static MetricName name(String type, String name) {
        return KafkaYammerMetrics.getMetricName("kafka.controller", type, name);
    }
}
