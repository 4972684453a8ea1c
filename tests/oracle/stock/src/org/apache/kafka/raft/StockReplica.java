package org.apache.kafka.raft;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.File;
import java.io.IOException;
import java.lang.reflect.Field;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.stream.Stream;
import kraft.oracle.ManualTime;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.feature.SupportedVersionRange;
import org.apache.kafka.common.memory.MemoryPool;
import org.apache.kafka.common.message.ApiMessageType;
import org.apache.kafka.common.message.FetchResponseData;
import org.apache.kafka.common.message.FetchSnapshotResponseData;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.network.ListenerName;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.common.record.internal.FileRecords;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.UnalignedFileRecords;
import org.apache.kafka.common.record.internal.UnalignedMemoryRecords;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.raft.internals.KRaftControlRecordStateMachine;
import org.apache.kafka.raft.internals.KafkaRaftLog;
import org.apache.kafka.server.common.KRaftVersion;
import org.apache.kafka.server.common.OffsetAndEpoch;
import org.apache.kafka.snapshot.SnapshotReader;
import org.apache.kafka.snapshot.SnapshotWriter;

/** Stock's `KafkaRaftClient` on its own log and quorum-state file, with time and random numbers under control. */
final class StockReplica {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final TopicPartition PARTITION = new TopicPartition("__cluster_metadata", 0);
    /** More polls than any chain of transitions needs. */
    private static final int POLLS_MAX = 20;

    private final JsonNode config;
    private final ListenerName listener;
    private final Path root;
    private final File directory;
    private final ManualTime time;
    private final TimedRandom random;
    private final Tasks scheduler;
    private final ArrayNode sent = JSON.createArrayNode();
    private final ArrayNode responses = JSON.createArrayNode();
    private final List<String> notes = new ArrayList<>();
    private CollectingChannel channel;
    private Messages queue;
    private Expirations expirations;
    private KafkaRaftLog log;
    private KafkaRaftClient<byte[]> client;
    private Metrics metrics;
    private boolean isOver;

    StockReplica(JsonNode config) throws IOException {
        this.config = config;
        this.listener = new ListenerName(config.get("listener").asText());
        this.root = Files.createTempDirectory("kraft-oracle");
        this.directory = root.resolve(PARTITION.toString()).toFile();
        this.time = new ManualTime(config.get("now").asLong(), 0);
        this.random = new TimedRandom(config.get("seed").asLong(), time, config.get("ownPlace").asInt());
        this.scheduler = new Tasks(time);
        Files.createDirectories(directory.toPath());
        for (Map.Entry<String, JsonNode> file : config.get("files").properties()) {
            Files.write(directory.toPath().resolve(file.getKey()), file.getValue().binaryValue());
        }
    }

    boolean isOver() {
        return isOver;
    }

    void failed(Exception wrong) {
        StringBuilder text = new StringBuilder("stopped: " + wrong.getClass().getSimpleName() + ": " + wrong.getMessage());
        for (StackTraceElement frame : wrong.getStackTrace()) {
            if (frame.getClassName().startsWith("org.apache.kafka.raft")) {
                text.append(" at ").append(frame.getMethodName());
                break;
            }
        }
        notes.add(text.toString());
        isOver = true;
    }

