package kraft.oracle;

import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import kafka.server.KafkaConfig;
import org.apache.kafka.common.security.token.delegation.DelegationToken;
import org.apache.kafka.common.security.token.delegation.TokenInformation;
import org.apache.kafka.common.security.token.delegation.internals.DelegationTokenCache;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.controller.QuorumController;
import org.apache.kafka.image.DelegationTokenImage;
import org.apache.kafka.server.config.DelegationTokenManagerConfigs;

/**
 * The cache of delegation tokens that a stock node keeps up to date from its image, and looks tokens up in. The
 * passwords that clients could log in with are left out: to compute them takes long, and nobody logs in.
 */
final class Tokens {
    private static final String ALGORITHM = "HmacSHA512";

    private final DelegationTokenManagerConfigs configs;
    private final DelegationTokenCache cache = new DelegationTokenCache(Set.of());
    private DelegationTokenImage followed = DelegationTokenImage.EMPTY;

    Tokens(KafkaConfig config) {
        configs = new DelegationTokenManagerConfigs(config);
    }

    DelegationTokenManagerConfigs configs() {
        return configs;
    }

    DelegationTokenCache cache() {
        return cache;
    }

    /** Null where there are no delegation tokens. */
    String secretKey() {
        return configs.tokenAuthEnabled() ? configs.delegationTokenSecretKey().value() : null;
    }

    /** The controller takes the time of day from the system for tokens; here it gets the time of the sequence. */
    static void setTime(QuorumController controller, Time time) throws ReflectiveOperationException {
        Field owner = QuorumController.class.getDeclaredField("delegationTokenControlManager");
        owner.setAccessible(true);
        Object tokens = owner.get(controller);
        Field clock = tokens.getClass().getDeclaredField("time");
        clock.setAccessible(true);
        clock.set(tokens, time);
    }

    /** Bring the cache up to date with an image. */
    void follow(DelegationTokenImage image) {
        if (image == followed || secretKey() == null || secretKey().isEmpty()) {
            return;
        }
        Set<String> gone = new HashSet<>(followed.tokens().keySet());
        image.tokens().forEach((id, data) -> {
            gone.remove(id);
            TokenInformation token = data.tokenInformation();
            cache.updateCache(new DelegationToken(token, secretOf(id)), Map.of());
        });
        gone.forEach(cache::removeCache);
        followed = image;
    }

    private byte[] secretOf(String id) {
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(new SecretKeySpec(secretKey().getBytes(StandardCharsets.UTF_8), ALGORITHM));
            return mac.doFinal(id.getBytes(StandardCharsets.UTF_8));
        } catch (GeneralSecurityException wrong) {
            throw new IllegalStateException(wrong);
        }
    }
}
