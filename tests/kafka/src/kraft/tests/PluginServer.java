package kraft.tests;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.PolicyViolationException;
import org.apache.kafka.common.internals.Plugin;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.network.ClientInformation;
import org.apache.kafka.common.network.ListenerName;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.requests.RequestContext;
import org.apache.kafka.common.requests.RequestHeader;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.metadata.authorizer.ClusterMetadataAuthorizer;
import org.apache.kafka.server.authorizer.Action;
import org.apache.kafka.server.authorizer.AuthorizationResult;
import org.apache.kafka.server.authorizer.Authorizer;
import org.apache.kafka.server.policy.AlterConfigPolicy;
import org.apache.kafka.server.policy.CreateTopicPolicy;

import kafka.server.KafkaConfig;

/** The policies, the authorizer and the principals of a test, made by Java classes in this JVM, for the process: JSON in lines. */
final class PluginServer {
    static final String CREATE = "create.topic.policy.class.name";
    static final String ALTER = "alter.config.policy.class.name";
    static final String AUTHORIZER = "authorizer.class.name";
    private static final String STANDARD = "org.apache.kafka.metadata.authorizer.StandardAuthorizer";
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Process process;
    private final CreateTopicPolicy create;
    private final AlterConfigPolicy alter;
    private final Authorizer authorizer;
    private final Principals principals;
    private final ServerSocket listener;

    private PluginServer(KafkaConfig config, Process process) throws IOException {
        this.process = process;
        create = config.getConfiguredInstance(CREATE, CreateTopicPolicy.class);
        alter = config.getConfiguredInstance(ALTER, AlterConfigPolicy.class);
        authorizer = isOwn(config, AUTHORIZER) ? authorizer(config) : null;
        principals = Principals.areOwn(config) ? new Principals(config) : null;
        listener = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
    }

    /** Whether a key names a class that the tested controller does not have. */
    static boolean isOwn(KafkaConfig config, String key) {
        return !List.of("", STANDARD).contains(name(config, key));
    }

    static boolean isStandard(KafkaConfig config) {
        return STANDARD.equals(name(config, AUTHORIZER));
    }

    private static String name(KafkaConfig config, String key) {
        Object name = config.originals().get(key);
        return name == null ? "" : name instanceof Class<?> type ? type.getName() : name.toString();
    }

    /** The server of a configuration's plugins; null where it names none. */
    static PluginServer of(KafkaConfig config, Process process) throws IOException {
        if (!isOwn(config, CREATE) && !isOwn(config, ALTER) && !isOwn(config, AUTHORIZER) && !Principals.areOwn(config)) {
            return null;
        }
        PluginServer server = new PluginServer(config, process);
        Thread thread = new Thread(server::accept, "plugins");
        thread.setDaemon(true);
        thread.start();
        return server;
    }

    private static Authorizer authorizer(KafkaConfig config) {
        try {
            Authorizer made = Utils.newInstance(name(config, AUTHORIZER), Authorizer.class);
            made.configure(config.originals());
            Plugin.wrapInstance(made, new Metrics(), AUTHORIZER); // gives it its metrics, which Kafka's own needs
            return made;
        } catch (ClassNotFoundException e) {
            throw new IllegalArgumentException(e);
        }
    }

    int port() {
        return listener.getLocalPort();
    }

    void close() {
        for (AutoCloseable each : new AutoCloseable[] {listener, create, alter, authorizer}) {
            Utils.closeQuietly(each, "plugins");
        }
    }

    private void accept() {
        try {
            while (true) {
                Socket socket = listener.accept();
                Thread thread = new Thread(() -> serve(socket), "plugin");
                thread.setDaemon(true);
                thread.start();
            }
        } catch (IOException e) {
            // closed, and the process ends its connections
        }
    }

