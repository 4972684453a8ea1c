package kraft.tests;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.ApiError;
import org.apache.kafka.controller.Controller;
import org.apache.kafka.controller.ResultOrError;

/** Answers what tests ask of a controller in their own JVM, from the process's HTTP port. */
public final class RemoteController implements InvocationHandler {
    private final Process process;

    private RemoteController(Process process) {
        this.process = process;
    }

    public static Controller make(Process process) {
        Class<?>[] types = {Controller.class};
        return (Controller) Proxy.newProxyInstance(Controller.class.getClassLoader(), types, new RemoteController(process));
    }

    @Override
    public Object invoke(Object proxy, Method method, Object[] arguments) {
        switch (method.getName()) {
            case "toString": return "controller " + process.nodeId();
            case "hashCode": return System.identityHashCode(proxy);
            case "equals": return proxy == arguments[0];
            case "isActive": return process.isActive();
            case "curClaimEpoch": return process.isActive() ? process.awaitQuorum().get("quorum").get("epoch").asInt() : -1;
            case "waitForReadyBrokers": return CompletableFuture.runAsync(() -> awaitBrokers((int) arguments[0]));
            case "findAllTopicIds": return CompletableFuture.completedFuture(RemoteImage.topicIds(process));
            case "findTopicIds": return CompletableFuture.completedFuture(found((Collection<?>) arguments[1]));
            case "beginShutdown":
            case "close":
                process.stop();
                return null;
            default:
                throw new UnsupportedOperationException("in memory: Controller." + method.getName());
        }
    }

    private Map<String, ResultOrError<Uuid>> found(Collection<?> names) {
        Map<String, Uuid> ids = RemoteImage.topicIds(process);
        Map<String, ResultOrError<Uuid>> found = new HashMap<>();
        for (Object name : names) {
            Uuid id = ids.get(name);
            found.put((String) name, id == null
                ? new ResultOrError<>(new ApiError(Errors.UNKNOWN_TOPIC_OR_PARTITION)) : new ResultOrError<>(id));
        }
        return found;
    }

    private void awaitBrokers(int count) {
        try {
            Double active = null;
            while (active == null || active < count) {
                Thread.sleep(20);
                active = process.metric("kafka_controller_kafkacontroller_activebrokercount");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
