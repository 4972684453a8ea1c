"""Values of configs that fuzz clients draw."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulations.nodes.config_values import BY_KIND, OF_TOPICS, TOPIC
from simulations.world.streams import between

if TYPE_CHECKING:
    from simulations.cluster.clients.fuzz_clients import FuzzClient


def topic_configs(fuzz: FuzzClient, wrong: float) -> tuple[tuple[str, str | None], ...]:
    """One to three configs for a topic; each is invalid with this probability."""
    keys = fuzz.some(1, 3, lambda each: each.one_of(tuple(OF_TOPICS)))
    return tuple((key, draw_value(fuzz, TOPIC, key, wrong)) for key in dict.fromkeys(keys))


def draw_value(fuzz: FuzzClient, kind: int, key: str, wrong: float) -> str | None:
    """A value of a key, invalid with this probability."""
    good, bad = BY_KIND[kind][key]
    if fuzz.happens(wrong):
        return fuzz.one_of((*bad, None))  # type: ignore[no-any-return]
    return str(good[between(fuzz.rng, 0, len(good) - 1)])
