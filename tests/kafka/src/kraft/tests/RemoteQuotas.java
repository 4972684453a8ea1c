package kraft.tests;

import java.util.Optional;

import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.quota.ControllerMutationQuotaManager;
import org.mockito.Mockito;
import org.mockito.invocation.InvocationOnMock;

import kafka.server.KafkaConfig;
import kafka.server.QuotaFactory;
import kafka.server.QuotaFactory.QuotaManagers;
import kafka.server.metadata.ClientQuotaMetadataManager;

/** The quotas of controller mutations that a process has committed, as Kafka's own manager of them would apply them. */
public final class RemoteQuotas {
    private RemoteQuotas() {
    }

    /** Managers of which the one of mutations answers what a user's quota is, and no other method. */
    public static QuotaManagers make(Process process) {
        ControllerMutationQuotaManager mutations = Mockito.mock(ControllerMutationQuotaManager.class, call -> {
            if (!call.getMethod().getName().equals("quota")) {
                throw RemoteRaft.unserved(call);
            }
            return ask(process, call);
        });
        return new QuotaManagers(null, null, null, mutations, null, null, null, Optional.empty());
    }

    /** What a manager says that knows the quotas of now: a new one each time, since a removed quota leaves no trace. */
    private static Object ask(Process process, InvocationOnMock call) throws Exception {
        KafkaConfig config = process.shared().controllerConfig();
        try (Metrics metrics = new Metrics()) {
            QuotaManagers managers = QuotaFactory.instantiate(config, metrics, Time.SYSTEM, "asked-", "controller");
            try {
                new ClientQuotaMetadataManager(managers, null).accept(RemoteImage.delta(process).getOrCreateClientQuotasDelta());
                return call.getMethod().invoke(managers.controllerMutation(), call.getArguments());
            } finally {
                managers.shutdown();
            }
        }
    }
}
