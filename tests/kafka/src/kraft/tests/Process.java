package kraft.tests;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.channels.ServerSocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Stream;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import org.apache.kafka.common.Endpoint;
import org.apache.kafka.common.security.JaasUtils;
import org.apache.kafka.metadata.bootstrap.BootstrapDirectory;
import org.apache.kafka.metadata.bootstrap.BootstrapMetadata;
import org.apache.kafka.metadata.properties.MetaProperties;
import org.apache.kafka.metadata.properties.PropertiesUtils;

import kafka.server.KafkaConfig;
import kafka.server.SharedServer;

/** One controller as a process: its properties file, its ports, its start and its end. */
public final class Process {
    /** The command that is started with the properties file as its last argument. */
    private static final String[] COMMAND = System.getProperty("kraft.tests.command").split(" ");
    private static final Path LOGS = Path.of(System.getProperty("kraft.tests.logs"));
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int START_SECONDS = 60;
    private static final int VIEW_SECONDS = 15;
    private static final int HTTP_MS = 5_000;

    private final SharedServer shared;
    private final BootstrapMetadata bootstrap;
    private final Map<String, Integer> ports = new LinkedHashMap<>();
    private int httpPort;
    private java.lang.Process process;
    private ProcessBuilder builder;
    private PluginServer plugins;

    public Process(SharedServer shared, BootstrapMetadata bootstrap) {
        this.shared = shared;
        this.bootstrap = bootstrap;
    }

    public synchronized void start() throws Exception {
        if (process != null && process.isAlive()) {
            return;
        }
        KafkaConfig config = shared.controllerConfig();
        Path directory = Path.of(config.metadataLogDir());
        if (!Files.exists(directory.resolve("__cluster_metadata-0")) && bootstrap != null) {
            // The harness keeps these records in memory; a node reads them from its directory.
            new BootstrapDirectory(directory.toString()).writeBinaryFile(bootstrap);
        }
        // So are the cluster id and the directory id, which may differ from those of an earlier cluster in this directory.
        shared.metaPropsEnsemble().logDirProps().forEach((name, properties) -> write(Path.of(name), properties));
        Path file = LOGS.resolve("controller-" + config.nodeId() + "-" + System.nanoTime() + ".properties");
        writeProperties(config, file);
        builder = new ProcessBuilder(new ArrayList<>(List.of(COMMAND)));
        builder.command().add(file.toString());
        builder.redirectErrorStream(true);
        File log = new File(file.toString().replace(".properties", ".log"));
        builder.redirectOutput(ProcessBuilder.Redirect.appendTo(log));
        process = builder.start();
        awaitStart(log);
        RemoteMetrics.register(this);
        Kills.add(this);
    }

    /** End the process as a loss of power would, and start it anew; returns whether it was there. */
    synchronized boolean killAndStart() throws IOException, InterruptedException {
        if (process == null || !process.isAlive()) {
            return false;
        }
        process.destroyForcibly().waitFor();
        process = builder.start();
        return true;
    }

