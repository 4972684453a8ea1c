import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.text.BreakIterator;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Runs stock tools many times in one JVM. A question is a line of JSON on stdin, its answer a line on stdout:
 * {tool, args} -> {stdout, stderr, exit}; {breaks: [text]} -> {answers: [...]}. It is for each release of Kafka.
 */
public final class ToolCalls {
    private static final Map<String, String> TOOLS = Map.ofEntries(
        Map.entry("storage", "kafka.tools.StorageTool"),
        Map.entry("acls", "org.apache.kafka.tools.AclCommand"),
        Map.entry("broker-api-versions", "org.apache.kafka.tools.BrokerApiVersionsCommand"),
        Map.entry("cluster", "org.apache.kafka.tools.ClusterTool"),
        Map.entry("configs", "org.apache.kafka.tools.ConfigCommand"),
        Map.entry("delegation-tokens", "org.apache.kafka.tools.DelegationTokenCommand"),
        Map.entry("dump-log", "org.apache.kafka.tools.DumpLogSegments"),
        Map.entry("features", "org.apache.kafka.tools.FeatureCommand"),
        Map.entry("leader-election", "org.apache.kafka.tools.LeaderElectionCommand"),
        Map.entry("metadata-quorum", "org.apache.kafka.tools.MetadataQuorumCommand"),
        Map.entry("metadata-shell", "org.apache.kafka.shell.MetadataShell"),
        Map.entry("reassign-partitions", "org.apache.kafka.tools.reassign.ReassignPartitionsCommand"),
        Map.entry("topics", "org.apache.kafka.tools.TopicCommand"));
    private static final ObjectMapper MAPPER = new ObjectMapper();

    /** What a call has printed, and the code of its first exit; a tool may catch what stops it, and go on printing. */
    private static final class Call {
        final ByteArrayOutputStream stdout = new ByteArrayOutputStream();
        final ByteArrayOutputStream stderr = new ByteArrayOutputStream();
        Integer code;
        String[] printed;

        synchronized void exit(int status) {
            if (code == null) {
                code = status;
                printed = printed();
            }
        }

        String[] printed() {
            System.out.flush();
            return new String[] {stdout.toString(StandardCharsets.UTF_8), stderr.toString(StandardCharsets.UTF_8)};
        }
    }

    private static volatile Call current = new Call();

    private static final class Exited extends SecurityException {
        Exited(int code) {
            current.exit(code);
        }
    }

    @SuppressWarnings("removal")
    public static void main(String[] unused) throws Exception {
        // With a security manager, JMX asks the policy whether a class may be registered.
        java.security.Policy.setPolicy(new java.security.Policy() {
            @Override
            public boolean implies(java.security.ProtectionDomain domain, java.security.Permission permission) {
                return true;
            }
        });
        // A tool that leaves by System.exit must not take us with it.
        System.setSecurityManager(new SecurityManager() {
            @Override
            public void checkPermission(java.security.Permission permission) { }

            @Override
            public void checkExit(int status) {
                throw new Exited(status);
            }
        });
        PrintStream out = System.out;
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            JsonNode question = MAPPER.readTree(line);
            ObjectNode answer = MAPPER.createObjectNode();
            if (question.has("tool")) {
                call(question, answer);
            } else {
                breaks(question, answer.putArray("answers"));
            }
            out.println(MAPPER.writeValueAsString(answer));
            out.flush();
        }
        Runtime.getRuntime().halt(0);
    }

    private static void call(JsonNode question, ObjectNode answer) throws Exception {
        String[] args = strings(question.get("args")).toArray(new String[0]);
        Call call = new Call();
        current = call;
        PrintStream out = System.out;
        PrintStream err = System.err;
        PrintStream errors = new PrintStream(call.stderr, true, StandardCharsets.UTF_8);
        System.setOut(new PrintStream(call.stdout, true, StandardCharsets.UTF_8));
        System.setErr(errors);
        try {
            tool(question.get("tool").asText()).getMethod("main", String[].class).invoke(null, (Object) args);
            call.exit(0);
        } catch (InvocationTargetException e) {
            if (!(e.getCause() instanceof Exited)) {
                errors.print("Exception in thread \"main\" ");
                e.getCause().printStackTrace(errors);
                call.exit(1);
            }
        } finally {
            System.setOut(out);
            System.setErr(err);
        }
        answer.put("stdout", call.printed[0]);
        answer.put("stderr", call.printed[1]);
        answer.put("exit", call.code);
    }

    private static void breaks(JsonNode question, ArrayNode answers) {
        for (String text : strings(question.get("breaks"))) {
            BreakIterator lines = BreakIterator.getLineInstance();
            lines.setText(text);
            ArrayNode breaks = answers.addArray();
            lines.first();
            for (int end = lines.next(); end != BreakIterator.DONE; end = lines.next()) {
                breaks.add(end);
            }
        }
    }

    /** The class of a tool; that of kafka-configs was another one before 4.4. */
    private static Class<?> tool(String name) throws ClassNotFoundException {
        try {
            return Class.forName(TOOLS.get(name));
        } catch (ClassNotFoundException e) {
            return Class.forName(TOOLS.get(name).replace("org.apache.kafka.tools", "kafka.admin"));
        }
    }

    private static List<String> strings(JsonNode array) {
        List<String> found = new ArrayList<>();
        array.forEach(node -> found.add(node.asText()));
        return found;
    }

    private ToolCalls() { }
}
