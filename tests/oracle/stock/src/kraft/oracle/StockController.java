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
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import kafka.network.ConnectionQuotas;
import kafka.server.ControllerApis;
import kafka.server.ControllerConfigurationValidator;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer$;
import kafka.server.metadata.ClientQuotaMetadataManager;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.internals.Plugin;
import org.apache.kafka.common.message.ApiMessageType.ListenerType;
import org.apache.kafka.common.message.EnvelopeRequestData;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.network.ClientInformation;
import org.apache.kafka.common.network.ListenerName;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.MessageUtil;
import org.apache.kafka.common.requests.RequestContext;
import org.apache.kafka.common.requests.RequestHeader;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.controller.QuorumController;
import org.apache.kafka.controller.QuorumFeatures;
import org.apache.kafka.controller.metrics.QuorumControllerMetrics;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.image.loader.LogDeltaManifest;
import org.apache.kafka.image.publisher.ControllerRegistrationsPublisher;
import org.apache.kafka.metadata.KRaftMetadataCache;
import org.apache.kafka.metadata.authorizer.ClusterMetadataAuthorizer;
import org.apache.kafka.metadata.bootstrap.BootstrapMetadata;
import org.apache.kafka.metadata.placement.StripedReplicaPlacer;
import org.apache.kafka.network.metrics.RequestChannelMetrics;
import org.apache.kafka.raft.Batch;
import org.apache.kafka.raft.LeaderAndEpoch;
import org.apache.kafka.raft.QuorumConfig;
import org.apache.kafka.server.SimpleApiVersionManager;
import org.apache.kafka.server.authorizer.Authorizer;
import org.apache.kafka.server.common.ApiMessageAndVersion;
import org.apache.kafka.server.config.DefaultSupportedConfigChecker;
import org.apache.kafka.server.fault.FaultHandler;
import org.apache.kafka.snapshot.SnapshotReader;
import scala.Option;

/** One stock controller with its request layer, on a local log, with mock time and fixed random numbers. */
final class StockController implements AutoCloseable {
    private static final RequestChannelMetrics CHANNEL_METRICS = new RequestChannelMetrics(ListenerType.CONTROLLER);
    /** In the properties of a sequence that shows one of these differences. */
    private static final String KEEPS_CONFIGS = "oracle.keeps.configs.of.deleted.topics";
    private static final String LOSES_CREDENTIALS = "oracle.loses.scram.credentials";
    private static final long START_MS = 1_000_000;
    /** A periodic task that has more to do runs again after so many milliseconds. */
    private static final long AGAIN_MS = 10;
    private static final byte[] LOOPBACK = {127, 0, 0, 1};
    private static final String CONNECTION = "127.0.0.1-1";

