"""The keys of our own: all begin with `kraft.`, so that a stock node ignores them."""

from __future__ import annotations

from controller.config.definition import Definition, Importance, Key, Type
from controller.config.valid import OneOf, at_least

PREFIX = "kraft."
LEVELS = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")

# fmt: off
KEYS = Definition(
    # A connection to the leader that was lost and is refused when made again starts a pre-vote at once.
    Key("kraft.pre.vote.on.lost.connection", Type.BOOLEAN, True, None, Importance.MEDIUM),
    # How long, up to twice as long, a voter that starts and knows of no leader waits before it asks for pre-votes.
    Key("kraft.first.election.timeout.ms", Type.INT, 50, at_least(0), Importance.LOW),
    Key("kraft.log.format", Type.STRING, "console", OneOf("console", "json"), Importance.LOW),
    Key("kraft.log.level", Type.STRING, "INFO", OneOf(*LEVELS), Importance.LOW),
)
# fmt: on
