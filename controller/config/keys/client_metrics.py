"""The keys of CLIENT_METRICS resources (KIP-714)."""

from __future__ import annotations

from controller.config.values.definition import Definition, Importance, Key, Type
from controller.config.values.valid import ListOf

INT = Type.INT
LIST = Type.LIST
MEDIUM = Importance.MEDIUM

# fmt: off
KEYS = Definition(
    Key("metrics", LIST, (), ListOf(), MEDIUM),
    Key("interval.ms", INT, 300000, None, MEDIUM),
    Key("match", LIST, (), ListOf(), MEDIUM),
)
# fmt: on
