package kraft.oracle;

import java.nio.ByteBuffer;
import java.util.Map;
import kafka.network.RequestChannel;
import kafka.server.ControllerApis;
import org.apache.kafka.common.memory.MemoryPool;
import org.apache.kafka.common.network.Send;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.common.requests.RequestContext;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.network.metrics.RequestChannelMetrics;
import org.apache.kafka.server.common.RequestLocal;
import scala.Function1;
import scala.Option;
import scala.runtime.BoxedUnit;

/** Gives requests to the request layer, and keeps its answers in place of a socket. */
final class AnswerChannel extends RequestChannel {
    private final Answers answers;
    private final Time time;
    private final RequestChannelMetrics metrics;

    AnswerChannel(Answers answers, Time time, RequestChannelMetrics metrics) {
        super(10, time, metrics);
        this.answers = answers;
        this.time = time;
        this.metrics = metrics;
    }

    /** Give a request to the request layer. sender, envelope: of the request that it came in, null for none. */
    void handle(ControllerApis apis, RequestContext context, byte[] body, RequestContext sender, byte[] envelope) {
        Request request;
        try {
            request = request(context, body, sender == null ? null : request(sender, envelope, null));
        } catch (RuntimeException unreadable) {
            answers.addClosed(context.header);
            return;
        }
        // So that it has taken no time, of which a user may have a quota.
        request.requestDequeueTimeNanos_$eq(Long.MAX_VALUE);
        apis.handle(request, RequestLocal.noCaching());
    }

    private Request request(RequestContext context, byte[] body, Request envelope) {
        return new Request(
            0, context, time.nanoseconds(), MemoryPool.NONE, ByteBuffer.wrap(body), metrics, Option.apply(envelope));
    }

    @Override
    public void sendResponse(
        Request request, AbstractResponse response, Option<Function1<Send, BoxedUnit>> onComplete
    ) {
        answers.add(request.header(), response);
    }

    @Override
    public void closeConnection(Request request, Map<Errors, Integer> errors) {
        answers.addClosed(request.header());
    }

    @Override
    public void sendNoOpResponse(Request request) {
        answers.addClosed(request.header());
    }

    @Override
    public void startThrottling(Request request) {
    }

    @Override
    public void endThrottling(Request request) {
    }
}