    /** A process begins with what is in the directory. */
    void open() throws Exception {
        channel = new CollectingChannel(listener);
        queue = new Messages();
        expirations = new Expirations(time);
        metrics = new Metrics(time);
        Map<String, Object> logConfig = new HashMap<>();
        logConfig.put(MetadataLogConfig.METADATA_MAX_RETENTION_BYTES_CONFIG, config.get("retentionBytes").asLong());
        log = KafkaRaftLog.createLog(PARTITION, Uuid.METADATA_TOPIC_ID, directory, time, scheduler,
            new MetadataLogConfig(new AbstractConfig(MetadataLogConfig.CONFIG_DEF, logConfig, false)),
            config.get("id").asInt());
        Map<Integer, InetSocketAddress> statics = new HashMap<>();
        for (JsonNode voter : config.get("staticVoters")) {
            statics.put(voter.get("id").asInt(), address(voter));
        }
        List<InetSocketAddress> servers = new ArrayList<>();
        config.get("bootstrapServers").forEach(server -> servers.add(address(server)));
        Map<ListenerName, InetSocketAddress> own = new HashMap<>();
        for (JsonNode endpoint : config.get("endpoints")) {
            own.put(new ListenerName(endpoint.get("listener").asText()), address(endpoint));
        }
        client = new KafkaRaftClient<>(
            OptionalInt.of(config.get("id").asInt()), Uuid.fromString(config.get("directoryId").asText()),
            new BytesSerde(), channel, queue, log, MemoryPool.NONE, time, expirations,
            config.get("fetchWaitMs").asInt(), config.get("canBecomeVoter").asBoolean(),
            config.get("clusterId").asText(), servers, Endpoints.fromInetSocketAddresses(own),
            new SupportedVersionRange((short) 0, (short) 1), CollectingChannel.logContext(), random, quorumConfig());
        client.register(new Discarding());
        client.initialize(statics, new FileQuorumStateStore(stateFile()), metrics, ignored -> { });
        settle();
    }

    private QuorumConfig quorumConfig() {
        Map<String, Object> values = new HashMap<>();
        config.get("quorum").properties().forEach(entry -> values.put(entry.getKey(), entry.getValue().asText()));
        return new QuorumConfig(new AbstractConfig(QuorumConfig.CONFIG_DEF, values, false));
    }

    private static InetSocketAddress address(JsonNode endpoint) {
        return InetSocketAddress.createUnresolved(endpoint.get("host").asText(), endpoint.get("port").asInt());
    }

    private File stateFile() {
        return new File(directory, FileQuorumStateStore.DEFAULT_FILE_NAME);
    }

    // Commands

    void request(int number, short api, short version, byte[] body) {
        ApiMessage message = ApiMessageType.fromApiKey(api).newRequest();
        message.read(new ByteBufferAccessor(ByteBuffer.wrap(body)), version);
        RaftRequest.Inbound request =
            new RaftRequest.Inbound(listener, channel.newCorrelationId(), version, message, time.milliseconds());
        CollectingChannel.ask(client, request).whenComplete((response, wrong) -> {
            ObjectNode answer = responses.addObject();
            answer.put("number", number);
            answer.put("ms", time.milliseconds());
            if (wrong == null) {
                answer.put("body", bytesOf(response.data(), version));
            } else {
                answer.put("wrong", wrong.toString());
            }
        });
        settle();
    }

    void answer(int peer, int number, short version, byte[] body) {
        RaftRequest.Outbound request = channel.request(peer, number);
        if (request == null) {
            notes.add("no such request");
            return;
        }
        ApiMessage message = ApiMessageType.fromApiKey(request.data().apiKey()).newResponse();
        message.read(new ByteBufferAccessor(ByteBuffer.wrap(body)), version);
        channel.complete(
            request, new RaftResponse.Inbound(request.correlationId(), message, request.destination()));
        settle();
    }

    void fail(int peer, int number, short error) {
        RaftRequest.Outbound request = channel.request(peer, number);
        if (request == null) {
            notes.add("no such request");
            return;
        }
        ApiMessage message = RaftUtil.errorResponse(ApiKeys.forId(request.data().apiKey()), Errors.forCode(error));
        channel.complete(
            request, new RaftResponse.Inbound(request.correlationId(), message, request.destination()));
        settle();
    }

    /** Time goes on from one moment at which something is due, or that is one of `times`, to the next. */
    void pass(long ms, JsonNode times) {
        long end = time.milliseconds() + ms;
        int place = 0;
        while (time.milliseconds() < end) {
            while (place < times.size() && times.get(place).asLong() <= time.milliseconds()) {
                place++;
            }
            long next = place < times.size() ? times.get(place).asLong() : end;
            long wait = Math.max(1, Math.min(queue.lastPollTimeoutMs().orElse(1), expirations.nextInMs()));
            time.sleep(Math.min(wait, Math.min(next, end) - time.milliseconds()));
            expirations.expire();
            settle();
        }
    }

