package kraft.oracle;

import java.io.StringReader;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Properties;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import kafka.network.RequestChannel;
import kafka.server.ControllerApis;
import kafka.server.ControllerConfigurationValidator;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer$;
import kafka.server.QuotaFactory;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.memory.MemoryPool;
import org.apache.kafka.common.message.ApiMessageType.ListenerType;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.network.ClientInformation;
import org.apache.kafka.common.network.ListenerName;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.requests.RequestContext;
import org.apache.kafka.common.requests.RequestHeader;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.common.utils.MockTime;
import org.apache.kafka.controller.QuorumController;
import org.apache.kafka.controller.QuorumFeatures;
import org.apache.kafka.controller.metrics.QuorumControllerMetrics;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.image.loader.LogDeltaManifest;
import org.apache.kafka.image.publisher.ControllerRegistrationsPublisher;
import org.apache.kafka.metadata.KRaftMetadataCache;
import org.apache.kafka.metadata.bootstrap.BootstrapMetadata;
import org.apache.kafka.metadata.placement.StripedReplicaPlacer;
import org.apache.kafka.network.metrics.RequestChannelMetrics;
import org.apache.kafka.raft.Batch;
import org.apache.kafka.raft.LeaderAndEpoch;
import org.apache.kafka.server.SimpleApiVersionManager;
import org.apache.kafka.server.common.ApiMessageAndVersion;
import org.apache.kafka.server.common.FinalizedFeatures;
import org.apache.kafka.server.common.KRaftVersion;
import org.apache.kafka.server.common.MetadataVersion;
import org.apache.kafka.server.common.RequestLocal;
import org.apache.kafka.server.config.DefaultSupportedConfigChecker;
import org.apache.kafka.server.fault.FaultHandler;
import org.apache.kafka.snapshot.SnapshotReader;
import scala.Option;

/** One stock controller with its request layer, on a local log, with mock time and fixed random numbers. */
final class StockController implements AutoCloseable {
    private static final RequestChannelMetrics CHANNEL_METRICS = new RequestChannelMetrics(ListenerType.CONTROLLER);
    /** In the properties of a sequence that shows this difference. */
    private static final String KEEPS_CONFIGS = "oracle.keeps.configs.of.deleted.topics";
    private static final long START_MS = 1_000_000;
    /** A periodic task that has more to do runs again after so many milliseconds. */
    private static final long AGAIN_MS = 10;
    private static final int AGAIN_STEPS = 10;

    final List<String> notes = java.util.Collections.synchronizedList(new ArrayList<>());
    private final MockTime time = new MockTime(0, START_MS, START_MS * 1_000_000);
    private final Properties parsed;
    private KafkaConfig config;
    private final String clusterId;
    private final BootstrapMetadata bootstrap;
    private final Random placement;
    private final LocalLog log;
    private final Metrics metrics = new Metrics();
    private final QuotaFactory.QuotaManagers quotas;
    private AnswerChannel channel;
    private QuorumController controller;
    private ControllerApis apis;
    private KRaftMetadataCache cache;
    private ControllerRegistrationsPublisher registrations;
    private Image image;

    StockController(String properties, String clusterId, List<ApiMessageAndVersion> bootstrap, long seed)
        throws Exception {
        Properties parsed = new Properties();
        parsed.load(new StringReader(properties));
        this.parsed = parsed;
        this.config = newConfig();
        this.clusterId = clusterId;
        this.bootstrap = BootstrapMetadata.fromRecords(bootstrap, "the oracle");
        this.placement = new Random(seed);
        FixedRandom.seed(seed);
        this.log = new LocalLog(config.nodeId(), time, notes);
        this.quotas = QuotaFactory.instantiate(config, metrics, time, "oracle-", "controller");
        begin();
        activate();
    }

    private KafkaConfig newConfig() {
        KafkaConfig made = KafkaConfig.fromProps(parsed, false);
        made.dynamicConfig().initialize(Option.empty());
        return made;
    }

