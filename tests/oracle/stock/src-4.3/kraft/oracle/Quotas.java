package kraft.oracle;

import kafka.server.KafkaConfig;
import kafka.server.QuotaFactory;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.utils.Time;

/** The quota managers of a node. Their class has another package in each release. */
record Quotas(QuotaFactory.QuotaManagers managers) {
    static Quotas of(KafkaConfig config, Metrics metrics, Time time) {
        return new Quotas(QuotaFactory.instantiate(config, metrics, time, "oracle-", "controller"));
    }

    void shutdown() {
        managers.shutdown();
    }
}
