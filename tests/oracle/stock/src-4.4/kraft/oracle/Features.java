package kraft.oracle;

import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.server.common.FinalizedFeatures;
import org.apache.kafka.server.common.KRaftVersion;

/** The finalized features that ApiVersions has; before the first level: none, and kraft.version is not among them either. */
final class Features {
    private Features() {
    }

    static FinalizedFeatures of(MetadataImage image, KRaftVersion kraft) {
        return image.isEmpty()
            ? FinalizedFeatures.unknown()
            : FinalizedFeatures.of(
                image.features().metadataVersionOrThrow(), image.features().finalizedVersions(), image.offset()
            ).setFinalizedLevel(KRaftVersion.FEATURE_NAME, kraft.featureLevel());
    }
}
