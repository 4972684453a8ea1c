"""The outcome of a run, as a row that is sent between processes."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Outcome:
    """property_id: the property that broke, empty where none did; text: how; at_us: when, in simulated time.

    fired: how often each kind of fault struck; notes: how often the core reported each event; seen: counts of what
    `coverage.seen` names, if asked for. refused: the first step that the specification does not allow, whatever else
    broke. decisions: number of draws of noise that are not the default, where the plan bounds its noise
    (`noise.Noise`), else -1. elected_ms, committed_ms, caught_up_ms: since the recovery phase began; -1 where it did
    not happen. needs: if asked for, the kinds of faults without which no property breaks.
    """

    seed: int
    property_id: str = ""
    text: str = ""
    refused: str = ""
    at_us: int = 0
    trace_hash: str = ""
    events: int = 0
    steps: int = 0
    messages: int = 0
    committed: int = 0
    acknowledged: int = 0
    epochs: int = 0
    decisions: int = -1
    elected_ms: int = -1
    committed_ms: int = -1
    caught_up_ms: int = -1
    fired: dict[str, int] = field(default_factory=dict)
    notes: dict[str, int] = field(default_factory=dict)
    seen: dict[str, int] = field(default_factory=dict)
    needs: list[str] = field(default_factory=list)

    @property
    def is_well(self) -> bool:
        """Whether every property held."""
        return not self.property_id