    private void serve(Socket socket) {
        try (socket; OutputStream out = socket.getOutputStream()) {
            BufferedReader in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                out.write((JSON.writeValueAsString(answer(JSON.readTree(line))) + "\n").getBytes(StandardCharsets.UTF_8));
                out.flush();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Map<String, String> answer(JsonNode request) {
        Map<String, String> answer = new TreeMap<>();
        try {
            if (request.has("operation")) {
                if (isAllowed(request)) {
                    answer.put("allowed", "");
                }
            } else if (request.has("listener")) {
                KafkaPrincipal principal = principals.build(
                    request.get("name").asText(), request.get("host").asText(), request.get("listener").asText());
                answer.put("type", principal.getPrincipalType());
                answer.put("name", principal.getName());
            } else if (request.has("topic")) {
                create.validate(topic(request));
            } else {
                alter.validate(change(request));
            }
        } catch (PolicyViolationException refused) {
            answer.put("violation", refused.getMessage());
        } catch (Throwable error) {
            answer.put("error", error.toString());
        }
        return answer;
    }

    private boolean isAllowed(JsonNode request) throws IOException {
        if (authorizer instanceof ClusterMetadataAuthorizer loaded) {
            loaded.loadSnapshot(RemoteImage.written(process).acls().acls());
            loaded.completeInitialLoad();
        }
        return authorizer.authorize(context(request), List.of(action(request))).get(0) == AuthorizationResult.ALLOWED;
    }

    private static CreateTopicPolicy.RequestMetadata topic(JsonNode request) {
        JsonNode partitions = request.get("num_partitions");
        JsonNode replication = request.get("replication_factor");
        Map<Integer, List<Integer>> assignments = null;
        if (!request.get("replicas_assignments").isNull()) {
            assignments = new TreeMap<>();
            for (Map.Entry<String, JsonNode> each : request.get("replicas_assignments").properties()) {
                List<Integer> brokers = new java.util.ArrayList<>();
                each.getValue().forEach(broker -> brokers.add(broker.asInt()));
                assignments.put(Integer.valueOf(each.getKey()), brokers);
            }
        }
        return new CreateTopicPolicy.RequestMetadata(
            request.get("topic").asText(), partitions.isNull() ? null : partitions.asInt(),
            replication.isNull() ? null : (short) replication.asInt(), assignments, configs(request));
    }

    private static Action action(JsonNode request) {
        ResourcePattern resource = new ResourcePattern(
            ResourceType.fromCode((byte) request.get("resource_type").asInt()), request.get("resource_name").asText(),
            PatternType.LITERAL);
        return new Action(AclOperation.fromCode((byte) request.get("operation").asInt()), resource, 1, true, true);
    }

    private RequestContext context(JsonNode request) throws IOException {
        short apiKey = (short) request.get("api_key").asInt();
        KafkaPrincipal principal = principal(request);
        return new RequestContext(
            new RequestHeader(ApiKeys.forId(apiKey), ApiKeys.forId(apiKey).latestVersion(), "", 0), "",
            InetAddress.getByName(request.get("host").asText()), principal,
            new ListenerName(request.get("listener").asText()), SecurityProtocol.PLAINTEXT, ClientInformation.EMPTY, false);
    }

    /** Of a request that comes in an envelope the builder of the broker made it, of a connection the one of the test does. */
    private KafkaPrincipal principal(JsonNode request) throws IOException {
        String name = request.get("principal").asText();
        boolean isOfConnection =
            request.get("operation").asInt() == AclOperation.CLUSTER_ACTION.code() || name.contains("="); // of a certificate
        return isOfConnection && principals != null
            ? principals.build(name, request.get("host").asText(), request.get("listener").asText())
            : new KafkaPrincipal(request.get("principal_type").asText(), name);
    }

    private static AlterConfigPolicy.RequestMetadata change(JsonNode request) {
        ConfigResource.Type type = ConfigResource.Type.valueOf(request.get("resource_type").asText());
        return new AlterConfigPolicy.RequestMetadata(
            new ConfigResource(type, request.get("resource_name").asText()), configs(request));
    }

    private static Map<String, String> configs(JsonNode request) {
        Map<String, String> configs = new LinkedHashMap<>();
        request.get("configs").properties().forEach(
            each -> configs.put(each.getKey(), each.getValue().isNull() ? null : each.getValue().asText()));
        return configs;
    }
}
