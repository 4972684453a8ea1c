package org.apache.kafka.raft;

import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.common.protocol.Readable;
import org.apache.kafka.common.protocol.Writable;
import org.apache.kafka.server.common.serialization.RecordSerde;

/** Records that are just bytes. */
final class BytesSerde implements RecordSerde<byte[]> {
    @Override
    public int recordSize(byte[] data, ObjectSerializationCache cache) {
        return data.length;
    }

    @Override
    public void write(byte[] data, ObjectSerializationCache cache, Writable out) {
        out.writeByteArray(data);
    }

    @Override
    public byte[] read(Readable input, int size) {
        return input.readArray(size);
    }
}
