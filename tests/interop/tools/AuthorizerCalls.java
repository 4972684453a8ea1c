import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.metrics.internals.PluginMetricsImpl;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.metadata.authorizer.StandardAcl;
import org.apache.kafka.metadata.authorizer.StandardAuthorizer;
import org.apache.kafka.server.authorizer.Action;
import org.apache.kafka.server.authorizer.AuthorizableRequestContext;
import org.apache.kafka.server.authorizer.AuthorizationResult;

/**
 * Asks stock's StandardAuthorizer. A line on stdin is a list of cases {superUsers, allow, acls, questions}; an ACL is
 * [resource type, name, pattern, principal, host, operation, permission], a question is [principal type, name, host,
 * operation, resource type, name]. The answer is a line with a letter for each question: A allowed, D denied, E failed.
 */
public final class AuthorizerCalls {
    private record Asking(KafkaPrincipal principal, InetAddress clientAddress) implements AuthorizableRequestContext {
        public String listenerName() {
            return "CONTROLLER";
        }

        public SecurityProtocol securityProtocol() {
            return SecurityProtocol.PLAINTEXT;
        }

        public int requestType() {
            return 19;
        }

        public int requestVersion() {
            return 7;
        }

        public String clientId() {
            return "test";
        }

        public int correlationId() {
            return 1;
        }
    }

    public static void main(String[] unused) throws Exception {
        ObjectMapper mapper = new ObjectMapper();
        PluginMetricsImpl metrics = new PluginMetricsImpl(new Metrics(), Map.of());
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        boolean first = true;
        StandardAuthorizer authorizer = new StandardAuthorizer();
        authorizer.withPluginMetrics(metrics);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            StringBuilder out = new StringBuilder();
            for (JsonNode one : mapper.readTree(line)) {
                authorizer.configure(Map.of(
                    "node.id", "1",
                    "super.users", one.get("superUsers").asText(),
                    "allow.everyone.if.no.acl.found", one.get("allow").asText()));
                if (first) {
                    authorizer.completeInitialLoad();
                    first = false;
                }
                authorizer.loadSnapshot(acls(one.get("acls")));
                for (JsonNode question : one.get("questions")) {
                    out.append(answer(authorizer, question));
                }
            }
            System.out.println(out);
            System.out.flush();
        }
    }

    private static Map<Uuid, StandardAcl> acls(JsonNode given) {
        Map<Uuid, StandardAcl> found = new HashMap<>();
        for (JsonNode acl : given) {
            found.put(Uuid.randomUuid(), new StandardAcl(
                ResourceType.fromCode((byte) acl.get(0).asInt()),
                acl.get(1).asText(),
                PatternType.fromCode((byte) acl.get(2).asInt()),
                acl.get(3).asText(),
                acl.get(4).asText(),
                AclOperation.fromCode((byte) acl.get(5).asInt()),
                AclPermissionType.fromCode((byte) acl.get(6).asInt())));
        }
        return found;
    }

    private static char answer(StandardAuthorizer authorizer, JsonNode question) throws Exception {
        Asking asking = new Asking(
            new KafkaPrincipal(question.get(0).asText(), question.get(1).asText()),
            InetAddress.getByName(question.get(2).asText()));
        ResourcePattern resource = new ResourcePattern(
            ResourceType.fromCode((byte) question.get(4).asInt()), question.get(5).asText(), PatternType.LITERAL);
        AclOperation operation = AclOperation.fromCode((byte) question.get(3).asInt());
        try {
            List<AuthorizationResult> results =
                authorizer.authorize(asking, List.of(new Action(operation, resource, 1, false, false)));
            return results.get(0) == AuthorizationResult.ALLOWED ? 'A' : 'D';
        } catch (RuntimeException error) {
            return 'E';
        }
    }
}
