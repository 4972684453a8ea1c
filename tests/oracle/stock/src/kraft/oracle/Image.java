package kraft.oracle;

import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.metadata.MetadataRecordType;
import org.apache.kafka.common.metadata.RemoveUserScramCredentialRecord;
import org.apache.kafka.common.metadata.UserScramCredentialRecord;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.image.MetadataProvenance;
import org.apache.kafka.image.ScramDelta;
import org.apache.kafka.image.ScramImage;
import org.apache.kafka.image.writer.ImageWriterOptions;
import org.apache.kafka.image.writer.RecordListWriter;
import org.apache.kafka.raft.Batch;
import org.apache.kafka.server.common.ApiMessageAndVersion;
import org.apache.kafka.server.config.DefaultSupportedConfigChecker;

/** The image of what is committed, brought up to date when it is asked for. */
final class Image {
    private MetadataImage image = MetadataImage.EMPTY;
    private int replayed = 0;
    private MetadataDelta lastDelta = null;
    private final List<ApiMessageAndVersion> open = new ArrayList<>();
    private boolean inTransaction = false;
    private final TopicConfigs configs = new TopicConfigs();
    private final boolean keepsConfigs;
    private final boolean losesCredentials;
    private ScramImage scram = ScramImage.EMPTY;

    /**
     * keepsConfigs: whether configs of deleted topics stay in the image, as they do in Kafka. losesCredentials: whether
     * SCRAM credentials are lost that are written in one delta with the removal of all others, as they are in Kafka.
     */
    Image(boolean keepsConfigs, boolean losesCredentials) {
        this.keepsConfigs = keepsConfigs;
        this.losesCredentials = losesCredentials;
    }

    /** The image as it was last asked for. */
    MetadataImage current() {
        return image;
    }

    /** The image after these batches, of which those seen before are the first. */
    MetadataImage after(List<Batch<ApiMessageAndVersion>> batches) {
        if (replayed == batches.size()) {
            return image;
        }
        MetadataDelta delta = new MetadataDelta.Builder()
            .setImage(image)
            .setSupportedConfigChecker(new DefaultSupportedConfigChecker())
            .build();
        Batch<ApiMessageAndVersion> last = null;
        for (Batch<ApiMessageAndVersion> batch : batches.subList(replayed, batches.size())) {
            last = batch;
            for (ApiMessageAndVersion record : batch.records()) {
                replay(delta, record);
            }
        }
        replayed = batches.size();
        image = delta.apply(new MetadataProvenance(last.lastOffset(), last.epoch(), last.appendTimestamp(), true));
        if (!losesCredentials) {
            image = new MetadataImage(image.provenance(), image.features(), image.cluster(), image.topics(),
                image.configs(), image.clientQuotas(), image.producerIds(), image.acls(), scram,
                image.delegationTokens());
        }
        lastDelta = delta;
        return image;
    }

    MetadataDelta lastDelta() {
        return lastDelta;
    }

    /** The records of a snapshot of the image. */
    static List<ApiMessageAndVersion> records(MetadataImage image) {
        RecordListWriter writer = new RecordListWriter();
        image.write(writer, new ImageWriterOptions.Builder(image).setLossHandler(loss -> { }).build());
        writer.close(true);
        return writer.records();
    }

    private void replay(MetadataDelta delta, ApiMessageAndVersion record) {
        MetadataRecordType type = MetadataRecordType.fromId(record.message().apiKey());
        if (!keepsConfigs) {
            configs.before(delta, record.message());
        }
        switch (type) {
            case BEGIN_TRANSACTION_RECORD -> inTransaction = true;
            case ABORT_TRANSACTION_RECORD -> {
                inTransaction = false;
                open.clear();
            }
            case END_TRANSACTION_RECORD -> {
                inTransaction = false;
                open.forEach(held -> stable(delta, held.message()));
                open.clear();
            }
            default -> {
                if (inTransaction) {
                    open.add(record);
                } else {
                    stable(delta, record.message());
                }
            }
        }
    }

    private void stable(MetadataDelta delta, ApiMessage message) {
        delta.replay(message);
        // One delta for each change: what Kafka loses, it loses among the changes of one delta.
        ScramDelta change = new ScramDelta(scram);
        if (message instanceof UserScramCredentialRecord credential) {
            change.replay(credential);
            scram = change.apply();
        } else if (message instanceof RemoveUserScramCredentialRecord removed) {
            change.replay(removed);
            scram = change.apply();
        }
    }
}