    final List<String> notes = java.util.Collections.synchronizedList(new ArrayList<>());
    private final PassingTime time = new PassingTime(START_MS);
    private final Properties parsed;
    private KafkaConfig config;
    private final String clusterId;
    private final BootstrapMetadata bootstrap;
    private final Random placement;
    private final LocalLog log;
    private Metrics metrics;
    private Quotas quotas;
    private ClientQuotaMetadataManager clientQuotas;
    /** Whether quotas were ever altered, so that each request must see those that are committed. */
    private boolean hasQuotas = false;
    private Answers answers;
    private AnswerChannel channel;
    private QuorumController controller;
    private ControllerApis apis;
    private KRaftMetadataCache cache;
    private ControllerRegistrationsPublisher registrations;
    private Image image;
    /** Null where no authorizer is configured. */
    private ClusterMetadataAuthorizer authorizer;
    private Tokens tokens;
    /** The thread that answers CreateAcls and DeleteAcls. */
    private ExecutorService aclAnswers;

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
        this.log = new LocalLog(config.nodeId(), config.quorumConfig().voters().size(), time, notes);
        begin();
        activate();
    }

    private KafkaConfig newConfig() {
        KafkaConfig made = KafkaConfig.fromProps(parsed, false);
        made.dynamicConfig().initialize(Option.empty());
        return made;
    }

    private void begin() throws Exception {
        answers = new Answers();
        channel = new AnswerChannel(answers, time, CHANNEL_METRICS);
        cache = new KRaftMetadataCache(config.nodeId(), log::kraftVersion);
        registrations = new ControllerRegistrationsPublisher();
        image = new Image(parsed.containsKey(KEEPS_CONFIGS), parsed.containsKey(LOSES_CREDENTIALS));
        tokens = new Tokens(config);
        if (metrics != null) {
            quotas.shutdown();
            metrics.close();
        }
        metrics = new Metrics(time);
        quotas = Quotas.of(config, metrics, time);
        clientQuotas = new ClientQuotaMetadataManager(quotas.managers(), new ConnectionQuotas(config, time, metrics));
        Option<Plugin<Authorizer>> plugin = config.createNewAuthorizer(metrics, "controller");
        authorizer = plugin.isEmpty() ? null : (ClusterMetadataAuthorizer) plugin.get().get();
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
                config.nodeId(), QuorumFeatures.defaultSupportedFeatureMap(config.unstableFeatureVersionsEnabled()),
                QuorumConfig.parseVoterIds(config.quorumConfig().voters()).stream().sorted().toList()))
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
            .setDelegationTokenCache(tokens.cache())
            .setDelegationTokenSecretKey(tokens.secretKey())
            .setDelegationTokenMaxLifeMs(tokens.configs().delegationTokenMaxLifeMs())
            .setDelegationTokenExpiryTimeMs(tokens.configs().delegationTokenExpiryTimeMs())
            .setDelegationTokenExpiryCheckIntervalMs(tokens.configs().delegationTokenExpiryCheckIntervalMs())
            .setBootstrapMetadata(bootstrap)
            .setFatalFaultHandler(fatal)
            .setNonFatalFaultHandler(nonFatal)
            .build();
        Tokens.setTime(controller, time);
        if (authorizer != null) {
            authorizer.setAclMutator(controller);
            authorizer.completeInitialLoad();
        }
        SimpleApiVersionManager versions =
            new SimpleApiVersionManager(ListenerType.CONTROLLER, config.unstableApiVersionsEnabled(),
                () -> Features.of(cache.currentImage(), log.kraftVersion()));
        apis = new ControllerApis(channel, plugin, quotas.managers(), time, controller, new NoRaft(log), config,
            clusterId, registrations, versions, cache);
        aclAnswers = (ExecutorService) OrderedContacts.field(
            OrderedContacts.field(OrderedContacts.field(apis, "aclApis"), "alterAclsPurgatory"), "executor");
    }

    private FaultHandler fault(String kind) {
        return (text, cause) -> {
            notes.add(kind + ": " + text + (cause == null ? "" : ": " + cause));
            return new RuntimeException(text, cause);
        };
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
            int pending = answers.pending();
            CountDownLatch reached = new CountDownLatch(1);
            controller.appendControlEvent("oracle", reached::countDown);
            if (!reached.await(60, TimeUnit.SECONDS)) {
                notes.add("the controller does not come to rest");
                return;
            }
            if (authorizer != null) {
                aclAnswers.submit(() -> { }).get(60, TimeUnit.SECONDS);
            }
            if (log.calls() == before && answers.pending() == pending && (pending == 0 || round > 2)) {
                return;
            }
        }
    }

    /**
     * clientId: null for none. flags: 1 where the principal was authenticated by a token, 2 where a broker forwards the
     * request.
     */
    void request(
        int correlation, short apiKey, short version, String type, String name, String protocol, String clientId,
        int flags, byte[] body
    ) throws Exception {
        RequestHeader header = new RequestHeader(ApiKeys.forId(apiKey), version, clientId, correlation);
        RequestContext context = new RequestContext(header, CONNECTION, InetAddress.getByAddress(LOOPBACK),
            new KafkaPrincipal(type, name, (flags & 1) != 0), new ListenerName("CONTROLLER"),
            SecurityProtocol.forName(protocol), ClientInformation.EMPTY, true);
        if (apiKey == ApiKeys.DESCRIBE_CONFIGS.id || apiKey == ApiKeys.DESCRIBE_CLUSTER.id
            || apiKey == ApiKeys.API_VERSIONS.id || authorizer != null || tokens.secretKey() != null || hasQuotas) {
            publish();
        }
        hasQuotas |= apiKey == ApiKeys.ALTER_CLIENT_QUOTAS.id;
        answers.began();
        if ((flags & 2) == 0) {
            channel.handle(apis, context, body, null, null);
        } else {
            RequestHeader envelope = new RequestHeader(ApiKeys.ENVELOPE, ApiKeys.ENVELOPE.latestVersion(), "broker", 1);
            channel.handle(apis, context, body, new RequestContext(envelope, CONNECTION,
                InetAddress.getLoopbackAddress(), KafkaPrincipal.ANONYMOUS, new ListenerName("CONTROLLER"),
                SecurityProtocol.PLAINTEXT, ClientInformation.EMPTY, true), envelopeBody(envelope));
        }
        settle();
    }

    /** What a broker sends in the name of a client; only that it is there is looked at. */
    private static byte[] envelopeBody(RequestHeader header) {
        EnvelopeRequestData data = new EnvelopeRequestData().setClientHostAddress(LOOPBACK).setRequestData(ByteBuffer.allocate(0));
        return MessageUtil.toByteBufferAccessor(data, header.apiVersion()).buffer().array();
    }

    private MetadataImage publish() {
        List<Batch<ApiMessageAndVersion>> batches = log.committedBatches();
        MetadataImage former = image.current();
        MetadataImage current = image.after(batches);
        if (current == former) {
            return current;
        }
        if (authorizer != null && current.acls() != former.acls()) {
            authorizer.loadSnapshot(current.acls().acls());
        }
        tokens.follow(current.delegationTokens());
        if (image.lastDelta().clientQuotasDelta() != null) {
            clientQuotas.accept(image.lastDelta().clientQuotasDelta());
        }
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
    void pass(long ms, int steps) throws Exception {
        time.sleep(ms);
        if (tokens.secretKey() != null) {
            publish();
        }
        settle();
        for (int step = 0; step < steps; step++) {
            time.sleep(AGAIN_MS);
            if (tokens.secretKey() != null) {
                publish();
            }
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

    /** A new process begins with the log, or with a snapshot of what is committed, whose records are returned. */
    List<ApiMessageAndVersion> restart(boolean fromSnapshot) throws Exception {
        MetadataImage current = fromSnapshot ? publish() : null;
        controller.close();
        apis.close();
        config = newConfig();
        log.restart();
        begin();
        if (fromSnapshot) {
            log.load(new ImageReader(current));
        }
        activate();
        return fromSnapshot ? Image.records(current) : List.of();
    }

    List<ApiMessageAndVersion> snapshot() {
        return Image.records(publish());
    }

    List<List<ApiMessageAndVersion>> appended() {
        return log.takeAppended();
    }

    List<Answers.Answer> answers() {
        return answers.take();
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
