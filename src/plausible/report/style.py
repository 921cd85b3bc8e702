"""How the page looks: light and dark, on screens of all sizes and on paper."""

STYLE = """
:root {
  color-scheme: light dark;
  --page: #ffffff; --text: #1c1e21; --quiet: #565b63; --rule: #d5d8dd; --panel: #f4f6f8;
  --fill: #1d63b8; --soft: #8db7e6; --warn: #a8480c; --mark: #6b7078;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #15171b; --text: #e9eaec; --quiet: #a8adb6; --rule: #3a3f47; --panel: #1f2228;
    --fill: #7ab2f5; --soft: #3f6ea6; --warn: #f0a069; --mark: #9197a0;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 1.5rem 1rem 3rem; max-width: 56rem; background: var(--page);
  color: var(--text); font: 1rem/1.5 system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif;
}
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 .25rem; }
h2 { font-size: 1.3rem; margin: 0 0 .5rem; }
h3 { font-size: 1.05rem; margin: 1.5rem 0 .25rem; }
h1, h2, h3, tbody th, td, p, figcaption, code { overflow-wrap: anywhere; }
p { margin: .4rem 0; max-width: 42rem; }
section { border-top: 1px solid var(--rule); padding-top: 1.25rem; margin-top: 2rem; }
a { color: var(--fill); }
nav ol { padding-left: 1.25rem; margin: .5rem 0; columns: 18rem; }
.quiet, caption, figcaption { color: var(--quiet); }
.missing {
  background: var(--panel); border-left: 4px solid var(--rule); padding: .6rem .9rem;
}
.glance { display: flex; flex-wrap: wrap; gap: .6rem; margin: 1rem 0; }
.glance div { flex: 1 1 7rem; background: var(--panel); border-radius: .4rem;
  padding: .6rem .8rem; }
.glance dt { color: var(--quiet); font-size: .85rem; }
.glance dd { margin: 0; font-size: 1.35rem; font-weight: 600; }
.scroll { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; }
caption { text-align: left; padding-bottom: .35rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem .3rem 0;
  border-bottom: 1px solid var(--rule); min-width: 3.5rem; }
thead th { color: var(--quiet); font-weight: 600; font-size: .85rem; vertical-align: bottom; }
tbody th { font-weight: 500; min-width: 6rem; }
.number { font-variant-numeric: tabular-nums; white-space: nowrap; }
.wide { width: 38%; min-width: 7rem; }
.warn { color: var(--warn); font-weight: 600; }
.bar { display: block; width: 100%; height: .8rem; margin-top: .35rem; }
.charts { display: flex; flex-wrap: wrap; gap: 0 1.5rem; }
.charts figure { flex: 1 1 18rem; }
figure { margin: 1rem 0; }
.chart { display: block; width: 100%; max-width: 36rem; height: auto; }
.chart text { fill: var(--quiet); font-size: 13px; }
figcaption { font-size: .92rem; }
.track { fill: var(--rule); opacity: .55; }
.fill, .dot { fill: var(--fill); }
.soft { fill: var(--soft); }
.mark { fill: var(--mark); }
line.mark { stroke: var(--mark); stroke-dasharray: 5 4; }
.grid { stroke: var(--rule); }
.line { fill: none; stroke: var(--fill); stroke-width: 2; stroke-linejoin: round; }
details { margin: .5rem 0; }
summary { cursor: pointer; color: var(--fill); }
ul.answers { margin: 0; padding: 0; list-style: none; }
.answers .line-of-bar { display: flex; gap: .6rem; }
.line-of-bar > * { flex: 1 1 50%; }
.line-of-bar > .number { flex: 0 0 2.5rem; }
@page { size: A4; margin: 16mm 15mm; }
@media print {
  :root {
    color-scheme: light;
    --page: #ffffff; --text: #000000; --quiet: #444444; --rule: #bbbbbb; --panel: #ffffff;
    --fill: #1d63b8; --soft: #8db7e6; --warn: #a8480c; --mark: #6b7078;
  }
  body { max-width: none; padding: 0; font-size: 10pt; }
  nav, details { display: none; }
  .scroll { overflow: visible; }
  .glance div { border: 1px solid var(--rule); }
  h1, h2, h3, h2 + p, caption { break-after: avoid; }
  figure, tr, .glance, .missing { break-inside: avoid; }
  thead { display: table-header-group; }
  .charts figure { flex: 1 1 40%; }
  p, figcaption { orphans: 3; widows: 3; }
}
"""
