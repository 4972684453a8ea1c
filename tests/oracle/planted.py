"""`python -m tests.oracle.planted`: how many operations the core level needs to find a wrong code, record or order.

Each row changes a fragment of ours in a process of its own, before anything is imported; stock stays as it is.
"""

from __future__ import annotations

import argparse
import subprocess
import sys

from simulations.mutants.patching import install
from simulations.mutants.row import Edit, Mutant

OPERATIONS_MAX = 20_000
# Not those of the days' sequences.
SEED = 940_000_000
SEEDS_EACH = 10_000
TIMEOUT_S = 600

HANDLERS, RULES = "controller.handlers", "controller.rules"
ROWS: tuple[tuple[str, str, Edit], ...] = (
    ("code", "AssignReplicasToDirs: UNKNOWN_TOPIC_OR_PARTITION for UNKNOWN_TOPIC_ID",
     Edit(
         f"{HANDLERS}.directories", "check",
         "return Error.UNKNOWN_TOPIC_ID", "return Error.UNKNOWN_TOPIC_OR_PARTITION",
     )),
    ("code", "AlterPartition with a stale partition epoch: FENCED_LEADER_EPOCH",
     Edit(f"{HANDLERS}.isr", "check", "return Error.INVALID_UPDATE_VERSION", "return Error.FENCED_LEADER_EPOCH")),
    ("code", "a SCRAM credential that is not there: UNACCEPTABLE_CREDENTIAL",
     Edit(
         f"{HANDLERS}.security.scram", "_check_deletion",
         "ApiError(Error.RESOURCE_NOT_FOUND, ...)", "ApiError(Error.UNACCEPTABLE_CREDENTIAL, ...)",
     )),
    ("code", "a token of another owner: DELEGATION_TOKEN_AUTHORIZATION_FAILED",
     Edit(
         f"{HANDLERS}.security.delegation_tokens", "usable_token",
         "(None, Error.DELEGATION_TOKEN_OWNER_MISMATCH)",
         "(None, Error.DELEGATION_TOKEN_AUTHORIZATION_FAILED)",
     )),
    ("record", "a replica stays in the ELR after an unclean shutdown",
     Edit(
         f"{RULES}.partition_change", "_Change.fill_elr",
         "r not in self.isr and r not in self.target.unclean_shutdown", "r not in self.isr",
     )),
    ("record", "the upgrade to ELRs leaves min.insync.replicas of nodes",
     Edit(f"{HANDLERS}.features", "elr_safety_records", "[*records, *removed]", "records")),
    ("record", "an unclean election is not recovered from",
     Edit(f"{RULES}.partition_change", "_Change.elect", "self.partition.recovery_state != RECOVERING", "False")),
    ("record", "a quota of the same value is written again",
     Edit(f"{HANDLERS}.client_quotas", "changes", "not _is_same(current.get(key), value)", "True")),
    ("order", "SCRAM credentials in the order of the request",
     Edit(
         f"{HANDLERS}.security.scram", "alter_user_scram_credentials",
         "for name in hash_order(deletions, pause=pause):\n"
         "    ...\n"
         "for name in hash_order(upsertions, pause=pause):\n"
         "    ...\n"
         "for name in hash_order(errors, pause=pause):\n"
         "    ...",
         "for name in hash_order(deletions, pause=pause):\n"
         "    ...\n"
         "for name in upsertions:\n"
         "    ...\n"
         "for name in hash_order(errors, pause=pause):\n"
         "    ...",
     )),
    ("order", "CreateTopics: the last partition first",
     Edit(
         f"{HANDLERS}.assignments", "new_partitions",
         "enumerate(assignments, first_id)", "reversed(list(enumerate(assignments, first_id)))",
     )),
    ("order", "the upgrade to ELRs: configs after the level",
     Edit(
         f"{HANDLERS}.features", "update_features",
         "[*elr_safety_records(state, env), *records]", "[*records, *elr_safety_records(state, env)]",
     )),
    ("order", "the entity of a quota in the order of the request",
     Edit(f"{HANDLERS}.client_quotas", "entity_data", "hash_order(parts, 3)", "parts")),
)  # fmt: skip


def found(number: int) -> str:
    """Run sequences on stock and on ours with the change of a row, until they differ."""
    kind, name, edit = ROWS[number]
    install(Mutant(f"P{number + 1}", name, kind, "planted", (), (edit,)))
    # Only now, as the change is made where a module is imported.
    from tests.oracle.generate.sequence import sequence
    from tests.oracle.pair import Pair

    pair = Pair()
    operations = 0
    seed = SEED + number * SEEDS_EACH
    try:
        while operations < OPERATIONS_MAX:
            outcome = pair.explore(*sequence(seed))
            operations += outcome.count
            if outcome.found:
                return f"| {kind} | {name} | {operations:,} | {seed} | `{outcome.signature.replace('|', ' or ')}` |"
            seed += 1
    finally:
        pair.close()
    return f"| {kind} | {name} | not in {operations:,} | | |"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.oracle.planted", description=__doc__)
    parser.add_argument("--rows", type=int, nargs="*", default=range(1, len(ROWS) + 1), help="numbers, from 1")
    parser.add_argument("--here", action="store_true", help="in this process: one row")
    options = parser.parse_args()
    if options.here:
        sys.stdout.write(found(options.rows[0] - 1) + "\n")
        return 0
    missed = 0
    for row in options.rows:
        command = [sys.executable, "-m", "tests.oracle.planted", "--here", "--rows", str(row)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=True)
        sys.stdout.write(done.stdout)
        sys.stdout.flush()
        missed += "not in" in done.stdout
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
