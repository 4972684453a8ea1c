package kraft.oracle;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.metadata.ConfigRecord;
import org.apache.kafka.common.metadata.RemoveTopicRecord;
import org.apache.kafka.common.metadata.TopicRecord;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.image.MetadataDelta;

/**
 * Takes the configs of a deleted topic out of an image. In Kafka they stay in it, and come back when a topic of that
 * name is created, or with a snapshot; that is known, and would hide other differences.
 */
final class TopicConfigs {
    private final Map<Uuid, String> names = new HashMap<>();
    private final Map<String, Set<String>> keys = new HashMap<>();

    /** A record is about to be replayed. */
    void before(MetadataDelta delta, ApiMessage message) {
        if (message instanceof TopicRecord topic) {
            names.put(topic.topicId(), topic.name());
        } else if (message instanceof ConfigRecord config && config.resourceType() == ConfigResource.Type.TOPIC.id()) {
            keys.computeIfAbsent(config.resourceName(), name -> new TreeSet<>()).add(config.name());
        } else if (message instanceof RemoveTopicRecord removed) {
            String name = names.remove(removed.topicId());
            Set<String> given = name == null ? null : keys.remove(name);
            if (given != null) {
                given.forEach(key -> delta.replay(new ConfigRecord()
                    .setResourceType(ConfigResource.Type.TOPIC.id()).setResourceName(name).setName(key)
                    .setValue(null)));
            }
        }
    }
}
