"""What came of a run, as a row that goes from process to process."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Outcome:
    """property_id: of what broke, empty where nothing did; text: how; at_us: when, in the world's time.

    trace_hash: of all that happened. fired: how often each kind of fault found something to strike; notes: how often
    each event of the core was told of; seen: where that was asked, how often what `coverage.seen` names was. refused:
    the first step that the specification does not allow, whatever else broke. decisions: of luck that were not the
    plain ones, where the plan bounds its noise (`noise.Noise`), else -1. elected_ms, committed_ms, caught_up_ms: after
    the calm began; -1 where it did not come to that. needs: where that was asked, the kinds of faults without
    which nothing breaks.
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
