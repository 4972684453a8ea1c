"""`kraftctl quorum replace --id`: the voter of a lost disk leaves, the new directory of the same id joins (KIP-853).

Each step is derived from the live quorum, so the command can be run again after an interruption anywhere.
"""

from __future__ import annotations

import json
import sys
import time
from typing import NamedTuple

from records.errors import Error
from records.java.config_error import ConfigError
from records.messages.voters import AddRaftVoterRequest, RemoveRaftVoterRequest
from records.plain_text import plain_text
from records.uuids import parse_uuid
from tools.client.quorum import NoLeader
from tools.client.quorum_options import addresses_of, security_of
from tools.client.retries import Retries
from tools.command_line.progress import Progress
from tools.kraftctl.cluster.quorum_calls import KRAFT_VERSION, Quorum, may_pass, observe, refusal
from tools.kraftctl.plain_streams import GREEN
from tools.kraftctl.running import running
from tools.kraftctl.terminal import colour_text, is_confirmed, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from tools.client.quorum import Address, Member, View
    from tools.kraftctl.cluster.quorum_calls import Seen

CLIENT_ID = "kraftctl-quorum-replace"
REMOVE, WAIT, ADD, DONE = "remove", "wait", "add", "done"
# Of an AddRaftVoter, whose leader itself waits for the new voter.
ADD_S = 30.0
_POLL_S = 0.5


class Refused(OSError):
    """The voter must not be replaced; the text says what was asked, what is there, and what can be done."""


class Step(NamedTuple):
    """What is to be done next. directory_id: of the voter that is removed or added; empty while no directory is known.

    why: for WAIT, what is missing; for DONE, what is there.
    """

    action: str
    directory_id: str
    why: str = ""


def next_step(seen: Seen, node_id: int) -> Step:
    """The next step towards one living voter with this id. Raises Refused."""
    view = seen.view
    voters = ", ".join(map(str, sorted(view.voters)))
    old = view.voters.get(node_id)
    if all(not member.directory_id for member in view.voters.values()):
        raise Refused(
            f"the voters {voters} are static ({KRAFT_VERSION} 0): controller.quorum.voters sets them, without "
            "directory ids. Format the new disk and start the node with the same configuration: it follows by itself. "
            "Dynamic voters: kraftctl quorum migrate --to dynamic"
        )
    observers = [each for each in view.all_observers if each.id == node_id]
    others = [
        each for each in observers if seen.is_alive(each) and (old is None or each.directory_id != old.directory_id)
    ]
    if len(others) > 1:
        listed = ", ".join(each.directory_id for each in others)
        raise Refused(
            f"{len(others)} observers with id {node_id} fetch (directory ids {listed}): stop all but one of them"
        )
    if old is None:
        return _join(seen, node_id, others)
    if seen.is_alive(old):
        if others:
            raise Refused(
                f"voter {node_id} still fetches with its old directory id {old.directory_id}, beside the new one, "
                f"{others[0].directory_id}: stop the controller with the old directory first"
            )
        text = (
            f"controller {node_id} is a voter and alive with directory id {old.directory_id}; nothing is to be "
            "replaced. If this is the disk that goes, stop that controller first"
        )
        return Step(DONE, old.directory_id, text)
    staying = [each for number, each in sorted(view.voters.items()) if number != node_id]
    require_majority(seen, staying, f"without voter {node_id}")
    return Step(REMOVE, old.directory_id)


def _join(seen: Seen, node_id: int, others: list[Member]) -> Step:
    view = seen.view
    if not others:
        observers = ", ".join(str(each.id) for each in view.all_observers if seen.is_alive(each)) or "none"
        return Step(WAIT, "", f"no observer with id {node_id} fetches (observers that fetch: {observers})")
    new = others[0]
    if not new.directory_id:
        raise Refused(f"observer {node_id} has no directory id; format its directory with Kafka 3.9 or newer")
    if not seen.is_caught_up(new):
        lag = view.lag(new)
        return Step(WAIT, new.directory_id, f"it lacks {'unknown' if lag is None else lag} records")
    require_majority(seen, [*view.voters.values(), new], f"with voter {node_id}")
    return Step(ADD, new.directory_id)


def require_majority(seen: Seen, voters: list[Member], which: str) -> None:
    """Check a voter set. Raises Refused unless a majority is alive and has all records that were committed."""
    ready = [each for each in voters if seen.is_caught_up(each)]
    needed = len(voters) // 2 + 1
    if len(ready) >= needed:
        return
    listed = ", ".join(f"{each.id} ({_state(seen, each)})" for each in voters)
    raise Refused(
        f"{which}, the quorum has {len(voters)} voters and needs {needed} that are alive and caught up; it has "
        f"{len(ready)}: {listed}. Bring another voter back first"
    )


def _state(seen: Seen, member: Member) -> str:
    if not seen.is_alive(member):
        return "does not fetch"
    return "caught up" if seen.is_caught_up(member) else "lags"


def run(options: argparse.Namespace) -> int:
    """Exit code 0: replaced, or nothing to replace. 1: nothing was changed. 2: begun, and not finished."""
    return running("quorum replace", lambda: _replace(options))


