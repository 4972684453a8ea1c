package kraft.oracle;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.errors.InvalidUpdateVersionException;
import org.apache.kafka.common.message.KRaftVersionRecord;
import org.apache.kafka.common.message.LeaderChangeMessage;
import org.apache.kafka.common.message.VotersRecord;
import org.apache.kafka.common.network.ListenerName;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.raft.Batch;
import org.apache.kafka.raft.ControlRecord;
import org.apache.kafka.raft.LeaderAndEpoch;
import org.apache.kafka.raft.RaftClient;
import org.apache.kafka.raft.errors.NotLeaderException;
import org.apache.kafka.raft.internals.MemoryBatchReader;
import org.apache.kafka.server.common.ApiMessageAndVersion;
import org.apache.kafka.server.common.KRaftVersion;
import org.apache.kafka.server.common.OffsetAndEpoch;
import org.apache.kafka.snapshot.SnapshotReader;
import org.apache.kafka.snapshot.SnapshotWriter;

/**
 * The quorum of a single controller: a log in memory. What is appended is committed at once, or, while commits are
 * held, when they are released. All state is guarded by the monitor of the object.
 */
final class LocalLog implements RaftClient<ApiMessageAndVersion> {
    /** What was appended since the last call of takeAppended, by batch. */
    private List<List<ApiMessageAndVersion>> appended = new ArrayList<>();
    private final List<Batch<ApiMessageAndVersion>> log = new ArrayList<>();
    private final List<Batch<ApiMessageAndVersion>> prepared = new ArrayList<>();
    private final List<String> notes;
    private final int nodeId;
    private final int voters;
    private final Time time;
    private Listener<ApiMessageAndVersion> listener;
    private long endOffset = 0;
    private int committed = 0;
    private int epoch = 0;
    private boolean leads = false;
    private OptionalInt leader = OptionalInt.empty();
    private boolean held = false;
    /** The offset of the control record that raised kraft.version to 1; none where it is 0. */
    private OptionalLong raised = OptionalLong.empty();
    /** How often the listener was called: the settling of the controller's queue looks whether it changed. */
    private long calls = 0;

    /** voters: how many there are; those but this one do nothing. */
    LocalLog(int nodeId, int voters, Time time, List<String> notes) {
        this.nodeId = nodeId;
        this.voters = voters;
        this.time = time;
        this.notes = notes;
    }

    synchronized long calls() {
        return calls;
    }

    synchronized List<List<ApiMessageAndVersion>> takeAppended() {
        List<List<ApiMessageAndVersion>> taken = appended;
        appended = new ArrayList<>();
        return taken;
    }

    synchronized List<Batch<ApiMessageAndVersion>> committedBatches() {
        return List.copyOf(log.subList(0, committed));
    }

    synchronized boolean leads() {
        return leads;
    }

    /** Lead a new epoch: its first record is a control record, committed before the controller learns of it. */
    synchronized void lead() {
        epoch += 1;
        LeaderChangeMessage message = new LeaderChangeMessage().setLeaderId(nodeId);
        List<ControlRecord> records = List.of(ControlRecord.of(message));
        log.add(Batch.control(endOffset, epoch, time.milliseconds(), 1, records));
        endOffset += 1;
        leads = true;
        leader = OptionalInt.of(nodeId);
        release();
        call().handleLeaderChange(leaderAndEpoch());
    }

    /** Another node leads: what is not committed is lost. */
    synchronized void lose() {
        epoch += 1;
        leads = false;
        truncate();
        leader = OptionalInt.of(nodeId + 1);
        call().handleLeaderChange(leaderAndEpoch());
    }

    /** A new controller begins with what is committed. */
    synchronized void restart() {
        epoch += 1;
        leads = false;
        leader = OptionalInt.empty();
        held = false;
        truncate();
        committed = 0;
        listener = null;
    }

    private void truncate() {
        while (log.size() > committed) {
            endOffset = log.remove(log.size() - 1).baseOffset();
        }
        prepared.clear();
        if (raised.isPresent() && raised.getAsLong() >= endOffset) {
            raised = OptionalLong.empty();
        }
    }

    synchronized void hold(boolean wanted) {
        held = wanted;
        release();
    }

