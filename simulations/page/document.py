"""The page around the drawing: what broke, the plan, and what happened at the moment that is pointed at."""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING

from simulations.page.drawing import COLOURS, MESSAGES, Drawing
from simulations.page.scene import fold, newest
from simulations.story import tell

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from simulations.outcome import Outcome
    from simulations.trace import Entry

LINES_MAX = 6000

STYLE = """
body { font: 13px/1.4 system-ui, sans-serif; margin: 16px; color: #222; }
h1 { font-size: 18px; } h1.broken { color: #c00000; }
#box { overflow-x: auto; border: 1px solid #ccc; }
svg text { font: 10px sans-serif; } svg text.node { font-weight: bold; font-size: 13px; }
svg line.time { stroke: #eee; } svg text.time { fill: #888; }
svg .cut { fill: #c00000; opacity: .08; }
svg path { fill: none; stroke-width: 1.3; }
svg .end { stroke: #888; } svg .durable { stroke: #4a78a8; } svg .watermark { stroke: #2e8b57; }
svg .message { stroke-width: 1; opacity: .75; } svg .message:hover { stroke-width: 3; }
svg .lost { stroke-dasharray: 3 2; }
svg line.broken { stroke: #c00000; stroke-width: 2; } svg text.broken { fill: #c00000; font-weight: bold; }
#cursor { stroke: #000; stroke-dasharray: 2 2; }
.columns { display: flex; gap: 24px; } .columns > * { flex: 1; min-width: 0; }
pre { font: 12px/1.35 ui-monospace, monospace; white-space: pre-wrap; }
table { border-collapse: collapse; } td, th { padding: 1px 10px 1px 0; text-align: left; }
td.changed { background: #ffe9a8; }
.key span { padding: 0 6px; margin-right: 6px; }
"""

SCRIPT = """
const svg = document.getElementById('scene'), cursor = document.getElementById('cursor');
const left = +svg.dataset.left, scale = +svg.dataset.scale, begin = +svg.dataset.begin;
function at(time) {
  const before = {}, now = {};
  for (const [node, states] of Object.entries(STATES)) {
    let low = 0, high = states.length;
    while (low < high) { const mid = (low + high) >> 1; if (states[mid][0] <= time) low = mid + 1; else high = mid; }
    now[node] = states[low - 1]; before[node] = states[low - 2];
  }
  const names = ['since', 'role', 'epoch', 'end', 'flushed', 'watermark'];
  let rows = '<tr><th>node</th>' + names.map(name => '<th>' + name + '</th>').join('') + '</tr>';
  for (const node of Object.keys(now)) {
    rows += '<tr><td>' + node + '</td>' + names.map((_, i) => {
      const value = now[node] ? (i ? now[node][i] : (now[node][0] / 1e6).toFixed(6)) : '';
      const changed = i && now[node] && before[node] && before[node][i] !== now[node][i];
      return '<td' + (changed ? ' class="changed" title="was ' + before[node][i] + '"' : '') + '>' + value + '</td>';
    }).join('') + '</tr>';
  }
  document.getElementById('states').innerHTML = rows;
  let first = STORY.findIndex(line => line[0] > time);
  if (first < 0) first = STORY.length;
  const shown = STORY.slice(Math.max(0, first - 15), first + 10);
  document.getElementById('story').textContent =
    shown.map(line => (line[0] <= time ? '  ' : '+ ') + line[1]).join('\\n');
  const x = left + (time - begin) * scale;
  for (const [name, value] of [['x1', x], ['x2', x], ['y1', 0], ['y2', svg.getAttribute('height')]])
    cursor.setAttribute(name, value);
}
svg.addEventListener('click', event => {
  const x = event.clientX - svg.getBoundingClientRect().left;
  at(begin + Math.max(0, x - left) / scale);
});
at(END);
document.getElementById('box').scrollLeft = document.getElementById('box').scrollWidth;
"""


def page(
    outcome: Outcome,
    entries: Sequence[Entry],
    plan: str,
    again: str,
    fields: Mapping[str, tuple[str, ...]],
    original: str = "",
) -> str:
    """The HTML of a run. entries: of its trace, the newest, oldest first; plan: in JSON; again: the command that
    repeats it; fields: by name of a message, the names of what it says; original: the plan before it was shrunk.
    """
    shown = newest(list(entries))
    scene = fold(shown, outcome.at_us)
    told = [[entry[0], line] for entry in shown[-LINES_MAX:] for line in tell([entry], fields)]
    title = f"seed {outcome.seed}: " + (f"{outcome.property_id} is broken" if outcome.property_id else "all is well")
    key = "".join(
        f'<span style="background:{colour}">{name}</span>' for name, colour in COLOURS.items() if name != "down"
    )
    key += "".join(f'<span style="color:{colour}">{name}</span>' for name, colour in MESSAGES.items())
    key += '<span style="color:#888">end</span><span style="color:#4a78a8">flushed</span>'
    key += '<span style="color:#2e8b57">high watermark</span><span style="background:#f4dcdc">cut</span>'
    states = {
        node: [[point.time, *_band_at(lane.bands, point.time), *point[1:]] for point in lane.points]
        for node, lane in scene.lanes.items()
    }
    return "\n".join((
        '<!doctype html><html lang="en"><head><meta charset="utf-8">',
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body>",
        f'<h1 class="{"broken" if outcome.property_id else ""}">{escape(title)}</h1>',
        f"<p>{escape(outcome.text)}</p><p>At {outcome.at_us / 1_000_000:.6f} s. Again: <code>{escape(again)}</code>.",
        "Point at anything to read it; click to see what each node was then.</p>",
        f'<p class="key">{key}</p>',
        f'<div id="box">{Drawing(scene, fields).svg(outcome.property_id)}</div>',
        '<div class="columns"><div><h2>Nodes</h2><table id="states"></table><h2>What happened</h2>',
        f'<pre id="story"></pre></div><div><h2>Plan</h2><pre>{escape(plan)}</pre><pre>{escape(original)}</pre></div></div>',
        f"<script>const STATES = {_script(states)};\nconst STORY = {_script(told)};\nconst END = {outcome.at_us};",
        f"{SCRIPT}</script></body></html>",
    ))  # fmt: skip


def _script(value: object) -> str:
    """JSON that cannot end the script it stands in."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")


def _band_at(bands: Sequence[tuple[int, int, str, int]], time: int) -> tuple[str, int]:
    for begin, _, what, epoch in reversed(bands):
        if begin <= time:
            return what, epoch
    return "", -1
