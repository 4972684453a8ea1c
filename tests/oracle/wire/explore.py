"""Running sequences of conversations, and finding the shortest one that shows a difference."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from tests.oracle.wire.answers import asked
from tests.oracle.wire.conversation import Conversation, to_text
from tests.oracle.wire.generate import sequence
from tests.oracle.wire.known import name_of, names_partition_twice
from tests.oracle.wire.pair import unwrapped

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.oracle.wire.pair import Found, WirePair

SETTINGS: dict[str, dict[str, str]] = {
    "plain": {},
    "authorizer": {
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS",
        "delegation.token.secret.key": "a key",
    },
}
# Each try costs a start of both nodes.
SHRINKS_MAX = 12


class Outcome(NamedTuple):
    """found: the unknown differences of the first conversation that has any; known: the names of the known ones that
    were met; at: the number of the conversation after which the run ended; is_sound: whether it may go on from there.
    """

    found: list[Found]
    known: set[str]
    requests: int
    at: int
    is_sound: bool


class Explorer:
    """requests: how many were compared; seen: how often each sort of unknown difference; known: likewise."""

    def __init__(
        self, pair: WirePair, out: Callable[[str], None], save: Path | None = None, *, shrinks: int = SHRINKS_MAX
    ) -> None:
        self.pair = pair
        self.requests = 0
        self.seen: dict[str, int] = {}
        self.known: dict[str, int] = {}
        self._out = out
        self._save = save
        self._shrinks = shrinks

    def explore(self, seed: int) -> None:
        """Run the sequence of a seed; a new difference is shrunk, reported and saved."""
        conversations = sequence(seed)
        outcome = self.run(conversations)
        self.requests += outcome.requests
        for name in outcome.known:
            self.known[name] = self.known.get(name, 0) + 1
        if outcome.found:
            signature = outcome.found[0].signature
            self.seen[signature] = self.seen.get(signature, 0) + 1
            if self.seen[signature] == 1:
                self.report(seed, conversations[: outcome.at + 1], outcome)
        # What differs once differs from then on: other offsets, other epochs.
        if outcome.found or not outcome.is_sound:
            self.pair.renew()

    def run(self, conversations: list[Conversation]) -> Outcome:
        """The conversations one after the other, up to the first unknown difference."""
        known: set[str] = set()
        requests = number = 0
        for number, conversation in enumerate(conversations):
            requests += len(conversation.frames) + bool(conversation.tail)
            end = self.pair.equal_end
            found = self.pair.run(conversation)
            names = [name_of(each) for each in found]
            unknown = [each for each, name in zip(found, names, strict=True) if name is None]
            known.update(name for name in names if name is not None)
            if unknown:
                return Outcome(unknown, known, requests, number, is_sound=self.pair.is_sound())
            asks = map(unwrapped, (asked(frame[4:]) for frame in conversation.frames))
            parts = any(map(names_partition_twice, asks)) and not self.pair.has_equal_changes(end)
            if parts or (found and not (self.pair.is_sound() and self.pair.has_equal_logs())):
                return Outcome([], known, requests, number, is_sound=False)
        return Outcome([], known, requests, number, is_sound=self.pair.is_sound())

    def report(self, seed: int, conversations: list[Conversation], outcome: Outcome) -> None:
        """Print and save the shortest conversations that were found to differ in this way."""
        signature = outcome.found[0].signature
        shortest = self.shrunk(conversations, signature)
        comment = "\n".join([f"seed {seed}: {signature}", *(str(each)[:600] for each in outcome.found[:6])])
        requests = [asked(frame[4:]) for each in shortest for frame in each.frames]
        comment += "".join(f"\n{request}: {request.message}" for request in requests)
        text = to_text(shortest, comment)
        self._out(f"--- {text[:2500]}")
        if self._save is not None:
            self._save.mkdir(parents=True, exist_ok=True)
            name = re.sub(r"[^A-Za-z0-9]+", "-", signature).strip("-")[:90]
            (self._save / f"{name}.txt").write_text(text)

    def shrunk(self, conversations: list[Conversation], signature: str) -> list[Conversation]:
        """Fewer conversations and frames that show the same difference, each time on nodes with nothing in them."""
        left = self._shrinks

        def shows(tried: list[Conversation]) -> bool:
            nonlocal left
            if left <= 0:
                return False
            left -= 1
            self.pair.renew()
            found = self.run(tried).found
            return bool(found) and found[0].signature == signature

        first, last = conversations[0], conversations[-1]
        if not left:
            return [last]
        for tried in ([last], [first, last]):
            if shows(tried):
                return [*tried[:-1], fewer_frames(tried[:-1], last, shows)]
        best = conversations
        size = len(best) // 2
        while size and left > 0:
            start = 0
            while start < len(best) - 1:
                tried = best[:start] + best[min(start + size, len(best) - 1) :]
                if shows(tried):
                    best = tried
                else:
                    start += size
            size //= 2
        return best


def fewer_frames(
    before: list[Conversation], last: Conversation, shows: Callable[[list[Conversation]], bool]
) -> Conversation:
    """The last conversation without the frames that it does not need."""
    best = last
    for at in reversed(range(len(last.frames))):
        tried = Conversation(best.frames[:at] + best.frames[at + 1 :], best.tail)
        if (tried.frames or tried.tail) and shows([*before, tried]):
            best = tried
    return best