    private void release() {
        if (held || committed == log.size() || listener == null) {
            return;
        }
        List<Batch<ApiMessageAndVersion>> batches = List.copyOf(log.subList(committed, log.size()));
        committed = log.size();
        call().handleCommit(MemoryBatchReader.of(batches, reader -> { }));
    }

    private Listener<ApiMessageAndVersion> call() {
        calls += 1;
        return listener;
    }

    @Override
    public synchronized void register(Listener<ApiMessageAndVersion> registered) {
        listener = registered;
    }

    @Override
    public synchronized void unregister(Listener<ApiMessageAndVersion> registered) {
        listener = null;
    }

    @Override
    public synchronized OptionalLong highWatermark() {
        if (committed == 0) {
            return OptionalLong.empty();
        }
        return OptionalLong.of(log.get(committed - 1).lastOffset() + 1);
    }

    @Override
    public synchronized LeaderAndEpoch leaderAndEpoch() {
        return new LeaderAndEpoch(leader, epoch);
    }

    @Override
    public OptionalInt nodeId() {
        return OptionalInt.of(nodeId);
    }

    @Override
    public Optional<Node> voterNode(int id, ListenerName name) {
        return Optional.of(new Node(id, "localhost", 9093));
    }

    @Override
    public synchronized long prepareAppend(int wanted, List<ApiMessageAndVersion> records) {
        if (!leads || wanted != epoch) {
            throw new NotLeaderException("not the leader of epoch " + wanted);
        }
        prepared.add(Batch.data(endOffset, epoch, time.milliseconds(), 1, List.copyOf(records)));
        endOffset += records.size();
        return endOffset - 1;
    }

    @Override
    public synchronized void schedulePreparedAppend() {
        for (Batch<ApiMessageAndVersion> batch : prepared) {
            log.add(batch);
            appended.add(batch.records());
        }
        prepared.clear();
        release();
    }

    @Override
    public CompletableFuture<Void> shutdown(int timeoutMs) {
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public synchronized void resign(int resigned) {
        if (leads && resigned == epoch) {
            // A controller resigns when an event has failed in a way that it does not expect.
            notes.add("resigned");
            leads = false;
            leader = OptionalInt.empty();
            call().handleLeaderChange(leaderAndEpoch());
        }
    }

    @Override
    public Optional<SnapshotWriter<ApiMessageAndVersion>> createSnapshot(OffsetAndEpoch id, long timestamp) {
        return Optional.empty();
    }

    @Override
    public Optional<OffsetAndEpoch> latestSnapshotId() {
        return Optional.empty();
    }

    @Override
    public synchronized long logEndOffset() {
        return endOffset;
    }

    @Override
    public synchronized KRaftVersion kraftVersion() {
        return raised.isPresent() ? KRaftVersion.KRAFT_VERSION_1 : KRaftVersion.KRAFT_VERSION_0;
    }

    /** As in LeaderState: this voter supports both levels, and the leader knows it; of another one it does not. */
    @Override
    public synchronized void upgradeKRaftVersion(int leaderEpoch, KRaftVersion version, boolean validateOnly) {
        if (!leads || leaderEpoch != epoch) {
            throw new NotLeaderException("not the leader of epoch " + leaderEpoch);
        }
        if (version == kraftVersion()) {
            return;
        }
        if (voters > 1) {
            throw new InvalidUpdateVersionException(String.format(
                "Invalid upgrade of %s to %s because not all of the voters support it", KRaftVersion.FEATURE_NAME, version));
        }
        if (validateOnly) {
            return;
        }
        if (version != KRaftVersion.KRAFT_VERSION_1) {
            throw new IllegalArgumentException("kraft.version does not fall to " + version);
        }
        List<ControlRecord> records = List.of(
            ControlRecord.of(new KRaftVersionRecord().setKRaftVersion(version.featureLevel())),
            ControlRecord.of(new VotersRecord()));
        raised = OptionalLong.of(endOffset);
        log.add(Batch.control(endOffset, epoch, time.milliseconds(), 1, records));
        endOffset += records.size();
        // Its records are not the controller's; that it is there is compared.
        appended.add(List.of());
        release();
    }

    @Override
    public void close() {
    }

    /** Give a snapshot to the controller in place of the log before it. */
    synchronized void load(SnapshotReader<ApiMessageAndVersion> snapshot) {
        call().handleLoadSnapshot(snapshot);
        committed = log.size();
    }
}