    void append(int epoch, JsonNode records) throws IOException {
        List<byte[]> values = new ArrayList<>();
        for (JsonNode record : records) {
            values.add(record.binaryValue());
        }
        try {
            client.prepareAppend(epoch, values);
            client.schedulePreparedAppend();
        } catch (RuntimeException refused) {
            notes.add("refused");
        }
        settle();
    }

    void upgrade(int epoch) {
        try {
            client.upgradeKRaftVersion(epoch, KRaftVersion.KRAFT_VERSION_1, false);
        } catch (RuntimeException refused) {
            notes.add("refused");
        }
        settle();
    }

    byte[] snapshot(long end, int epoch, long timestamp, JsonNode records) throws IOException {
        OffsetAndEpoch id = new OffsetAndEpoch(end, epoch);
        SnapshotWriter<byte[]> writer = client.createSnapshot(id, timestamp).orElse(null);
        if (writer == null) {
            return new byte[0];
        }
        try (writer) {
            List<byte[]> values = new ArrayList<>();
            for (JsonNode record : records) {
                values.add(record.binaryValue());
            }
            writer.append(values);
            writer.freeze();
        }
        settle();
        return Files.readAllBytes(log.readSnapshot(id).map(found -> directory.toPath().resolve(
            String.format("%020d-%010d.checkpoint", end, epoch))).orElseThrow());
    }

    void resign(int epoch) {
        try {
            client.resign(epoch);
        } catch (RuntimeException refused) {
            notes.add("refused");
        }
        settle();
    }

    void restart(boolean clean) throws Exception {
        if (clean) {
            client.close();
        }
        metrics.close();
        log.close();
        scheduler.clear();
        open();
    }

    /** Poll until nothing is left that can be done now. */
    private void settle() {
        for (int poll = 0; poll < POLLS_MAX; poll++) {
            boolean waits = !queue.isEmpty();
            client.poll();
            if (!waits && queue.isEmpty() && queue.lastPollTimeoutMs().orElse(0) > 0) {
                break;
            }
        }
    }

    // What came of it

    void report(ObjectNode answer) throws Exception {
        for (RaftRequest.Outbound request : channel == null ? List.<RaftRequest.Outbound>of() : channel.sent) {
            ObjectNode entry = sent.addObject();
            entry.put("peer", request.destination().id());
            entry.put("host", request.destination().host());
            entry.put("port", request.destination().port());
            entry.put("ms", request.createdTimeMs());
            short key = request.data().apiKey();
            entry.put("api", key);
            entry.put("body", bytesOf(request.data(), ApiKeys.forId(key).latestVersion()));
        }
        if (channel != null) {
            channel.sent = new ArrayList<>();
        }
        answer.set("sent", sent.deepCopy());
        answer.set("responses", responses.deepCopy());
        sent.removeAll();
        responses.removeAll();
        ArrayNode said = answer.putArray("notes");
        notes.forEach(said::add);
        notes.clear();
        if (!isOver) {
            answer.set("state", state());
        }
    }

    private ObjectNode state() throws Exception {
        ObjectNode state = JSON.createObjectNode();
        QuorumState quorum = client.quorum();
        state.put("role", role(quorum));
        state.put("epoch", quorum.epoch());
        state.put("leader", quorum.leaderIdOrSentinel());
        state.put("endpoints", quorum.leaderEndpoints().size());
        state.put("voted", quorum.votedKey().map(key -> key.id() + "@"
            + key.directoryId().map(Uuid::toString).orElse("")).orElse(""));
        state.put("highWatermark", quorum.highWatermark().map(LogOffsetMetadata::offset).orElse(-1L));
        state.put("logStart", log.startOffset());
        state.put("logEnd", log.endOffset().offset());
        state.put("lastEpoch", log.lastFetchedEpoch());
        ArrayNode snapshots = state.putArray("snapshots");
        try (Stream<Path> files = Files.list(directory.toPath())) {
            files.map(file -> file.getFileName().toString()).filter(name -> name.endsWith(".checkpoint")).sorted()
                .forEach(snapshots::add);
        }
        state.set("quorumState", stateFile().exists() ? JSON.readTree(stateFile()) : null);
        KRaftControlRecordStateMachine control = control();
        state.put("kraftVersion", control.lastKraftVersion().featureLevel());
        KRaftVersion version = KRaftVersion.KRAFT_VERSION_1;
        state.put("voters", bytesOf(control.lastVoterSet().toVotersRecord(version.votersRecordVersion()),
            version.votersRecordVersion()));
        return state;
    }

