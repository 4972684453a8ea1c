package org.apache.kafka.raft;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import kraft.oracle.Frames;

/**
 * One replica of stock's quorum behind commands: each is an object in JSON with a `kind`, each answer an object with
 * what was sent and answered, and the state after it. The Python side is tests/oracle/raft/stock.py.
 */
public final class RaftOracle {
    private static final ObjectMapper JSON = new ObjectMapper();

    private StockReplica replica;

    public static void main(String[] args) throws IOException {
        RaftOracle oracle = new RaftOracle();
        Frames.serve(oracle::answer);
    }

    private byte[] answer(byte[] frame) throws Exception {
        JsonNode command = JSON.readTree(frame);
        String kind = command.get("kind").asText();
        if (kind.equals("start")) {
            if (replica != null) {
                replica.close();
            }
            replica = new StockReplica(command);
        }
        ObjectNode answer = JSON.createObjectNode();
        try {
            if (!replica.isOver()) {
                run(kind, command, answer);
            }
        } catch (Exception wrong) {
            replica.failed(wrong);
        }
        replica.report(answer);
        return JSON.writeValueAsBytes(answer);
    }

    private void run(String kind, JsonNode command, ObjectNode answer) throws Exception {
        switch (kind) {
            case "start" -> replica.open();
            case "request" -> replica.request(command.get("number").asInt(), command.get("api").shortValue(),
                command.get("version").shortValue(), command.get("body").binaryValue());
            case "answer" -> replica.answer(command.get("peer").asInt(), command.get("nth").asInt(),
                command.get("version").shortValue(), command.get("body").binaryValue());
            case "fail" -> replica.fail(command.get("peer").asInt(), command.get("nth").asInt(),
                command.get("error").shortValue());
            case "pass" -> replica.pass(command.get("ms").asLong(), command.get("times"));
            case "append" -> replica.append(command.get("epoch").asInt(), command.get("records"));
            case "snapshot" -> answer.put("snapshot", replica.snapshot(command.get("end").asLong(),
                command.get("epoch").asInt(), command.get("timestamp").asLong(), command.get("records")));
            case "upgrade" -> replica.upgrade(command.get("epoch").asInt());
            case "resign" -> replica.resign(command.get("epoch").asInt());
            case "restart" -> replica.restart(command.get("clean").asBoolean());
            default -> throw new IOException("there is no command " + kind);
        }
    }
}