    private void begin() throws Exception {
        channel = new AnswerChannel(time, CHANNEL_METRICS);
        cache = new KRaftMetadataCache(config.nodeId(), () -> KRaftVersion.KRAFT_VERSION_0);
        registrations = new ControllerRegistrationsPublisher();
        image = new Image(parsed.containsKey(KEEPS_CONFIGS));
        FaultHandler fatal = fault("fatal");
        FaultHandler nonFatal = fault("fault");
        OptionalLong imbalance = config.autoLeaderRebalanceEnable()
            ? OptionalLong.of(TimeUnit.SECONDS.toNanos(config.leaderImbalanceCheckIntervalSeconds()))
            : OptionalLong.empty();
        OptionalLong idle = config.metadataMaxIdleIntervalNs().isDefined()
            ? OptionalLong.of((Long) config.metadataMaxIdleIntervalNs().get())
            : OptionalLong.empty();
        controller = new QuorumController.Builder(config.nodeId(), clusterId)
            .setTime(time)
            .setThreadNamePrefix("oracle-")
            .setConfigSchema(KafkaRaftServer$.MODULE$.configSchema())
            .setRaftClient(log)
            .setQuorumFeatures(new QuorumFeatures(
                config.nodeId(), QuorumFeatures.defaultSupportedFeatureMap(false), List.of(config.nodeId())))
            .setDefaultReplicationFactor((short) config.defaultReplicationFactor())
            .setDefaultNumPartitions(config.numPartitions())
            .setReplicaPlacer(new StripedReplicaPlacer(placement))
            .setSessionTimeoutNs(TimeUnit.MILLISECONDS.toNanos(config.brokerSessionTimeoutMs()))
            .setFenceStaleBrokerIntervalNs(TimeUnit.MILLISECONDS.toNanos(AGAIN_MS))
            .setLeaderImbalanceCheckIntervalNs(imbalance)
            .setMaxIdleIntervalNs(idle)
            .setUncleanLeaderElectionCheckIntervalMs(config.uncleanLeaderElectionCheckIntervalMs())
            .setMetrics(new QuorumControllerMetrics(Optional.empty(), time, config.brokerSessionTimeoutMs()))
            .setConfigurationValidator(new ControllerConfigurationValidator(config))
            .setSupportedConfigChecker(new DefaultSupportedConfigChecker())
            .setStaticConfig(config.originals())
            .setBootstrapMetadata(bootstrap)
            .setFatalFaultHandler(fatal)
            .setNonFatalFaultHandler(nonFatal)
            .build();
        SimpleApiVersionManager versions =
            new SimpleApiVersionManager(ListenerType.CONTROLLER, config.unstableApiVersionsEnabled(), this::finalized);
        apis = new ControllerApis(channel, Option.empty(), quotas, time, controller, new NoRaft(log), config,
            clusterId, registrations, versions, cache);
    }

    private FaultHandler fault(String kind) {
        return (text, cause) -> {
            notes.add(kind + ": " + text + (cause == null ? "" : ": " + cause));
            return new RuntimeException(text, cause);
        };
    }

    private FinalizedFeatures finalized() {
        MetadataImage current = cache.currentImage();
        if (current.isEmpty()) {
            return FinalizedFeatures.fromKRaftVersion(MetadataVersion.MINIMUM_VERSION);
        }
        return new FinalizedFeatures(
            current.features().metadataVersionOrThrow(), current.features().finalizedVersions(), current.offset());
    }

    private void activate() throws Exception {
        log.lead();
        settle();
        OrderedContacts.install(controller);
    }

    /** Let the controller do all that it can do now, timers that are due included. */
    void settle() throws Exception {
        for (int round = 0; round < 12; round++) {
            long before = log.calls();
            int pending = channel.pending();
            CountDownLatch reached = new CountDownLatch(1);
            controller.appendControlEvent("oracle", reached::countDown);
            if (!reached.await(60, TimeUnit.SECONDS)) {
                notes.add("the controller does not come to rest");
                return;
            }
            if (log.calls() == before && channel.pending() == pending && (pending == 0 || round > 2)) {
                return;
            }
        }
    }

