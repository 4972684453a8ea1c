package kraft.oracle;

import java.security.Provider;
import java.security.SecureRandomSpi;
import java.security.Security;
import java.util.Random;

/**
 * The source of SecureRandom in this process: a java.util.Random with a given seed, so that the topic ids which
 * Kafka draws are a function of the seed.
 */
public final class FixedRandom extends SecureRandomSpi {
    private static final long serialVersionUID = 1L;
    private static volatile Random random = new Random(0);

    /** Make this the default SecureRandom. It must run before anything draws a random UUID. */
    static void install() {
        Provider provider = new Provider("OracleFixedRandom", "1", "SecureRandom with a given seed") { };
        provider.put("SecureRandom.OracleFixedRandom", FixedRandom.class.getName());
        Security.insertProviderAt(provider, 1);
    }

    static void seed(long seed) {
        random = new Random(seed);
    }

    @Override
    protected void engineSetSeed(byte[] seed) {
    }

    @Override
    protected void engineNextBytes(byte[] bytes) {
        random.nextBytes(bytes);
    }

    @Override
    protected byte[] engineGenerateSeed(int count) {
        byte[] bytes = new byte[count];
        random.nextBytes(bytes);
        return bytes;
    }
}