def _replace(options: argparse.Namespace) -> int:
    quorum = Quorum(addresses_of(options), CLIENT_ID, security_of(options))
    listeners = dict(listener(text) for text in options.listener)
    with Progress("observing who fetches from the leader", 0):
        seen = observe(quorum.look)
    step = next_step(seen, options.id)
    is_voter = options.id in seen.view.voters
    if step.action == WAIT and not step.directory_id and not is_voter:
        raise Refused(
            f"{options.id} is not a voter (voters: {_numbers(seen)}), and {step.why}: start the new controller"
        )
    plan = plan_of(seen, options.id, step)
    if not options.json:
        say(*plan)
    if step.action == DONE or options.dry_run:
        return _report(options, seen, plan, [], step, is_done=step.action == DONE)
    if not is_confirmed(f"Replace voter {options.id}?", is_given=options.yes, can_ask=not options.json):
        print("nothing was changed", file=sys.stderr)
        return 1
    work = Replacing(quorum, options.id, listeners, time.monotonic() + options.timeout, is_quiet=options.json)
    try:
        seen = work.finish(seen)
    except (OSError, KeyboardInterrupt) as error:
        if not work.is_begun:
            raise
        text = "interrupted" if isinstance(error, KeyboardInterrupt) else str(error)
        print(f"kraftctl quorum replace: not finished: {plain_text(text)}; run the same command again", file=sys.stderr)
        return _report(options, work.seen or seen, plan, work.taken, Step(WAIT, "", text), is_done=False) or 2
    return _report(options, seen, plan, work.taken, Step(DONE, ""), is_done=True)


def plan_of(seen: Seen, node_id: int, step: Step) -> list[str]:
    """The plan as lines: what is there, and the steps with the majority that each leaves."""
    view = seen.view
    if step.action == DONE:
        return [step.why]
    lines = [f"cluster {view.cluster_id}: node {view.leader_id} leads epoch {view.epoch}"]
    lines += [
        f"  voter {each.id}, directory id {each.directory_id}: {_state(seen, each)}" for each in view.voters.values()
    ]
    new = [each for each in view.all_observers if each.id == node_id and seen.is_alive(each)]
    lines += [f"  observer {each.id}, directory id {each.directory_id}: {_state(seen, each)}" for each in new]
    if node_id not in view.voters:
        lines.append(f"  controller {node_id} is not a voter: it was removed before, or never was one")
    voters, number, ready = len(view.voters), 0, sum(seen.is_caught_up(each) for each in view.voters.values())
    lines.append("plan:")
    if step.action == REMOVE:
        voters, number = voters - 1, 1
        lines.append(f"  1. remove voter {node_id} with directory id {step.directory_id}: {_majority(voters, ready)}")
        named = (
            f"directory id {new[0].directory_id}" if new else f"a controller with id {node_id}, which is to be started"
        )
    else:
        named = f"directory id {step.directory_id}"
    lines.append(f"  {number + 1}. wait until {named} has the committed records")
    lines.append(f"  {number + 2}. add it as voter {node_id}: {_majority(voters + 1, ready + 1)}")
    lines.append(f"  {number + 3}. check that it is a voter and fetches")
    return lines


