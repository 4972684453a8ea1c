"""The style of the page, light and dark, and its script."""

from __future__ import annotations

STYLE = """
:root {
  color-scheme: light dark;
  --paper: #ffffff; --ink: #1b1f24; --soft: #57606a; --line: #d0d7de; --panel: #f6f8fa; --bad: #a40e26; --link: #0550ae;
  --leader: #2e8b57; --follower: #9ec9e2; --candidate: #e8a33d; --prospective: #f3d27a; --unattached: #d9d9d9;
  --resigned: #cbb0e2; --down: #555555; --on-dark: #ffffff; --on-light: #1b1f24;
  --vote: #c2571a; --begin: #23794a; --end: #7d26cd; --fetch: #4a78a8; --snapshot: #b8437a; --other: #6e7781;
  --sync: #4a78a8; --asked: #7aa7d9; --changed: #ffe9a8; --cut: #c00000;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #0d1117; --ink: #e6edf3; --soft: #9da7b3; --line: #3d444d; --panel: #161b22; --bad: #ff8182;
    --link: #79c0ff; --follower: #3a6f92; --candidate: #c27f1e; --prospective: #8a6d1c; --unattached: #484f58;
    --resigned: #6d4b8a; --down: #8b949e; --on-light: #ffffff; --leader: #23794a;
    --vote: #f0883e; --begin: #56d364; --end: #d2a8ff; --fetch: #79c0ff; --snapshot: #f778ba; --other: #9da7b3;
    --sync: #79c0ff; --asked: #2f6fb0; --changed: #5c4a00; --cut: #ff8182;
  }
}
* { box-sizing: border-box; }
body { margin: 0; padding: 1rem 1.25rem; background: var(--paper); color: var(--ink);
  font: 14px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.3rem; margin: 0; } h1.broken { color: var(--bad); }
h2 { font-size: 1.05rem; margin: 1.2rem 0 .4rem; } h3 { font-size: .95rem; margin: 0 0 .3rem; }
.soft { color: var(--soft); } p { margin: .2rem 0; overflow-wrap: anywhere; }
code, pre { font: 12px/1.4 ui-monospace, monospace; } pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: 0; }
.skip { position: absolute; left: -100rem; } .skip:focus { left: 1rem; background: var(--paper); }
#box { overflow-x: auto; border: 1px solid var(--line); border-radius: .5rem; }
#box:focus-visible, :focus-visible { outline: 2px solid var(--link); }
.panel { border: 1px solid var(--line); border-radius: .5rem; background: var(--panel); padding: .7rem .9rem;
  min-width: 0; overflow-x: auto; }
.columns { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(26rem, 1fr)); margin-top: 1rem; }
.moment { display: flex; flex-wrap: wrap; gap: .6rem; align-items: center; margin: .6rem 0; }
.moment input { flex: 1; min-width: 12rem; }
button { font: inherit; color: var(--ink); background: var(--panel); border: 1px solid var(--line);
  border-radius: .4rem; padding: .1rem .7rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--soft); }
td, th { padding: .1rem .9rem .1rem 0; text-align: left; } th { color: var(--soft); }
td.changed { background: var(--changed); font-weight: 600; }
ul, ol { margin: .2rem 0; padding-left: 1.4rem; } li.out { color: var(--soft); } li { overflow-wrap: anywhere; }
.key { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: .2rem .9rem; }
.key svg { width: 18px; height: 10px; margin-right: .3rem; }
svg text { font: 10.5px system-ui, sans-serif; fill: var(--ink); }
svg text.node { font-weight: bold; font-size: 13px; } svg text.soft, svg text.time { fill: var(--soft); }
svg line.time { stroke: var(--line); opacity: .6; }
svg .cut { fill: var(--cut); opacity: .1; }
svg path { fill: none; stroke-width: 1.4; }
svg .end { stroke: var(--soft); } svg .durable { stroke: var(--sync); stroke-dasharray: 4 2; }
svg .watermark { stroke: var(--leader); }
.Leader { fill: var(--leader); } .Follower { fill: var(--follower); } .Candidate { fill: var(--candidate); }
.Prospective { fill: var(--prospective); } .Unattached { fill: var(--unattached); } .Resigned { fill: var(--resigned); }
.down { fill: var(--down); }
svg text.on-Leader { fill: var(--on-dark); } svg text.on-down { fill: var(--paper); }
svg text[class^="on-"]:not(.on-Leader):not(.on-down) { fill: var(--on-light); }
.m-Vote { stroke: var(--vote); } .m-Begin { stroke: var(--begin); } .m-End { stroke: var(--end); }
.m-Fetch { stroke: var(--fetch); } .m-FetchSnapshot { stroke: var(--snapshot); } .m-other { stroke: var(--other); }
svg .message { opacity: .75; } svg .message:hover { stroke-width: 3; } svg .lost { stroke-dasharray: 3 2; }
svg .sync { fill: var(--sync); opacity: .8; } svg .change { stroke: var(--soft); }
svg .never { fill: none; stroke: var(--sync); stroke-dasharray: 3 2; }
svg rect.fails { fill: var(--bad); } svg line.fails { stroke: var(--bad); stroke-width: 2; }
svg .asked { fill: var(--asked); } svg .open { fill: none; stroke: var(--asked); stroke-dasharray: 3 2; }
svg .point { fill: var(--ink); stroke: var(--paper); }
.k-fault { fill: var(--cut); } .k-life { fill: var(--ink); } .k-note { fill: var(--soft); }
.k-deed { fill: var(--leader); }
svg line.broken { stroke: var(--bad); stroke-width: 2; } svg text.broken { fill: var(--bad); font-weight: bold; }
svg .blamed { fill: none; stroke: var(--bad); stroke-width: 2; }
#cursor { stroke: var(--ink); stroke-dasharray: 2 2; }
svg.strip { display: block; width: 100%; height: auto; margin: .2rem 0; }
.strip .chaos { fill: var(--line); opacity: .35; } .strip .held { fill: var(--bad); }
.strip .left { fill: var(--soft); }
@media print { #box { overflow: visible; } }
"""

