package kraft.tests;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Optional;

import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;
import javax.security.auth.x500.X500Principal;
import javax.security.sasl.SaslServer;

import org.apache.kafka.common.Endpoint;
import org.apache.kafka.common.network.ChannelBuilders;
import org.apache.kafka.common.network.ListenerName;
import org.apache.kafka.common.security.auth.AuthenticationContext;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.security.auth.PlaintextAuthenticationContext;
import org.apache.kafka.common.security.auth.SaslAuthenticationContext;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.common.security.auth.SslAuthenticationContext;
import org.mockito.Mockito;

import kafka.server.KafkaConfig;

/** The principals of connections to a controller, by the builder of the test, which is a Java class in this JVM. */
final class Principals {
    private static final String BUILDER = "principal.builder.class";
    private final KafkaConfig config;

    Principals(KafkaConfig config) {
        this.config = config;
    }

    /** Whether a key, with or without the prefix of a listener, names a builder. */
    static boolean isKey(String key) {
        return key.equals(BUILDER) || key.endsWith("." + BUILDER);
    }

    static boolean areOwn(KafkaConfig config) {
        return config.originals().entrySet().stream().anyMatch(entry -> isKey(entry.getKey()) && entry.getValue() != null);
    }

    /** The principal that the builder makes of a connection. name: what the process authenticated it as. */
    KafkaPrincipal build(String name, String host, String listener) throws UnknownHostException {
        var configs = config.valuesWithPrefixOverride(new ListenerName(listener).configPrefix());
        return ChannelBuilders.createPrincipalBuilder(configs, null, null).build(context(name, host, listener));
    }

    private AuthenticationContext context(String name, String host, String listener) throws UnknownHostException {
        InetAddress address = InetAddress.getByName(host);
        SecurityProtocol protocol = Process.controllerListeners(config).stream()
            .filter(each -> each.listener().equals(listener)).map(Endpoint::securityProtocol).findFirst().orElseThrow();
        return switch (protocol) {
            case PLAINTEXT -> new PlaintextAuthenticationContext(address, listener);
            case SSL -> new SslAuthenticationContext(session(name), address, listener);
            case SASL_PLAINTEXT -> new SaslAuthenticationContext(server(name), protocol, address, listener);
            case SASL_SSL -> new SaslAuthenticationContext(
                server(name), protocol, address, listener, Optional.of(session(KafkaPrincipal.ANONYMOUS.getName())));
        };
    }

    private static SSLSession session(String name) {
        return Mockito.mock(SSLSession.class, call -> {
            if (!call.getMethod().getName().equals("getPeerPrincipal")) {
                throw RemoteRaft.unserved(call);
            }
            if (name.equals(KafkaPrincipal.ANONYMOUS.getName())) {
                throw new SSLPeerUnverifiedException("no certificate");
            }
            return new X500Principal(name);
        });
    }

    private SaslServer server(String name) {
        return Mockito.mock(SaslServer.class, call -> switch (call.getMethod().getName()) {
            case "getAuthorizationID" -> name;
            case "getMechanismName" -> config.originals().get("sasl.mechanism.controller.protocol");
            default -> throw RemoteRaft.unserved(call);
        });
    }
}
