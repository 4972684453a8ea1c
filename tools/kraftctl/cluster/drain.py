"""`kraftctl controllers drain`: a controller that is to be stopped for good becomes an observer, and stays one.

A dynamic config `kraft.autopilot.drained.ID` is set first, so that no autopilot adds it again; then it is removed as a
voter, also if it leads. The leader may be stock: both are ordinary requests.
"""

from __future__ import annotations

import json
import sys

from controller.config.keys.own import AUTOPILOT_DRAINED
from records.errors import Error
from records.uuids import parse_uuid
from tools.client.quorum import NoLeader
from tools.client.quorum_options import addresses_of, security_of
from tools.client.retries import Retries
from tools.kraftctl.cluster.autopilot import set_for_all
from tools.kraftctl.cluster.quorum_calls import Quorum, may_pass, observe, refusal
from tools.kraftctl.cluster.quorum_replace import removal_of, require_majority
from tools.kraftctl.plain_streams import GREEN
from tools.kraftctl.terminal import colour_text, is_confirmed

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from tools.kraftctl.cluster.quorum_calls import Seen

CLIENT_ID = "kraftctl-controllers-drain"
VOTERS_MIN = 2
POLL_S = 0.2


def run(options: argparse.Namespace) -> int:
    """Exit code 0: it is no voter. Raises OSError: nothing was changed, or the text says what was."""
    quorum = Quorum(addresses_of(options), CLIENT_ID, security_of(options))
    view, node_id = quorum.look(), options.id
    key = f"{AUTOPILOT_DRAINED}{node_id}"
    if options.undo:
        set_for_all(quorum, key, None)
        return _report(options, node_id, "it may become a voter again")
    if not view.is_member(node_id):
        raise OSError(f"controller {node_id} is neither voter nor observer: nothing was changed")
    if node_id in view.voters:
        check(observe(quorum.look), node_id)
    if options.dry_run:
        return _report(options, node_id, "it would be removed as a voter, and stay an observer")
    if not is_confirmed(f"Drain controller {node_id}?", is_given=options.yes, can_ask=not options.json):
        print("nothing was changed", file=sys.stderr)
        return 1
    set_for_all(quorum, key, "true")
    _remove(quorum, node_id, Retries(options.timeout, POLL_S))
    return _report(options, node_id, "it is no voter: it may be stopped")


def check(seen: Seen, node_id: int) -> None:
    """Check that a majority is alive and has caught up, also of the voters that stay. Raises OSError."""
    voters = seen.view.voters
    if len(voters) < VOTERS_MIN:
        raise OSError(f"voter {node_id} is the only one: its quorum would end")
    staying = [voter for number, voter in voters.items() if number != node_id]
    require_majority(seen, list(voters.values()), f"with voter {node_id}")
    require_majority(seen, staying, f"without voter {node_id}")


def _remove(quorum: Quorum, node_id: int, retries: Retries) -> None:
    """Ask until the node is in no committed voter set. Raises OSError: the removal is refused, or takes too long."""
    reason = ""
    while True:
        try:
            view = quorum.look()
            if node_id not in view.voters:
                return
            check(observe(quorum.look), node_id)  # another voter may have failed meanwhile
            request = removal_of(node_id, parse_uuid(view.voters[node_id].directory_id))
            answer = quorum.ask(view.address, request)
            if answer.error_code and answer.error_code != Error.VOTER_NOT_FOUND:
                reason = refusal("RemoveRaftVoter", answer)
                if not may_pass(answer.error_code):
                    raise OSError(f"{reason}; {AUTOPILOT_DRAINED}{node_id} is set: --undo ends that")
        except NoLeader as error:
            reason = str(error)
        if not retries.pause():
            raise OSError(f"timed out: voter {node_id} is not removed: {reason}; {AUTOPILOT_DRAINED}{node_id} is set")


def _report(options: argparse.Namespace, node_id: int, what: str) -> int:
    if options.json:
        print(json.dumps({"id": node_id, "dry_run": options.dry_run, "undo": options.undo, "outcome": what}))
    else:
        print(colour_text(f"controller {node_id}: {what}", GREEN))
    return 0
