package kraft.tests;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.apache.kafka.clients.ClientResponse;
import org.apache.kafka.common.Endpoint;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclBindingFilter;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.internals.Plugin;
import org.apache.kafka.common.message.CreateAclsRequestData;
import org.apache.kafka.common.message.DeleteAclsRequestData;
import org.apache.kafka.common.message.DeleteAclsResponseData.DeleteAclsFilterResult;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.network.ListenerName;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.common.requests.CreateAclsRequest;
import org.apache.kafka.common.requests.CreateAclsResponse;
import org.apache.kafka.common.requests.DeleteAclsRequest;
import org.apache.kafka.common.requests.DeleteAclsResponse;
import org.apache.kafka.common.requests.EnvelopeRequest;
import org.apache.kafka.common.requests.EnvelopeResponse;
import org.apache.kafka.common.requests.RequestHeader;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder;
import org.apache.kafka.common.utils.SecurityUtils;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.metadata.authorizer.StandardAcl;
import org.apache.kafka.server.ControllerInformation;
import org.apache.kafka.server.NodeToControllerChannelManagerImpl;
import org.apache.kafka.server.authorizer.AclCreateResult;
import org.apache.kafka.server.authorizer.AclDeleteResult;
import org.apache.kafka.server.authorizer.AclDeleteResult.AclBindingDeleteResult;
import org.apache.kafka.server.authorizer.Authorizer;
import org.apache.kafka.server.common.ControllerRequestCompletionHandler;
import org.mockito.Mockito;
import org.mockito.invocation.InvocationOnMock;

import kafka.server.KafkaConfig;

/**
 * The authorizer of a controller, as far as tests ask for it: the ACLs that the process has committed, and their changes,
 * which are requests of the first super user that a broker forwards.
 */
public final class RemoteAuthorizer {
    private static final long TIMEOUT_MS = 60_000;
    private final Process process;

    private RemoteAuthorizer(Process process) {
        this.process = process;
    }

    /** None where the configuration names no authorizer, or one of the test. */
    public static scala.Option<Plugin<Authorizer>> plugin(Process process) {
        if (!PluginServer.isStandard(process.shared().controllerConfig())) {
            return scala.Option.empty();
        }
        RemoteAuthorizer remote = new RemoteAuthorizer(process);
        Authorizer authorizer =
            Mockito.mock(Authorizer.class, Mockito.withSettings().stubOnly().defaultAnswer(remote::answer));
        return scala.Option.apply(Plugin.wrapInstance(authorizer, null, PluginServer.AUTHORIZER));
    }

    @SuppressWarnings("unchecked")
    private Object answer(InvocationOnMock call) throws Exception {
        return switch (call.getMethod().getName()) {
            case "acls" -> acls(call.getArgument(0));
            case "aclCount" -> (int) committed().count();
            case "createAcls" -> create((List<AclBinding>) call.getArgument(1));
            case "deleteAcls" -> delete((List<AclBindingFilter>) call.getArgument(1));
            default -> throw RemoteRaft.unserved(call);
        };
    }

    private Stream<AclBinding> committed() {
        return RemoteImage.read(process).acls().acls().values().stream().map(StandardAcl::toBinding);
    }

    private List<AclBinding> acls(AclBindingFilter filter) {
        return committed().filter(filter::matches).toList();
    }

    private List<CompletionStage<AclCreateResult>> create(List<AclBinding> bindings) throws Exception {
        var data = new CreateAclsRequestData().setCreations(bindings.stream().map(CreateAclsRequest::aclCreation).toList());
        var response = (CreateAclsResponse) forward(new CreateAclsRequest.Builder(data).build());
        return response.results().stream().<CompletionStage<AclCreateResult>>map(each ->
            CompletableFuture.completedFuture(new AclCreateResult(error(each.errorCode(), each.errorMessage())))).toList();
    }

    private List<CompletionStage<AclDeleteResult>> delete(List<AclBindingFilter> filters) throws Exception {
        var data = new DeleteAclsRequestData().setFilters(filters.stream().map(DeleteAclsRequest::deleteAclsFilter).toList());
        var response = (DeleteAclsResponse) forward(new DeleteAclsRequest.Builder(data).build());
        return response.filterResults().stream().<CompletionStage<AclDeleteResult>>map(each ->
            CompletableFuture.completedFuture(deleted(each))).toList();
    }

    private static AclDeleteResult deleted(DeleteAclsFilterResult result) {
        ApiException error = error(result.errorCode(), result.errorMessage());
        return error != null ? new AclDeleteResult(error) : new AclDeleteResult(result.matchingAcls().stream().map(
            each -> new AclBindingDeleteResult(DeleteAclsResponse.aclBinding(each), error(each.errorCode(), each.errorMessage()))).toList());
    }

    private static ApiException error(short code, String message) {
        return code == Errors.NONE.code() ? null : Errors.forCode(code).exception(message);
    }

    private AbstractResponse forward(AbstractRequest request) throws Exception {
        RequestHeader header = new RequestHeader(request.apiKey(), request.version(), "kraft-tests", 0);
        var envelope = new EnvelopeRequest.Builder(
            request.serializeWithHeader(header), new DefaultKafkaPrincipalBuilder(null, null).serialize(superUser()),
            InetAddress.getLoopbackAddress().getAddress());
        ByteBuffer data = ((EnvelopeResponse) send(envelope)).responseData();
        return AbstractResponse.parseResponse(data, header);
    }

    private KafkaPrincipal superUser() {
        return SecurityUtils.parseKafkaPrincipal(
            process.shared().controllerConfig().originals().get("super.users").toString().split(";")[0]);
    }

    /** Send it as the brokers do, with the credentials of the controller's configuration. */
    private AbstractResponse send(EnvelopeRequest.Builder envelope) throws Exception {
        KafkaConfig config = process.shared().controllerConfig();
        Endpoint endpoint = Process.controllerListeners(config).get(0);
        ControllerInformation controller = new ControllerInformation(
            Optional.of(new Node(process.nodeId(), "localhost", process.port())), new ListenerName(endpoint.listener()),
            endpoint.securityProtocol(), config.saslMechanismControllerProtocol());
        CompletableFuture<AbstractResponse> answered = new CompletableFuture<>();
        try (Metrics metrics = new Metrics()) {
            var channel = new NodeToControllerChannelManagerImpl(
                () -> controller, Time.SYSTEM, metrics, config, "asked", "asked-", TIMEOUT_MS);
            channel.start();
            try {
                channel.sendRequest(envelope, new Answered(answered));
                return answered.get(2 * TIMEOUT_MS, TimeUnit.MILLISECONDS);
            } finally {
                channel.shutdown();
            }
        }
    }

    private record Answered(CompletableFuture<AbstractResponse> answered) implements ControllerRequestCompletionHandler {
        @Override
        public void onTimeout() {
            answered.completeExceptionally(new TimeoutException("the controller did not answer"));
        }

        @Override
        public void onComplete(ClientResponse response) {
            if (response.hasResponse()) {
                answered.complete(response.responseBody());
            } else {
                answered.completeExceptionally(new IOException(response.toString(), response.authenticationException()));
            }
        }
    }
}
