import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.image.loader.MetadataLoader;
import org.apache.kafka.metadata.SupportedConfigChecker;
import org.apache.kafka.metadata.util.SnapshotFileReader;
import org.apache.kafka.server.config.DefaultSupportedConfigChecker;
import org.apache.kafka.server.fault.FaultHandler;
import org.apache.kafka.shell.command.Commands;
import org.apache.kafka.shell.state.MetadataShellPublisher;
import org.apache.kafka.shell.state.MetadataShellState;
import org.jline.reader.impl.DefaultParser;

/**
 * Runs commands of the stock shell many times in one JVM. A question is a line of JSON on stdin, its answer a line on
 * stdout: {words: [text]} -> {answers: [...]};
 * {file, interactive, commands: [[word]]} -> {outputs: [text]}, once the whole file was loaded.
 */
public final class ShellCalls {
    public static void main(String[] unused) throws Exception {
        ObjectMapper mapper = new ObjectMapper();
        PrintStream out = System.out;
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            JsonNode question = mapper.readTree(line);
            ObjectNode answer = mapper.createObjectNode();
            if (question.has("file")) {
                shell(question, answer);
            } else {
                ArrayNode answers = answer.putArray("answers");
                for (String text : strings(question.get("words"))) {
                    ArrayNode words = answers.addArray();
                    new DefaultParser().parse(text, text.length()).words().forEach(words::add);
                }
            }
            out.println(mapper.writeValueAsString(answer));
            out.flush();
        }
        Runtime.getRuntime().halt(0);
    }

    private static void shell(JsonNode question, ObjectNode answer) throws Exception {
        MetadataShellState state = new MetadataShellState();
        SnapshotFileReader[] reader = new SnapshotFileReader[1];
        FaultHandler faults = RuntimeException::new;
        SupportedConfigChecker checker = new DefaultSupportedConfigChecker();
        MetadataLoader loader = new MetadataLoader.Builder().setFaultHandler(faults).setNodeId(-1)
            .setHighWaterMarkAccessor(() -> reader[0].highWaterMark()).setSupportedConfigChecker(checker).build();
        reader[0] = new SnapshotFileReader(question.get("file").asText(), loader);
        reader[0].startup();
        loader.installPublishers(List.of(new MetadataShellPublisher(state))).get(1, TimeUnit.MINUTES);
        long last = -2;
        for (int unchanged = 0; unchanged < 15; Thread.sleep(20)) {
            long offset = loader.lastAppliedOffset();
            unchanged = offset == last && reader[0].highWaterMark().isPresent() ? unchanged + 1 : 0;
            last = offset;
        }
        Commands commands = new Commands(question.path("interactive").asBoolean());
        ArrayNode outputs = answer.putArray("outputs");
        for (JsonNode command : question.get("commands")) {
            StringWriter text = new StringWriter();
            PrintWriter writer = new PrintWriter(text);
            ByteArrayOutputStream stdout = new ByteArrayOutputStream();
            PrintStream out = System.out;
            System.setOut(new PrintStream(stdout, true, StandardCharsets.UTF_8));
            String failure = "";
            try {
                commands.parseCommand(strings(command)).run(Optional.empty(), writer, state);
            } catch (RuntimeException e) {
                failure = "failed: " + e.getMessage();
            } finally {
                System.setOut(out);
            }
            writer.flush();
            outputs.add(stdout.toString(StandardCharsets.UTF_8) + text + failure);
        }
        loader.close();
        reader[0].close();
    }

    private static List<String> strings(JsonNode array) {
        List<String> found = new ArrayList<>();
        array.forEach(node -> found.add(node.asText()));
        return found;
    }

    private ShellCalls() { }
}