def _majority(voters: int, ready: int) -> str:
    spare = ready - (voters // 2 + 1)
    return f"{ready} of {voters} voters alive, {voters // 2 + 1} needed, {spare} more may fail"


def _numbers(seen: Seen) -> str:
    return ", ".join(map(str, sorted(seen.view.voters)))


def _report(
    options: argparse.Namespace, seen: Seen, plan: list[str], taken: list[Step], last: Step, *, is_done: bool
) -> int:  # fmt: skip
    """Prints the outcome. Exit code 0."""
    if options.json:
        said: dict[str, Any] = {
            "id": options.id,
            "dry_run": options.dry_run,
            "plan": plan,
            "done": [{"action": step.action, "directory_id": step.directory_id} for step in taken],
            "next": None if is_done else last.action,
            "text": last.why,
            "voters": [
                {"id": each.id, "directory_id": each.directory_id, "fetches": seen.is_alive(each)}
                for _, each in sorted(seen.view.voters.items())
            ],
        }
        print(json.dumps(said))
    elif is_done and not last.why:
        directory_id = seen.view.voters[options.id].directory_id
        text = f"controller {options.id} is a voter with directory id {directory_id}, and fetches"
        print(colour_text(f"{text}; voters: {_numbers(seen)}", GREEN))
    return 0


def listener(text: str) -> tuple[str, Address]:
    """Name, host and port of `NAME://HOST:PORT`. Raises ConfigError."""
    from controller.config.values.listeners import host_and_port

    name, scheme, where = text.partition("://")
    address = host_and_port(where) if scheme and name else None
    if address is None or not address[0] or not address[1]:
        raise ConfigError(f"--listener {text}: NAME://HOST:PORT is expected, such as CONTROLLER://c2:9093")
    return name.upper(), address


class Replacing:
    """The steps, each taken when the quorum is ready for it. taken: those that changed the voters; seen: the last look.

    is_begun: whether the voters were changed, or may have been: an answer was lost, or came too late.
    listeners: of the new voter, empty to find them out. end: by the monotonic clock in s.
    """

    def __init__(
        self, quorum: Quorum, node_id: int, listeners: dict[str, Address], end: float, *, is_quiet: bool
    ) -> None:  # fmt: skip
        self.taken: list[Step] = []
        self.is_begun = False
        self.seen: Seen | None = None
        self._quorum = quorum
        self._node_id = node_id
        self._listeners = listeners
        self._end = end
        self._is_quiet = is_quiet

    def finish(self, seen: Seen) -> Seen:
        """Take the steps until one living voter has the id. Raises Refused, OSError."""
        begun = time.monotonic()
        waited_for = ""
        old = seen.view.voters[self._node_id].directory_id if self._node_id in seen.view.voters else None
        with Progress("waiting for the new directory", round(self._end - begun)) as note:
            while True:
                self.seen = seen
                step = next_step(seen, self._node_id)
                if step.action == DONE:
                    return seen
                if step.action == REMOVE and step.directory_id != old:
                    # The new directory is a voter, and has not fetched since.
                    step = Step(
                        WAIT, step.directory_id, f"voter {self._node_id}, {step.directory_id}, does not fetch yet"
                    )
                left = self._end - time.monotonic()
                if left <= 0:
                    raise OSError(f"timed out: {step.why or waited_for or f'the voters do not {step.action}'}")
                if step.action == WAIT:
                    waited_for = step.why
                    time.sleep(min(_POLL_S, left))
                else:
                    waited_for = self._take(step, seen.view, min(ADD_S, left)) or waited_for
                note(round(time.monotonic() - begun))
                seen = self._look()

    def _look(self) -> Seen:
        """Observe again; without a leader, as during an election, until the end."""
        retries = Retries(self._end - time.monotonic(), _POLL_S)
        while True:
            try:
                return observe(self._quorum.look)
            except NoLeader:
                if not retries.pause():
                    raise

    def _take(self, step: Step, view: View, seconds: float) -> str:
        """Send one change to the leader; why it has to be tried again, empty if it is made. Raises OSError."""
        directory_id = parse_uuid(step.directory_id)
        request: Any
        if step.action == REMOVE:
            api, request = "RemoveRaftVoter", removal_of(self._node_id, directory_id)
        else:
            try:
                listeners = self._listeners or self._registered_listener(view)
            except Refused:
                raise
            except OSError as error:
                return str(error)  # the leader has changed, or ended
            if not listeners:
                return (
                    f"controller {self._node_id} is not registered yet, so its listener is unknown (or give --listener)"
                )
            api, request = "AddRaftVoter", _addition(self._node_id, directory_id, listeners, seconds)
        try:
            answer = self._quorum.ask(view.address, request, seconds + 1)
        except OSError as error:
            self.is_begun = True
            return str(error)  # whether it is made, the next look shows
        self.is_begun = self.is_begun or not answer.error_code or may_pass(answer.error_code)
        if not answer.error_code:
            self.taken.append(step)
            if not self._is_quiet:
                say(f"{'removed' if step.action == REMOVE else 'added'} voter {self._node_id}, {step.directory_id}")
            return ""
        # Another tool, or the node itself (controller.quorum.auto.join.enable), was first: the next look shows it.
        if answer.error_code in (Error.VOTER_NOT_FOUND, Error.DUPLICATE_VOTER) or may_pass(answer.error_code):
            time.sleep(_POLL_S)
            return refusal(api, answer)
        raise OSError(refusal(api, answer))

    def _registered_listener(self, view: View) -> dict[str, Address]:
        """The listener of the new controller that the leader's clients use; the node itself sends the others later.

        Its name is that of a voter's listener at the address that DescribeCluster has for it too.
        """
        registered = self._quorum.controllers(view)
        node_address = registered.get(self._node_id)
        if node_address is None:
            return {}
        names = {
            name
            for node, listeners in view.listeners.items()
            for name, address in listeners.items()
            if registered.get(node) == address or len(listeners) == 1
        }
        if len(names) != 1:
            raise Refused(
                f"the name of the listener {node_address[0]}:{node_address[1]} of controller {self._node_id} is "
                f"unknown (voters have {', '.join(sorted(names)) or 'none'}): give --listener NAME://HOST:PORT"
            )
        return {names.pop(): node_address}


def removal_of(node_id: int, directory_id: bytes) -> RemoveRaftVoterRequest:
    return RemoveRaftVoterRequest(cluster_id=None, voter_id=node_id, voter_directory_id=directory_id)


def _addition(
    node_id: int, directory_id: bytes, listeners: dict[str, Address], seconds: float
) -> AddRaftVoterRequest:  # fmt: skip
    return AddRaftVoterRequest(
        cluster_id=None, timeout_ms=round(seconds * 1000), voter_id=node_id, voter_directory_id=directory_id,
        listeners=tuple(
            AddRaftVoterRequest.Listener(name=name, host=host, port=port) for name, (host, port) in listeners.items()
        ),
    )  # fmt: skip
