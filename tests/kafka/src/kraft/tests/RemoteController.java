package kraft.tests;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.concurrent.CompletableFuture;

import com.fasterxml.jackson.databind.JsonNode;

import org.apache.kafka.controller.Controller;

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
            case "isActive": return isActive();
            case "curClaimEpoch": return isActive() ? process.quorum().get("quorum").get("epoch").asInt() : -1;
            case "waitForReadyBrokers": return CompletableFuture.runAsync(() -> awaitBrokers((int) arguments[0]));
            case "beginShutdown":
            case "close":
                process.stop();
                return null;
            default:
                throw new UnsupportedOperationException("in memory: Controller." + method.getName());
        }
    }

    private boolean isActive() {
        JsonNode view = process.quorum();
        return view != null && view.get("node").get("is_active_controller").asBoolean();
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
