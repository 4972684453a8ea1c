"""The page around the drawing: the violation, the plans, and the state of each node at the moment under the pointer."""

from __future__ import annotations

import json
import re
from html import escape
from typing import TYPE_CHECKING

from simulations.outcomes.story import story
from simulations.page.clients import operations
from simulations.page.drawing import MESSAGES, ROLES, Drawing
from simulations.page.scene import fold, newest
from simulations.page.schedule import schedules
from simulations.page.style import SCRIPT, STYLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from simulations.outcomes.outcome import Outcome
    from simulations.world.trace import Entry

LINES_MAX = 6000

HEADS = ("since", "role", "epoch", "log end", "flushed", "high watermark")


def page(
    outcome: Outcome,
    entries: Sequence[Entry],
    plan: str,
    again: str,
    fields: Mapping[str, tuple[str, ...]],
    original: str = "",
    details: Iterable[Entry] = (),
) -> str:
    """The HTML of a run. entries: of its trace, the newest, oldest first; plan: in JSON; again: the command that
    repeats it; fields: by name of a message, the names of its fields; original: the plan before it was shrunk; details:
    from `closeup`.
    """
    shown = newest(list(entries))
    details = list(details)
    scene = fold(shown, outcome.at_us, details)
    clients = operations(shown, details)
    lines = [[entry[0], line] for entry in shown[-LINES_MAX:] for line in story([entry], fields)]
    title = f"seed {outcome.seed}: " + (f"{outcome.property_id} is broken" if outcome.property_id else "all is well")
    blamed = [int(number) for number in re.findall(r"\bnode (\d+)", outcome.text)] if outcome.property_id else []
    data = {
        "STATES": {node: lane.states for node, lane in scene.lanes.items()},
        "COMMITS": scene.commits,
        "OPERATIONS": [
            (each.client, each.begin, each.end, each.asked, each.answer, each.point)
            for lane in clients.values()
            for each in lane
        ],
        "STORY": lines,
        "END": outcome.at_us,
    }
    constants = "\n".join(f"const {name} = {_script(value)};" for name, value in data.items())
    heads = "".join(f'<th scope="col">{name}</th>' for name in ("node", *HEADS))
    return "\n".join((
        '<!doctype html><html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f'<title>{escape(title)}</title><link rel="icon" href="data:,"><style>{STYLE}</style></head><body>',
        '<a class="skip" href="#now">To what was at a moment</a>',
        f'<header><h1 class="{"broken" if outcome.property_id else ""}">{escape(title)}</h1>',
        f"<p>{escape(outcome.text)}</p>",
        f"<p>At {outcome.at_us / 1_000_000:.6f} s. Again: <code>{escape(again)}</code></p>",
        "</header><main>",
        f'<ul class="key" aria-label="Key">{_key()}</ul>',
        '<div id="box" role="group" aria-label="Lanes of nodes and clients" tabindex="0">',
        f"{Drawing(scene, fields, clients, blamed).svg(outcome.property_id)}</div>",
        '<div class="moment"><label for="moment">Moment</label>',
        f'<input id="moment" type="range" min="{scene.begin}" max="{scene.end}" value="{scene.end}">',
        '<button id="earlier" type="button">Step before</button><button id="later" type="button">Next step</button>',
        '<output id="when" role="status" aria-live="polite" for="moment"></output></div>',
        '<p class="soft">Click into the picture, or move the slider; point at anything to read what it is.</p>',
        '<div class="columns" id="now"><section class="panel" aria-labelledby="h-nodes"><h2 id="h-nodes">Nodes</h2>',
        f'<table id="states"><thead><tr>{heads}</tr></thead><tbody></tbody></table>',
        '<h3>What that step changed</h3><ul id="changes"></ul>',
        '<h3>Committed, newest first</h3><ul id="commits"></ul>',
        '<h3>Clients that wait</h3><ul id="waiting"></ul></section>',
        '<section class="panel" aria-labelledby="h-story"><h2 id="h-story">What happened</h2>',
        '<pre id="story" tabindex="0" aria-labelledby="h-story"></pre></section></div>',
        '<section aria-labelledby="h-plans"><h2 id="h-plans">What it takes</h2>',
        f'<div class="columns">{schedules(plan, original)}</div></section>',
        f"</main><script>{constants}\n{SCRIPT}</script></body></html>",
    ))  # fmt: skip


def _key() -> str:
    """The legend of colours and shapes."""
    parts = [_shape(f'<rect class="{role}" width="18" height="10"/>', role) for role in ROLES]
    parts += [
        _shape(f'<line class="m-{kind}" x1="0" y1="9" x2="18" y2="1" stroke-width="2"/>', kind) for kind in MESSAGES
    ]
    parts += [
        _shape('<line class="message lost m-other" x1="0" y1="9" x2="9" y2="1" stroke-width="2"/>', "lost"),
        _shape('<path class="end" d="M0 5H18"/>', "log end"),
        _shape('<path class="durable" d="M0 5H18"/>', "flushed"),
        _shape('<path class="watermark" d="M0 5H18"/>', "high watermark"),
        _shape('<rect class="sync" width="18" height="8" y="1"/>', "sync"),
        _shape('<line class="change" x1="9" x2="9" y1="0" y2="10"/>', "other change of the disk"),
        _shape('<rect class="cut" width="18" height="10" style="opacity:.4"/>', "cut"),
        _shape('<rect class="asked" width="18" height="7" y="1"/>', "request to answer"),
        _shape('<rect class="open" width="17" height="7" y="1"/>', "never answered"),
        _shape('<circle class="point" cx="9" cy="5" r="3"/>', "took effect"),
        *(
            _shape(f'<circle class="k-{kind}" cx="9" cy="5" r="3.5"/>', name)
            for kind, name in (("fault", "fault"), ("life", "start or end"), ("note", "role"), ("deed", "deed"))
        ),
    ]
    return "".join(parts)


def _shape(drawn: str, name: str) -> str:
    return f'<li><svg aria-hidden="true" viewBox="0 0 18 10">{drawn}</svg>{name}</li>'


def _script(value: object) -> str:
    """JSON in a form that cannot end the script element around it."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")
