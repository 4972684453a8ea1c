import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.common.config.ConfigDef;

/** Prints a line for each key of stock's configuration: the sort of resource, the key, its documentation. */
public class Documentation {
    public static void main(String[] arguments) {
        Map<String, ConfigDef> definitions = new TreeMap<>();
        definitions.put("server", kafka.server.KafkaConfig.configDef());
        definitions.put("topic", org.apache.kafka.storage.internals.log.LogConfig.configDefCopy());
        definitions.put("group", org.apache.kafka.coordinator.group.GroupConfig.CONFIG_DEF);
        definitions.put("client-metrics", org.apache.kafka.server.metrics.ClientMetricsConfigs.configDef());
        definitions.forEach((kind, definition) -> new TreeMap<>(definition.configKeys()).forEach((name, key) ->
            System.out.println(kind + "\t" + name + "\t" + escaped(key.documentation))));
    }

    private static String escaped(String text) {
        return text == null ? "\\N" : text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r");
    }
}
