package kraft.tests;

import java.io.IOException;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import org.apache.kafka.clients.admin.AlterConfigOp.OpType;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.message.BrokerRegistrationRequestData;
import org.apache.kafka.common.message.IncrementalAlterConfigsRequestData;
import org.apache.kafka.common.message.IncrementalAlterConfigsRequestData.AlterConfigsResource;
import org.apache.kafka.common.message.IncrementalAlterConfigsRequestData.AlterableConfig;
import org.apache.kafka.common.message.IncrementalAlterConfigsResponseData.AlterConfigsResourceResponse;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.ApiError;
import org.apache.kafka.common.requests.BrokerRegistrationRequest;
import org.apache.kafka.common.requests.BrokerRegistrationResponse;
import org.apache.kafka.common.requests.IncrementalAlterConfigsRequest;
import org.apache.kafka.common.requests.IncrementalAlterConfigsResponse;
import org.apache.kafka.controller.QuorumController;
import org.apache.kafka.controller.ResultOrError;
import org.apache.kafka.metadata.BrokerRegistrationReply;
import org.apache.kafka.server.IntegrationTestUtils;
import org.mockito.Mockito;
import org.mockito.invocation.InvocationOnMock;

/** Answers what tests ask of a controller in their own JVM, from the process's HTTP port or by a request to it. */
public final class RemoteController {
    private final Process process;

    private RemoteController(Process process) {
        this.process = process;
    }

    /** Of the class that some tests cast to, though none of its methods runs. */
    public static QuorumController make(Process process) {
        RemoteController remote = new RemoteController(process);
        return Mockito.mock(QuorumController.class, Mockito.withSettings().stubOnly().defaultAnswer(remote::answer));
    }

    @SuppressWarnings("unchecked")
    private Object answer(InvocationOnMock call) throws IOException {
        Object[] arguments = call.getArguments();
        switch (call.getMethod().getName()) {
            case "toString": return "controller " + process.nodeId();
            case "nodeId": return process.nodeId();
            case "isActive": return process.isActiveForTest();
            case "curClaimEpoch": return process.isActiveForTest() ? process.awaitQuorum().get("quorum").get("epoch").asInt() : -1;
            case "waitForReadyBrokers": return CompletableFuture.runAsync(() -> awaitBrokers((int) arguments[0]));
            case "findAllTopicIds": return CompletableFuture.completedFuture(RemoteImage.topicIds(process));
            case "findTopicIds": return CompletableFuture.completedFuture(found((Collection<?>) arguments[1]));
            case "registerBroker": return register((BrokerRegistrationRequestData) arguments[1]);
            case "incrementalAlterConfigs": return alter(
                (Map<ConfigResource, Map<String, Map.Entry<OpType, String>>>) arguments[1], (boolean) arguments[2]);
            case "beginShutdown":
            case "close":
                process.stop();
                return null;
            default:
                throw RemoteRaft.unserved(call);
        }
    }

    private CompletableFuture<BrokerRegistrationReply> register(BrokerRegistrationRequestData broker) throws IOException {
        var request = new BrokerRegistrationRequest.Builder(broker).build(ApiKeys.BROKER_REGISTRATION.latestVersion());
        BrokerRegistrationResponse response = IntegrationTestUtils.connectAndReceive(request, process.port());
        Errors error = Errors.forCode(response.data().errorCode());
        return error == Errors.NONE
            ? CompletableFuture.completedFuture(new BrokerRegistrationReply(response.data().brokerEpoch()))
            : CompletableFuture.failedFuture(error.exception());
    }

    private CompletableFuture<Map<ConfigResource, ApiError>> alter(
        Map<ConfigResource, Map<String, Map.Entry<OpType, String>>> changes, boolean validateOnly
    ) throws IOException {
        var data = new IncrementalAlterConfigsRequestData().setValidateOnly(validateOnly);
        changes.forEach((resource, configs) -> {
            var changed = new AlterConfigsResource().setResourceType(resource.type().id()).setResourceName(resource.name());
            configs.forEach((name, change) -> changed.configs().add(new AlterableConfig()
                .setName(name).setConfigOperation(change.getKey().id()).setValue(change.getValue())));
            data.resources().add(changed);
        });
        var request = new IncrementalAlterConfigsRequest(data, ApiKeys.INCREMENTAL_ALTER_CONFIGS.latestVersion());
        IncrementalAlterConfigsResponse response = IntegrationTestUtils.connectAndReceive(request, process.port());
        Map<ConfigResource, ApiError> errors = new HashMap<>();
        for (AlterConfigsResourceResponse each : response.data().responses()) {
            errors.put(new ConfigResource(ConfigResource.Type.forId(each.resourceType()), each.resourceName()),
                new ApiError(Errors.forCode(each.errorCode()), each.errorMessage()));
        }
        return CompletableFuture.completedFuture(errors);
    }

    private Map<String, ResultOrError<Uuid>> found(Collection<?> names) {
        Map<String, Uuid> ids = RemoteImage.topicIds(process);
        Map<String, ResultOrError<Uuid>> found = new HashMap<>();
        for (Object name : names) {
            Uuid id = ids.get(name);
            found.put((String) name, id == null
                ? new ResultOrError<>(new ApiError(Errors.UNKNOWN_TOPIC_OR_PARTITION)) : new ResultOrError<>(id));
        }
        return found;
    }

    private void awaitBrokers(int count) {
        try {
            Double active = null;
            while (active == null || active < count) {
                Thread.sleep(100);
                active = process.metric("kafka_controller_kafkacontroller_activebrokercount");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
