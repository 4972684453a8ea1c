package kraft.oracle;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import kafka.network.RequestChannel;
import org.apache.kafka.common.network.Send;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.protocol.MessageUtil;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.network.metrics.RequestChannelMetrics;
import scala.Function1;
import scala.Option;
import scala.runtime.BoxedUnit;

/** Keeps the answers of the request layer in place of a socket. */
final class AnswerChannel extends RequestChannel {
    /** body is null where the connection was closed in place of an answer. */
    record Answer(int correlation, byte[] body) { }

    private List<Answer> answers = new ArrayList<>();
    private int pending = 0;

    AnswerChannel(Time time, RequestChannelMetrics metrics) {
        super(10, time, metrics);
    }

    synchronized int pending() {
        return pending;
    }

    synchronized void began() {
        pending += 1;
    }

    synchronized void add(int correlation, byte[] body) {
        answers.add(new Answer(correlation, body));
        pending -= 1;
    }

    synchronized List<Answer> take() {
        List<Answer> taken = answers;
        answers = new ArrayList<>();
        return taken;
    }

    @Override
    public void sendResponse(
        Request request, AbstractResponse response, Option<Function1<Send, BoxedUnit>> onComplete
    ) {
        ByteBuffer buffer = MessageUtil.toByteBufferAccessor(response.data(), request.header().apiVersion()).buffer();
        byte[] body = new byte[buffer.remaining()];
        buffer.get(body);
        add(request.header().correlationId(), body);
    }

    @Override
    public void closeConnection(Request request, Map<Errors, Integer> errors) {
        add(request.header().correlationId(), null);
    }

    @Override
    public void sendNoOpResponse(Request request) {
        add(request.header().correlationId(), null);
    }

    @Override
    public void startThrottling(Request request) {
    }

    @Override
    public void endThrottling(Request request) {
    }
}
