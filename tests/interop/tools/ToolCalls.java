import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
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

    /** A stream that goes to the present call: Scala's println keeps the System.out that it finds first. */
    private static final class Switch extends OutputStream {
        volatile OutputStream target = OutputStream.nullOutputStream();

        @Override
        public void write(int value) throws IOException {
            target.write(value);
        }

        @Override
        public void write(byte[] values, int offset, int length) throws IOException {
            target.write(values, offset, length);
        }
    }

    private static final Switch OUT = new Switch();
    private static final Switch ERR = new Switch();
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
        System.setIn(InputStream.nullInputStream());
        System.setOut(new PrintStream(OUT, true, StandardCharsets.UTF_8));
        System.setErr(new PrintStream(ERR, true, StandardCharsets.UTF_8));
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
        OUT.target = call.stdout;
        ERR.target = call.stderr;
        try {
            tool(question.get("tool").asText()).getMethod("main", String[].class).invoke(null, (Object) args);
            call.exit(0);
        } catch (InvocationTargetException e) {
            if (!(e.getCause() instanceof Exited)) {
                System.err.print("Exception in thread \"main\" ");
                e.getCause().printStackTrace(System.err);
                call.exit(1);
            }
        } finally {
            OUT.target = OutputStream.nullOutputStream();
            ERR.target = OutputStream.nullOutputStream();
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

    /** The class of a tool; those of kafka-configs before 4.4 and of kafka-dump-log before 4.3 were other ones. */
    private static Class<?> tool(String name) throws ClassNotFoundException {
        String now = TOOLS.get(name);
        for (String place : List.of("org.apache.kafka.tools", "kafka.admin")) {
            try {
                return Class.forName(now.replace("org.apache.kafka.tools", place));
            } catch (ClassNotFoundException e) {
                // It is in another one.
            }
        }
        return Class.forName(now.replace("org.apache.kafka.tools", "kafka.tools"));
    }

    private static List<String> strings(JsonNode array) {
        List<String> found = new ArrayList<>();
        array.forEach(node -> found.add(node.asText()));
        return found;
    }

    private ToolCalls() { }
}
