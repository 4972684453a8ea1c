package kraft.tests;

import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Collectors;

import com.fasterxml.jackson.databind.JsonNode;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.metadata.BeginTransactionRecord;
import org.apache.kafka.common.metadata.EndTransactionRecord;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.record.internal.FileRecords;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.image.MetadataProvenance;
import org.apache.kafka.metadata.MetadataRecordSerde;

/** The metadata that a process has committed, replayed by Kafka's own classes from the log in its directory. */
public final class RemoteImage {
    private RemoteImage() {
    }

    public static MetadataImage read(Process process) {
        return delta(process).apply(MetadataProvenance.EMPTY);
    }

    /** What is in the log, committed or not, for a process that waits for this and so cannot say what is committed. */
    static MetadataImage written(Process process) {
        return delta(process, Long.MAX_VALUE).apply(MetadataProvenance.EMPTY);
    }

    /**
     * All that was committed since the beginning, as a change of nothing. It waits for the commit of what is written:
     * a process that was started anew does not know at first what was committed before.
     */
    static MetadataDelta delta(Process process) {
        long written = process.awaitQuorum().get("log").get("end_offset").asLong();
        return delta(process, highWatermark(process.awaitQuorum(view -> highWatermark(view) >= written)));
    }

    private static long highWatermark(JsonNode view) {
        return view.get("quorum").get("high_watermark").asLong();
    }

    private static MetadataDelta delta(Process process, long end) {
        MetadataDelta delta = new MetadataDelta.Builder().setImage(MetadataImage.EMPTY).build();
        File[] segments = process.directory().resolve("__cluster_metadata-0").toFile()
            .listFiles((directory, name) -> name.endsWith(".log"));
        Arrays.sort(segments);
        for (File segment : segments) {
            replay(segment, end, delta);
        }
        return delta;
    }

    public static Map<String, Uuid> topicIds(Process process) {
        return read(process).topics().topicsByName().values().stream()
            .collect(Collectors.toMap(topic -> topic.name(), topic -> topic.id()));
    }

    private static void replay(File segment, long end, MetadataDelta delta) {
        try {
            FileRecords records = FileRecords.open(segment, false);
            try (Closeable handlers = records::closeHandlers) { // close() would cut off what was appended since
                replay(records, end, delta);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void replay(FileRecords records, long end, MetadataDelta delta) {
        for (RecordBatch batch : records.batches()) {
            if (batch.lastOffset() >= end) {
                return;
            }
            if (!batch.isControlBatch()) {
                for (Record record : batch) {
                    ByteBuffer value = record.value();
                    ApiMessage message =
                        new MetadataRecordSerde().read(new ByteBufferAccessor(value), value.remaining()).message();
                    // What is in a transaction that was not ended is shown too: none is aborted in these tests.
                    if (!(message instanceof BeginTransactionRecord) && !(message instanceof EndTransactionRecord)) {
                        delta.replay(message);
                    }
                }
            }
        }
    }
}