SCRIPT = """
"use strict";
const at = (id) => document.getElementById(id);
const svg = at('scene'), cursor = at('cursor'), slider = at('moment');
const left = +svg.dataset.left, scale = +svg.dataset.scale, begin = +svg.dataset.begin;
const NAMES = ['role', 'epoch', 'log end', 'flushed', 'high watermark'];
const seconds = (time) => (time / 1e6).toFixed(6);
const text = (value) => {
  const node = document.createElement('span'); node.textContent = value === -1 ? '–' : value; return node.innerHTML; };
const times = [...new Set(Object.values(STATES).flatMap((states) => states.map((one) => one[0])))];
times.sort((a, b) => a - b);
function before(list, key, time) {
  let low = 0, high = list.length;
  while (low < high) { const mid = (low + high) >> 1; if (key(list[mid]) <= time) low = mid + 1; else high = mid; }
  return low;
}
function watermarks(time) {
  return Object.values(STATES).map((states) => (states[before(states, (one) => one[0], time) - 1] || [])[5] ?? -1);
}
function show(time) {
  const last = times[before(times, (one) => one, time) - 1] ?? begin;
  const changes = [];
  let rows = '';
  for (const [node, states] of Object.entries(STATES)) {
    const place = before(states, (one) => one[0], time), now = states[place - 1], was = states[place - 2];
    rows += '<tr><th scope="row">' + node + '</th><td>' + (now ? seconds(now[0]) : '') + '</td>';
    NAMES.forEach((name, i) => {
      const value = now ? now[i + 1] : -1, old = was ? was[i + 1] : -1;
      const isNew = now && now[0] === last && value !== old;
      if (isNew) changes.push('node ' + node + ': ' + name + ' ' + (old === -1 ? '–' : old) + ' → '
        + (value === -1 ? '–' : value));
      rows += '<td' + (isNew ? ' class="changed"' : '') + ' title="before: ' + text(old) + '">' + text(value) + '</td>';
    });
    rows += '</tr>';
  }
  at('states').tBodies[0].innerHTML = rows;
  const reached = Math.max(-1, ...watermarks(time)), earlier = Math.max(-1, ...watermarks(last - 1));
  const upTo = before(COMMITS, (one) => one[0], reached);
  for (const one of COMMITS.slice(0, upTo)) {
    if (one[0] > earlier) changes.push('committed up to ' + one[0] + ': ' + one[2].join('; '));
  }
  at('changes').innerHTML = changes.map((one) => '<li>' + text(one) + '</li>').join('') || '<li>nothing</li>';
  at('commits').innerHTML = COMMITS.slice(Math.max(0, upTo - 8), upTo).reverse().map((one) =>
    '<li>' + text(one[0] + ', epoch ' + one[1] + ': ' + one[2].join('; ')) + '</li>').join('') || '<li>nothing</li>';
  const waiting = OPERATIONS.filter((one) => one[1] <= time && (one[2] === null || one[2] > time));
  at('waiting').innerHTML = waiting.map((one) =>
    '<li>' + text(one[0] + ': ' + one[3] + (one[4] ? ' → ' + one[4] : ', never answered')
      + (one[5] === null ? '' : ', took effect at ' + seconds(one[5]))) + '</li>').join('') || '<li>none</li>';
  const shown = before(STORY, (line) => line[0], time);
  at('story').textContent = STORY.slice(Math.max(0, shown - 15), shown + 10)
    .map((line) => (line[0] <= time ? '  ' : '+ ') + line[1]).join('\\n');
  at('when').textContent = seconds(time) + ' s, after the step at ' + seconds(last) + ' s';
  const x = left + (time - begin) * scale;
  for (const [name, value] of [['x1', x], ['x2', x], ['y1', 0], ['y2', svg.getAttribute('height')]])
    cursor.setAttribute(name, value);
  slider.value = time;
}
function reveal(time) {
  show(time);
  const box = at('box'), x = left + (time - begin) * scale;
  if (x < box.scrollLeft + left || x > box.scrollLeft + box.clientWidth - 40) box.scrollLeft = x - box.clientWidth / 2;
}
svg.addEventListener('click', (event) => {
  show(Math.round(begin + Math.max(0, event.clientX - svg.getBoundingClientRect().left - left) / scale));
});
slider.addEventListener('input', () => reveal(+slider.value));
at('earlier').addEventListener('click', () =>
  reveal(times[before(times, (one) => one, +slider.value) - 2] ?? begin));
at('later').addEventListener('click', () => reveal(times[before(times, (one) => one, +slider.value)] ?? END));
show(END);
at('box').scrollLeft = at('box').scrollWidth;
"""
