"""A row of the registry makes a command."""

from __future__ import annotations

from importlib.metadata import entry_points

from tools import registry
from tools.kafka.acls import acls
from tools.kraftctl import main as kraftctl


def test_the_installed_commands_are_the_rows_of_the_registry() -> None:
    """Of this environment, whose installation setup.py made."""
    scripts = entry_points(group="console_scripts")
    found = {each.name: each for each in scripts if each.module == "kraft_quorum.commands"}

    assert {"kafka-acls", "kafka-acls.sh", "kraftctl", "kraft-pipeline"} <= found.keys()
    assert sorted(f"{name} = {each.value}" for name, each in found.items()) == sorted(registry.entry_points())
    assert found["kafka-acls.sh"].load() is acls.main
    assert found["kraftctl"].load() is kraftctl.main