    private static String role(QuorumState quorum) {
        if (quorum.isLeader()) {
            return "Leader";
        } else if (quorum.isCandidate()) {
            return "Candidate";
        } else if (quorum.isProspective()) {
            return "Prospective";
        } else if (quorum.isFollower()) {
            return "Follower";
        } else if (quorum.isUnattached()) {
            return "Unattached";
        }
        return "Resigned";
    }

    private KRaftControlRecordStateMachine control() throws ReflectiveOperationException {
        Field field = KafkaRaftClient.class.getDeclaredField("partitionState");
        field.setAccessible(true);
        return (KRaftControlRecordStateMachine) field.get(client);
    }

    /** A message as it goes over the wire; records that are in files are read first. */
    private static byte[] bytesOf(ApiMessage message, short version) {
        try {
            if (message instanceof FetchResponseData fetch) {
                for (FetchResponseData.FetchableTopicResponse topic : fetch.responses()) {
                    for (FetchResponseData.PartitionData data : topic.partitions()) {
                        if (data.records() instanceof FileRecords records) {
                            ByteBuffer buffer = ByteBuffer.allocate(records.sizeInBytes());
                            records.readInto(buffer, 0);
                            data.setRecords(MemoryRecords.readableRecords(buffer));
                        }
                    }
                }
            } else if (message instanceof FetchSnapshotResponseData fetch) {
                for (FetchSnapshotResponseData.TopicSnapshot topic : fetch.topics()) {
                    for (FetchSnapshotResponseData.PartitionSnapshot data : topic.partitions()) {
                        if (data.unalignedRecords() instanceof UnalignedFileRecords records) {
                            data.setUnalignedRecords(inMemory(records));
                        } else if (data.unalignedRecords() == null) {
                            // Stock cannot write the null that its errors have here: see docs/differences.md.
                            data.setUnalignedRecords(MemoryRecords.EMPTY);
                        }
                    }
                }
            }
            ObjectSerializationCache cache = new ObjectSerializationCache();
            ByteBuffer buffer = ByteBuffer.allocate(message.size(cache, version));
            message.write(new ByteBufferAccessor(buffer), cache, version);
            return buffer.array();
        } catch (IOException | ReflectiveOperationException wrong) {
            throw new IllegalStateException(wrong);
        }
    }

    private static UnalignedMemoryRecords inMemory(UnalignedFileRecords records)
        throws IOException, ReflectiveOperationException {
        Field channel = UnalignedFileRecords.class.getDeclaredField("channel");
        Field position = UnalignedFileRecords.class.getDeclaredField("position");
        channel.setAccessible(true);
        position.setAccessible(true);
        ByteBuffer buffer = ByteBuffer.allocate(records.sizeInBytes());
        Utils.readFully((java.nio.channels.FileChannel) channel.get(records), buffer, position.getLong(records));
        buffer.flip();
        return new UnalignedMemoryRecords(buffer);
    }

    void close() throws IOException {
        try {
            if (log != null) {
                log.close();
            }
            if (metrics != null) {
                metrics.close();
            }
        } catch (RuntimeException ignored) {
            // The directory goes in any case.
        }
        try (Stream<Path> files = Files.walk(root)) {
            files.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
        }
    }

    /** A state machine that takes what is committed and keeps nothing. */
    private static final class Discarding implements RaftClient.Listener<byte[]> {
        @Override
        public void handleCommit(BatchReader<byte[]> reader) {
            try (reader) {
                while (reader.hasNext()) {
                    reader.next();
                }
            }
        }

        @Override
        public void handleLoadSnapshot(SnapshotReader<byte[]> reader) {
            reader.close();
        }

        @Override
        public void handleLoadBootstrap(SnapshotReader<byte[]> reader) {
            reader.close();
        }
    }
}
