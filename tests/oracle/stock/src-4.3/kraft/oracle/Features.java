package kraft.oracle;

import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.server.common.FinalizedFeatures;
import org.apache.kafka.server.common.KRaftVersion;
import org.apache.kafka.server.common.MetadataVersion;

/** The finalized features that ApiVersions has; before the first level: the least metadata.version. */
final class Features {
    private Features() {
    }

    static FinalizedFeatures of(MetadataImage image, KRaftVersion kraft) {
        FinalizedFeatures features = image.isEmpty()
            ? FinalizedFeatures.fromKRaftVersion(MetadataVersion.MINIMUM_VERSION)
            : new FinalizedFeatures(
                image.features().metadataVersionOrThrow(), image.features().finalizedVersions(), image.offset());
        return features.setFinalizedLevel(KRaftVersion.FEATURE_NAME, kraft.featureLevel());
    }
}
