import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.FeatureUpdate;
import org.apache.kafka.clients.admin.NewPartitionReassignment;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.QuorumInfo;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.admin.UpdateFeaturesOptions;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * The calls of an operator by Kafka's own clients. A question is a line of JSON on stdin, its answer a line on stdout:
 * {open: name, config} makes an admin client; {admin: name, call, ...} -> the result, or {error}.
 */
public final class OperatorCalls {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final Map<String, Admin> ADMINS = new HashMap<>();
    private static Producing producing;

    public static void main(String[] unused) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            ObjectNode answer = MAPPER.createObjectNode();
            try {
                call(MAPPER.readTree(line), answer);
            } catch (ExecutionException e) {
                answer.put("error", e.getCause().toString());
            } catch (Exception e) {
                answer.put("error", e.toString());
            }
            System.out.println(MAPPER.writeValueAsString(answer));
            System.out.flush();
        }
        Runtime.getRuntime().halt(0);
    }

    private static <T> T get(KafkaFuture<T> future) throws Exception {
        return future.get(30, TimeUnit.SECONDS);
    }

    private static void call(JsonNode question, ObjectNode answer) throws Exception {
        if (question.has("open")) {
            Admin before = ADMINS.put(question.get("open").asText(), Admin.create(properties(question.get("config"))));
            if (before != null) {
                before.close(java.time.Duration.ZERO);
            }
            return;
        }
        Admin admin = ADMINS.get(question.path("admin").asText());
        switch (question.get("call").asText()) {
            case "quorum" -> quorum(get(admin.describeMetadataQuorum().quorumInfo()), answer);
            case "configs" -> {
                ConfigResource node = broker(question);
                for (ConfigEntry entry : get(admin.describeConfigs(List.of(node)).all()).get(node).entries()) {
                    answer.withArray("entries").addObject().put("name", entry.name()).put("value", entry.value())
                        .put("source", entry.source().name()).put("default", entry.isDefault());
                }
            }
            case "alter" -> {
                List<AlterConfigOp> changes = new ArrayList<>();
                question.get("changes").fields().forEachRemaining(change -> changes.add(change.getValue().isNull()
                    ? new AlterConfigOp(new ConfigEntry(change.getKey(), null), AlterConfigOp.OpType.DELETE)
                    : new AlterConfigOp(new ConfigEntry(change.getKey(), change.getValue().asText()),
                        AlterConfigOp.OpType.SET)));
                get(admin.incrementalAlterConfigs(Map.of(broker(question), changes)).all());
            }
            case "features" -> {
                var found = get(admin.describeFeatures().featureMetadata());
                found.finalizedFeatures().forEach((name, range) ->
                    answer.withObject("/finalized").put(name, range.maxVersionLevel()));
                found.supportedFeatures().forEach((name, range) ->
                    answer.withObject("/supported").put(name, range.maxVersion()));
            }
            case "update" -> {
                Map<String, FeatureUpdate> updates = new HashMap<>();
                question.get("levels").fields().forEachRemaining(level -> updates.put(level.getKey(),
                    new FeatureUpdate((short) level.getValue().asInt(), FeatureUpdate.UpgradeType.UPGRADE)));
                get(admin.updateFeatures(updates, new UpdateFeaturesOptions()).all());
            }
            case "unregister" -> get(admin.unregisterBroker(question.get("id").asInt()).all());
            case "nodes" -> {
                for (Node node : get(admin.describeCluster().nodes())) {
                    answer.withArray("nodes").add(node.id());
                }
            }
            case "create" -> get(admin.createTopics(List.of(new NewTopic(question.get("topic").asText(),
                question.get("partitions").asInt(), (short) question.get("replicas").asInt()))).all());
            case "topics" -> topics(admin, answer.putArray("partitions"));
            case "move" -> {
                Map<TopicPartition, java.util.Optional<NewPartitionReassignment>> moves = new HashMap<>();
                for (JsonNode each : question.get("moves")) {
                    List<Integer> replicas = new ArrayList<>();
                    each.get("replicas").forEach(id -> replicas.add(id.asInt()));
                    moves.put(new TopicPartition(each.get("topic").asText(), each.get("partition").asInt()),
                        java.util.Optional.of(new NewPartitionReassignment(replicas)));
                }
                get(admin.alterPartitionReassignments(moves).all());
            }
            case "moving" -> answer.put("count", get(admin.listPartitionReassignments().reassignments()).size());
            case "produce" -> producing = new Producing(
                properties(question.get("config")), question.get("topic").asText());
            case "produced" -> producing.end(answer);
            default -> throw new IllegalArgumentException(question.toString());
        }
    }

    private static Properties properties(JsonNode config) {
        Properties found = new Properties();
        config.fields().forEachRemaining(entry -> found.put(entry.getKey(), entry.getValue().asText()));
        return found;
    }

    private static ConfigResource broker(JsonNode question) {
        return new ConfigResource(ConfigResource.Type.BROKER, question.get("id").asText());
    }

    private static void quorum(QuorumInfo info, ObjectNode answer) {
        answer.put("leader", info.leaderId()).put("epoch", info.leaderEpoch());
        ArrayNode voters = answer.putArray("voters");
        for (QuorumInfo.ReplicaState voter : info.voters()) {
            voters.addObject().put("id", voter.replicaId()).put("caughtUp", voter.lastCaughtUpTimestamp().orElse(-1));
        }
    }

    private static void topics(Admin admin, ArrayNode answer) throws Exception {
        for (TopicDescription topic : get(admin.describeTopics(get(admin.listTopics().names())).allTopicNames()).values()) {
            for (TopicPartitionInfo partition : topic.partitions()) {
                ObjectNode found = answer.addObject().put("topic", topic.name()).put("partition", partition.partition())
                    .put("leader", partition.leader() == null ? -1 : partition.leader().id());
                partition.replicas().forEach(node -> found.withArray("replicas").add(node.id()));
                partition.isr().forEach(node -> found.withArray("isr").add(node.id()));
            }
        }
    }

    /** A producer with acks=all that goes on until it is ended. */
    private static final class Producing extends Thread {
        private final KafkaProducer<String, String> producer;
        private final String topic;
        private final AtomicLong acknowledged = new AtomicLong();
        private final AtomicLong longestMs = new AtomicLong();
        private volatile String failure = "";
        private volatile boolean isEnding;
        private long sent;

        Producing(Properties config, String topic) {
            this.topic = topic;
            producer = new KafkaProducer<>(config, new StringSerializer(), new StringSerializer());
            setDaemon(true);
            start();
        }

        @Override
        public void run() {
            while (!isEnding) {
                long began = System.nanoTime();
                // With the number as its key, so that all partitions are written.
                producer.send(new ProducerRecord<>(topic, Long.toString(sent++), "x"), (metadata, error) -> {
                    if (error != null) {
                        failure = error.toString();
                        return;
                    }
                    acknowledged.incrementAndGet();
                    longestMs.accumulateAndGet((System.nanoTime() - began) / 1_000_000, Math::max);
                });
                try {
                    Thread.sleep(10);
                } catch (InterruptedException e) {
                    return;
                }
            }
        }

        void end(ObjectNode answer) throws Exception {
            isEnding = true;
            join();
            producer.flush();
            producer.close();
            answer.put("sent", sent).put("acknowledged", acknowledged.get()).put("failure", failure)
                .put("longestMs", longestMs.get());
        }
    }
}
