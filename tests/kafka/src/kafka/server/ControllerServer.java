package kafka.server;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import org.apache.kafka.common.internals.Plugin;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.network.ListenerName;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.controller.Controller;
import org.apache.kafka.image.publisher.ControllerRegistrationsPublisher;
import org.apache.kafka.image.publisher.MetadataPublisher;
import org.apache.kafka.metadata.ControllerRegistration;
import org.apache.kafka.metadata.KafkaConfigSchema;
import org.apache.kafka.metadata.bootstrap.BootstrapMetadata;
import org.apache.kafka.server.authorizer.Authorizer;
import org.apache.kafka.server.common.ApiMessageAndVersion;
import kafka.network.SocketServer;
import kafka.raft.KafkaRaftManager;
import kraft.tests.Process;
import kraft.tests.RemoteAuthorizer;
import kraft.tests.RemoteController;
import kraft.tests.RemoteImage;
import kraft.tests.RemoteMetrics;
import kraft.tests.RemoteQuotas;
import kraft.tests.RemoteRaft;
import org.mockito.Mockito;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Kafka's test harnesses make this class in place of their own controller: it runs a process of the tested controller
 * with the configuration, directory and port that the harness made. What a test asks of a controller in its own JVM
 * is asked of the process where a request answers it; else it fails with a text that names the method.
 */
public class ControllerServer {
    /** Tests of log levels set the one of this class, at a broker: its logger is there once the class is loaded. */
    private static final Logger LOG = LoggerFactory.getLogger(ControllerServer.class);
    private final SharedServer sharedServer;
    private final CompletableFuture<Integer> firstBoundPort = new CompletableFuture<>();
    private final List<MetadataPublisher> publishers = new ArrayList<>();
    private final Process process;
    private final Controller controller;
    private final scala.Option<Plugin<Authorizer>> authorizer;

    public ControllerServer(SharedServer sharedServer, KafkaConfigSchema schema, BootstrapMetadata bootstrap) {
        this.sharedServer = sharedServer;
        KafkaConfig config = sharedServer.controllerConfig();
        if (config.processRoles().size() > 1) {
            throw new org.opentest4j.TestAbortedException("a node that is both broker and controller is not served");
        }
        LOG.debug("a process is the controller {}", config.nodeId());
        this.process = new Process(sharedServer, bootstrap);
        this.controller = RemoteController.make(process);
        this.authorizer = RemoteAuthorizer.plugin(process);
        sharedServer.raftManager_$eq(RemoteRaft.make(process));
        sharedServer.snapshotEmitter_$eq(RemoteMetrics.snapshotEmitter(process));
    }

    public void startup() throws Exception {
        try {
            process.start();
            firstBoundPort.complete(process.port());
        } catch (Throwable error) {
            firstBoundPort.completeExceptionally(error);
            throw error;
        }
    }

    public void shutdown() {
        process.stop();
    }

    public void awaitShutdown() {
        process.await();
    }

    public CompletableFuture<Integer> socketServerFirstBoundPortFuture() {
        return firstBoundPort;
    }

    /** A socket server that knows the bound ports and the configuration alone. */
    public SocketServer socketServer() {
        return Mockito.mock(SocketServer.class, call -> switch (call.getMethod().getName()) {
            case "boundPort" -> process.port(((ListenerName) call.getArgument(0)).value());
            case "config" -> config();
            default -> throw RemoteRaft.unserved(call);
        });
    }

    public KafkaRaftManager<ApiMessageAndVersion> raftManager() {
        return sharedServer.raftManager();
    }

    public SharedServer sharedServer() {
        return sharedServer;
    }

    public KafkaConfig config() {
        return sharedServer.controllerConfig();
    }

    public Controller controller() {
        return controller;
    }

    /** One that answers for the process, where it has Kafka's own; a Java class of a test would not be the one it asks. */
    public scala.Option<Plugin<Authorizer>> authorizerPlugin() {
        return authorizer;
    }

    /** The registrations of controllers that the process has committed. */
    public ControllerRegistrationsPublisher registrationsPublisher() {
        return new ControllerRegistrationsPublisher() {
            @Override
            public Map<Integer, ControllerRegistration> controllers() {
                return RemoteImage.read(process).cluster().controllers();
            }
        };
    }

    public QuotaFactory.QuotaManagers quotaManagers() {
        return RemoteQuotas.make(process);
    }

    public String clusterId() {
        return sharedServer.clusterId();
    }

    public Metrics metrics() {
        return sharedServer.metrics();
    }

    public Time time() {
        return sharedServer.time();
    }

    public List<MetadataPublisher> metadataPublishers() {
        return publishers;
    }
}
