"""The style of the page: light and dark, on a screen and on paper."""

from __future__ import annotations

CSS = """
:root {
  color-scheme: light dark;
  --page: #f9f9f7; --card: #ffffff; --ink: #0b0b0b; --soft: #52514e; --faint: #8a8984; --line: #e1e0d9; --grid: #ecebe5;
  --mark: #2a78d6; --bad: #b92d2d; --bad-back: #fbeaea; --hover: #f3f3ef;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #0d0d0d; --card: #1a1a19; --ink: #ffffff; --soft: #c3c2b7; --faint: #898781; --line: #2c2c2a;
    --grid: #262624;
    --mark: #3987e5; --bad: #ff8a80; --bad-back: #3a1d1d; --hover: #222221;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
}
main { max-width: 1120px; margin: 0 auto; padding: 32px 20px 64px; }
h1 { font-size: 26px; margin: 0 0 4px; letter-spacing: -.01em; }
h2 { font-size: 19px; margin: 0 0 2px; }
h3 { font-size: 14px; margin: 20px 0 6px; color: var(--soft); font-weight: 600; }
p { margin: 4px 0 12px; color: var(--soft); max-width: 75ch; }
nav { margin: 14px 0 22px; display: flex; flex-wrap: wrap; gap: 4px 16px; }
a { color: var(--mark); }
section { background: var(--card); border: 1px solid var(--line); border-radius: 10px;
  padding: 20px 22px; margin: 0 0 18px; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(165px, 1fr)); gap: 12px; margin: 0 0 18px; }
.tile { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 12px 16px; margin: 0 }
.tile dt { color: var(--soft); font-size: 13px; }
.tile dd { margin: 0; font-size: 21px; font-weight: 600; white-space: nowrap; }
.tile .sub { font-size: 12.5px; font-weight: 400; color: var(--faint); display: block; white-space: normal; }
svg { display: block; width: 100%; max-width: 860px; height: auto; margin: 6px 0 10px; }
svg text { font: 12.5px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; fill: var(--soft); }
svg .value { fill: var(--ink); font-variant-numeric: tabular-nums; }
svg .tick { font-size: 11px; fill: var(--faint); }
svg .mark { fill: var(--mark); }
svg .dot { fill: var(--mark); fill-opacity: .75; stroke: var(--card); stroke-width: 1.5; }
svg .grid { stroke: var(--grid); fill: none; }
svg .axis { stroke: var(--line); fill: none; }
svg .mean { stroke: var(--faint); stroke-dasharray: 4 3; fill: none; }
svg .hit { fill: transparent; }
svg g:hover .mark, svg g:hover .dot { opacity: .75; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 13.5px; font-variant-numeric: tabular-nums; margin: 6px 0; }
caption { text-align: left; color: var(--soft); font-size: 13px; padding: 4px 0; }
th, td { text-align: left; padding: 5px 12px 5px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { font-weight: 600; color: var(--soft); white-space: nowrap; }
td.n, th.n { text-align: right; }
tbody tr:hover { background: var(--hover); }
td code { font: 12.5px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; overflow-wrap: anywhere; }
.bad { color: var(--bad); background: var(--bad-back); border-radius: 4px; padding: 1px 6px; white-space: nowrap; }
.none { color: var(--faint); font-style: italic; }
footer { color: var(--faint); font-size: 13px; }
@media print { body { background: #fff; } section { break-inside: avoid; } }
"""
