import java.util.concurrent.ThreadLocalRandom;
import org.apache.kafka.trogdor.agent.Agent;
import org.apache.kafka.trogdor.agent.AgentRestResource;
import org.apache.kafka.trogdor.common.Node;
import org.apache.kafka.trogdor.common.Platform;
import org.apache.kafka.trogdor.common.Scheduler;
import org.apache.kafka.trogdor.coordinator.Coordinator;
import org.apache.kafka.trogdor.coordinator.CoordinatorRestResource;
import org.apache.kafka.trogdor.rest.JsonRestServer;
import org.eclipse.jetty.server.ServerConnector;

/**
 * An agent or the coordinator of Trogdor that listens on loopback alone: `agent|coordinator CONFIG NODE`.
 *
 * The main methods of Trogdor's classes do the same, but listen on all addresses, and whoever reaches an agent may have it
 * run any command.
 */
public final class Loopback {
    public static void main(String[] args) throws Exception {
        Platform platform = Platform.Config.parse(args[2], args[1]);
        if (args[0].equals("agent")) {
            JsonRestServer server = server(Node.Util.getTrogdorAgentPort(platform.curNode()));
            AgentRestResource resource = new AgentRestResource();
            Agent agent = new Agent(platform, Scheduler.SYSTEM, server, resource);
            server.start(resource);
            agent.waitForShutdown();
        } else {
            JsonRestServer server = server(Node.Util.getTrogdorCoordinatorPort(platform.curNode()));
            CoordinatorRestResource resource = new CoordinatorRestResource();
            long firstWorker = ThreadLocalRandom.current().nextLong(0, Long.MAX_VALUE / 2);
            Coordinator coordinator = new Coordinator(platform, Scheduler.SYSTEM, server, resource, firstWorker);
            server.start(resource);
            coordinator.waitForShutdown();
        }
    }

    private static JsonRestServer server(int port) throws Exception {
        JsonRestServer server = new JsonRestServer(port);
        var connector = JsonRestServer.class.getDeclaredField("connector");
        connector.setAccessible(true);
        ((ServerConnector) connector.get(server)).setHost("127.0.0.1");
        return server;
    }
}
