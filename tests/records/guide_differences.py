"""How the protocol guides differ from Kafka 4.x: later names, types with the same bytes, reworded errors."""

from __future__ import annotations

# APIs that have another name in Kafka 4.x.
API_NAMES = {"Offsets": "ListOffsets", "GroupCoordinator": "FindCoordinator"}

# guide -> (field in the text, field in Kafka 4.4).
FIELD_NAMES: dict[str, set[tuple[str, str]]] = {
    "0.9": {
        ("api_key", "request_api_key"), ("api_version", "request_api_version"),
        ("timeout", "timeout_ms"), ("data", "partition_data"), ("topic", "name"), ("topic", "topic_name"),
        ("partition", "index"), ("partition", "partition_index"), ("record_set", "records"),
        ("timestamp", "log_append_time_ms"), ("max_wait_time", "max_wait_ms"),
        ("max_bytes", "partition_max_bytes"), ("offsets", "old_style_offsets"),
        ("topic_metadata", "topics"), ("topic_error_code", "error_code"), ("partition_metadata", "partitions"),
        ("partition_error_code", "error_code"), ("partition_id", "partition_index"), ("leader", "leader_id"),
        ("replicas", "replica_nodes"), ("isr", "isr_nodes"), ("partition_states", "ungrouped_partition_states"),
        ("zk_version", "partition_epoch"), ("id", "broker_id"), ("host", "host_name"),
        ("partitions", "partition_errors"), ("partitions", "ungrouped_partitions"), ("host", "v0_host"),
        ("port", "v0_port"), ("end_points", "endpoints"), ("security_protocol_type", "security_protocol"),
        ("partitions_remaining", "remaining_partitions"), ("offset", "committed_offset"),
        ("metadata", "committed_metadata"), ("timestamp", "commit_timestamp"),
        ("group_generation_id", "generation_id_or_member_epoch"), ("retention_time", "retention_time_ms"),
        ("responses", "topics"), ("partition_responses", "partitions"), ("partitions", "partition_indexes"),
        ("group_id", "key"), ("session_timeout", "session_timeout_ms"), ("group_protocols", "protocols"),
        ("protocol_name", "name"), ("protocol_metadata", "metadata"), ("group_protocol", "protocol_name"),
        ("leader_id", "leader"), ("member_metadata", "metadata"), ("group_generation_id", "generation_id"),
        ("group_assignment", "assignments"), ("member_assignment", "assignment"), ("group_ids", "groups"),
        ("state", "group_state"), ("protocol", "protocol_data"),
    },
    "4.1": {
        ("generation_id", "generation_id_or_member_epoch"),
        ("acceptable_recovery_lag", "acceptable_recovery_lag_legacy"),
    },
}  # fmt: skip

_NULL = "Kafka 4.x also allows null here; the bytes of a value are the same"
_RECORDS = "0.9 printed record batches as BYTES; the bytes are the same"
_AS_NULLABLE = "4.1 defines RECORDS as NULLABLE_BYTES; Kafka 4.3 prints the same bytes as NULLABLE_RECORDS"

# guide -> (type in the text, type in Kafka 4.4) -> why the two have the same bytes.
SAME_BYTES: dict[str, dict[tuple[str, str], str]] = {
    "0.9": {
        ("STRING", "NULLABLE_STRING"): _NULL,
        ("BYTES", "NULLABLE_BYTES"): _NULL,
        ("BYTES", "RECORDS"): _RECORDS,
        ("BYTES", "NULLABLE_RECORDS"): _RECORDS,
        ("INT8", "BOOLEAN"): "0.9 had no BOOLEAN; both are one byte, 0 or 1",
    },
    "4.1": {
        ("RECORDS", "NULLABLE_RECORDS"): _AS_NULLABLE,
        ("COMPACT_RECORDS", "COMPACT_NULLABLE_RECORDS"): _AS_NULLABLE,
    },
}

_NAMED = "Kafka has renamed the error since"
ERROR_NAMES = {
    "UNKNOWN": _NAMED,
    "NOT_LEADER_FOR_PARTITION": _NAMED,
    "GROUP_LOAD_IN_PROGRESS": _NAMED,
    "GROUP_COORDINATOR_NOT_AVAILABLE": _NAMED,
    "NOT_COORDINATOR_FOR_GROUP": _NAMED,
}

_REWORDED = "Kafka has reworded the text since; nothing depends on it"
_NONE = "NONE has no text; a node that has to print one prints its name"
# (guide, code) -> why text or retriability differ.
ERROR_TEXTS = {
    **{("0.9", code): _REWORDED for code in (-1, 2, 6, 14, 15, 16, 23, 24, 26, 28, 29, 30)},
    ("0.9", 0): _NONE,
    ("0.9", 9): "since Kafka 2.6 REPLICA_NOT_AVAILABLE is retriable, and its text says more",
    ("4.1", 0): _NONE,
    ("4.1", 124): "Kafka 4.4 reworded the text, as other coordinators use the error too",
}
