"""The keys of our own: all begin with `kraft.`, so that a stock node ignores them."""

from __future__ import annotations

from controller.config.addresses import Address
from controller.config.definition import Definition, Importance, Key, Type
from controller.config.valid import OneOf, at_least, between

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
    # Where probes, metrics and the page are served, as host:port, off where not set. It has no authentication.
    Key("kraft.http.listener", Type.STRING, None, Address(), Importance.MEDIUM),
    # How many connections it has at a time, those of open pages among them; further ones are closed.
    Key("kraft.http.connections.max", Type.INT, 64, between(1, 1024), Importance.LOW),
)
# fmt: on
