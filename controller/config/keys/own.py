"""The keys of our own: all begin with `kraft.`, so that a stock node ignores them."""

from __future__ import annotations

from controller.config.definition import Definition, Importance, Key, Type
from controller.config.valid import OneOf

PREFIX = "kraft."
LEVELS = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")

# fmt: off
KEYS = Definition(
    # A connection to the leader that was lost and is refused when made again starts a pre-vote at once.
    Key("kraft.pre.vote.on.lost.connection", Type.BOOLEAN, True, None, Importance.MEDIUM),
    Key("kraft.log.format", Type.STRING, "console", OneOf("console", "json"), Importance.LOW),
    Key("kraft.log.level", Type.STRING, "INFO", OneOf(*LEVELS), Importance.LOW),
)
# fmt: on