    void request(int correlation, short apiKey, short version, String type, String name, byte[] body)
        throws Exception {
        RequestHeader header = new RequestHeader(ApiKeys.forId(apiKey), version, "oracle", correlation);
        RequestContext context = new RequestContext(header, "1", InetAddress.getLoopbackAddress(),
            new KafkaPrincipal(type, name), new ListenerName("CONTROLLER"), SecurityProtocol.PLAINTEXT,
            ClientInformation.EMPTY, true);
        if (apiKey == ApiKeys.DESCRIBE_CONFIGS.id || apiKey == ApiKeys.DESCRIBE_CLUSTER.id
            || apiKey == ApiKeys.API_VERSIONS.id) {
            publish();
        }
        channel.began();
        RequestChannel.Request request;
        try {
            request = new RequestChannel.Request(0, context, time.nanoseconds(), MemoryPool.NONE,
                ByteBuffer.wrap(body), CHANNEL_METRICS, Option.empty());
        } catch (RuntimeException wrong) {
            channel.add(correlation, null);
            return;
        }
        apis.handle(request, RequestLocal.noCaching());
        settle();
    }

    private MetadataImage publish() {
        List<Batch<ApiMessageAndVersion>> batches = log.committedBatches();
        MetadataImage current = image.after(batches);
        cache.setImage(current);
        for (String name : List.of("", Integer.toString(config.nodeId()))) {
            Properties dynamic = current.configs().configProperties(new ConfigResource(ConfigResource.Type.BROKER, name));
            if (name.isEmpty()) {
                config.dynamicConfig().updateDefaultConfig(dynamic, false);
            } else {
                config.dynamicConfig().updateBrokerConfig(config.nodeId(), dynamic, false);
            }
        }
        if (image.lastDelta() != null) {
            registrations.onMetadataUpdate(image.lastDelta(), current, LogDeltaManifest.newBuilder()
                .provenance(current.provenance()).leaderAndEpoch(LeaderAndEpoch.UNKNOWN)
                .numBatches(1).elapsedNs(1).numBytes(1).build());
        }
        return current;
    }

    /** Time passes at once, and then in the small steps in which a periodic task that has more to do runs again. */
    void pass(long ms) throws Exception {
        time.sleep(ms);
        settle();
        for (int step = 0; step < AGAIN_STEPS; step++) {
            time.sleep(AGAIN_MS);
            settle();
        }
    }

    void hold(boolean wanted) throws Exception {
        log.hold(wanted);
        settle();
    }

    /** Another node leads: what is not committed is lost; this node does not lead until lead. */
    void lose() throws Exception {
        log.lose();
        settle();
    }

    void lead() throws Exception {
        log.hold(false);
        activate();
    }

    /** A new process begins with the log, or with a snapshot of what is committed, and leads. */
    void restart(boolean fromSnapshot) throws Exception {
        MetadataImage current = fromSnapshot ? publish() : null;
        controller.close();
        config = newConfig();
        log.restart();
        begin();
        if (fromSnapshot) {
            log.load(new ImageReader(current));
        }
        activate();
    }

    List<ApiMessageAndVersion> snapshot() {
        return Image.records(publish());
    }

    List<List<ApiMessageAndVersion>> appended() {
        return log.takeAppended();
    }

    List<AnswerChannel.Answer> answers() {
        return channel.take();
    }

    @Override
    public void close() throws InterruptedException {
        controller.close();
        apis.close();
        quotas.shutdown();
        metrics.close();
    }

    /** The records of an image as the one batch of a snapshot. */
    private static final class ImageReader implements SnapshotReader<ApiMessageAndVersion> {
        private final MetadataImage image;
        private Batch<ApiMessageAndVersion> batch;

        ImageReader(MetadataImage image) {
            this.image = image;
            batch = Batch.data(0, 1, image.provenance().lastContainedLogTimeMs(), 1, Image.records(image));
        }

        @Override
        public org.apache.kafka.server.common.OffsetAndEpoch snapshotId() {
            return new org.apache.kafka.server.common.OffsetAndEpoch(lastContainedLogOffset() + 1, lastContainedLogEpoch());
        }

        @Override
        public long lastContainedLogOffset() {
            return image.provenance().lastContainedOffset();
        }

        @Override
        public int lastContainedLogEpoch() {
            return image.provenance().lastContainedEpoch();
        }

        @Override
        public long lastContainedLogTimestamp() {
            return image.provenance().lastContainedLogTimeMs();
        }

        @Override
        public boolean hasNext() {
            return batch != null;
        }

        @Override
        public Batch<ApiMessageAndVersion> next() {
            Batch<ApiMessageAndVersion> found = batch;
            batch = null;
            return found;
        }

        @Override
        public void close() {
        }
    }
}
