import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.message.ApiMessageType;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.server.common.Feature;
import org.apache.kafka.server.common.FeatureVersion;
import org.apache.kafka.server.common.MetadataVersion;

/**
 * What the classes of one release of Kafka say of themselves, a line a fact: its kind, its name, its value.
 * Arguments: the properties of a formatted controller that stands alone; its metrics are facts too.
 */
public class Facts {
    public static void main(String[] arguments) throws Exception {
        levels();
        apis();
        configs();
        for (Errors error : Errors.values())
            print("error", String.format("%3d", error.code()), error.name() + ": " + error.message());
        metrics(arguments[0]);
        Runtime.getRuntime().halt(0);
    }

    private static void levels() {
        for (MetadataVersion version : MetadataVersion.values())
            print("metadata.version", String.valueOf(version.featureLevel()), version
                + (version.isProduction() ? ", production" : "") + (version.didMetadataChange() ? ", changes metadata" : ""));
        print("metadata.version", "latest for production", MetadataVersion.latestProduction().toString());
        for (Feature feature : Feature.values())
            for (FeatureVersion level : feature.featureVersions())
                print("feature", feature.featureName() + " " + level.featureLevel(), "since " + level.bootstrapMetadataVersion()
                    + ", needs " + new TreeMap<>(level.dependencies())
                    + (feature.isProductionReady(level.featureLevel()) ? ", production" : ""));
    }

    private static void apis() {
        for (ApiMessageType api : ApiMessageType.values())
            print("api", api.apiKey() + " " + api.name, api.lowestSupportedVersion() + "-" + api.highestSupportedVersion(false)
                + " (unstable " + api.highestSupportedVersion(true) + ") on " + new TreeSet<>(api.listeners()));
    }

    private static void configs() throws Exception {
        Map<String, ConfigDef> definitions = new TreeMap<>();
        definitions.put("server", kafka.server.KafkaConfig.configDef());
        definitions.put("topic", org.apache.kafka.storage.internals.log.LogConfig.configDefCopy());
        definitions.put("group", org.apache.kafka.coordinator.group.GroupConfig.CONFIG_DEF);
        definitions.put("client-metrics", org.apache.kafka.server.metrics.ClientMetricsConfigs.configDef());
        definitions.forEach((kind, definition) -> new TreeMap<>(definition.configKeys()).forEach((name, key) -> {
            print("config " + kind, name, key.type + ", default " + key.defaultValue + ", " + key.validator + ", "
                + key.importance + (key.internalConfig ? ", internal" : ""));
            print("text " + kind, name, String.valueOf(key.documentation));
        }));
        for (String key : new TreeSet<>(org.apache.kafka.server.config.DynamicBrokerConfig.ALL_DYNAMIC_CONFIGS))
            print("dynamic config", key, "");
    }

    private static void metrics(String properties) throws Exception {
        Thread server = new Thread(() -> kafka.Kafka.main(new String[] {properties}));
        server.setDaemon(true);
        server.start();
        MBeanServer beans = ManagementFactory.getPlatformMBeanServer();
        ObjectName active = new ObjectName("kafka.controller:type=KafkaController,name=ActiveControllerCount");
        for (int tries = 0; tries < 600; tries++, Thread.sleep(100))
            if (beans.isRegistered(active) && ((Number) beans.getAttribute(active, "Value")).intValue() == 1) break;
        Thread.sleep(3000);
        for (ObjectName name : new TreeSet<>(beans.queryNames(null, null))) {
            if (!name.getDomain().startsWith("kafka")) continue;
            TreeSet<String> attributes = new TreeSet<>();
            for (MBeanAttributeInfo attribute : beans.getMBeanInfo(name).getAttributes()) attributes.add(attribute.getName());
            // Names of threads, connections and listeners may have ports and counters.
            print("metric", name.getCanonicalName().replaceAll("\\d{4,}", "N"), attributes.toString());
        }
    }

    private static void print(String kind, String name, String value) {
        System.out.println(kind + "\t" + name + "\t" + value.replaceAll("Object@[0-9a-f]+", "Object").replace("\n", "\\n").replace("\t", "\\t"));
    }
}
