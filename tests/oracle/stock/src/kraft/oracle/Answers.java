package kraft.oracle;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.protocol.MessageUtil;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.common.requests.RequestHeader;

/** The answers of the request layer since they were last taken. */
final class Answers {
    /** body is null where the connection was closed in place of an answer. */
    record Answer(int correlation, byte[] body) { }

    private List<Answer> answers = new ArrayList<>();
    private int pending = 0;

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

    void add(RequestHeader header, AbstractResponse response) {
        ByteBuffer buffer = MessageUtil.toByteBufferAccessor(response.data(), header.apiVersion()).buffer();
        byte[] body = new byte[buffer.remaining()];
        buffer.get(body);
        add(header.correlationId(), body);
    }

    void addClosed(RequestHeader header) {
        add(header.correlationId(), null);
    }

    synchronized List<Answer> take() {
        List<Answer> taken = answers;
        answers = new ArrayList<>();
        return taken;
    }
}