    private static void write(Path directory, MetaProperties properties) {
        try {
            PropertiesUtils.writePropertiesFile(
                properties.toProperties(), directory.resolve("meta.properties").toString(), true);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void writeProperties(KafkaConfig config, Path file) throws IOException {
        Properties properties = new Properties();
        new TreeMap<>(config.originals()).forEach((key, value) -> {
            if (value != null) {
                properties.setProperty(key, text(value));
            }
        });
        List<String> listeners = new ArrayList<>();
        for (Endpoint endpoint : controllerListeners(config)) {
            int port = ports.containsKey(endpoint.listener()) ? ports.get(endpoint.listener()) : take(endpoint);
            ports.put(endpoint.listener(), port);
            String host = endpoint.host() == null ? "" : endpoint.host();
            listeners.add(endpoint.listener() + "://" + host + ":" + port);
        }
        properties.setProperty("listeners", String.join(",", listeners));
        String voters = properties.getProperty("controller.quorum.voters", "");
        // A harness of one controller does not know its port before the controller is bound.
        properties.setProperty("controller.quorum.voters", voters.replaceAll(":0$", ":" + port()));
        if (!shared.metaPropsEnsemble().logDirProps().keySet().containsAll(logDirs(properties))) {
            // A harness loads those that it formats, not the default that a node would, nor those of its brokers.
            properties.setProperty("log.dirs", config.metadataLogDir());
        }
        plugins = PluginServer.of(config, this);
        if (plugins != null) {
            properties.setProperty("kraft.tests.plugins.port", String.valueOf(plugins.port()));
            for (String key : List.of(PluginServer.CREATE, PluginServer.ALTER, PluginServer.AUTHORIZER)) {
                if (PluginServer.isOwn(config, key)) {
                    properties.setProperty(key, "python:tests.kafka.java_plugins:JavaPlugin");
                }
            }
        }
        if (Principals.areOwn(config) && PluginServer.isStandard(config)) {
            properties.setProperty(PluginServer.AUTHORIZER, "python:tests.kafka.java_plugins:JavaPrincipals");
        }
        // The node itself knows no builder; those of the brokers make the principals that come in envelopes.
        properties.keySet().removeIf(key -> Principals.isKey((String) key));
        // It runs no Java class that limits clients; those of the brokers run in this JVM.
        properties.remove("client.quota.callback.class");
        // Kafka's own controllers read the credentials that a test wrote for its JVM.
        String jaas = System.getProperty(JaasUtils.JAVA_LOGIN_CONFIG_PARAM);
        if (jaas != null) {
            properties.setProperty("kraft.jaas.config.path", jaas);
        }
        properties.setProperty("kraft.release", "4.3");
        httpPort = freePort();
        properties.setProperty("kraft.http.listener", "127.0.0.1:" + httpPort);
        try (var out = Files.newOutputStream(file)) {
            properties.store(out, null);
        }
    }

    private static List<String> logDirs(Properties properties) {
        String value = properties.getProperty("log.dirs", properties.getProperty("log.dir", ""));
        return Stream.of(value.split(",")).map(String::trim).toList();
    }

    static List<Endpoint> controllerListeners(KafkaConfig config) {
        return scala.jdk.javaapi.CollectionConverters.asJava(config.controllerListeners());
    }

    private static String text(Object value) {
        if (value instanceof org.apache.kafka.common.config.types.Password password) {
            return password.value();
        }
        if (value instanceof Class<?> type) {
            return type.getName();
        }
        if (value instanceof List<?> list) {
            return String.join(",", list.stream().map(String::valueOf).toList());
        }
        return value.toString();
    }

    /** The port that the harness bound for a listener, which is released for the process. */
    private int take(Endpoint endpoint) throws IOException {
        String host = endpoint.host() == null ? "localhost" : endpoint.host();
        InetSocketAddress address = new InetSocketAddress(host, endpoint.port());
        try (ServerSocketChannel channel =
                 shared.socketFactory().openServerSocket(endpoint.listener(), address, -1, -1)) {
            return ((InetSocketAddress) channel.getLocalAddress()).getPort();
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    private void awaitStart(File log) throws Exception {
        try {
            awaitQuorum();
        } catch (IllegalStateException ended) {
            throw new RuntimeException("the controller ended: " + Files.readString(log.toPath()));
        }
    }

    /** The node's view of the quorum, as soon as it answers: it may have been killed and be about to start. */
    public JsonNode awaitQuorum() {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS);
        while (System.nanoTime() < end) {
            JsonNode view = quorum();
            if (view != null) {
                return view;
            }
            if (!isAlive()) {
                throw new IllegalStateException("the controller has ended");
            }
            try {
                Thread.sleep(20);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new RuntimeException(e);
            }
        }
        throw new RuntimeException("the controller did not answer in " + START_SECONDS + " s");
    }

    /** Its view of the quorum as soon as a condition holds there; the last one, if it does not within the time. */
    JsonNode awaitQuorum(Predicate<JsonNode> holds) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(VIEW_SECONDS);
        JsonNode view = awaitQuorum();
        while (!holds.test(view) && System.nanoTime() < end) {
            view = awaitQuorum();
        }
        return view;
    }

    private synchronized boolean isAlive() {
        return process != null && process.isAlive();
    }

    /** Whether it answers, and as the active controller. */
    public boolean isActive() {
        JsonNode view = quorum();
        return view != null && isActive(view);
    }

    private static boolean isActive(JsonNode view) {
        return view.get("node").get("is_active_controller").asBoolean();
    }

    /** The same for a test, which asks once: where controllers are killed, as soon as one of the quorum is active. */
    boolean isActiveForTest() {
        if (!Kills.areOn() || !isAlive()) {
            return isActive();
        }
        return isActive(awaitQuorum(view -> {
            JsonNode leader = view.get("quorum").get("leader_id");
            return isActive(view) || (leader.isInt() && leader.asInt() >= 0 && leader.asInt() != nodeId());
        }));
    }

    /** Tell it to stop, as an operator does. */
    public synchronized void beginStop() {
        if (process != null) {
            Kills.remove(this);
            process.destroy();
        }
    }

    public synchronized void stop() {
        if (process == null) {
            return;
        }
        beginStop();
        RemoteMetrics.remove();
        if (plugins != null) {
            plugins.close();
        }
        try {
            if (!process.waitFor(30, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }

    public void await() {
        try {
            while (process != null && process.isAlive()) {
                process.waitFor();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** The directory of its metadata. */
    public Path directory() {
        return Path.of(shared.controllerConfig().metadataLogDir());
    }

    public int nodeId() {
        return shared.nodeId();
    }

    public SharedServer shared() {
        return shared;
    }

    public int port() {
        return ports.values().iterator().next();
    }

    /** The port of a listener; 0 before the start. */
    public int port(String listener) {
        return ports.getOrDefault(listener, 0);
    }

    /** The node's view of the quorum; null where it does not answer. */
    public JsonNode quorum() {
        String body = get("/quorum");
        try {
            return body == null ? null : JSON.readTree(body);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The value of a metric without labels; null where there is none. */
    public Double metric(String name) {
        String body = get("/metrics");
        if (body == null) {
            return null;
        }
        return body.lines().filter(line -> line.startsWith(name + " "))
            .map(line -> Double.parseDouble(line.substring(name.length() + 1))).findFirst().orElse(null);
    }

    /** The body of an answer with status 200; null without one. A connection for each: the harnesses look for threads. */
    private String get(String path) {
        try {
            HttpURLConnection connection =
                (HttpURLConnection) URI.create("http://127.0.0.1:" + httpPort + path).toURL().openConnection();
            connection.setRequestProperty("Connection", "close");
            connection.setConnectTimeout(HTTP_MS);
            connection.setReadTimeout(HTTP_MS);
            if (connection.getResponseCode() != 200) {
                return null;
            }
            try (InputStream in = connection.getInputStream()) {
                return new String(in.readAllBytes(), StandardCharsets.UTF_8);
            }
        } catch (IOException e) {
            return null;
        }
    }
}
