import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import kafka.server.ControllerConfigurationValidator;
import kafka.server.KafkaConfig;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.DescribeConfigsOptions;
import org.apache.kafka.common.Endpoint;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.ApiError;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Answers each line of its input, a question about configuration in JSON, with a line of JSON. Argument: the properties
 * of a formatted controller; without it, only what the classes say.
 */
public class Verdicts {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static Admin admin;

    public static void main(String[] arguments) throws Exception {
        if (arguments.length > 0) {
            Thread server = new Thread(() -> kafka.Kafka.main(arguments));
            server.setDaemon(true);
            server.start();
            Properties file = new Properties();
            try (var reader = new java.io.FileReader(arguments[0])) { file.load(reader); }
            String listener = file.getProperty("listeners");
            admin = Admin.create(Map.of("bootstrap.controllers", listener.substring(listener.indexOf("//") + 2)));
        }
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            JsonNode question = JSON.readTree(line);
            Object answer = question.has("node") ? node(texts(question.get("node")))
                : question.has("type") ? resource(question)
                : question.has("alter") ? alter(question.get("alter"))
                : question.has("describe") ? describe(question.get("describe"))
                : definitions();
            System.out.write((JSON.writeValueAsString(answer) + "\n").getBytes(StandardCharsets.UTF_8));
            System.out.flush();
        }
        Runtime.getRuntime().halt(0);
    }

    private static Map<String, String> texts(JsonNode object) {
        Map<String, String> found = new HashMap<>();
        object.fields().forEachRemaining(field -> found.put(field.getKey(), field.getValue().asText()));
        return found;
    }

    private static List<String> node(Map<String, String> file) {
        Properties properties = new Properties();
        properties.putAll(file);
        try {
            KafkaConfig config = KafkaConfig.fromProps(properties);
            return List.of("ok", endpoints(config.listeners()), endpoints(config.effectiveAdvertisedControllerListeners()),
                config.metadataLogDir(), String.valueOf(config.nodeId()));
        } catch (Throwable error) {
            return Arrays.asList("error", error.getClass().getName(), error.getMessage());
        }
    }

    private static String endpoints(scala.collection.Seq<Endpoint> endpoints) {
        return CollectionConverters.asJava(endpoints).stream()
            .map(each -> each.listener() + "|" + each.securityProtocol() + "|" + each.host() + "|" + each.port())
            .collect(Collectors.joining(","));
    }

    private static List<String> resource(JsonNode question) {
        Properties properties = new Properties();
        properties.putAll(texts(question.get("file")));
        properties.put("remote.log.storage.system.enable", question.get("remote").asText());
        ControllerConfigurationValidator validator = new ControllerConfigurationValidator(KafkaConfig.fromProps(properties));
        ConfigResource resource = new ConfigResource(
            ConfigResource.Type.valueOf(question.get("type").asText()), question.get("name").asText());
        try {
            validator.validate(resource, texts(question.get("given")), texts(question.get("existing")));
            return List.of("ok");
        } catch (ConfigException error) {
            return Arrays.asList(Errors.INVALID_CONFIG.name(), error.getMessage());
        } catch (Throwable error) {
            ApiError found = ApiError.fromThrowable(error);
            return Arrays.asList(found.error().name(), found.message());
        }
    }

    private static Object alter(JsonNode step) throws Exception {
        ConfigResource resource = resource(step.get(0), step.get(1));
        Collection<AlterConfigOp> operations = new ArrayList<>();
        for (JsonNode each : step.get(2))
            operations.add(new AlterConfigOp(new ConfigEntry(each.get(0).asText(), each.get(2).isNull() ? null : each.get(2).asText()),
                AlterConfigOp.OpType.forId((byte) each.get(1).asInt())));
        try {
            admin.incrementalAlterConfigs(Map.of(resource, operations)).all().get();
            // The controller answers when the records are committed, and applies them a moment later.
            Thread.sleep(300);
            return "ok";
        } catch (ExecutionException error) {
            return failure(error);
        }
    }

    private static Object describe(JsonNode step) throws Exception {
        ConfigResource resource = resource(step.get(0), step.get(1));
        try {
            var options = new DescribeConfigsOptions().includeSynonyms(true);
            var entries = admin.describeConfigs(List.of(resource), options).all().get().get(resource).entries();
            return entries.stream().sorted(Comparator.comparing(ConfigEntry::name)).map(entry -> Arrays.asList(entry.name(), entry.value(), entry.source().name(),
                entry.isSensitive(), entry.isReadOnly(), entry.type().name(), entry.synonyms().stream()
                    .map(each -> Arrays.asList(each.name(), each.value(), each.source().name())).toList())).toList();
        } catch (ExecutionException error) {
            return failure(error);
        }
    }

    private static ConfigResource resource(JsonNode type, JsonNode name) {
        int code = type.asInt();
        return new ConfigResource(ConfigResource.Type.forId((byte) code), name.asText());
    }

    private static String failure(ExecutionException error) {
        return error.getCause().getClass().getSimpleName() + ": " + error.getCause().getMessage();
    }

    /** A row for each key: sort of resource, name, type, default, valid values, importance, whether internal. */
    private static List<List<String>> definitions() {
        Map<String, ConfigDef> found = new TreeMap<>();
        found.put("server", KafkaConfig.configDef());
        found.put("topic", org.apache.kafka.storage.internals.log.LogConfig.configDefCopy());
        found.put("group", org.apache.kafka.coordinator.group.GroupConfig.CONFIG_DEF);
        found.put("client-metrics", org.apache.kafka.server.metrics.ClientMetricsConfigs.configDef());
        List<List<String>> rows = new ArrayList<>();
        found.forEach((kind, definition) -> new TreeMap<>(definition.configKeys()).forEach((name, key) -> rows.add(List.of(
            kind, name, key.type.name(),
            key.defaultValue == ConfigDef.NO_DEFAULT_VALUE ? "(required)"
                : key.defaultValue == null ? "null" : ConfigDef.convertToString(key.defaultValue, key.type),
            key.validator == null ? "" : key.validator.toString(), key.importance.name(), key.internalConfig ? "internal" : ""))));
        return rows;
    }
}
