package kraft.oracle;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.message.LeaderChangeMessage;
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
    private final Time time;
    private Listener<ApiMessageAndVersion> listener;
    private long endOffset = 0;
    private int committed = 0;
    private int epoch = 0;
    private boolean leads = false;
    private OptionalInt leader = OptionalInt.empty();
    private boolean held = false;
    /** How often the listener was called: the settling of the controller's queue looks whether it changed. */
    private long calls = 0;

    LocalLog(int nodeId, Time time, List<String> notes) {
        this.nodeId = nodeId;
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
        while (log.size() > committed) {
            endOffset = log.remove(log.size() - 1).baseOffset();
        }
        prepared.clear();
        leader = OptionalInt.of(nodeId + 1);
        call().handleLeaderChange(leaderAndEpoch());
    }

    /** A new controller begins with what is committed. */
    synchronized void restart() {
        epoch += 1;
        leads = false;
        leader = OptionalInt.empty();
        held = false;
        prepared.clear();
        while (log.size() > committed) {
            endOffset = log.remove(log.size() - 1).baseOffset();
        }
        committed = 0;
        listener = null;
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
    public KRaftVersion kraftVersion() {
        return KRaftVersion.KRAFT_VERSION_0;
    }

    @Override
    public void upgradeKRaftVersion(int leaderEpoch, KRaftVersion version, boolean validateOnly) {
        if (version != KRaftVersion.KRAFT_VERSION_0) {
            throw new UnsupportedOperationException("kraft.version is compared at the level of the quorum");
        }
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
