package kraft.oracle;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.metadata.MetadataRecordSerde;
import org.apache.kafka.server.common.ApiMessageAndVersion;

/**
 * Reads commands from stdin and writes one answer for each to stdout. Both are frames: a length of four bytes, then
 * so many bytes. An answer holds the responses that were sent, the batches that were appended, notes (faults), and
 * the records of a snapshot where it was asked for. The Python side is tests/oracle/stock.py.
 */
public final class Oracle {
    private static final MetadataRecordSerde SERDE = new MetadataRecordSerde();

    private StockController stock;

    public static void main(String[] args) throws Exception {
        FixedRandom.install();
        Oracle oracle = new Oracle();
        Frames.serve(frame -> oracle.answer(new DataInputStream(new ByteArrayInputStream(frame))));
    }

    private byte[] answer(DataInputStream command) throws Exception {
        List<ApiMessageAndVersion> snapshot = List.of();
        int kind = command.readByte();
        switch (kind) {
            case 0 -> start(command);
            case 1 -> stock.request(command.readInt(), command.readShort(), command.readShort(), text(command),
                text(command), text(command), nullable(command), command.readByte(), bytes(command));
            case 2 -> stock.pass(command.readLong(), command.readInt());
            case 3 -> stock.lose();
            case 4 -> stock.lead();
            case 5 -> snapshot = stock.restart(command.readByte() != 0);
            case 6 -> snapshot = stock.snapshot();
            case 7 -> stock.hold(command.readByte() != 0);
            default -> throw new IOException("there is no command " + kind);
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        List<Answers.Answer> answers = stock.answers();
        out.writeInt(answers.size());
        for (Answers.Answer answer : answers) {
            out.writeInt(answer.correlation());
            out.writeBoolean(answer.body() != null);
            write(out, answer.body() == null ? new byte[0] : answer.body());
        }
        List<List<ApiMessageAndVersion>> appended = stock.appended();
        out.writeInt(appended.size());
        for (List<ApiMessageAndVersion> batch : appended) {
            writeRecords(out, batch);
        }
        List<String> notes = new ArrayList<>(stock.notes);
        stock.notes.clear();
        out.writeInt(notes.size());
        for (String note : notes) {
            write(out, note.getBytes(StandardCharsets.UTF_8));
        }
        writeRecords(out, snapshot);
        return bytes.toByteArray();
    }

    private void start(DataInputStream command) throws Exception {
        if (stock != null) {
            stock.close();
        }
        String properties = text(command);
        String clusterId = text(command);
        long seed = command.readLong();
        int count = command.readInt();
        List<ApiMessageAndVersion> bootstrap = new ArrayList<>();
        for (int index = 0; index < count; index++) {
            byte[] record = bytes(command);
            bootstrap.add(SERDE.read(new ByteBufferAccessor(ByteBuffer.wrap(record)), record.length));
        }
        stock = new StockController(properties, clusterId, bootstrap, seed);
    }

    private static void writeRecords(DataOutputStream out, List<ApiMessageAndVersion> records) throws IOException {
        out.writeInt(records.size());
        for (ApiMessageAndVersion record : records) {
            ObjectSerializationCache cache = new ObjectSerializationCache();
            ByteBuffer buffer = ByteBuffer.allocate(SERDE.recordSize(record, cache));
            SERDE.write(record, cache, new ByteBufferAccessor(buffer));
            write(out, buffer.array());
        }
    }

    private static void write(DataOutputStream out, byte[] value) throws IOException {
        out.writeInt(value.length);
        out.write(value);
    }

    private static String text(DataInputStream in) throws IOException {
        return new String(bytes(in), StandardCharsets.UTF_8);
    }

    private static String nullable(DataInputStream in) throws IOException {
        return in.readBoolean() ? text(in) : null;
    }

    private static byte[] bytes(DataInputStream in) throws IOException {
        int length = in.readInt();
        if (length < 0 || length > in.available()) {
            throw new IOException("a field of " + length + " bytes, of which " + in.available() + " are here");
        }
        byte[] value = new byte[length];
        in.readFully(value);
        return value;
    }
}
