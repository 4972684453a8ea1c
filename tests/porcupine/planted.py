"""Nodes with a fault in every second case: `python -m tests.porcupine.planted NAME start -c FILE` runs one."""

from __future__ import annotations

import sys

from simulations.mutants.patching import install
from simulations.mutants.row import Edit, Mutant

CONFIGS, DESCRIBE = "controller.handlers.configs", "controller.handlers.describe_configs"
ROWS = {
    "stale-read": Edit(
        DESCRIBE, "describe_configs",
        "describer.answer(resource)",
        "vars(describe_configs).setdefault((resource.resource_name, env.now_ms // 300), describer.answer(resource))",
    ),
    "lost-write": Edit(
        CONFIGS, "incremental_alter_configs",
        "_result(state, env, request, response, records, wanted, effects)",
        "_result(state, env, request, response, records if env.random.random() > 0.5 else [], wanted, effects)",
    ),
    "lost-ids": Edit(
        "controller.handlers.producer_ids", "allocate_producer_ids",
        "return Result(response, [(record, 0)])",
        "return Result(response, [(record, 0)] if _env.random.random() > 0.5 else [])",
    ),
    "lost-acl": Edit(
        "controller.handlers.security.acls", "delete_acls",
        "Result(response, records, state.acls.last_change())",
        "Result(response, records if env.random.random() > 0.5 else [], state.acls.last_change())",
    ),
    "old-partition-epoch": Edit(
        "controller.handlers.isr", "check",
        "asked.partition_epoch < partition.partition_epoch",
        "asked.partition_epoch < partition.partition_epoch - 1",
    ),
    "lost-isr": Edit(
        "controller.handlers.isr", "_Alteration.result",
        "self.records.append(change)",
        "self.records.extend([change] if self.elections.env.random.random() > 0.5 else [])",
    ),
    # The first write to a name is applied again after another one.
    "write-twice": Edit(
        CONFIGS, "incremental_alter_configs",
        "return records",
        "return [*records, *vars(incremental_alter_configs).setdefault(resource.resource_name, records)]"
        "[: None if env.random.random() < 0.5 else len(records)]",
    ),
}  # fmt: skip


def main() -> int:
    name = sys.argv.pop(1)
    install(Mutant("planted", name, "planted", "planted", (), (ROWS[name],)))
    from tools.kraftctl.main import main as run

    return run()


if __name__ == "__main__":
    sys.exit(main())
